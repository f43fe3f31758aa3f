"""The program under construction: its nodes, buffers and the values that later nodes may use."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.fuzz.kinds.graphs.swarm import Swarm
from tridiff.fuzz.records import Content
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis, expression, operands, result_dtypes, value_operands
from tridiff.kernels.codegen.graph import (
    MAX_NODES,
    Asm,
    Buffer,
    Constant,
    Index,
    Node,
    Part,
    Pointwise,
    Random,
    Reduce,
    Role,
    Scan,
)
from tridiff.kernels.codegen.ranges import Facts, symbols
from tridiff.kernels.pointwise.record import ELEMENTARY, Group
from tridiff.kernels.pointwise.table import OPS

Interval = tuple[int, int]


@dataclass(slots=True)
class Entry:
    """A value that nodes may use. axes: its domain. low, high: proven range of an integer. depth: nodes on the longest
    way to it. inexact: whether a function that is not correctly rounded, or a fold of floats, lies on the way, so that
    nobody can say which bits it has."""

    position: int
    dtype: str
    axes: frozenset[str]
    low: int | None = None
    high: int | None = None
    uses: int = 0
    depth: int = 0
    inexact: bool = False


_INEXACT_GROUPS: tuple[Group, ...] = ("division", *ELEMENTARY)
_INEXACT_FOLDS = ("sum", "prod", "welford", "welford_combine", "affine", "logcumsumexp")


def _rounds(node: Node, dtype: str) -> bool:
    """Whether a node makes values of which bits are not known (`Entry.inexact`). dtype: of its first operand."""
    match node:
        case Pointwise(op=op):
            return op == "mod_operator" or (op in OPS and OPS[op].group in _INEXACT_GROUPS)
        case Reduce(kind=fold) | Scan(combine=fold):
            return fold in _INEXACT_FOLDS and is_float(dtype)
        case Random(kind=kind):
            return kind == "randn"
        case Index(dtype=kind):
            return is_float(kind)
        case Asm(body=body):
            return body == "ex2_approx"
    return False


def inexact(analysis: Analysis) -> frozenset[int]:
    """The nodes of a graph whose values are `Entry.inexact`."""
    found: set[int] = set()
    for position, node in enumerate(analysis.nodes):
        of = value_operands(node)
        if _rounds(node, analysis.dtype(of[0]) if of else "") or found & set(operands(node)):
            found.add(position)
    return frozenset(found)


@dataclass
class Draft:
    """A program graph under construction: its nodes and buffers so far. axes: lengths of x0, ..., r."""

    chance: Choices
    swarm: Swarm
    axes: dict[str, int]
    nodes: list[Node] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    contents: dict[str, Content] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)
    """Values open to use, by position; private nodes (bodies, guards) are not among them."""
    all: dict[int, Entry] = field(default_factory=dict)
    dtypes: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.nodes) > MAX_NODES - 24

    @property
    def outer(self) -> frozenset[str]:
        return frozenset(axis for axis in self.axes if axis != "r")

    # -- adding

    def add(self, node: Node, *, axes: Iterable[str] = (), low: int | None = None, high: int | None = None,
            private: bool = False) -> Entry:
        """Append a node whose domain is its operands', the axes that its expression names, and `axes`; several results
        are taken with `part`."""
        position = len(self.nodes)
        parts = self.dtypes[node.of] if isinstance(node, Part) else ()
        of = [] if isinstance(node, Part) else [self.dtypes[k][0] for k in value_operands(node)]
        found = result_dtypes(node, of, {buffer.name: buffer.dtype for buffer in self.buffers}, parts)
        self.nodes.append(node)
        self.dtypes.append(found)
        expr = expression(node)
        domain = frozenset(axes) | (frozenset() if expr is None else symbols(expr) & self.axes.keys())
        depth = 0
        inexact = _rounds(node, of[0] if of else "")
        for operand in operands(node):
            inexact |= self.all[operand].inexact
            domain |= self.all[operand].axes
            depth = max(depth, self.all[operand].depth + 1)
            self.all[operand].uses += 1
        entry = Entry(position, found[0] if found else "", domain, low, high, depth=depth,
                      inexact=inexact)
        self.all[position] = entry
        if not private and len(found) == 1:
            self.entries[position] = entry
        return entry

    def operation(self, op: str, *args: Entry, private: bool = False) -> Entry:
        """Append an operation on values."""
        return self.add(Pointwise(op=op, args=tuple(one.position for one in args)), private=private)

    def part(self, of: Entry, item: int, *, low: int | None = None, high: int | None = None) -> Entry:
        """One result of a node that has several."""
        return self.add(Part(of=of.position, item=item), low=low, high=high)

    def constant(self, value: str, dtype: str) -> Entry:
        """A constant of its own, not open to other uses."""
        whole = int(value) if dtype[0] in "iu" and value.lstrip("-").isdigit() else None
        return self.add(Constant(value=value, dtype=dtype), low=whole, high=whole, private=True)

    def buffer(self, dtype: str, length: int, content: Content, *, prefix: str = "in", role: Role = "in") -> str:
        """A new buffer; its name."""
        name = f"{prefix}{sum(one.name.startswith(prefix) for one in self.buffers)}"
        self.buffers.append(Buffer(name=name, dtype=dtype, length=length, role=role))
        self.contents[name] = content
        return name

    def sharp(self, accept: Callable[[Entry], bool], *, one_in: int = 16) -> Callable[[Entry], bool]:
        """`accept` for what asks for bits, exponents or places among others: of floats that are known but for an error
        the answer is often open, so that those are offered one time in 16, or as often as `one_in` says."""
        if self.chance.one_in(one_in):
            return accept
        return lambda entry: accept(entry) and not (entry.inexact and is_float(entry.dtype))

    def known(self, accept: Callable[[Entry], bool]) -> Callable[[Entry], bool]:
        """`accept` for what makes one element of many, of which none may be open: values with a function or a fold of
        floats on the way, integers too, are offered one time in 8."""
        if self.chance.one_in(8):
            return accept
        return lambda entry: accept(entry) and not entry.inexact

    def of_integers(self, entry: Entry) -> bool:
        """Whether no float, which may be open, lies on the way to a value."""
        asked = {entry.position}
        for position in range(entry.position, -1, -1):
            if position in asked:
                asked.update(operands(self.nodes[position]))
        return not any(is_float(name) for position in asked for name in self.dtypes[position])

    @property
    def buffers_left(self) -> int:
        """Inputs that may still be made: outputs need some of the 24."""
        return 16 - len(self.buffers)

    # -- choosing

    def pick(self, accept: Callable[[Entry], bool]) -> Entry | None:
        """One of the acceptable values, unused and recent ones most often; None if there is none."""
        found = [entry for entry in self.entries.values() if accept(entry)]
        if not found:
            return None
        fresh = [entry for entry in found if not entry.uses]
        ticket = self.chance.below(16)
        # One draw: 0 to 9 an unused value, the latest first; 10 to 15 any.
        if fresh and ticket < 10:
            return fresh[-1 - ticket % len(fresh)]
        if ticket < 13:
            return found[-1 - ticket % min(len(found), 5)]
        return found[self.chance.below(len(found))]

    def facts(self) -> Facts:
        """What is known of symbols: axes, sizes and integer values."""
        known: dict[str, Interval] = {name: (0, max(length - 1, 0)) for name, length in self.axes.items()}
        for name, length in self.axes.items():
            known["rn" if name == "r" else f"n{name[1:]}"] = (length, length)
        for position, entry in self.all.items():
            if entry.low is not None and entry.high is not None:
                known[f"v{position}"] = (entry.low, entry.high)
        return Facts(known)
