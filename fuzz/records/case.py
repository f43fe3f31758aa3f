"""Case: one input to one target, pure data, a few hundred bytes whatever the array sizes."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.codec import SCHEMA, digest, without_defaults
from tridiff.fuzz.records.content import MAX_EXPLICIT, Base, Content, Explicit, ValueText
from tridiff.fuzz.records.program import Program
from tridiff.fuzz.records.runs import check_runs, in_runs, one_by_one
from tridiff.kernels import lines
from tridiff.kernels.codegen.graph import Buffers, Graph
from tridiff.kernels.record import Record

MAX_ELEMENTS = 2**28
"""Most elements one array of a case may span in memory; more is refused before anything is allocated."""

Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,63}\Z")]
DTypeName = Annotated[str, Meta(pattern=r"^[a-z0-9]{2,8}\Z")]
Size = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Scalar = bool | int | Annotated[str, Meta(max_length=200)]


class Layout(Record, kw_only=True):
    """How the logical axes lie in memory; strides follow from it and the sizes.

    order: axes from slowest to fastest (empty: row-major). step: elements between neighbours on the
    fastest axis. gap: unused elements after each line of the fastest axis. broadcast: axes of stride 0.
    offset: elements between a 256-byte aligned address and element 0 (odd values break vector alignment).
    """

    order: tuple[Annotated[int, Meta(ge=0, le=4)], ...] = ()
    step: Annotated[int, Meta(ge=1, le=16)] = 1
    gap: Annotated[int, Meta(ge=0, le=64)] = 0
    broadcast: tuple[Name, ...] = ()
    offset: Annotated[int, Meta(ge=0, le=64)] = 0


if TYPE_CHECKING:
    Written = Content
else:  # Files have values that are listed, and nothing else, as their list.
    Written = Content | Annotated[tuple[ValueText, ...], Meta(max_length=MAX_EXPLICIT)]


class ArraySpec(Record, kw_only=True):
    """One array argument. `content` None marks an output, which is poisoned before the launch.

    dims name the logical axes; their lengths are in `Case.sizes`. The first axis is the row axis when it
    is called `rows`: rows are independent inputs and a failing one can be cut out. `first_row` is the row
    number of row 0 in the generator's counter, so that a cut row keeps its bits.
    """

    name: Name
    dtype: DTypeName
    dims: Annotated[tuple[Name, ...], Meta(max_length=5)]
    layout: Layout = Layout()
    content: Written | None = None
    first_row: Size = 0

    def __post_init__(self) -> None:
        if isinstance(self.content, tuple):
            msgspec.structs.force_setattr(self, "content", _listed(self.content))

    def in_files(self) -> dict[str, object]:
        """Values that are listed without the record around them, where they are read back as they are."""
        if self.listed is None:
            return {}
        values = in_runs(self.listed)
        try:
            return {"content": values} if _listed(values) == self.content else {}
        except ValueError:
            return {}

    @property
    def line(self) -> str:
        """The array as `out i32[rows,cols]`, as `a i32[cols] = 1, 6 x 0` where its values are listed, and as
        `a i32[cols] ~ small, seed 7` where they are described by a base alone; "" where that is long, or `of_line` does
        not read it back."""
        text = f"{self.name} {self.dtype}[{','.join(self.dims)}]"
        if self.listed is not None:
            text += f"{_IS}{_AND.join(in_runs(self.listed))}"
        elif self.content is not None:
            base = without_defaults(self.content.base)
            assert isinstance(base, dict)
            text += f"{_DRAWN}{base.pop(_TYPE)}{''.join(f'{_AND}{name} {value}' for name, value in base.items())}"
        return lines.written(self, text, ArraySpec.of_line) if len(text) <= LONGEST_LINE else ""

    @staticmethod
    def of_line(line: str) -> "ArraySpec":
        """The array that a line says; ValidationError if it says none."""
        head, listed, values = line.partition(_IS)
        head, drawn, base = head.partition(_DRAWN)
        name, _, rest = head.partition(" ")
        dtype, bracket, dims = rest.partition("[")
        if not bracket or not dims.endswith("]") or (listed and drawn):
            raise msgspec.ValidationError(f"{line[:80]!r} is no line of an array")
        axes = dims.removesuffix("]").split(",") if dims != "]" else []
        content = {"content": Content(base=_base(base)) if drawn else values.split(_AND)} if drawn or listed else {}
        return msgspec.convert({"name": name, "dtype": dtype, "dims": axes, **content}, ArraySpec)

    @property
    def listed(self) -> tuple[str, ...] | None:
        """All values where the content is a list of them, and None for any other content."""
        if self.content is None or self.content.overrides or not isinstance(self.content.base, Explicit):
            return None
        return self.content.base.values

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Logical shape under `sizes`."""
        return tuple(sizes[dim] for dim in self.dims)

    def strides(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Element strides under `sizes`, in the order of `dims`."""
        layout, rank = self.layout, len(self.dims)
        order = layout.order or tuple(range(rank))
        strides = [0] * rank
        running, fastest = layout.step, True
        for axis in reversed(order):
            if self.dims[axis] in layout.broadcast:
                continue
            strides[axis] = running
            running *= max(sizes[self.dims[axis]], 1)
            if fastest:
                running, fastest = running + layout.gap, False
        return tuple(strides)

    def span(self, sizes: dict[str, int]) -> int:
        """Elements between the first and one past the last element; 0 for an empty array."""
        shape = self.shape(sizes)
        if 0 in shape:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(shape, self.strides(sizes), strict=True))


def _listed(values: tuple[str, ...]) -> Content:
    """What a file's list of values stands for."""
    check_runs(values)
    return Content(base=Explicit(values=one_by_one(values)))


def _base(said: str) -> Base:
    """The base that words such as `small, seed 7` say; ValueError or ValidationError if they say none."""
    kind, *fields = said.split(_AND)
    pairs = [(_TYPE, kind), *((name, value) for name, _, value in (field.partition(" ") for field in fields))]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"{said[:80]!r} says something twice")
    return msgspec.convert(dict(pairs), Base, strict=False)


_IS, _AND, _DRAWN, _TYPE = " = ", ", ", " ~ ", "type"
LONGEST_LINE = 140
"""Characters of a line that says an array."""

if TYPE_CHECKING:
    WrittenArray = ArraySpec
else:  # Files have most of them in a line.
    WrittenArray = ArraySpec | str


class LaunchOptions(Record, kw_only=True):
    """Compile options of one launch; read back from the compiled kernel's metadata afterwards."""

    num_warps: Annotated[int, Meta(ge=1, le=32)] = 4
    num_stages: Annotated[int, Meta(ge=1, le=8)] = 3
    num_ctas: Annotated[int, Meta(ge=1, le=8)] = 1
    enable_fp_fusion: bool = True
    debug: bool = False
    launch_cooperative_grid: bool = False
    maxnreg: Annotated[int, Meta(ge=16, le=255)] | UnsetType = UNSET
    """Most registers of a thread; left out of the JSON where there is no limit."""
    sanitize_overflow: bool | UnsetType = UNSET
    """Whether assertions, where they are on (`debug`), watch integer arithmetic too. Left out of the JSON where the
    case says nothing: they do not then (`fuzz.backends.launch.without_overflow_checks`)."""


class Delay(Record, kw_only=True):
    """One warp of every program, or one program, is slow at one place of the kernel (`tridiff.fuzz.backends.delay`).

    of, number: warp `number` of every program, counted over all its partitions, or program `number` of grid axis 0.
    access: for a program, the number of an access to global memory in the kernel's text; for a warp, that of a run of
    accesses to shared memory of one kind.
    """

    of: Literal["warp", "program"]
    number: Annotated[int, Meta(ge=0, le=9999)]
    access: Annotated[int, Meta(ge=0, le=9999)]


class Case(Record, kw_only=True):
    """One input to one target. Equal cases give equal input bits on every machine."""

    target: Name
    sizes: dict[Name, Size]
    arrays: Annotated[tuple[WrittenArray, ...], Meta(max_length=32)]
    params: dict[Name, Scalar] = {}
    options: LaunchOptions = LaunchOptions()
    variants: Annotated[tuple[LaunchOptions, ...], Meta(max_length=8)] = ()
    """Other options under which the outputs must have the same bits."""
    repeats: Annotated[int, Meta(ge=0, le=16)] = 0
    """Further launches that must give the same bits."""
    program: Program | UnsetType = UNSET
    """What a generated kernel computes, for targets that generate kernels; left out of the JSON otherwise."""
    delay: Delay | None = None
    """Who is slow where; None: nobody."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        lines.read_within(self, "arrays", ArraySpec.of_line)
        if isinstance(self.program, Graph) and not self.program.buffers and self.arrays:
            graph = replace(self.program, buffers=self._buffers())
            msgspec.structs.force_setattr(self, "program", graph)

    def in_files(self) -> dict[str, object]:
        """Arrays in lines; the buffers of a graph once, as arrays, where they are all that the arrays say."""
        told: dict[str, object] = {"arrays": tuple(spec.line or spec for spec in self.arrays)}
        if isinstance(self.program, Graph) and self.program.buffers == self._buffers():
            told["program"] = replace(self.program, buffers=())
        return told

    def _buffers(self) -> Buffers:
        """A buffer for each array, read where it has a content and stored to elsewhere; none where an array cannot be
        one, as of several axes, which no size is called."""
        found = [{"name": spec.name, "dtype": spec.dtype, "length": self.sizes.get(",".join(spec.dims)),
                  "role": "out" if spec.content is None else "in"} for spec in self.arrays]
        try:
            return msgspec.convert(found, Buffers)
        except msgspec.ValidationError:
            return ()

    @property
    def digest(self) -> str:
        return digest(self)

    def __reduce__(self) -> "tuple[Callable[[bytes], Case], tuple[bytes]]":
        # A pickle's strings are other objects than the defaults, which msgspec then no longer leaves out of the JSON:
        # the copy would have another digest.
        return _unpickled, (msgspec.json.encode(self),)

    def under(self, options: LaunchOptions) -> "Case":
        """The case under others of its options alone."""
        return self if options == self.options else replace(self, options=options, variants=())

    def array(self, name: str) -> ArraySpec:
        """The array called `name`."""
        for spec in self.arrays:
            if spec.name == name:
                return spec
        raise KeyError(name)

    def elements(self) -> int:
        """Elements of all arrays together, as memory spans: the measure of size that is bounded."""
        return sum(spec.span(self.sizes) for spec in self.arrays)

    def check(self) -> None:
        """Refuse what cannot be materialised; raises TridiffError with one line."""
        from tridiff.oracles.dtypes import NAMES, dtype as dtype_info

        if self.schema != SCHEMA:
            newer = "a newer tridiff" if self.schema > SCHEMA else "the tridiff release that wrote it"
            raise TridiffError(f"case has schema {self.schema}, this tridiff reads {SCHEMA}",
                               fix=f"rewrite it with {newer}")
        names = [spec.name for spec in self.arrays]
        if len(set(names)) != len(names):
            raise TridiffError("case names an array twice", fix="give every array its own name")
        for spec in self.arrays:
            if spec.dtype not in NAMES:
                raise TridiffError(f"array {spec.name}: unknown dtype {spec.dtype!r}",
                                   fix=f"use one of {' '.join(NAMES)}")
            missing = [dim for dim in spec.dims if dim not in self.sizes]
            if missing:
                raise TridiffError(f"array {spec.name}: no size for axis {missing[0]!r}", fix="add it to sizes")
            order = spec.layout.order
            if order and sorted(order) != list(range(len(spec.dims))):
                raise TridiffError(f"array {spec.name}: layout order {order} is no permutation of its axes",
                                   fix="list every axis once, or none")
            if spec.content is None and spec.layout.broadcast:
                raise TridiffError(f"output {spec.name}: stride 0 makes elements overlap",
                                   fix="remove broadcast from its layout")
            # The oracles read arrays without strides, so an axis of stride 0 counts with its full length;
            # so does one beside an empty axis, for which the generator still counts columns.
            dense = math.prod(max(n, 1) for n in spec.shape(self.sizes))
            span = max(spec.span(self.sizes) + spec.layout.offset, dense)
            if span > MAX_ELEMENTS:
                size = span * dtype_info(spec.dtype).itemsize
                raise TridiffError(f"array {spec.name} would take {size:,} bytes ({span:,} elements)",
                                   fix=f"keep every array within {MAX_ELEMENTS:,} elements")


def _unpickled(data: bytes) -> Case:
    return msgspec.json.decode(data, type=Case)
