"""What is asked of torch.compile where the contract of generated code leaves an answer open."""

import math

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import compiled
from tests.unit.graphs.graphs import X, at, cast, load, matrix, row_sums_of_a_masked_gather, store, vector
from tridiff.fuzz.kinds.graphs import by_torch
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.kinds.graphs.torch_contract import BESSEL, EagerInterpreter, beyond_own_contract
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Content, Explicit
from tridiff.kernels.codegen.graph import Graph, Node, Part, Pointwise, Reduce
from tridiff.oracles.by_numpy.bounded import Real

each = pytest.mark.parametrize
INF = math.inf


def _mean(columns: int) -> Graph:
    return matrix(load("in0", at(columns)), Reduce(kind="welford", args=(0,)), Part(of=1, item=0), store("out0", X, 2),
                  rows=1, columns=columns, in0=("fp32", columns), out0=("fp32", 1))


def _narrowed() -> Graph:
    return matrix(load("in0", at(1)), cast(0, "fp8e5"), store("out0", X, 1),
                  rows=1, columns=1, in0=("fp32", 1), out0=("fp8e5", 1))


def _numpy(kind: type[Interpreter], graph: Graph, values: list[float]) -> Real:
    return kind(graph, {"in0": np.array(values, dtype=np.float32)}).run()["out0"]


@each("row", [[INF], [1.0, 2.0, -INF], [-3.0, INF]])
def test_the_mean_is_infinite_where_the_infinity_comes_last(row: list[float]):
    graph = _mean(len(row))
    found = _numpy(EagerInterpreter, graph, row)
    assert found.value.item() == row[-1] and found.error.item() == 0
    assert by_torch.evaluate(graph, {"in0": torch.tensor(row)}, eager=True)["out0"].item() == row[-1]
    assert _numpy(Interpreter, graph, row).error.item() == INF
    assert torch.var_mean(torch.tensor(row), 0, correction=0)[1].item() == row[-1]


@each("row", [[math.nan, INF], [INF, math.nan, 1.0], [1.0, math.nan], [-INF, 1.0, INF], [INF, -INF]])
def test_the_mean_is_nan_of_a_nan_and_of_infinities_of_both_signs(row: list[float]):
    graph = _mean(len(row))
    for kind in (Interpreter, EagerInterpreter):
        assert _numpy(kind, graph, row).nan.all()
    assert math.isnan(torch.var_mean(torch.tensor(row), 0, correction=0)[1].item())
    for eager in (True, False):
        assert math.isnan(by_torch.evaluate(graph, {"in0": torch.tensor(row)}, eager=eager)["out0"].item())


@each("row", [[INF, INF], [INF, 1.0], [3e38, -3e38, INF]])
def test_the_mean_stays_open_where_eager_torch_and_numpy_differ(row: list[float]):
    assert _numpy(EagerInterpreter, _mean(len(row)), row).error.item() == INF


def test_overflow_to_fp8e5_is_infinite():
    for value, wanted in ((61440.0, INF), (-1e30, -INF), (-INF, -INF), (61439.0, 57344.0)):
        found = _numpy(EagerInterpreter, _narrowed(), [value])
        assert (found.value.item(), found.error.item()) == (wanted, 0.0)
        eager = by_torch.evaluate(_narrowed(), {"in0": torch.tensor([value])})["out0"]
        assert eager.float().item() == torch.tensor([value]).to(torch.float8_e5m2).float().item() == wanted
    assert _numpy(Interpreter, _narrowed(), [61440.0]).error.item() == INF


def _bessel(op: str, *behind: Node) -> Graph:
    return vector(load("in0", X), Pointwise(op=op, args=(0,)), *behind, store("out0", X, 1 + len(behind)), length=4,
                  in0="fp32", out0="fp32")


@each("op", BESSEL)
def test_bessel_functions_of_infinities_are_those_of_eager_torch(op: str):
    graph, row = _bessel(op), [INF, -INF, math.nan, 5.0]
    found = _numpy(EagerInterpreter, graph, row)
    assert found.nan.tolist() == [True, True, True, False] and found.error[3] < 1e-4
    assert _numpy(Interpreter, graph, row).value[0] == 0
    answer = by_torch.evaluate(graph, {"in0": torch.tensor(row)}, eager=True)["out0"]
    eager = getattr(torch.special, f"bessel_{op}")(torch.tensor(row))
    assert torch.equal(answer.isnan(), eager.isnan()) and abs(answer[3] - eager[3]) < 1e-4
    assert by_torch.evaluate(graph, {"in0": torch.tensor(row)})["out0"][0] == 0
    assert beyond_own_contract(graph) == "", "our kernels are judged, and what they give at infinities is known"


@each("op", BESSEL)
@each("behind", [(), (Pointwise(op="cos", args=(1,)),)])
@each("subject", ["inductor", "own"])
def test_the_limit_of_a_bessel_function_is_known_and_another_value_at_infinity_is_new(
        op: str, behind: tuple[Node, ...], subject: str):
    rehearsal = rehearse(compiled(_bessel(op, *behind), "pointwise", "inf", "-inf", "nan", "5.0"))
    right, limit = rehearsal.outputs()["out0"], 1.0 if behind else 0.0
    ends = [limit, math.nan if op[0] == "y" else -limit if not behind else limit]
    for given, known in ((ends, True), ([limit, math.nan], True), ([math.nan, 1e-6], False), ([0.5, ends[1]], False),
                         ([-limit - 1e-6, ends[1]], False), ([INF, math.nan], False), ([limit, 0.5], False)):
        out = torch.cat((torch.tensor(given), right[2:]))
        names = rehearsal.judged({"out0": out}, subject=subject)[1]
        assert names == (("bessel-function-of-infinity",) if known else ()), given
    finite = torch.cat((torch.tensor(ends), right[2:] * 1.01))
    assert rehearsal.judged({"out0": finite}, subject=subject)[1] == ()


def test_what_is_divided_by_the_limit_is_known_and_what_it_leaves_open_is_not_judged():
    """1 / j0(inf) is infinite for +0.0 and for -0.0; y1(inf) / acosh(x) is NaN where acosh may be 0."""
    graph = vector(load("in0", X), Pointwise(op="j0", args=(0,)), Pointwise(op="reciprocal", args=(1,)),
                   store("out0", X, 2), length=2, in0="fp32", out0="fp32")
    rehearsal = rehearse(compiled(graph, "pointwise", "inf", "5.0"))
    right = rehearsal.outputs()["out0"]
    for first, known in ((INF, True), (-INF, True), (3.0, False), (0.0, False)):
        out = torch.stack((torch.tensor(first), right[1]))
        names = rehearsal.judged({"out0": out})[1]
        assert names == (("bessel-function-of-infinity",) if known else ()), first
    nodes = (load("in0", X), Pointwise(op="y1", args=(0,)), load("in1", X), Pointwise(op="acosh", args=(2,)))
    by_acosh = vector(*nodes, Pointwise(op="truediv", args=(1, 3)), store("out0", X, 4), length=2, in0="fp32",
                      in1="fp32", out0="fp32")
    case = compiled(by_acosh, "pointwise", "inf", "5.0")
    ends = tuple(replace(one, content=Content(base=Explicit(values=("1.0", "3.0")))) if one.name == "in1" else one
                 for one in case.arrays)
    rehearsal = rehearse(replace(case, arrays=ends))
    right = rehearsal.outputs()["out0"]
    assert right.isnan().tolist() == [True, False]
    for given, known in (([0.0, right[1].item()], True), ([math.nan, right[1].item() * 2], False),
                         ([0.0, right[1].item() * 2], False)):
        names = rehearsal.judged({"out0": torch.tensor(given)})[1]
        assert names == (("bessel-function-of-infinity",) if known else ()), given


def test_the_control_declines_what_its_contract_leaves_open():
    assert "mean" in beyond_own_contract(_mean(2)) and "fp8e5" in beyond_own_contract(_narrowed())
    assert beyond_own_contract(row_sums_of_a_masked_gather()) == ""
