"""Nodes that look along r or beyond a point: reductions, scans, sorts, searches, random numbers, assembly."""

from collections.abc import Callable

from tridiff.fuzz.kinds.graphs import contents
from tridiff.fuzz.kinds.graphs.addresses import address
from tridiff.fuzz.kinds.graphs.draft import Entry
from tridiff.fuzz.kinds.graphs.operands import Operands
from tridiff.fuzz.records import Bits, Content, Iota, Small
from tridiff.kernels.codegen.graph import (
    Asm,
    Body,
    Bucketize,
    Fold,
    Index,
    Joining,
    Load,
    Random,
    Reduce,
    Scan,
    Sort,
    Stream,
    Sym,
)
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

_LONG = 32
"""Elements of a row from which on products of floats are mostly formed of factors that keep them in range."""


class Folding:
    """Reductions, scans and what else is not pointwise."""

    def __init__(self, operands: Operands) -> None:
        self.operands, self.draft, self.chance, self.cap = operands, operands.draft, operands.chance, operands.cap

    def _along(self, accept: Callable[[Entry], bool]) -> Entry | None:
        """A value that varies along r (rarely one that does not)."""
        if not self.chance.one_in(12):
            found = self.draft.pick(lambda entry: "r" in entry.axes and accept(entry))
            if found is not None:
                return found
        return self.draft.pick(accept)

    def _made(self, kind: type) -> int:
        return sum(isinstance(node, kind) for node in self.draft.nodes)

    def reduce(self) -> Entry:
        """A reduction of any kind."""
        first = self._along(lambda entry: True) or self.operands.load(wants_r=True)
        if "r" not in first.axes and self.chance.below(4):
            first = self.operands.load(wants_r=True)
        info = dtype_info(first.dtype)
        kinds: list[Fold] = ["sum", "max", "min", "prod", "any", "all", "argmax", "argmin"]
        if info.is_float and first.dtype not in FP8:
            kinds += ["welford", "welford", "welford_combine"]
        if not info.is_float:
            kinds += ["xor_sum"]
        if first.dtype in FP8:
            kinds = ["sum", "max", "min", "any"]
        if self.draft.axes["r"] == 0:
            kinds = [kind for kind in kinds if kind not in ("max", "min", "argmax", "argmin")]
        if not self.draft.sharp(lambda entry: True)(first):
            kinds = [kind for kind in kinds if kind not in ("any", "all", "argmax", "argmin")]
        elif first.inexact and not self.draft.known(lambda entry: True)(first):
            # Integers that are open here and there: a truth value may decide all the same.
            kinds = [kind for kind in kinds if kind not in ("sum", "prod", "xor_sum", "argmax", "argmin")]
        kind = self.chance.of(kinds)
        if kind == "welford_combine":
            return self._welford_combine(self._averaged(first))
        if kind == "prod":
            first = self._multiplied(first)
        elif kind == "welford":
            first = self._averaged(first)
        node = Reduce(kind=kind, args=(first.position,))
        if kind != "welford":
            length = max(self.draft.axes["r"] - 1, 0)
            known = (0, length) if kind in ("argmax", "argmin") else (None, None)
            return self.draft.add(node, low=known[0], high=known[1])
        return self._states(self.draft.add(node))

    def _multiplied(self, first: Entry) -> Entry:
        """What a product is formed of: the value, or where a long one of floats would leave the range in some order, as
        it mostly does, mostly factors that keep it there."""
        length = self.draft.axes["r"]
        if length < _LONG or not dtype_info(first.dtype).is_float or first.dtype in FP8 or self.chance.one_in(8):
            return first
        return self._instead(first, lambda: contents.factors(self.chance, length))

    def _averaged(self, first: Entry) -> Entry:
        """What a mean is formed of: the value, half of the time tame numbers instead of functions and wild data, which
        may be infinite, or their squares."""
        if not (self.draft.swarm.wild or first.inexact) or self.chance.below(2):
            return first
        return self._instead(first, lambda: contents.content(self.chance, first.dtype, wild=0))

    def _instead(self, first: Entry, content: Callable[[], Content]) -> Entry:
        """A load of a value's type from a new buffer; the value where there is no room."""
        expr, needed = address(self.chance, "dense", self.operands.domain(wants_r=True))
        if needed > self.cap or self.draft.buffers_left < 1:
            return first
        name = self.draft.buffer(first.dtype, max(needed, 1), content())
        return self.draft.add(Load(buffer=name, index=expr))

    def _states(self, state: Entry) -> Entry:
        return self._parts(state, self.chance.of(((0, 1), (1,), (0, 1, 2), (0,))))

    def _parts(self, of: Entry, items: tuple[int, ...]) -> Entry:
        """Some results of a node; the first of them."""
        found = [self.draft.part(of, item) for item in items]
        return found[0]

    def _welford_combine(self, mean: Entry) -> Entry:
        # Partial states need m2 >= 0 and whole weights: a square, and small counts from a buffer of their own.
        squares = self.draft.operation("abs", mean, private=True)
        axes = self.operands.domain(wants_r=True)
        expr, length = address(self.chance, "dense", axes)
        if length > self.cap:
            return self.draft.add(Reduce(kind="sum", args=(mean.position,)))
        weights = Content(base=Small(seed=self.chance.seed(), low=0, high=4))
        name = self.draft.buffer(mean.dtype, max(length, 1), weights)
        weight = self.draft.add(Load(buffer=name, index=expr), private=True)
        return self._states(self.draft.add(
            Reduce(kind="welford_combine", args=(mean.position, squares.position, weight.position))))

    def scan(self) -> Entry:
        """A scan of any kind; the third and later ones are mostly left out, for what they cost the compiler."""
        if self._made(Scan) >= 2 and self.chance.below(4):
            return self.reduce() if self.chance.below(2) else self.operands.compare()
        first = self._along(lambda entry: entry.dtype not in FP8) or self.operands.load(self._scannable(), wants_r=True)
        kinds: list[Joining] = ["sum", "max", "min", "prod", "second", "argmax", "argmin", "affine"]
        if dtype_info(first.dtype).is_float:
            kinds.append("logcumsumexp")
        if first.dtype == "i1":
            kinds = ["max", "min", "second", "argmax", "argmin"]
        kind = self.chance.of(kinds)
        args = [self._multiplied(first) if kind == "prod" else first]
        if kind == "affine":
            args.append(self.operands.of_dtype(first.dtype, other_than=first))
        if kind in ("argmax", "argmin"):
            position = self.draft.pick(lambda entry: entry.dtype in ("i32", "i64") and "r" in entry.axes)
            args.append(position or self.draft.add(Index(expr=Sym(name="r"), dtype=self.chance.of(("i64", "i32"))),
                                                  low=0, high=max(self.draft.axes["r"] - 1, 0)))
        node = Scan(combine=kind, args=tuple(a.position for a in args))
        known = (first.low, first.high) if kind in ("max", "min", "second") else (None, None)
        entry = self.draft.add(node, axes=("r",), low=known[0], high=known[1])
        return entry if len(args) == 1 else self._parts(entry, self.chance.of(((1,), (0,), (0, 1))))

    def _scannable(self) -> str:
        return next((name for name in self.draft.swarm.dtypes if name not in (*FP8, "i1")), "fp32")

    def sort(self) -> Entry:
        """A sort along r; mostly one in a program, for what it costs the compiler."""
        if self._made(Sort) and (self.draft.axes["r"] > 8 or self.chance.below(8)):
            return self.bucketize()
        accept = self.draft.sharp(lambda entry: entry.dtype not in FP8)
        first = self._along(accept) or self.operands.load(self._scannable(), wants_r=True)
        stable = not self.chance.one_in(4)
        node = Sort(arg=first.position, descending=bool(self.chance.below(2)), stable=stable)
        pair = self.draft.add(node, axes=("r",))
        last = max(self.draft.axes["r"] - 1, 0)
        # Where positions of ties are open, what is made of them says nothing: they are rarely taken.
        items = self.chance.of(((0,), (1,), (0, 1)) if stable else ((0,),) * 31 + ((1,),))
        found = [self.draft.part(pair, item, low=0 if item else None, high=last if item else None) for item in items]
        return found[0]

    def bucketize(self) -> Entry:
        """The bucket of a value among boundaries."""
        first = self.draft.pick(self.draft.sharp(lambda entry: entry.dtype not in (*FP8, "i1")))
        if first is None or self.draft.buffers_left < 2:
            return self.operands.compare()
        size = self.chance.of((4, 0, 1, 2, 7, 16, 33))
        name = self.draft.buffer(first.dtype, max(size, 1), contents.boundaries(self.chance, first.dtype))
        sorter = None
        if self.chance.one_in(4) and size:
            sorter = self.draft.buffer(self.chance.of(("i64", "i32")), size, Content(base=Iota()))
        right = bool(self.chance.below(2))
        return self.draft.add(Bucketize(arg=first.position, boundaries=name, size=size, right=right,
                                        dtype=self.chance.of(("i64", "i32")), sorter=sorter), low=0, high=size)

    def random(self) -> Entry:
        """Random numbers at offsets that are indices or data."""
        seeds = next((one.name for one in self.draft.buffers if one.name.startswith("seeds")), None)
        if seeds is None:
            seeds = self.draft.buffer("i64", 4, Content(base=Bits(seed=self.chance.seed())), prefix="seeds")
        offset = self.draft.pick(lambda entry: dtype_info(entry.dtype).is_integer) if self.chance.one_in(3) else None
        if offset is None:
            expr, _ = address(self.chance, "dense", self.operands.domain())
            offset = self.draft.add(Index(expr=expr, dtype=self.chance.of(("i64", "i32"))), private=True)
        kind: Stream = self.chance.of(("rand", "randint64", "randn"))
        low, high = self.chance.of(((0, 10), (-5, 5), (0, 1 << 40), (-(1 << 62), 1 << 62)))
        known = kind == "randint64" and high < 1 << 39
        bounds = {"low": low, "high": high} if kind == "randint64" else {}
        node = Random(kind=kind, seeds=seeds, slot=self.chance.below(4), offset=offset.position, **bounds)
        return self.draft.add(node, low=low if known else None, high=high - 1 if known else None)

    def assembly(self) -> Entry:
        """Inline assembly."""
        bodies: tuple[tuple[Body, str, int], ...] = (
            ("add_s32", "i32", 2), ("max_s32", "i32", 2), ("lop3_xor", "i32", 3), ("prmt_reverse", "i32", 1),
            ("ex2_approx", "fp32", 1), ("popc", "i32", 1))
        body, dtype, arity = self.chance.of(bodies)
        args = [self.operands.of_dtype(dtype) for _ in range(arity)]
        return self.draft.add(Asm(body=body, args=tuple(a.position for a in args), pure=bool(self.chance.below(2))))
