"""What nodes are made of: values there are, loads, constants, index values, gathers and masked accesses.

Nothing here can be out of range: a buffer is as long as its addresses reach, a mask covers what lies beyond, and an
index that is data is reduced modulo the length, or comes from a buffer that holds good ones.
"""

from collections.abc import Callable

from tridiff.fuzz.kinds.graphs import contents
from tridiff.fuzz.kinds.graphs.addresses import Expressions, address, apply, num, plus
from tridiff.fuzz.kinds.graphs.draft import Draft, Entry
from tridiff.fuzz.kinds.graphs.operations import COMPARISONS, table
from tridiff.kernels.codegen.graph import MAX_DEPTH, Expr, Index, Load, Masked, Sym
from tridiff.kernels.codegen.legality import MAX_EXPRESSION
from tridiff.kernels.codegen.ranges import count, depth
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

REAL_CONSTANTS = ("1.0", "0.0", "2.0", "-1.0", "0.5", "-0.0", "3.25", "1e-3", "inf", "-inf", "nan", "16777217.0",
                  "1e30")

_WRAPPED = 3
"""Levels that a use may put around an expression: a clamp, a remainder."""


def _legal_size(build: Callable[[int], Expr], levels: int) -> Expr:
    """An expression of about so many levels; guards make some much deeper, which are drawn again with fewer."""
    while True:
        expr = build(levels)
        if levels <= 1 or (depth(expr) <= MAX_DEPTH - _WRAPPED and count(expr) <= MAX_EXPRESSION // 2):
            return expr
        levels -= 1


class Operands:
    """Operands of the nodes of one draft. cap: elements of one buffer."""

    def __init__(self, draft: Draft, *, cap: int) -> None:
        self.draft, self.chance, self.cap = draft, draft.chance, cap
        self.groups = tuple(draft.swarm.groups.items())

    def dtype(self) -> str:
        """A dtype of the program's palette, the first most often."""
        palette = self.draft.swarm.dtypes
        return palette[0] if self.chance.below(2) else self.chance.of(palette)

    def value(self) -> Entry:
        """Any value; a load if there is none."""
        found = self.draft.pick(lambda entry: True)
        return found if found is not None else self.load(self.dtype())

    def of_dtype(self, dtype: str, *, other_than: Entry | None = None,
                 accept: Callable[[Entry], bool] = lambda entry: True) -> Entry:
        """A value of this dtype: one there is that is acceptable, else a new load or constant."""
        same = other_than.position if other_than is not None and not self.chance.one_in(8) else -1
        if self.chance.below(8):
            found = self.draft.pick(
                lambda entry: entry.dtype == dtype and entry.position != same and accept(entry))
            if found is not None:
                return found
        if self.draft.buffers_left > 0 and self.chance.below(4):
            return self.load(dtype)
        return self.new_constant(dtype)

    def new_constant(self, dtype: str) -> Entry:
        """Some constant of this dtype, for one use."""
        return self.draft.constant(self.constant_text(dtype), dtype)

    def constant_text(self, dtype: str) -> str:
        """The text of some constant."""
        info = dtype_info(dtype)
        if info.kind == "float":
            tame = self.draft.swarm.wild == 0
            return self.chance.of(REAL_CONSTANTS[:5] if tame or dtype in FP8 else REAL_CONSTANTS)
        if info.kind == "bool":
            return self.chance.of(("false", "true"))
        values = (1, 0, 2, 3, 7, -1, 100, int(info.max), int(info.min), int(info.max) // 3)
        return str(self.chance.of([value for value in values if info.min <= value <= info.max]))

    def constant(self) -> Entry:
        """A constant that any node may use."""
        found = self.new_constant(self.dtype())
        self.draft.entries[found.position] = found
        return found

    def condition(self) -> Entry:
        """A truth value: one there is, else a comparison."""
        found = self.draft.pick(lambda entry: entry.dtype == "i1") if self.chance.below(3) else None
        return found if found is not None else self.compare()

    def compare(self) -> Entry:
        """A comparison of two values."""
        # Nearly equal numbers that are known but for an error may be either way round.
        accept = self.draft.sharp(lambda entry: entry.dtype not in (*FP8, "i1"), one_in=4)
        first = self.draft.pick(accept) or self.load("fp32")
        second = self.of_dtype(first.dtype, other_than=first, accept=accept)
        return self.draft.operation(self.chance.of(COMPARISONS), first, second)

    def domain(self, *, wants_r: bool | None = None) -> list[tuple[str, int]]:
        """Axes of a new load, in order; about half of them all axes."""
        axes = list(self.draft.axes.items())
        if wants_r is False or (wants_r is None and "r" in self.draft.axes and self.chance.one_in(4)):
            axes = [(name, length) for name, length in axes if name != "r"]
        return axes

    def load(self, dtype: str | None = None, *, wants_r: bool | None = None) -> Entry:
        """A load from a new buffer, or from one there is at another place."""
        name = self.dtype() if dtype is None else dtype
        axes = self.domain(wants_r=wants_r)
        form = self.chance.weighted(self.draft.swarm.forms)
        if form == "expression":
            return self._load_anywhere(name)
        expr, length = address(self.chance, form, axes)
        if length > self.cap:
            expr, length = address(self.chance, "dense", axes)
        buffer = self._input(name, length)
        return self.draft.add(Load(buffer=buffer, index=expr))

    def _input(self, dtype: str, length: int) -> str:
        """A buffer of at least this length: often one there is."""
        fitting = [one.name for one in self.draft.buffers
                   if one.dtype == dtype and one.role == "in" and one.length >= length and one.name.startswith("in")]
        if fitting and (self.draft.buffers_left <= 0 or self.chance.one_in(4)):
            return self.chance.of(fitting)
        found = contents.content(self.chance, dtype, wild=self.draft.swarm.wild)
        return self.draft.buffer(dtype, max(length, 1), found)

    def _free(self, *, indirect: bool = False) -> Expressions:
        facts = self.draft.facts()
        names = list(self.draft.axes) + [("rn" if name == "r" else f"n{name[1:]}") for name in self.draft.axes][:1]
        if indirect:
            names += [f"v{entry.position}" for entry in self._indices()][-2:]
        return Expressions(self.chance, facts, names)

    def _load_anywhere(self, dtype: str) -> Entry:
        """A load at a free expression, reduced into its buffer."""
        free = self._free()
        expr = _legal_size(free.integer, self.chance.between(1, 3))
        length = self.chance.of((16, 1, 7, 64, 100))
        low, high = free.range(expr)
        if not 0 <= low <= high < length:
            expr = (apply("python_mod", expr, num(length)) if self.chance.below(2)
                    else apply("max", apply("min", expr, num(length - 1)), num(0)))
        return self.draft.add(Load(buffer=self._input(dtype, length), index=expr))

    def index(self) -> Entry:
        """The value of an expression."""
        free = self._free(indirect=bool(self.chance.below(2)))
        kind = self.chance.below(4)
        levels = self.chance.between(1, 4)
        if kind == 2:
            expr = _legal_size(free.condition, levels)
            return self.draft.add(Index(expr=expr, dtype="i1"))
        if kind == 3:
            expr = _legal_size(free.real, min(levels, 3))
            return self.draft.add(Index(expr=expr, dtype="fp64"))
        expr = _legal_size(free.integer, levels)
        low, high = free.range(expr)
        return self.draft.add(Index(expr=expr, dtype="i32" if kind else "i64"), low=low, high=high)

    def _indices(self) -> list[Entry]:
        """Integers that expressions may name: known, or narrow enough, to be within +-2^40."""
        return [entry for entry in self.draft.entries.values() if self.usable_index(entry)]

    @staticmethod
    def usable_index(entry: Entry) -> bool:
        if entry.low is not None and entry.high is not None:
            return entry.dtype in ("i32", "i64") and entry.low >= -(2**39) and entry.high < 2**39
        return entry.dtype in ("i8", "i16", "i32", "u8", "u16", "u32")

    def gather(self) -> Entry:
        """An indirect load: at an index from a buffer that holds good ones, or at any integer reduced to the length, or
        where it is within the length."""
        dtype = self.dtype()
        length = self.chance.of((16, 5, 33, 128, 1))
        if self.chance.below(2) and self.draft.buffers_left > 1:
            expr_i, needed = address(self.chance, self.chance.weighted(self.draft.swarm.forms[:1]), self.domain())
            if needed <= self.cap:
                beyond = bool(self.chance.below(2))
                found, low, high = contents.positions(self.chance, 2 * length if beyond else length)
                kind = self.chance.of(("i64", "i32", "i16"))
                places = self.draft.buffer(kind, needed, found)
                at = self.draft.add(Load(buffer=places, index=expr_i), low=low, high=high)
                symbol = Sym(name=f"v{at.position}")
                if beyond:
                    return self._gather_inside(symbol, dtype, length)
                return self.draft.add(Load(buffer=self._exactly(dtype, length), index=symbol, checked=True))
        entry = self.draft.pick(self.usable_index)
        if entry is None:
            entry = self.index_of_integer()
        symbol = Sym(name=f"v{entry.position}")
        if self.chance.below(2):
            return self._gather_inside(symbol, dtype, length)
        reduced = apply("python_mod", symbol, num(length))
        if self.chance.one_in(4):
            reduced = apply("max", apply("min", symbol, num(length - 1)), num(-length))
        axis = self.chance.of(list(self.draft.axes))
        if self.chance.one_in(3) and length * self.draft.axes[axis] <= self.cap and self.draft.axes[axis]:
            wrapped = apply("python_mod", symbol, num(length))
            expr = plus(apply("mul", Sym(name=axis), num(length)), wrapped)
            buffer = self._exactly(dtype, length * self.draft.axes[axis])
            return self.draft.add(Load(buffer=buffer, index=expr, checked=True))
        return self.draft.add(Load(buffer=self._exactly(dtype, length), index=reduced, checked=True))

    def _gather_inside(self, index: Sym, dtype: str, length: int) -> Entry:
        """A load at an index that is masked off wherever it is beyond the buffer."""
        inside = apply("and", apply("ge", index, num(-length)), apply("lt", index, num(length)))
        mask = self.draft.add(Index(expr=inside, dtype="i1"))
        return self.draft.add(Load(buffer=self._exactly(dtype, length), index=index, mask=mask.position,
                                  other=self.constant_text(dtype), checked=True))

    def _exactly(self, dtype: str, length: int) -> str:
        """A buffer of this very length: a checked index wraps with it."""
        fitting = [one.name for one in self.draft.buffers
                   if one.dtype == dtype and one.role == "in" and one.length == length and one.name.startswith("in")]
        if fitting and (self.draft.buffers_left <= 0 or self.chance.one_in(3)):
            return fitting[0]
        return self.draft.buffer(dtype, length, contents.content(self.chance, dtype, wild=self.draft.swarm.wild))

    def index_of_integer(self) -> Entry:
        """The value of an integer expression over the axes."""
        free = self._free()
        expr = free.integer(2)
        low, high = free.range(expr)
        return self.draft.add(Index(expr=expr, dtype="i64"), low=low, high=high)

    def masked_load(self) -> Entry:
        """A load under a condition on the axes that keeps it in range, or under any condition."""
        dtype, axes = self.dtype(), self.domain()
        expr, length = address(self.chance, self.chance.of(("dense", "strided")), axes)
        if length > self.cap:
            return self.load(dtype)
        other = self.constant_text(dtype)
        if self.chance.below(2) and axes:
            # The buffer ends early; the mask keeps the load inside.
            shift = self.chance.of((0, 1, 3))
            shorter = max(length - self.chance.of((1, 2, 5)), 1)
            moved = plus(expr, num(-shift)) if shift else expr
            inside = apply("lt", moved, num(shorter))
            if shift:
                inside = apply("and", inside, apply("ge", moved, num(0)))
            mask = self.draft.add(Index(expr=inside, dtype="i1"))
            name = self._input(dtype, shorter)
            return self.draft.add(Load(buffer=name, index=moved, mask=mask.position, other=other))
        mask = self.condition()
        return self.draft.add(Load(buffer=self._input(dtype, length), index=expr, mask=mask.position, other=other))

    def body(self) -> Entry:
        """A Masked node around private loads, at places that only its mask allows, and operations on them."""
        dtype, axes = self.dtype(), self.domain()
        expr, length = address(self.chance, "dense", axes)
        if length > self.cap or not axes:
            return self.masked_load()
        shift = self.chance.of((1, 2, 0, 7))
        moved = plus(expr, num(-shift))
        inside = apply("ge", moved, num(0)) if shift else apply("lt", expr, num(max(length - 1, 1)))
        mask = self.draft.add(Index(expr=inside, dtype="i1"))
        needed = max(length - shift, 1) if shift else max(length - 1, 1)
        inner = self.draft.add(Load(buffer=self._input(dtype, needed), index=moved), private=True)
        for _ in range(self.chance.below(3)):
            every = table(inner.dtype, self.groups, compiled=self.draft.swarm.assembly)
            options = [(weight, one) for weight, one in every if one.arity <= 2]
            if not options:
                break
            one = self.chance.weighted(options)
            args = [inner] + ([self.of_dtype(inner.dtype)] if one.arity == 2 else [])
            inner = self.draft.operation(one.op, *args, private=True)
        if self.chance.one_in(3):
            nested = self.condition()
            inner = self.draft.add(Masked(mask=nested.position, arg=inner.position,
                                         other=self.constant_text(inner.dtype)), private=True)
        return self.draft.add(Masked(mask=mask.position, arg=inner.position, other=self.constant_text(inner.dtype)))
