"""Subnormal numbers in libdevice and remainders of floats: what compiled code gives is known, another value beside it
is not. Values of `pow` were seen on an H200; the others follow from the PTX."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import compiled
from tests.known.relatives import is_told_by_its_control
from tests.known.test_compiled_operations import of_operation
from tests.known.test_issues import entry
from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tests.unit.graphs.graphs import R, X, load, matrix, op, store, vector
from tests.unit.language.test_flushing import called
from tridiff.fuzz.known import Attribution, all_issues, issues_of
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case, Verdict
from tridiff.kernels.codegen.graph import Graph, Reduce
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import torch_dtype

each = pytest.mark.parametrize

NAN, INFINITY = float("nan"), float("inf")
HALF_FLUSHED = "cube-root-of-subnormals"
REMAINDER = "remainder-of-a-rounded-quotient"


def lines(row: str, *operands: tuple[str, ...], to: str = "fp32", of: tuple[str, ...] = ()) -> Case:
    """One row of several elements. Operands: their values."""
    types = of or ("fp32",) * len(operands)
    call = Call(row=row, operands=tuple(Operand(dtype=one, shape=(len(values),))
                                        for one, values in zip(types, operands, strict=True)), stored=(to,))
    return calling(call, {f"x{number}": values for number, values in enumerate(operands)})


def taken(case: Case, *results: float) -> tuple[str, ...]:
    """The issues for which a launch with these results is taken."""
    kind = torch_dtype(case.array("out0").dtype)
    judged, names = rehearse(case).judged({"out0": torch.tensor([results], dtype=torch.float64).to(kind)})
    assert judged.verdict is Verdict.DISAGREE
    return names


@each("case, given, other", [
    (lines("libdevice.cbrt.cbrt", ("1e-40", "-1e-45", "8.0")), (NAN, NAN, 2.0), (NAN, NAN, 3.0)),
    (lines("libdevice.cbrt.cbrt", ("1e-40", "-1e-45", "8.0")), (NAN, NAN, 2.0), (NAN, 1.0, 2.0)),
    (lines("libdevice.cbrt.cbrt", ("1e-40", "-1e-45", "8.0")), (NAN, NAN, 2.0), (NAN, NAN, NAN)),
    (lines("libdevice.rcbrt", ("1e-40", "8.0")), (NAN, 0.5), (NAN, NAN)),
    (lines("libdevice.pow.pow", ("-1.1663108e-38", "2.0"), ("-1.0", "3.0")), (-1.7014118e38, 8.0), (-1.8e38, 8.0)),
    (lines("libdevice.pow.pow", ("1e-40", "2.0"), ("-0.5", "3.0")), (1.3043818e19, 8.0), (1.3043818e19, 8.001)),
    (lines("libdevice.logb", ("1e-40", "2.0")), (-150.0, 1.0), (-150.0, 0.0)),
])
def test_what_half_flushed_functions_give_is_known_and_nothing_beside_it(
        case: Case, given: tuple[float, ...], other: tuple[float, ...]):
    assert taken(case, *given) == (HALF_FLUSHED,)
    assert taken(case, *other) == ()


@each("row", ["libdevice.ldexp.ldexp", "libdevice.scalbn"])
def test_twice_the_number_is_known_for_scaling_and_thrice_is_not(row: str):
    case = lines(row, ("1e-45", "3.0"), ("40", "1"), of=("fp32", "i32"))
    assert taken(case, 2.0**-148, 6.0) == (HALF_FLUSHED,)
    assert taken(case, 2.0**-147, 6.0) == taken(case, 2.0**-148, 7.0) == ()


def test_one_nan_among_right_roots_of_subnormal_numbers_is_new():
    case = lines("libdevice.cbrt.cbrt", ("1e-40", "1e-40", "1e-40"))
    assert taken(case, NAN, 4.6415805e-14, 0.0) == ()


@each("to, a, b, given, other", [
    ("fp32", "2.9999998", "0.99999994", -5.9604645e-08, 0.0),
    ("fp32", "188.71869", "0.7015565", -1.0550022e-05, -0.7015565),
    ("fp64", "444.9661298583024", "0.7580342927739394", -3.930189507173054e-14, 3.930189507173054e-14),
    ("fp32", "inf", "-inf", INFINITY, 1.0),
])
def test_the_rest_of_a_rounded_quotient_is_known_and_another_rest_is_not(
        to: str, a: str, b: str, given: float, other: float):
    case = lines("operator.mod", (a,), (b,), to=to, of=(to, to))
    assert taken(case, given) == (REMAINDER,)
    assert taken(case, other) == ()


def test_remainders_of_broadcast_blocks_are_predicted_one_by_one():
    call = Call(row="operator.mod", operands=(Operand(dtype="fp32", shape=(2, 1)), Operand(dtype="fp32", shape=(2,))),
                stored=("fp32",))
    case = calling(call, {"x0": ("2.9999998", "5.0"), "x1": ("0.99999994", "3.0")})
    right = rehearse(case).outputs()["out0"]
    assert right.tolist()[0][1:] == [2.9999997615814209, 0.0 + right[0, 2].item(), 2.0]
    wrong = right.clone()
    wrong[0, 0] -= 0.99999994
    assert taken(case, *wrong[0].tolist()) == (REMAINDER,)
    wrong[0, 3] = 1.0
    assert taken(case, *wrong[0].tolist()) == ()


def test_a_power_that_is_wrong_without_contraction_as_well_is_new():
    case = lines("libdevice.pow.pow", ("1.5",), ("200.0",))
    failure = outcome_of(case, Verdict.DISAGREE, wrong_in(case, "out0"), backend="cuda")
    right = is_told_by_its_control("library-pow-contracted", case, failure)
    assert Attribution(lambda relative: right).issues(
        replace(case, options=replace(case.options, enable_fp_fusion=False)), failure) == ()


def test_calls_of_fp64_and_of_the_interpreter_are_none_of_it():
    case = called("libdevice.cbrt.cbrt", "1e-310", to="fp64", of=("fp64",))
    assert HALF_FLUSHED not in {one.name for one in issues_of(case, "own")}
    found = [one for one in all_issues() if one.explains.startswith("tridiff.fuzz.known.predictions.library:")]
    assert len(found) == 6 and not any(one.shows_on("interpreter") for one in found)


def test_twice_a_count_of_repeated_registers_is_known_and_any_other_count_is_not():
    def counted(layout: int) -> Case:
        call = Call(row="gl.histogram", operands=(Operand(dtype="i32", shape=(1,)),), stored=("i32",),
                    options={"bins": 2, "layout": layout})
        return calling(call, {"x0": ("1",)})

    assert taken(counted(5), 0, 2) == ("histogram-counts-repeated-registers",)
    assert taken(counted(5), 0, 4) == taken(counted(5), 2, 0) == taken(counted(5), 1, 2) == ()
    assert taken(counted(3), 0, 2) == (), "in this layout a thread holds one element"


def test_a_step_of_nextafter_in_fp32_is_known_with_and_without_subnormal_numbers_and_no_other():
    case = entry("inductor.pointwise/value-094a34a877").case
    rehearsal = rehearse(case)
    assert rehearsal.outputs()["out"].item() == pytest.approx(2.0**-133)
    for wrong, known in ((0.0, True), (2.0**-126, True), (2.0**-125, False), (-(2.0**-126), False)):
        out = torch.full((1,), wrong, dtype=torch.bfloat16)
        assert bool(rehearsal.judged({"out": out}, subject="inductor")[1]) == known


def test_a_step_over_subnormal_numbers_under_torch_compile_is_known_to_the_bit():
    """In a program, behind an operation of one, and as a single operation. The numbers are those of the PTX, as an
    H200 gave them in a larger program; the step back from the smallest normal number is right."""
    alone = entry("inductor.programs_pointwise/value-b9c684f7d1").case
    graph = alone.program
    assert isinstance(graph, Graph)
    negated = replace(graph, nodes=(*graph.nodes[:3], op("neg", 2), store("out1", X, 3)))
    base = entry("inductor.pointwise/value-094a34a877").case
    called_so = [replace(alone.array(name), name=new) for name, new in (("in0", "a"), ("in1", "b"), ("out1", "out"))]
    single = replace(base, sizes={"one": 1, "rows": 4}, arrays=(
        *(replace(spec, dims=("rows",)) for spec in called_so), base.array("dtype")))
    seen = torch.tensor([2.0**-126, 0.0, 2.0**-126 - 2.0**-149, 1 + 2.0**-23])
    for case, output, sign in ((alone, "out1", 1), (single, "out", 1), (replace(alone, program=negated), "out1", -1)):
        rehearsal = rehearse(case)
        right = rehearsal.outputs()[output] * sign
        assert right.tolist() == [2.0**-149, 0xFFFF * 2.0**-149, *seen[2:].tolist()]
        assert rehearsal.judged({output: seen * sign}, subject="inductor")[1] == ("library-step-over-subnormals",)
        for place, wrong in ((0, 1.0), (1, 2.0**-120), (3, 1.0), (0, 0.0), (1, 2.0**-126)):
            other = torch.where(torch.arange(4) == place, wrong, seen)
            assert rehearsal.judged({output: other * sign}, subject="inductor")[1] == ()


@each("kind", ["fp32", "bf16"])
@each("name, sign", [("floor", 1), ("ceil", -1)])
def test_the_floor_of_a_subnormal_number_under_torch_compile_is_a_zero_of_its_sign(
        kind: str, name: str, sign: int):
    """By `cvt.rmi.ftz` and `cvt.rpi.ftz` in the PTX of sm_90, Triton 3.6.0 and 3.9.0. In a program, behind an operation
    of one, in a fold, and as a single operation; a half above zero and a normal number are right."""
    values = [sign * one for one in (-9.183549615799121e-41, -(2.0**-126), -1.5, 9.183549615799121e-41)]
    texts, graph = tuple(map(str, values)), vector(load("in0"), op(name, 0), store("out0", X, 1), in0=kind, out0=kind)
    negated = vector(*graph.nodes[:2], op("neg", 1), store("out0", X, 2), in0=kind, out0=kind)
    folded = matrix(load("in0", R), op(name, 0), Reduce(kind="sum", args=(1,)), store("out0", X, 2), rows=1, columns=4,
                    in0=(kind, 4), out0=(kind, 1))
    right, seen = torch.tensor([-1.0, -1.0, -2.0, 0.0]) * sign, torch.tensor([-0.0, -1.0, -2.0, 0.0]) * sign
    for case, output, factor in ((compiled(graph, "pointwise", *texts), "out0", 1),
                                 (compiled(negated, "pointwise", *texts), "out0", -1),
                                 (of_operation(name, texts, dtype=kind), "out", 1)):
        rehearsal = rehearse(case)
        assert (factor * rehearsal.outputs()[output]).tolist() == right.tolist()
        given = (factor * seen).to(torch_dtype(kind))
        assert rehearsal.judged({output: given}, subject="inductor")[1] == ("library-step-over-subnormals",)
        for place, wrong in ((0, 1.0), (0, 0.5), (0, 0.0), (1, 0.0), (2, -1.0), (3, 1.0)):
            other = torch.where(torch.arange(4) == place, factor * sign * wrong, given)
            assert rehearsal.judged({output: other}, subject="inductor")[1] == (), (place, wrong)
    rehearsal = rehearse(compiled(folded, "reduction", *texts))
    for total, names in ((-3.0, ("library-step-over-subnormals",)), (-2.0, ()), (-5.0, ())):
        found = torch.tensor([sign * total]).to(torch_dtype(kind))
        assert rehearsal.judged({"out0": found}, subject="inductor")[1] == names
    for other in ("trunc", "round"):
        assert not any(one.name == "library-step-over-subnormals" for one in issues_of(
            of_operation(other, texts, dtype=kind), "inductor")), "PTX converts without `.ftz`"
