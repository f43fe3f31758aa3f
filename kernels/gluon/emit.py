"""From a chain to the text of one Gluon kernel that a person can read."""

from collections.abc import Callable, Mapping

from msgspec import UNSET

from kernels.gluon.chain import (
    Alloc,
    Atomic,
    Barrier,
    Chain,
    Combine,
    Convert,
    Dealloc,
    Fp4,
    Gather,
    Index,
    Limit,
    Load,
    Out,
    Permute,
    Ramp,
    Read,
    Reduce,
    Regroup,
    Reinterpret,
    Reshape,
    Ring,
    Scan,
    Scatter,
    Step,
    Store,
    Subslice,
    Take,
    Transpose,
)
from kernels.gluon.check import typed
from kernels.gluon.dialect import IMPORTS, Dialect
from kernels.gluon.layouts import Distributed, Shared, Slice, constructor
from kernels.gluon.values import Tensor, Type

KERNEL = "chain"
"""Name of the kernel in the emitted module."""

GL_DTYPES = {"i1": "gl.int1", "i8": "gl.int8", "i16": "gl.int16", "i32": "gl.int32", "i64": "gl.int64",
             "u8": "gl.uint8", "u16": "gl.uint16", "u32": "gl.uint32", "u64": "gl.uint64",
             "fp8e4nv": "gl.float8e4nv", "fp8e5": "gl.float8e5", "bf16": "gl.bfloat16", "fp16": "gl.float16",
             "fp32": "gl.float32", "fp64": "gl.float64"}

_INFIX = {"add": "+", "xor": "^", "and": "&", "or": "|"}
_CALLED = {"min": "gl.minimum", "max": "gl.maximum"}


class Unsupported(Exception):
    """The installed Triton has no such operation."""


def emit(chain: Chain, dialect: Dialect, *, planted: str = "") -> str:
    """The module that defines the kernel `chain`. planted: a defect of `faults.WRITTEN` to write in.

    Raises Illegal for a chain that `check` refuses, Unsupported for one that needs what the dialect lacks.
    """
    return _Writer(chain, dialect, planted).module()


def scalars(chain: Chain) -> Mapping[str, int]:
    """Values of the kernel's integer arguments, which come after its pointers."""
    found: dict[str, int] = {}
    for number, step in enumerate(chain.steps):
        if isinstance(step, Index) and step.running:
            found[f"slot{number}"] = step.slot
        elif isinstance(step, Ring):
            found[f"tiles{number}"] = step.tiles
    return found


def combined(op: str, left: str, right: str) -> str:
    """The expression for `left op right`."""
    if op in _INFIX:
        return f"{left} {_INFIX[op]} {right}"
    return f"{_CALLED[op]}({left}, {right}).to({left}.dtype)"  # which promotes bf16


class _Writer:
    def __init__(self, chain: Chain, dialect: Dialect, planted: str) -> None:
        self.chain, self.dialect, self.planted = chain, dialect, planted
        self.types: tuple[Type, ...] = typed(chain)
        self.layouts: dict[Distributed | Shared, str] = {}
        self.lines: list[str] = []
        self.places: dict[tuple[object, ...], str] = {}
        self.functions: dict[str, str] = {}

    def module(self) -> str:
        for number, step in enumerate(self.chain.steps):
            text = _WRITE[type(step)](self, number, step)
            self.lines.append(f"v{number} = {text}" if self.types[number] is not None else text)
        constants = "".join(f"{name} = gl.constexpr({constructor(layout)})\n" for layout, name in self.layouts.items())
        running = tuple(scalars(self.chain))
        names = ", ".join((*(f"{array.name}_ptr" for array in self.chain.arrays), *running))
        decorator = f"@gluon.jit(do_not_specialize={list(running)})" if running else "@gluon.jit"
        body = "\n".join("    " + line for text in self.lines for line in text.splitlines())
        functions = "".join(f"\n\n@gluon.jit\ndef {name}(a, b):\n    return {body}\n"
                            for name, body in self.functions.items())
        return f"{IMPORTS}\n{constants}{functions}\n\n{decorator}\ndef {KERNEL}({names}):\n{body}\n"

    def layout(self, layout: Distributed | Shared) -> str:
        """The name of a layout. Slices are written out, which shows what they are slices of."""
        if isinstance(layout, Slice):
            return f"gl.SliceLayout({layout.dim}, {self.layout(layout.parent)})"
        if layout not in self.layouts:
            register = isinstance(layout, Distributed)
            same = [one for one in self.layouts.values() if one.startswith("L" if register else "S")]
            self.layouts[layout] = f"{'L' if register else 'S'}{len(same)}"
        return self.layouts[layout]

    def tensor(self, number: int) -> Tensor:
        found = self.types[number]
        assert isinstance(found, Tensor)
        return found

    def arange(self, shape: tuple[int, ...], layout: Distributed, axis: int) -> str:
        """Indices along one axis, with the other axes of extent 1."""
        own = layout
        for other in reversed([k for k in range(len(shape)) if k != axis]):
            own = Slice(other, own)
        text = f"gl.arange(0, {shape[axis]}, layout={self.layout(own)})"
        if len(shape) == 1:
            return text
        return text + "[" + ", ".join(":" if k == axis else "None" for k in range(len(shape))) + "]"

    def weighted(self, shape: tuple[int, ...], layout: Distributed, strides: tuple[int, ...]) -> str:
        """Sum of indices times strides, over all axes, so that the result has the full shape."""
        terms = []
        for axis, stride in enumerate(strides):
            line = self.arange(shape, layout, axis)
            terms.append(line if stride == 1 else f"{line} * {stride}")
        return " + ".join(terms)

    def offsets(self, shape: tuple[int, ...], layout: Distributed, order: tuple[int, ...]) -> str:
        """A variable with the offsets of a tensor of `shape` that is an array transposed by `order`."""
        strides = transposed_strides(shape, () if self.planted == "order_not_transposed" else order)
        key = (shape, layout, strides)
        if key not in self.places:
            name = f"at{len(self.places)}"
            self.lines.append(f"{name} = {self.weighted(shape, layout, strides)}")
            self.places[key] = name
        return self.places[key]

    def mask(self, mask: Limit, shape: tuple[int, ...], layout: Distributed) -> str:
        return f"{self.arange(shape, layout, mask.axis)} < {mask.count}"

    def function(self, op: str) -> str:
        name = f"combine_{op}"
        self.functions[name] = combined(op, "a", "b")
        return name


def transposed_strides(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of `array.transpose(order)`, which has `shape`, for a row-major array."""
    rank = len(shape)
    order = order or tuple(range(rank))
    own = [0] * rank
    for k, axis in enumerate(order):
        own[axis] = shape[k]
    strides, step = [0] * rank, 1
    for axis in reversed(range(rank)):
        strides[axis] = step
        step *= own[axis]
    return tuple(strides[axis] for axis in order)


def _load(writer: _Writer, number: int, step: Load) -> str:
    made = writer.tensor(number)
    array = writer.chain.arrays[step.array]
    there = step.layout if step.pointers is UNSET else step.pointers
    pointers = f"{array.name}_ptr + {writer.offsets(made.shape, there, step.order)}"
    if step.pointers is not UNSET:
        pointers = f"gl.convert_layout({pointers}, {writer.layout(step.layout)})"
    rest = ""
    if step.mask is not UNSET:
        # No integer becomes an 8-bit float, and no boolean is loaded as one.
        other = f"{step.other}.0" if "fp" in array.dtype or array.dtype == "bf16" else step.other
        rest = f", mask={writer.mask(step.mask, made.shape, step.layout)}, other={other}"
    return f"gl.load({pointers}{rest})" + (" != 0" if array.dtype == "i1" else "")


def _ramp(writer: _Writer, number: int, step: Ramp) -> str:
    text = writer.weighted(step.shape, step.layout, step.strides)
    if step.start:
        text += f" + {step.start}"
    if step.flip:
        text = f"({text}) ^ {step.flip}"
    if step.mask != -1:
        text = f"({text}) & {step.mask}"
    return text if step.dtype == "i32" else f"({text}).to({GL_DTYPES[step.dtype]})"


def _convert(writer: _Writer, number: int, step: Convert) -> str:
    return f"gl.convert_layout(v{step.source}, {writer.layout(step.layout)})"


def _transpose(writer: _Writer, number: int, step: Transpose) -> str:
    return f"gl.convert_layout(gl.permute(v{step.source}, {_tuple(step.order)}), {writer.layout(step.layout)})"


def _regroup(writer: _Writer, number: int, step: Regroup) -> str:
    return f"gl.convert_layout(gl.reshape(v{step.source}, {list(step.shape)}), {writer.layout(step.layout)})"


def _fp4(writer: _Writer, number: int, step: Fp4) -> str:
    packed = f"v{step.source}"
    if writer.planted == "fp4_nibbles_swapped":
        packed = f"(({packed} >> 4) & 15) | ({packed} << 4)"
    decoded = f"gl.fp4_to_fp({packed}, {GL_DTYPES[step.dtype]}, {step.axis})"
    return f"gl.convert_layout({decoded}, {writer.layout(step.layout)})"


def _combine(writer: _Writer, number: int, step: Combine) -> str:
    return combined(step.op, f"v{step.left}", f"v{step.right}")


def _reduce(writer: _Writer, number: int, step: Reduce) -> str:
    text = f"gl.reduce(v{step.source}, {step.axis}, {writer.function(step.op)})"
    layout = writer.tensor(number).layout
    return text if layout is None else f"gl.convert_layout({text}, {writer.layout(layout)})"


def _scan(writer: _Writer, number: int, step: Scan) -> str:
    reverse = ", reverse=True" if step.reverse else ""
    text = f"gl.associative_scan(v{step.source}, {step.axis}, {writer.function(step.op)}{reverse})"
    layout = writer.tensor(number).layout
    assert layout is not None
    return f"gl.convert_layout({text}, {writer.layout(layout)})"


def _take(writer: _Writer, number: int, step: Take) -> str:
    return f"gl.gather(v{step.source}, v{step.index}, {step.axis})"


def _out(writer: _Writer, number: int, step: Out) -> str:
    source = writer.tensor(step.source)
    name = f"{writer.chain.arrays[step.array].name}_ptr"
    value = f"v{step.source}" + (".to(gl.int8)" if source.dtype == "i1" else "")
    if source.layout is None:
        return f"gl.store({name}, {value})"
    return f"gl.store({name} + {writer.offsets(source.shape, source.layout, step.order)}, {value})"


def _alloc(writer: _Writer, number: int, step: Alloc) -> str:
    shape = [step.slots, *step.shape] if step.slots else list(step.shape)
    source = "" if step.source is UNSET else f", v{step.source}"
    return f"gl.allocate_shared_memory({GL_DTYPES[step.dtype]}, {shape}, {writer.layout(step.layout)}{source})"


def _store(writer: _Writer, number: int, step: Store) -> str:
    if writer.planted == "store_missing" and number == _last_store(writer.chain):
        return "pass"
    return f"v{step.view}.store(v{step.source})"


def _last_store(chain: Chain) -> int:
    return max((number for number, step in enumerate(chain.steps) if isinstance(step, Store)), default=-1)


def _read(writer: _Writer, number: int, step: Read) -> str:
    return f"v{step.view}.load({writer.layout(step.layout)})"


def _index(writer: _Writer, number: int, step: Index) -> str:
    return f"v{step.view}.index({f'slot{number}' if step.running else step.slot})"


def _subslice(writer: _Writer, number: int, step: Subslice) -> str:
    return f"v{step.view}.slice({step.start}, {step.length}, dim={step.axis})"


def _permute(writer: _Writer, number: int, step: Permute) -> str:
    return f"v{step.view}.permute({_tuple(step.order)})"


def _reshape(writer: _Writer, number: int, step: Reshape) -> str:
    return f"v{step.view}.reshape({_tuple(step.shape)})"


def _reinterpret(writer: _Writer, number: int, step: Reinterpret) -> str:
    return (f"v{step.view}.{writer.dialect.reinterpret}({GL_DTYPES[step.dtype]}, {list(step.shape)}, "
            f"{writer.layout(step.layout)})")


def _needs_gathers(writer: _Writer) -> None:
    if not writer.dialect.gathers:
        raise Unsupported("this Triton has no gather, scatter or atomics on shared memory")


def _gather(writer: _Writer, number: int, step: Gather) -> str:
    _needs_gathers(writer)
    return f"v{step.view}.gather(v{step.index}, {step.axis})"


def _scatter(writer: _Writer, number: int, step: Scatter) -> str:
    _needs_gathers(writer)
    return f"v{step.view}.scatter(v{step.source}, v{step.index}, {step.axis})"


def _atomic(writer: _Writer, number: int, step: Atomic) -> str:
    _needs_gathers(writer)
    made = writer.tensor(number)
    mask = ""
    if step.mask is not UNSET:
        assert made.layout is not None
        mask = f", {writer.mask(step.mask, made.shape, made.layout)}"
    return f"v{step.view}.atomic_scatter_{step.op}(v{step.source}, v{step.index}, {step.axis}{mask})"


def _barrier(writer: _Writer, number: int, step: Barrier) -> str:
    return writer.dialect.barrier


def _dealloc(writer: _Writer, number: int, step: Dealloc) -> str:
    return f"v{step.view}.{writer.dialect.keep_alive}()"


def _ring(writer: _Writer, number: int, step: Ring) -> str:
    source, target = (writer.chain.arrays[one] for one in (step.source, step.target))
    size = 1
    for extent in step.shape:
        size *= extent
    written = writer.offsets(step.shape, step.written, ())
    read = writer.offsets(step.shape, step.read, ())
    slots, ahead, tiles = step.slots, step.ahead, f"tiles{number}"
    filled = f"t + {ahead}" if ahead else "t"
    looked = "(t + 1)" if writer.planted == "ring_slot_off_by_one" else "t"

    def fill(tile: str) -> str:
        loaded = f"gl.load({source.name}_ptr + {_factor(tile)} * {size} + {written})"
        return f"r{number}.index({_factor(tile)} % {slots}).store({loaded})"

    lines = [f"r{number} = gl.allocate_shared_memory({GL_DTYPES[source.dtype]}, {[slots, *step.shape]}, "
             f"{writer.layout(step.layout)})"]
    if ahead:
        lines += [f"for t in range({ahead}):", f"    {fill('t')}"]
    lines += [f"for t in range({tiles}):"]
    if ahead:
        lines += [f"    if {filled} < {tiles}:", f"        {fill(filled)}"]
    else:
        lines += [f"    {fill('t')}"]
    lines += [f"    gl.store({target.name}_ptr + t * {size} + {read}, "
              f"r{number}.index({looked} % {slots}).load({writer.layout(step.read)}))"]
    return "\n".join(lines)


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text


def _tuple(numbers: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"


_WRITE: Mapping[type[Step], Callable[[_Writer, int, Step], str]] = {
    Load: _load, Ramp: _ramp, Convert: _convert, Transpose: _transpose, Regroup: _regroup, Fp4: _fp4,
    Combine: _combine, Reduce: _reduce, Scan: _scan, Take: _take, Out: _out, Alloc: _alloc, Store: _store,
    Read: _read, Index: _index, Subslice: _subslice, Permute: _permute, Reshape: _reshape,
    Reinterpret: _reinterpret, Gather: _gather, Scatter: _scatter, Atomic: _atomic, Barrier: _barrier,
    Dealloc: _dealloc, Ring: _ring,
}
