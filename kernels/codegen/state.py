"""The emitter: what is known while the text of one kernel is written, and the few operations every part needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tridiff.kernels.codegen.constants import full, parse
from tridiff.kernels.codegen.domains import Analysis, R, feeding
from tridiff.kernels.codegen.expressions import Printer
from tridiff.kernels.codegen.graph import Expr, Node, Num, Schedule, Store, Sym
from tridiff.kernels.codegen.kernel import Workspace
from tridiff.kernels.codegen.ranges import IllegalExpression, symbols
from tridiff.kernels.codegen.simplify import simplify
from tridiff.kernels.codegen.tiles import Tile, Tiling
from tridiff.kernels.pointwise.record import HALVES

Shape = frozenset[str]
"""Names of the tile axes along which a block has its full length; it has length 1 along the others."""


@dataclass(frozen=True, slots=True)
class Value:
    """The results of a node: variable names, and the shape they have."""

    texts: tuple[str, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class IndexText:
    """A printed index expression. wide: its integers are int64. bare: it is a Python number or a size, not a block."""

    text: str
    shape: Shape
    wide: bool
    bare: bool

    @property
    def dtype(self) -> str:
        return "tl.int64" if self.wide else "tl.int32"

    def block(self, shape: str) -> str:
        """The text as a block of the shape (text), which must be larger than its own."""
        return f"tl.full({shape}, {self.text}, {self.dtype})" if self.bare else f"tl.broadcast_to({self.text}, {shape})"


@dataclass
class Scope:
    """Statements at one level of nesting. cache: text of an expression -> the variable that holds it."""

    parent: Scope | None = None
    lines: list[str] = field(default_factory=list)
    cache: dict[str, str] = field(default_factory=dict)
    values: dict[int, Value] = field(default_factory=dict)

    def value(self, position: int) -> Value | None:
        found = self.values.get(position)
        return found if found is not None or self.parent is None else self.parent.value(position)

    def cached(self, text: str) -> str | None:
        found = self.cache.get(text)
        return found if found is not None or self.parent is None else self.parent.cached(text)


class Emitter:
    """Writes one kernel. The parts (accesses, elementwise, reductions, scans, special) are functions over it."""

    def __init__(self, analysis: Analysis, schedule: Schedule, tiling: Tiling, *,
                 aligned: frozenset[str] = frozenset()) -> None:
        self.analysis = analysis
        self.graph = analysis.graph
        self.buffers = {buffer.name: buffer for buffer in self.graph.buffers}
        self.schedule = schedule
        self.tiling = tiling
        self.top = Scope()
        self.scope = self.top
        self.used: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.workspaces: list[Workspace] = []
        self.pointers: dict[str, None] = {}
        self.sizes: dict[str, int] = {}
        self.aligned: dict[str, None] = {}
        self.descriptors: list[str] = []
        self.aligned_buffers = aligned
        self.feeding = feeding(analysis)
        self.semaphore = ""
        """Pointer to the words of the grid barrier, once one is needed."""
        self.first_of_r = ""
        """Condition for the program that stores what does not depend on r, where several share a row."""
        self.first_iteration = ""
        self.pass_number = 0
        self.loaded: dict[str, Shape] = {}
        """Shape in which each inout buffer was loaded."""
        axis_names = {}
        for tile in tiling.tiles:
            for axis in tile.axes:
                axis_names[axis] = f"{tile.name}index" if len(tile.axes) == 1 else axis
        self._axis_names = axis_names
        self.printer = Printer(
            facts=analysis.facts, names={}, shape=self.ones, wide=tiling.wide, used=self.used,
            scalars=frozenset(analysis.sizes))

    # -- shapes and masks

    @property
    def ones(self) -> str:
        """Shape text of a block of one element."""
        return self.shape_text(frozenset())

    def shape_text(self, shape: Shape) -> str:
        dims = ["1"] * self.tiling.rank
        for tile in self.tiling.tiles:
            if tile.name in shape and tile.place is not None:
                dims[tile.place] = tile.block_name
        return f"[{', '.join(dims)}]"

    @property
    def full_shape(self) -> Shape:
        return frozenset(tile.name for tile in self.tiling.tiles if tile.place is not None)

    def shape_of(self, domain: Iterable[str]) -> Shape:
        """Shape of a block that depends on these axes."""
        tiles = (self.tiling.tile_of(axis) for axis in domain)
        return frozenset(tile.name for tile in tiles if tile.place is not None)

    def along(self, tile: Tile, text: str) -> str:
        """A one-dimensional block, laid along the dimension of a tile axis."""
        if self.tiling.rank == 1:
            return text
        dims = [":" if place == tile.place else "None" for place in range(self.tiling.rank)]
        return f"{text}[{', '.join(dims)}]"

    @property
    def r_place(self) -> int:
        assert self.tiling.r is not None and self.tiling.r.place is not None
        return self.tiling.r.place

    def keep_r(self, text: str) -> str:
        """A block that lost the reduction dimension, with it again as a dimension of length 1."""
        if self.tiling.rank == 1:
            self.used.add("promote_to_tensor")
            return f"promote_to_tensor({text})"
        return f"{text}[{', '.join([':'] * (self.tiling.rank - 1) + ['None'])}]"

    def broadcast(self, text: str, shape: Shape, to: Shape) -> str:
        """`text` of `shape` as a block of the larger shape `to`."""
        return text if shape == to else f"tl.broadcast_to({text}, {self.shape_text(to)})"

    def constant_mask(self, tile: Tile) -> bool:
        """Whether every lane of every program is within the axis, as the source alone shows (codegen.md §4)."""
        if tile.block == 1 and tile.place is None:
            return not (tile.name == "x" and self.spread_x)
        if tile.name == R and self.schedule.reduction == "persistent":
            return tile.numel == tile.block
        known = self.schedule.static and tile.numel > 0 and tile.numel % tile.block == 0
        return known and not (tile.name == "y" and self.spread_y) and not (
            tile.name == R and self.schedule.reduction in ("split", "cooperative"))

    spread_x = False
    """Whether the programs of x continue along grid axis z, so that some may have nothing to do."""
    spread_y = False

    def tile_masks(self, domain: Iterable[str]) -> list[str]:
        """Mask variables of the tile axes that these axes belong to, in the order of the tile."""
        names = {self.tiling.tile_of(axis).name for axis in domain}
        letters = [tile for tile in self.tiling.tiles if tile.name in names and not self.constant_mask(tile)]
        return [f"{tile.name}mask" for tile in letters]

    def overwrites(self, node: Node) -> bool:
        """Whether a node stores into a buffer that may also be read."""
        return isinstance(node, Store) and node.mode == "set" and self.buffers[node.buffer].role == "inout"

    # -- text

    def line(self, text: str) -> None:
        self.scope.lines.append(text)

    def assign(self, name: str, text: str, *, pure: bool = True) -> str:
        """The variable that holds `text`: an earlier one if the same text was assigned before, else `name`."""
        found = self.scope.cached(text) if pure else None
        if found is not None:
            return found
        self.line(f"{name} = {text}")
        if pure:
            self.scope.cache[text] = name
        return name

    def assign_many(self, names: tuple[str, ...], text: str) -> tuple[str, ...]:
        """As `assign`, for a call with several results."""
        return tuple(self.assign(", ".join(names), text).split(", "))

    def value(self, position: int) -> Value:
        found = self.scope.value(position)
        assert found is not None, f"node {position} is used before it is emitted"
        return found

    def operand(self, position: int) -> str:
        """Variable of a node with one result."""
        return self.value(position).texts[0]

    def put(self, position: int, texts: tuple[str, ...], shape: Shape) -> None:
        self.scope.values[position] = Value(texts, shape)

    def keep(self, position: int, text: str, shape: Shape, *, pure: bool = True) -> None:
        """Assign the one result of a node to a variable, unless the text is one already."""
        self.put(position, (text if text.isidentifier() else self.assign(f"tmp{position}", text, pure=pure),), shape)

    def whole_tile(self, text: str, shape: Shape) -> str:
        """The variable `text` of a shape as a variable of the full tile."""
        if shape == self.full_shape:
            return text
        return self.assign(f"{text}_tile", self.broadcast(text, shape, self.full_shape))

    def compute(self, dtype: str) -> str:
        """The dtype that a value of `dtype` is computed with."""
        return "fp32" if self.schedule.upcast and dtype in HALVES else dtype

    def constant(self, text: str, dtype: str) -> str:
        """A block of one element: the constant of `dtype` that `text` stands for, in the dtype it is computed with."""
        return full(parse(text, dtype), self.compute(dtype), self.ones)

    def workspace(self, dtype: str, length: int) -> str:
        """A new workspace; returns the name of its pointer argument."""
        name = f"workspace{len(self.workspaces)}"
        self.workspaces.append(Workspace(name=name, dtype=dtype, length=max(length, 1)))
        return f"{name}_ptr"

    def pointer(self, buffer: str) -> str:
        """The pointer argument of a buffer."""
        self.pointers[buffer] = None
        return f"{buffer}_ptr"

    def size(self, name: str, value: int) -> str:
        """A size: a literal in static kernels, else the kernel argument."""
        if self.schedule.static and not (name == "rnumel" and value == 0):
            return str(value)
        self.sizes[name] = value
        return name

    def index(self, expr: Expr) -> IndexText:
        """Text of an expression, and what is known of it."""
        simpler = self._simplified(expr)
        names = dict(self._axis_names)
        shape: Shape = frozenset()
        for name in sorted(symbols(simpler)):
            if name in self.analysis.axes:
                self.axis(name)
                shape |= self.shape_of([name])
            elif name in self.analysis.sizes:
                names[name] = self.size("rnumel" if name == "rn" else name, self.analysis.sizes[name])
            else:
                value = self.value(int(name[1:]))
                names[name] = value.texts[0]
                shape |= value.shape
        self.printer.names = names
        return IndexText(self.printer.text(simpler).text, shape, self.printer.is_wide(simpler),
                         isinstance(simpler, Num) or (isinstance(simpler, Sym) and simpler.name in self.analysis.sizes))

    def _simplified(self, expr: Expr) -> Expr:
        if self.schedule.static:
            return simplify(expr, self.analysis.facts, self.analysis.sizes)
        # The source of a kernel with dynamic sizes must hold for all of them: nothing may follow from their values.
        try:
            return simplify(expr, self.analysis.loose_facts)
        except IllegalExpression:
            return expr

    def axis(self, name: str) -> str:
        """The variable of an axis; axes that share a tile axis are split off its index when first used."""
        tile = self.tiling.tile_of(name)
        if len(tile.axes) == 1 or name in self.top.cache:
            return self._axis_names[name]
        place = tile.axes.index(name)
        inner = [self.size(f"n{one[1:]}", self.analysis.axes[one]) for one in tile.axes[place + 1:]]
        text = f"{tile.name}index"
        for one in reversed(inner):
            text += f" // {one}" if one != "1" else ""
        if place > 0:
            text += f" % {self.size(f'n{name[1:]}', self.analysis.axes[name])}"
        self.top.cache[name] = name
        self.top.lines.append(f"{name} = {text}")
        return name
