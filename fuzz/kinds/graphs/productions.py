"""How a program grows: each production appends a node or a few, none of which can be undefined."""

from collections.abc import Callable, Mapping

from tridiff.fuzz.kinds.graphs.arithmetic import Arithmetic
from tridiff.fuzz.kinds.graphs.draft import Draft, Entry
from tridiff.fuzz.kinds.graphs.folding import Folding
from tridiff.fuzz.kinds.graphs.operands import Operands
from tridiff.fuzz.kinds.graphs.small_forms import SmallForms

_MAKES_BUFFERS = ("load", "masked_load", "body", "gather", "bucketize", "random")


class Productions:
    """The productions over one draft, by the names of `tridiff.fuzz.kinds.graphs.swarm`. cap: most elements of one
    buffer."""

    def __init__(self, draft: Draft, *, cap: int) -> None:
        self.operands = Operands(draft, cap=cap)
        self.cap = cap
        one, point, fold = self.operands, Arithmetic(self.operands), Folding(self.operands)
        self._by_name: Mapping[str, Callable[[], Entry]] = {
            "load": one.load, "constant": one.constant, "index": one.index, "compare": one.compare,
            "masked_load": one.masked_load, "body": one.body, "gather": one.gather,
            "pointwise": point.pointwise, "cast": point.cast, "where": point.where, "bitcast": point.bitcast,
            "chain": SmallForms(one, point).chain, "frexp": point.frexp, "divide": point.divide, "shift": point.shift,
            "reduce": fold.reduce, "scan": fold.scan, "sort": fold.sort, "bucketize": fold.bucketize,
            "random": fold.random, "assembly": fold.assembly}

    def grow(self, name: str) -> Entry:
        """Append what a production makes; the value it is about. Few buffers are left: an operation instead."""
        if name in _MAKES_BUFFERS and self.operands.draft.buffers_left <= 2:
            name = "pointwise"
        return self._by_name[name]()
