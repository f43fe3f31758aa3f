"""How a program grows: each production appends a node or a few, none of which can be undefined.

Guards are nodes of the program: a clamp before a conversion to integers, a divisor that is never zero, a masked shift
amount, an index that is reduced modulo the length of its buffer.
"""

from __future__ import annotations

from collections.abc import Callable

from fuzz.programs import contents
from fuzz.programs.addresses import Expressions, address, apply, num, plus
from fuzz.programs.operations import (
    COMPARISONS,
    SHIFTS,
    castable,
    choices,
    integer_divisions,
    same_width,
    table,
)
from fuzz.programs.pool import Entry, Pool
from kernels.codegen.graph import (
    Asm,
    Bucketize,
    Cast,
    Index,
    Load,
    Masked,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Sort,
    Sym,
)
from oracles.dtypes import dtype as dtype_info

FP8 = ("fp8e4nv", "fp8e5")
_REAL_CONSTANTS = ("1.0", "0.0", "2.0", "-1.0", "0.5", "-0.0", "3.25", "1e-3", "inf", "-inf", "nan", "16777217.0", "1e30")
MAX_REACH = 1 << 15
"""Longest buffer of a program."""


class Productions:
    """The productions over one pool. cap: elements of one buffer."""

    def __init__(self, pool: Pool, *, cap: int) -> None:
        self.pool, self.chance, self.cap = pool, pool.chance, cap
        self.groups = tuple(pool.swarm.groups.items())

    # -- operands -------------------------------------------------------------------------------------------

    def dtype(self) -> str:
        """A dtype of the program's palette, the first most often."""
        palette = self.pool.swarm.dtypes
        return palette[0] if self.chance.below(2) else self.chance.of(palette)

    def value(self) -> Entry:
        """Any value; a load if there is none."""
        found = self.pool.pick(lambda entry: True)
        return found if found is not None else self.load(self.dtype())

    def of_dtype(self, dtype: str, *, other_than: Entry | None = None) -> Entry:
        """A value of this dtype: one there is, else a new load or constant."""
        same = other_than.position if other_than is not None and not self.chance.one_in(8) else -1
        if self.chance.below(8):
            found = self.pool.pick(lambda entry: entry.dtype == dtype and entry.position != same)
            if found is not None:
                return found
        if self.pool.buffers_left > 0 and self.chance.below(4):
            return self.load(dtype)
        return self.pool.constant(self.constant_text(dtype), dtype)

    def constant_text(self, dtype: str) -> str:
        """The text of some constant."""
        info = dtype_info(dtype)
        if info.kind == "float":
            tame = self.pool.swarm.wild == 0
            return self.chance.of(_REAL_CONSTANTS[:5] if tame or dtype in FP8 else _REAL_CONSTANTS)
        if info.kind == "bool":
            return self.chance.of(("false", "true"))
        values = (1, 0, 2, 3, 7, -1, 100, int(info.max), int(info.min), int(info.max) // 3)
        return str(self.chance.of([value for value in values if info.min <= value <= info.max]))

    def condition(self) -> Entry:
        """A truth value: one there is, else a comparison."""
        found = self.pool.pick(lambda entry: entry.dtype == "i1") if self.chance.below(3) else None
        return found if found is not None else self.compare()

    def _domain(self, *, wants_r: bool | None = None) -> list[tuple[str, int]]:
        """Axes of a new load, in order; about half of them all axes."""
        axes = list(self.pool.axes.items())
        if wants_r is False or (wants_r is None and "r" in self.pool.axes and self.chance.one_in(4)):
            axes = [(name, length) for name, length in axes if name != "r"]
        return axes

    # -- loads and indices ----------------------------------------------------------------------------------

    def load(self, dtype: str | None = None, *, wants_r: bool | None = None) -> Entry:
        """A load from a new buffer, or from one there is at another place."""
        name = self.dtype() if dtype is None else dtype
        axes = self._domain(wants_r=wants_r)
        form = self.chance.weighted(self.pool.swarm.forms)
        if form == "expression":
            return self._load_anywhere(name)
        expr, length = address(self.chance, form, axes)
        if length > self.cap:
            expr, length = address(self.chance, "dense", axes)
        buffer = self._input(name, length)
        return self.pool.add(Load(buffer=buffer, index=expr), axes=self.pool.axes_of(expr))

    def _input(self, dtype: str, length: int) -> str:
        """A buffer of at least this length: often one there is."""
        fitting = [one.name for one in self.pool.buffers
                   if one.dtype == dtype and one.role == "in" and one.length >= length and one.name.startswith("in")]
        if fitting and (self.pool.buffers_left <= 0 or self.chance.one_in(4)):
            return self.chance.of(fitting)
        found = contents.content(self.chance, dtype, wild=self.pool.swarm.wild)
        return self.pool.buffer(dtype, max(length, 1), found)

    def _free(self, *, indirect: bool = False) -> Expressions:
        facts = self.pool.facts()
        names = list(self.pool.axes) + [("rn" if name == "r" else f"n{name[1:]}") for name in self.pool.axes][:1]
        if indirect:
            names += [f"v{entry.position}" for entry in self._indices()][-2:]
        return Expressions(self.chance, facts, names)

    def _load_anywhere(self, dtype: str) -> Entry:
        """A load at a free expression, reduced into its buffer."""
        free = self._free()
        expr = free.integer(self.chance.between(1, 3))
        length = self.chance.of((16, 1, 7, 64, 100))
        low, high = free.range(expr)
        if not 0 <= low <= high < length:
            expr = (apply("python_mod", expr, num(length)) if self.chance.below(2)
                    else apply("max", apply("min", expr, num(length - 1)), num(0)))
        return self.pool.add(Load(buffer=self._input(dtype, length), index=expr), axes=self.pool.axes_of(expr))

    def index(self) -> Entry:
        """The value of an expression."""
        free = self._free(indirect=bool(self.chance.below(2)))
        kind = self.chance.below(4)
        depth = self.chance.between(1, 4)
        if kind == 2:
            expr = free.condition(depth)
            return self.pool.add(Index(expr=expr, dtype="i1"), axes=self.pool.axes_of(expr))
        if kind == 3:
            expr = free.real(min(depth, 3))
            return self.pool.add(Index(expr=expr, dtype="fp64"), axes=self.pool.axes_of(expr))
        expr = free.integer(depth)
        low, high = free.range(expr)
        return self.pool.add(Index(expr=expr, dtype="i32" if kind else "i64"), axes=self.pool.axes_of(expr), low=low,
                             high=high)

    def _indices(self) -> list[Entry]:
        """Integers that expressions may name: known, or narrow enough, to be within +-2^40."""
        return [entry for entry in self.pool.entries.values() if self._usable_index(entry)]

    @staticmethod
    def _usable_index(entry: Entry) -> bool:
        if entry.low is not None and entry.high is not None:
            return entry.dtype in ("i32", "i64") and -(2**39) <= entry.low and entry.high < 2**39
        return entry.dtype in ("i8", "i16", "i32", "u8", "u16", "u32")

    def gather(self) -> Entry:
        """An indirect load: at an index from a buffer that holds good ones, or at any integer reduced to the length."""
        dtype = self.dtype()
        length = self.chance.of((16, 5, 33, 128, 1))
        if self.chance.below(2) and self.pool.buffers_left > 1:
            expr_i, needed = address(self.chance, self.chance.weighted(self.pool.swarm.forms[:1]), self._domain())
            if needed <= self.cap:
                found, low, high = contents.positions(self.chance, length)
                kind = self.chance.of(("i64", "i32", "i16"))
                places = self.pool.buffer(kind, needed, found)
                at = self.pool.add(Load(buffer=places, index=expr_i), axes=self.pool.axes_of(expr_i), low=low, high=high)
                symbol = Sym(name=f"v{at.position}")
                return self.pool.add(Load(buffer=self._exactly(dtype, length), index=symbol, checked=True))
        entry = self.pool.pick(self._usable_index)
        if entry is None:
            entry = self.index_of_integer()
        symbol = Sym(name=f"v{entry.position}")
        reduced = apply("python_mod", symbol, num(length))
        if self.chance.one_in(4):
            reduced = apply("max", apply("min", symbol, num(length - 1)), num(-length))
        axis = self.chance.of(list(self.pool.axes))
        if self.chance.one_in(3) and length * self.pool.axes[axis] <= self.cap and self.pool.axes[axis]:
            wrapped = apply("python_mod", symbol, num(length))
            expr = plus(apply("mul", Sym(name=axis), num(length)), wrapped)
            return self.pool.add(Load(buffer=self._exactly(dtype, length * self.pool.axes[axis]), index=expr, checked=True),
                                 axes=(axis,))
        return self.pool.add(Load(buffer=self._exactly(dtype, length), index=reduced, checked=True))

    def _exactly(self, dtype: str, length: int) -> str:
        """A buffer of this very length: a checked index wraps with it."""
        fitting = [one.name for one in self.pool.buffers
                   if one.dtype == dtype and one.role == "in" and one.length == length and one.name.startswith("in")]
        if fitting and (self.pool.buffers_left <= 0 or self.chance.one_in(3)):
            return fitting[0]
        return self.pool.buffer(dtype, length, contents.content(self.chance, dtype, wild=self.pool.swarm.wild))

    def index_of_integer(self) -> Entry:
        """The value of an integer expression over the axes."""
        free = self._free()
        expr = free.integer(2)
        low, high = free.range(expr)
        return self.pool.add(Index(expr=expr, dtype="i64"), axes=self.pool.axes_of(expr), low=low, high=high)

    def masked_load(self) -> Entry:
        """A load under a condition on the axes that keeps it in range, or under any condition."""
        dtype, axes = self.dtype(), self._domain()
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
            mask = self.pool.add(Index(expr=inside, dtype="i1"), axes=self.pool.axes_of(inside))
            return self.pool.add(Load(buffer=self._input(dtype, shorter), index=moved, mask=mask.position, other=other),
                                 axes=self.pool.axes_of(moved))
        mask = self.condition()
        return self.pool.add(Load(buffer=self._input(dtype, length), index=expr, mask=mask.position, other=other),
                             axes=self.pool.axes_of(expr))

    def body(self) -> Entry:
        """A Masked node around private loads, at places that only its mask allows, and operations on them."""
        dtype, axes = self.dtype(), self._domain()
        expr, length = address(self.chance, "dense", axes)
        if length > self.cap or not axes:
            return self.masked_load()
        shift = self.chance.of((1, 2, 0, 7))
        moved = plus(expr, num(-shift))
        inside = apply("ge", moved, num(0)) if shift else apply("lt", expr, num(max(length - 1, 1)))
        mask = self.pool.add(Index(expr=inside, dtype="i1"), axes=self.pool.axes_of(inside))
        needed = max(length - shift, 1) if shift else max(length - 1, 1)
        inner = self.pool.add(Load(buffer=self._input(dtype, needed), index=moved),
                              axes=self.pool.axes_of(moved), private=True)
        for _ in range(self.chance.below(3)):
            options = [(weight, one) for weight, one in table(inner.dtype, self.groups) if one.arity <= 2]
            if not options:
                break
            one = self.chance.weighted(options)
            args = [inner] + ([self.of_dtype(inner.dtype)] if one.arity == 2 else [])
            inner = self.pool.add(Pointwise(op=one.op, args=tuple(a.position for a in args)), private=True)
        if self.chance.one_in(3):
            nested = self.condition()
            inner = self.pool.add(Masked(mask=nested.position, arg=inner.position,
                                         other=self.constant_text(inner.dtype)), private=True)
        return self.pool.add(Masked(mask=mask.position, arg=inner.position, other=self.constant_text(inner.dtype)))

    def constant(self) -> Entry:
        """A constant that any node may use."""
        dtype = self.dtype()
        text = self.constant_text(dtype)
        found = self.pool.constant(text, dtype)
        self.pool.entries[found.position] = found
        return found

    # -- pointwise ------------------------------------------------------------------------------------------

    def pointwise(self) -> Entry:
        """An operation on values of one dtype."""
        first = self.value()
        if not choices(first.dtype):
            first = self.cast_to(first, "fp32" if first.dtype in FP8 else "i32")
        one = self.chance.weighted(table(first.dtype, self.groups))
        args = [first]
        for _ in range(one.arity - 1):
            args.append(self.of_dtype(first.dtype, other_than=first))
        if one.arity > 1 and self.chance.one_in(3):
            args.reverse()
        if one.op == "ldexp":
            return self.cast()
        return self.pool.add(Pointwise(op=one.op, args=tuple(a.position for a in args)))

    def compare(self) -> Entry:
        """A comparison of two values."""
        first = self.pool.pick(lambda entry: entry.dtype not in (*FP8, "i1"))
        if first is None:
            first = self.load("fp32")
        second = self.of_dtype(first.dtype, other_than=first)
        return self.pool.add(Pointwise(op=self.chance.of(COMPARISONS), args=(first.position, second.position)))

    def where(self) -> Entry:
        """A choice by a condition, or a clamp."""
        first = self.value()
        if first.dtype not in (*FP8, "i1") and self.chance.one_in(3):
            low, high = self.of_dtype(first.dtype), self.of_dtype(first.dtype)
            return self.pool.add(Pointwise(op="clamp", args=(first.position, low.position, high.position)))
        condition = self.condition()
        second = self.of_dtype(first.dtype, other_than=first)
        if self.chance.one_in(3):
            return self.pool.add(Masked(mask=condition.position, arg=first.position,
                                        other=self.constant_text(first.dtype)))
        return self.pool.add(Pointwise(op="where", args=(condition.position, first.position, second.position)))

    def divide(self) -> Entry:
        """An integer division by what is never zero."""
        first = self.pool.pick(lambda entry: dtype_info(entry.dtype).is_integer)
        if first is None:
            first = self.load("i32")
        dtype = first.dtype
        divisor = self.of_dtype(dtype, other_than=first)
        if divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high:
            divisor = self._nonzero(divisor)
        op = self.chance.of(integer_divisions(dtype))
        return self.pool.add(Pointwise(op=op, args=(first.position, divisor.position)))

    def _nonzero(self, divisor: Entry) -> Entry:
        one = self.pool.constant("1", divisor.dtype)
        if self.chance.below(2) or dtype_info(divisor.dtype).kind == "uint":
            return self.pool.add(Pointwise(op="maximum", args=(divisor.position, one.position)), private=True)
        zero = self.pool.constant("0", divisor.dtype)
        is_zero = self.pool.add(Pointwise(op="eq", args=(divisor.position, zero.position)), private=True)
        return self.pool.add(Pointwise(op="where", args=(is_zero.position, one.position, divisor.position)), private=True)

    def shift(self) -> Entry:
        """A shift; the bare operators with a masked amount."""
        first = self.pool.pick(lambda entry: dtype_info(entry.dtype).is_integer)
        if first is None:
            first = self.load("i32")
        amount = self.of_dtype(first.dtype, other_than=first)
        op = self.chance.of(SHIFTS)
        if op.endswith("_operator"):
            width = self.pool.constant(str(dtype_info(first.dtype).bits - 1), first.dtype)
            amount = self.pool.add(Pointwise(op="bitwise_and", args=(amount.position, width.position)), private=True)
        return self.pool.add(Pointwise(op=op, args=(first.position, amount.position)))

    def frexp(self) -> Entry:
        """Both results of frexp, or ldexp with an exponent of some sort."""
        first = self.pool.pick(lambda entry: entry.dtype in ("fp32", "fp64", "fp16", "bf16"))
        if first is None:
            first = self.load("fp32")
        if self.chance.one_in(3):
            exponent = self.of_dtype("i32")
            return self.pool.add(Pointwise(op="ldexp", args=(first.position, exponent.position)))
        pair = self.pool.add(Pointwise(op="frexp", args=(first.position,)))
        mantissa = self.pool.part(pair, 0)
        if self.chance.below(2):
            self.pool.part(pair, 1, low=-1100, high=1100)
        return mantissa

    # -- conversions ----------------------------------------------------------------------------------------

    def cast(self) -> Entry:
        """A conversion."""
        first = self.value()
        palette = [name for name in self.pool.swarm.dtypes if name != first.dtype]
        target = self.chance.of(palette) if palette and self.chance.below(3) else self.chance.of(castable(first.dtype))
        return self.cast_to(first, target)

    def cast_to(self, first: Entry, target: str) -> Entry:
        """A conversion to a type, with a clamp in front where the type may be too small."""
        info = dtype_info(target)
        if dtype_info(first.dtype).is_float and info.is_integer:
            first = self._clamped(first, target)
            return self.pool.add(Cast(arg=first.position, dtype=target))
        if first.dtype in FP8 and target in FP8:
            first = self.pool.add(Cast(arg=first.position, dtype="fp32"), private=True)
        low, high = first.low, first.high
        if low is None or high is None or not info.is_integer or not info.min <= low <= high <= info.max:
            low = high = None
        return self.pool.add(Cast(arg=first.position, dtype=target), low=low, high=high)

    def _clamped(self, first: Entry, target: str) -> Entry:
        """A float between limits that the integer type holds, NaN among what is replaced."""
        info = dtype_info(target)
        if first.dtype in (*FP8, "fp16", "bf16"):
            first = self.pool.add(Cast(arg=first.position, dtype="fp32"), private=True)
        limit = min(int(info.max), 1 << 24)
        limit = self.chance.of((limit, 100)) if limit > 100 else limit
        lowest = 0 if info.kind == "uint" else -limit
        low, high = self.pool.constant(f"{lowest}.0", first.dtype), self.pool.constant(f"{limit}.0", first.dtype)
        raised = self.pool.add(Pointwise(op="fmax", args=(first.position, low.position)), private=True)
        return self.pool.add(Pointwise(op="fmin", args=(raised.position, high.position)), private=True)

    def bitcast(self) -> Entry:
        """The bits of a value as another type."""
        first = self.pool.pick(lambda entry: bool(same_width(entry.dtype)))
        if first is None:
            first = self.load("fp32")
        return self.pool.add(Cast(arg=first.position, dtype=self.chance.of(same_width(first.dtype)), bitcast=True))

    # -- along r --------------------------------------------------------------------------------------------

    def _along(self, accept: Callable[[Entry], bool]) -> Entry | None:
        """A value that varies along r (rarely one that does not)."""
        if not self.chance.one_in(12):
            found = self.pool.pick(lambda entry: "r" in entry.axes and accept(entry))
            if found is not None:
                return found
        return self.pool.pick(accept)

    def reduce(self) -> Entry:
        """A reduction of any kind."""
        first = self._along(lambda entry: True) or self.load(wants_r=True)
        if "r" not in first.axes and self.chance.below(4):
            first = self.load(wants_r=True)
        info = dtype_info(first.dtype)
        kinds = ["sum", "max", "min", "prod", "any", "all", "argmax", "argmin"]
        if info.is_float and first.dtype not in FP8:
            kinds += ["welford", "welford", "welford_combine"]
        if not info.is_float:
            kinds += ["xor_sum"]
        if first.dtype in FP8:
            kinds = ["sum", "max", "min", "any"]
        if self.pool.axes["r"] == 0:
            kinds = [kind for kind in kinds if kind not in ("max", "min", "argmax", "argmin")]
        kind = self.chance.of(kinds)
        if kind == "welford_combine":
            return self._welford_combine(first)
        node = Reduce(kind=kind, args=(first.position,))  # type: ignore[arg-type]
        if kind != "welford":
            length = max(self.pool.axes["r"] - 1, 0)
            known = (0, length) if kind in ("argmax", "argmin") else (None, None)
            return self.pool.add(node, low=known[0], high=known[1])
        return self._states(self.pool.add(node))

    def _states(self, state: Entry) -> Entry:
        wanted = self.chance.of(((0, 1), (1,), (0, 1, 2), (0,)))
        return [self.pool.part(state, item) for item in wanted][0]

    def _welford_combine(self, mean: Entry) -> Entry:
        # Partial states need m2 >= 0 and whole weights: a square, and small counts from a buffer of their own.
        squares = self.pool.add(Pointwise(op="abs", args=(mean.position,)), private=True)
        axes = self._domain(wants_r=True)
        expr, length = address(self.chance, "dense", axes)
        if length > self.cap:
            return self.pool.add(Reduce(kind="sum", args=(mean.position,)))
        from fuzz.records import Content, Small

        name = self.pool.buffer(mean.dtype, max(length, 1), Content(base=Small(seed=self.chance.seed(), low=0, high=4)))
        weight = self.pool.add(Load(buffer=name, index=expr), axes=self.pool.axes_of(expr), private=True)
        return self._states(self.pool.add(
            Reduce(kind="welford_combine", args=(mean.position, squares.position, weight.position))))

    def scan(self) -> Entry:
        """A scan of any kind."""
        first = self._along(lambda entry: entry.dtype not in FP8) or self.load(self._scannable(), wants_r=True)
        kinds = ["sum", "max", "min", "prod", "second", "argmax", "argmin", "affine"]
        if dtype_info(first.dtype).is_float:
            kinds.append("logcumsumexp")
        if first.dtype == "i1":
            kinds = ["max", "min", "second", "argmax", "argmin"]
        kind = self.chance.of(kinds)
        args = [first]
        if kind == "affine":
            args.append(self.of_dtype(first.dtype, other_than=first))
        if kind in ("argmax", "argmin"):
            position = self.pool.pick(lambda entry: entry.dtype in ("i32", "i64") and "r" in entry.axes)
            args.append(position or self.pool.add(Index(expr=Sym(name="r"), dtype=self.chance.of(("i64", "i32"))),
                                                  axes=("r",), low=0, high=max(self.pool.axes["r"] - 1, 0)))
        node = Scan(combine=kind, args=tuple(a.position for a in args))  # type: ignore[arg-type]
        entry = self.pool.add(node, axes=("r",), low=first.low if kind in ("max", "min", "second") else None,
                              high=first.high if kind in ("max", "min", "second") else None)
        if len(args) == 1:
            return entry
        items = self.chance.of(((1,), (0,), (0, 1)))
        return [self.pool.part(entry, item) for item in items][0]

    def _scannable(self) -> str:
        return next((name for name in self.pool.swarm.dtypes if name not in (*FP8, "i1")), "fp32")

    def sort(self) -> Entry:
        """A sort along r."""
        first = self._along(lambda entry: entry.dtype not in FP8) or self.load(self._scannable(), wants_r=True)
        stable = not self.chance.one_in(4)
        pair = self.pool.add(Sort(arg=first.position, descending=bool(self.chance.below(2)), stable=stable), axes=("r",))
        last = max(self.pool.axes["r"] - 1, 0)
        # Where positions of ties are open, what is made of them says nothing: they are rarely taken.
        items = self.chance.of(((0,), (1,), (0, 1)) if stable else ((0,),) * 7 + ((1,),))
        found = [self.pool.part(pair, item, low=0 if item else None, high=last if item else None) for item in items]
        return found[0]

    # -- others ---------------------------------------------------------------------------------------------

    def bucketize(self) -> Entry:
        """The bucket of a value among boundaries."""
        first = self.pool.pick(lambda entry: entry.dtype not in (*FP8, "i1"))
        if first is None or self.pool.buffers_left < 2:
            return self.pointwise()
        size = self.chance.of((4, 0, 1, 2, 7, 16, 33))
        name = self.pool.buffer(first.dtype, max(size, 1), contents.boundaries(self.chance, first.dtype))
        sorter = None
        if self.chance.one_in(4) and size:
            from fuzz.records import Content, Iota

            sorter = self.pool.buffer(self.chance.of(("i64", "i32")), size, Content(base=Iota()))
        return self.pool.add(Bucketize(arg=first.position, boundaries=name, size=size, right=bool(self.chance.below(2)),
                                       dtype=self.chance.of(("i64", "i32")), sorter=sorter), low=0, high=size)

    def random(self) -> Entry:
        """Random numbers at offsets that are indices or data."""
        seeds = next((one.name for one in self.pool.buffers if one.name.startswith("seeds")), None)
        if seeds is None:
            from fuzz.records import Bits, Content

            seeds = self.pool.buffer("i64", 4, Content(base=Bits(seed=self.chance.seed())), prefix="seeds")
        offset = self.pool.pick(lambda entry: dtype_info(entry.dtype).is_integer) if self.chance.one_in(3) else None
        if offset is None:
            expr, _ = address(self.chance, "dense", self._domain())
            offset = self.pool.add(Index(expr=expr, dtype=self.chance.of(("i64", "i32"))), axes=self.pool.axes_of(expr),
                                   private=True)
        kind = self.chance.of(("rand", "randint64", "randn"))
        low, high = self.chance.of(((0, 10), (-5, 5), (0, 1 << 40), (-(1 << 62), 1 << 62)))
        known = kind == "randint64" and high < 1 << 39
        bounds = {"low": low, "high": high} if kind == "randint64" else {}
        return self.pool.add(Random(kind=kind, seeds=seeds, slot=self.chance.below(4), offset=offset.position, **bounds),  # type: ignore[arg-type]
                             low=low if known else None, high=high - 1 if known else None)

    def assembly(self) -> Entry:
        """Inline assembly."""
        body, dtype, arity = self.chance.of((("add_s32", "i32", 2), ("max_s32", "i32", 2), ("lop3_xor", "i32", 3),
                                             ("prmt_reverse", "i32", 1), ("ex2_approx", "fp32", 1), ("popc", "i32", 1)))
        args = [self.of_dtype(dtype) for _ in range(arity)]
        return self.pool.add(Asm(body=body, args=tuple(a.position for a in args), pure=bool(self.chance.below(2))))  # type: ignore[arg-type]
