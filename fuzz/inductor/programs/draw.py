"""Programs that have a torch expression: `fuzz.kinds.graphs.draw` with fewer options, for torch.compile as subject.

    torch_programs("reduction", target="inductor.programs_reduction", limits=Limits())
"""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.inductor.programs.expressible import DTYPES, REDUCTIONS, SCANS, operation
from tridiff.fuzz.inductor.programs.idioms import with_idiom
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.operations import Choice
from tridiff.fuzz.kinds.graphs.swarm import Family
from tridiff.fuzz.records import Case, Content, Finite, Small, Sorted, Sprinkle
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Bucketize, Graph, Node, Pointwise
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info

T = TypeVar("T")
_UNKNOWN = frozenset(NAMES) - frozenset(DTYPES)
_LEFT_OUT = {*_UNKNOWN, "random", "assembly", "split", "cooperative"}
"""Types, productions, and schedules that Inductor has no setting for."""
_REDUCTIONS = frozenset((*REDUCTIONS, "welford_combine", "xor_sum"))


class _TorchChoices(Choices):
    """Choices among what torch can express: types, productions, operations, reductions, scans, axes with elements."""

    empty_axes = asserts = False

    def of(self, options: Sequence[T]) -> T:
        return super().of(_offered(options))

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        offered = _offered([option for _, option in options])
        kept = [(weight, option) for weight, option in options if option in offered]
        return super().weighted(kept if any(weight for weight, _ in kept) else options)


def _offered(options: Sequence[T]) -> Sequence[T]:
    """Those options that torch has; all of them where none is left or where they are something else."""
    names = {one for one in options if isinstance(one, str)}
    if "second" in names:
        known: tuple[str, ...] = SCANS
    elif "sum" in names and names <= _REDUCTIONS:
        known = REDUCTIONS
    else:
        return [one for one in options if _known(one)] or options
    return [one for one in options if isinstance(one, str) and one in known] or options


def _known(option: object) -> bool:
    if isinstance(option, Choice):
        whole = option.result[0] in "iu" and option.op == "pow"
        return operation(option.op) is not None and not whole
    if isinstance(option, tuple):
        return not any(isinstance(one, str) and one in _UNKNOWN for one in option)
    return not isinstance(option, str) or option not in _LEFT_OUT


def _finish(graph: Graph, chance: Choices) -> Graph:
    """No scaling by powers of two: its torch function overflows on the way. Every other program ends in an idiom."""
    return with_idiom(replace(graph, nodes=tuple(map(_replaced, graph.nodes))), chance)


def _replaced(node: Node) -> Node:
    if isinstance(node, Pointwise) and node.op == "ldexp":
        return Pointwise(op="abs", args=node.args[:1])
    return node


@st.composite
def torch_programs(draw: st.DrawFn, family: Family, *, target: str, limits: Limits) -> Case:
    """Cases of one family of programs, nearly all of which `expressible` accepts."""
    case = draw(programs(family, target=target, limits=limits, choices=_TorchChoices, finish=_finish))
    among = {node.boundaries for node in graph_of(case).nodes if isinstance(node, Bucketize) and node.sorter is None}
    floats = {spec.name for spec in case.arrays if spec.name in among and dtype_info(spec.dtype).is_float}
    if not floats or draw(st.booleans()):
        return case
    return replace(case, arrays=tuple(
        replace(spec, content=_with_nan(spec.content)) if spec.name in floats and spec.content else spec
        for spec in case.arrays))


def _with_nan(content: Content) -> Content:
    """Boundaries of which some are NaN, which torch sorts last. Beside one all is open that lies between numbers: those
    are low, so that most values are above all of them and judged."""
    numbers = Small(seed=content.base.seed if isinstance(content.base, Small | Finite) else 1, low=-40, high=-4)
    return Content(base=numbers, overrides=(Sprinkle(values=("nan",), seed=1, per_mille=300), Sorted()))
