"""What the contract leaves open of generated programs, and what is asked of elements that nothing stores."""

from collections import Counter

import torch

from tests.support.draws import draws
from tests.unit.graphs.graphs import X, apply, filled, load, matrix, num, op, store
from tridiff.fuzz.content.place import Buffer, buffers_of, place
from tridiff.fuzz.inductor.programs.draw import torch_programs
from tridiff.fuzz.judge.open_share import OpenShare, open_share, open_shares
from tridiff.fuzz.judge.outputs import Inputs
from tridiff.fuzz.judge.untouched import stray_write, untouched_masks
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.operations import DIVISIONS
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case, Constant, Explicit, Special, Sprinkle
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.domains import Analysis, operands
from tridiff.kernels.codegen.graph import Bucketize, Graph, Load, Pointwise, Reduce, Scan, Store
from tridiff.kernels.pointwise.table import OPS


def _case(graph: Graph, values: tuple[str, ...]) -> Case:
    case = filled(graph, in0=Explicit(values=values))
    assert valid(case)
    return case


def _strided(dtype: str) -> Case:
    """Every second element of the output is stored."""
    graph = matrix(load("in0", X), store("out0", apply("mul", X, num(2)), 0), rows=3, in0=(dtype, 3), out0=(dtype, 6))
    return _case(graph, ("1", "0", "1"))


def _launched(case: Case, *, stray: int | None = None,
              value: int = 1) -> tuple[dict[str, Buffer], dict[str, torch.Tensor]]:
    """Arrays as a launch leaves them that stores 0 where it must, and `value` in the element `stray`."""
    buffers = buffers_of(case)
    buffers["out0"].logical[::2] = 0
    if stray is not None:
        buffers["out0"].logical[stray] = value
    return buffers, untouched_masks(case, find(case.target), Inputs(case, buffers))


def test_gaps_between_stores_must_stay_as_they_are():
    for dtype in ("fp32", "i32", "i1", "bf16", "fp8e5"):
        case = _strided(dtype)
        buffers, masks = _launched(case)
        assert masks["out0"].tolist() == [False, True] * 3
        assert stray_write(buffers, masks) is None
        assert open_share(case) == OpenShare(elements=6, outputs=1)
        found = stray_write(*_launched(case, stray=3, value=0))
        assert found == ("stray_write", "out0", "1 elements of out0 that nothing stores were written"), dtype
        assert stray_write(*_launched(case, stray=4)) is None


def test_another_nan_or_truth_in_a_gap_is_a_copy_of_what_was_there():
    assert stray_write(*_launched(_strided("fp32"), stray=1, value=0x7FC00000)) is None
    assert stray_write(*_launched(_strided("i1"), stray=1)) is None
    assert stray_write(*_launched(_strided("i32"), stray=1, value=0x7FC00000)) is not None


def test_open_elements_and_outputs_are_counted():
    """The logarithm of a subnormal number is that of zero where libdevice flushes it: anything is right."""
    graph = matrix(load("in0", X), op("log", 0), store("out0", X, 1), rows=2, in0=("fp32", 2), out0=("fp32", 2))
    one, both = _case(graph, ("1e-40", "2.0")), _case(graph, ("1e-40", "1e-41"))
    assert open_share(_case(graph, ("3.0", "-2.0"))) == OpenShare(elements=2, outputs=1)
    assert open_share(one) == OpenShare(elements=2, open_elements=1, outputs=1)
    assert open_share(both) == OpenShare(elements=2, open_elements=2, outputs=1, open_outputs=1)
    assert (open_shares([one, both]).of_elements, open_shares([one, both]).of_outputs) == (0.75, 0.5)


def test_little_is_left_open():
    """Once 12 to 23 % of elements and 3 to 9 % of outputs, of which most were gaps between stores."""
    shares = [open_share(case) for family in FAMILIES for case in draws(
        programs(family, target=f"codegen.{family}", limits=Limits(elements=1 << 11)), 20, seed=12)]
    shares += [open_share(case) for family in ("reduction", "scan") for case in draws(
        torch_programs(family, target=f"inductor.programs_{family}", limits=Limits(elements=1 << 10)), 60, seed=12)]
    total = sum(shares, OpenShare())
    assert total.elements > 100_000 and total.outputs > 1000, total
    assert total.of_elements < 0.04 and total.of_outputs < 0.01, total
    assert sum(one.open_elements == 0 for one in shares) > 0.6 * len(shares)


def _inexact(graph: Graph) -> set[int]:
    """Nodes with a function that is not rounded correctly, or a fold of floats, on the way to them."""
    analysis, found = Analysis(graph), set[int]()
    for position, node in enumerate(graph.nodes):
        group = OPS[node.op].group if isinstance(node, Pointwise) and node.op in OPS else ""
        folds = isinstance(node, Reduce | Scan) and analysis.dtype(node.args[0]).startswith(("fp", "bf"))
        if group in ("exponential", "trigonometric", "division") or folds or found & set(operands(node)):
            found.add(position)
    return found


def test_what_is_often_open_is_drawn_all_the_same():
    """Less often than by chance: values that are not exact where bits, steps or single cells are asked for, products of
    many floats, means of functions and of wild data, and single cells for sums of halves."""
    seen = Counter[str]()
    limits = Limits(elements=1 << 10)
    for family in ("pointwise", "reduction", "scan", "mixed"):
        for case in draws(programs(family, target=f"codegen.{family}", limits=limits), 100, seed=3):
            graph = graph_of(case)
            inexact, wild = _inexact(graph), set[int]()
            for position, node in enumerate(graph.nodes):
                of = set(operands(node))
                if wild & of or (isinstance(node, Load) and isinstance(_base(case, node.buffer), Special)):
                    wild.add(position)
                blurred = bool(inexact & of)
                if isinstance(node, Pointwise) and node.op in ("lt", "le", "gt", "ge", "eq", "ne"):
                    seen["compared"] += blurred
                elif isinstance(node, Pointwise) and node.op in (*DIVISIONS, "logical_and", "logical_not"):
                    seen["divided"] += blurred
                elif isinstance(node, Store) and node.mode == "atomic_add":
                    seen["added"] += blurred
                    seen["halves"] += any(one.name == node.buffer and one.length < 33 and one.dtype == "fp16"
                                          for one in graph.buffers)
                elif isinstance(node, Reduce) and node.kind in ("welford", "welford_combine"):
                    seen["averaged"] += blurred
                    seen["wild"] += bool(wild & of)
                elif isinstance(node, Reduce | Scan) and "prod" in (getattr(node, "kind", ""), getattr(
                        node, "combine", "")) and (graph.r or 0) > 32:
                    seen["long product"] += 1
                    loaded = graph.nodes[node.args[0]]
                    seen["of factors"] += isinstance(loaded, Load) and _base(case, loaded.buffer) == Constant(value="1")
    assert min(seen["compared"], seen["divided"]) >= 20 and seen["added"] >= 3 and seen["halves"] >= 1, seen
    assert seen["averaged"] >= 10 and seen["wild"] >= 1, seen
    assert 3 <= seen["of factors"] <= seen["long product"] - 3, seen


def _base(case: Case, name: str) -> object:
    content = case.array(name).content
    return content and content.base


def test_boundaries_with_nans_are_drawn_and_mostly_judged():
    """In half of the programs that search floats; most values are above all numbers among them."""
    searched, having, shares = 0, 0, OpenShare()
    limits = Limits(elements=1 << 9)
    for case in draws(torch_programs("sort", target="inductor.programs_sort", limits=limits), 150, seed=6):
        among = {one.boundaries for one in graph_of(case).nodes if isinstance(one, Bucketize) and one.sorter is None}
        floats = [spec for spec in case.arrays if spec.name in among and spec.dtype in ("fp16", "bf16", "fp32", "fp64")]
        mixed = any(isinstance(one, Sprinkle) and one.values == ("nan",) for spec in floats if spec.content
                    for one in spec.content.overrides)
        searched, having = searched + bool(floats), having + mixed
        shares += open_share(case) if mixed else OpenShare()
    assert searched >= 40 and 0.3 < having / searched < 0.7
    assert shares.outputs > 100 and shares.of_elements < 0.12 and shares.of_outputs < 0.04


def test_special_values_are_still_drawn():
    kinds = {"nan": 0, "infinite": 0, "minus zero": 0, "subnormal": 0}
    for case in draws(programs("pointwise", target="codegen.pointwise", limits=Limits(elements=1 << 9)), 300, seed=4):
        for spec in case.arrays:
            if spec.dtype == "fp32" and spec.content is not None:
                values = place(spec, case.sizes, device=torch.device("cpu")).values
                assert values is not None
                size = values.abs()
                kinds["nan"] += int(values.isnan().any())
                kinds["infinite"] += int(values.isinf().any())
                kinds["minus zero"] += int(((values == 0) & values.signbit()).any())
                kinds["subnormal"] += int(((size > 0) & (size < 2.0**-126)).any())
    assert all(number >= 3 for number in kinds.values()), kinds
