"""Single operations of torch.compile: what their bounds accept of code that flushes or overflows on its way, and what
not; which outputs are unordered."""

import math

import pytest
import torch

from tests.support.draws import draws
from tridiff.fuzz.inductor import references
from tridiff.fuzz.inductor.operations import OPERATIONS
from tridiff.fuzz.inductor.programs.draw import torch_programs
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.records import ArraySpec, Case, Content
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits, Target
from tridiff.kernels.codegen.graph import Store
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import dtype, torch_dtype

each = pytest.mark.parametrize


def accepts(name: str, kind: str, x: list[float], answer: list[float], *more: list[float]) -> list[bool]:
    """Whether both references accept each answer of an operation on values of one type."""
    operands = [torch.tensor(one, dtype=torch.float64).to(torch_dtype(kind)) for one in (x, *more)]
    case = asked(name, kind, len(x))
    target = find(case.target)
    rule, bound = target.judge.rules(case)["out"], None
    if target.judge.bounds(case):
        bound = references.bound(case, *operands)
    actual = torch.tensor(answer, dtype=torch.float64).to(torch_dtype(kind))
    by_numpy = torch.from_numpy(references.by_numpy(case, *(one.numpy() for one in _numpy_ready(operands)))[0])
    answers = (references.by_torch(case, *operands)[0], by_numpy)
    wrong = [compare(actual, one, rule, bound=bound).mismatch for one in answers]
    return (~(wrong[0] | wrong[1])).tolist()


def _numpy_ready(operands: list[torch.Tensor]) -> list[torch.Tensor]:
    return [one.float() if one.dtype == torch.bfloat16 else one for one in operands]


def asked(name: str, kind: str, rows: int) -> Case:
    operation = OPERATIONS[name]
    inputs = [ArraySpec(name=one, dtype=kind, dims=("rows",), content=Content()) for one in "abc"[:operation.arity]]
    return Case(target="inductor.pointwise", sizes={"rows": rows, "one": 1}, params={"op": name}, arrays=(
        *inputs, f"out {kind}[rows]",
        "dtype i32[one]"))


@each("kind, x", [("bf16", -90.0), ("fp32", -90.0), ("fp32", -103.0), ("fp64", -709.9)])
def test_sigmoid_is_zero_where_its_exponential_overflows(kind: str, x: float):
    exact = math.exp(x)
    assert 0 < exact < dtype(kind).smallest_normal
    assert accepts("sigmoid", kind, [x], [0.0]) == accepts("sigmoid", kind, [x], [exact]) == [True]
    assert accepts("sigmoid", kind, [x], [3 * dtype(kind).smallest_normal]) == [False]


@each("kind", ("bf16", "fp32", "fp64"))
def test_sigmoid_is_exact_to_its_figure_elsewhere(kind: str):
    for x in (-80.0, -20.0, -1.5, 0.5, 3.0):
        exact = 1 / (1 + math.exp(-x))
        assert accepts("sigmoid", kind, [x], [exact]) == [True]
        assert accepts("sigmoid", kind, [x], [exact * 1.02]) == [False]
        if kind == "fp32":
            # exp is ex2.approx of a rounded product: 1.23 ulps per unit of x, of which a wrong constant has more.
            assert accepts("sigmoid", kind, [x], [exact * (1 + abs(x) * 2.0**-24)]) == [True]
            assert accepts("sigmoid", kind, [x], [exact * (1 + 2.0**-14)]) == [False]


def test_the_series_of_i1_in_eager_torch_is_not_asked_for():
    x = torch.tensor([8.0, 7.51235, -6.25])
    exact = references.SPECIAL["i1"](x.double().numpy())
    control = references.eagerly(OPERATIONS["i1"], (x,))
    assert accepts("i1", "fp32", x.tolist(), control.tolist()) == [True] * 3
    assert accepts("i1", "fp32", x.tolist(), (exact * (1 + 2.0**-18)).tolist()) == [False] * 3


def test_library_functions_of_single_precision_may_flush_and_those_of_double_may_not():
    tiny = [1e-40, -1e-39]
    for name in ("sin", "tanh", "asin", "erf", "expm1"):
        assert accepts(name, "fp32", tiny, [0.0, 0.0]) == accepts(name, "fp32", tiny, tiny) == [True, True]
        assert accepts(name, "fp32", tiny, [1e-37, -1e-37]) == [False, False]
        assert accepts(name, "fp64", [1e-310], [0.0]) == [False]
    # What becomes of a subnormal argument is anything: sqrt of 0 and of 1e-40, log of either.
    assert accepts("sqrt", "fp32", [1e-40], [0.0]) == accepts("log", "fp32", [1e-40], [-math.inf]) == [True]
    assert accepts("sqrt", "fp32", [1e-30], [0.0]) == accepts("log", "fp32", [1e-30], [-math.inf]) == [False]


def test_references_of_double_precision_are_as_good_as_their_rules():
    """MKL's square root of 56.64311804915093 is an ulp off, scipy's erfc of 23 two hundred; scipy's erfinv(-0.0) is
    0.0. Each contradicted the other reference, and the case was not checked."""
    assert accepts("sqrt", "fp64", [56.64311804915093], [7.526162239093104]) == [True]
    assert accepts("sqrt", "fp64", [56.64311804915093], [7.526162239093105]) == [False]
    assert accepts("erfc", "fp64", [23.004341281298196], [math.erfc(23.004341281298196)]) == [True]
    assert accepts("erfinv", "fp64", [-0.0], [-0.0]) == [True]


def test_sums_in_no_fixed_order_are_unordered_for_every_subject():
    cases = draws(torch_programs("memory", target="inductor.programs_memory", limits=Limits()), 120, seed=3)
    target = find("inductor.programs_memory")
    seen = {True: 0, False: 0}
    for case in cases:
        graph = graph_of(case)
        buffers = {one.name: one.dtype for one in graph.buffers}
        for node in graph.nodes:
            if isinstance(node, Store) and node.mode == "atomic_add":
                rounds = dtype(buffers[node.buffer]).is_float
                assert (f"{node.buffer}_after" in target.judge.unordered(case)) == rounds
                seen[rounds] += 1
    assert all(seen.values())


def test_long_running_sums_may_be_split_over_programs():
    scan: Target = find("inductor.scan")

    def running(name: str, kind: str, columns: int) -> tuple[str, ...]:
        dims = ("rows", "cols")
        return scan.judge.unordered(Case(target="inductor.scan", sizes={"rows": 2, "cols": columns, "one": 1},
                                   params={"op": name}, arrays=(
            ArraySpec(name="a", dtype=kind, dims=dims, content=Content()), ArraySpec(name="out", dtype=kind, dims=dims),
            "dtype i32[one]")))

    assert running("cumsum", "fp32", 9000) == running("cumsum", "fp16", 9000) == ("out",)
    assert running("cumsum", "fp32", 128) == running("cummax_values", "fp32", 9000) == ()
    assert running("cumsum_integer", "i32", 9000) == ()


def test_eager_torch_is_a_control_of_the_references():
    assert all(find(f"inductor.{name}").controls == ("own",) for name in (
        "pointwise", "folding", "conversion", "reduction", "scan", "sort", "bucketize"))
    assert find("inductor.programs_mixed").controls == () == find("codegen.mixed").controls


@each("kind, judged", [("bf16", [False, True, False, True]), ("fp64", [True] * 4)])
def test_rests_are_judged_where_no_number_or_rest_of_single_precision_may_be_flushed(
        kind: str, judged: list[bool]):
    a, b = (torch.tensor(x, dtype=torch.float64).to(torch_dtype(kind)) for x in (
        [0.0, 5.0, 3e-38, math.nan], [9e-41, 3.0, 2e-38, 1.0]))
    assert references.defined(asked("fmod", kind, 4), a, b).tolist() == judged


def test_libdevice_scales_no_subnormal_number_and_no_exponent_is_out_of_reach():
    x, n = torch.tensor([1e-45, 3.0, 3.0, math.inf]), torch.tensor([3, -99, 100, 1], dtype=torch.int32)
    assert references.defined(asked("ldexp", "fp32", 4), x, n).tolist() == [False, True, False, True]


@each("name", ["fmin", "fmax"])
@each("kind", ["fp16", "bf16", "fp32", "fp64"])
def test_extrema_that_ignore_a_nan_ignore_a_signalling_one_too(name: str, kind: str):
    """C's fmin and fmax, which eager torch calls, do not."""
    quiet = torch.full((40,), torch.nan, dtype=torch_dtype(kind))
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[quiet.element_size()]
    signalling = (quiet.view(integer) & ~(1 << (dtype(kind).mantissa_bits - 1)) | 1).view(quiet.dtype)
    number = torch.full_like(quiet, 2.0)
    for pair in ((signalling, number), (number, signalling)):
        assert references.by_torch(asked(name, kind, 40), *pair)[0].tolist() == [2.0] * 40
    assert references.by_torch(asked(name, kind, 40), signalling, quiet)[0].isnan().all()


@each("kind", ["bf16", "fp32", "fp64", "i32", "u8"])
def test_conversions_to_fp8e4nv_saturate_whatever_this_torch_does(kind: str):
    """torch 2.11 has NaN for them in eager mode."""
    numbers = [448.0, 460.0, 1000.0, 30000.0] if kind != "u8" else [200.0, 255.0, 1.0, 0.0]
    x = torch.tensor(numbers, dtype=torch.float64).to(torch_dtype(kind))
    found = references.by_torch(asked("to_fp8e4nv", kind, 4), x)[0].float().tolist()
    assert found == ([448.0] * 4 if kind != "u8" else [192.0, 256.0, 1.0, 0.0])
    if x.is_floating_point():
        special = torch.tensor([torch.inf, -torch.inf, torch.nan, -500.0]).to(x.dtype)
        found = references.by_torch(asked("to_fp8e4nv", kind, 4), special)[0].float()
        assert found.tolist()[:2] == [448.0, -448.0] and found[2].isnan() and found[3] == -448
