"""Wrong elements of generated programs: what a known form makes of them is known, and nothing beside it."""

import math
from collections.abc import Callable

import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import outcome
from tests.support.repository import ENTRIES
from tests.unit.graphs.graphs import X, apply, at, cast, constant, load, matrix, num, op, store, vector
from tridiff.fuzz.bench.blind import changed
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.known import Attribution, KnownIssue, issues_of
from tridiff.fuzz.known.graphs import ISSUES
from tridiff.fuzz.known.graphs.forms import CHOICE, LOP3
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Iota, Outcome, Small, Verdict
from tridiff.kernels.codegen.graph import Asm, Graph, Index, Load, Masked, Node, Part, Reduce, Schedule, Sym
from tridiff.kernels.codegen.legality import check

each = pytest.mark.parametrize


def case_of(graph: Graph, *, mixed: bool = False) -> Case:
    """The program over buffers that count up from -3, or that hold numbers of both signs."""
    check(graph)
    arrays = tuple(ArraySpec(
        name=one.name, dtype=one.dtype, dims=(f"n_{one.name}",), content=None if one.role == "out" else Content(
            base=Small(seed=number, low=-50, high=50) if mixed else Iota(start=-3, step=1)))
        for number, one in enumerate(graph.buffers))
    case = Case(target="codegen.mixed", sizes={f"n_{one.name}": one.length for one in graph.buffers}, arrays=arrays,
                program=graph)
    assert valid(case)
    return case


def taken(rehearsal: Rehearsal, **outputs: torch.Tensor) -> tuple[str, ...]:
    judged, names = rehearsal.judged(outputs)
    assert judged.verdict is Verdict.DISAGREE
    return names


def typed(rehearsal: Rehearsal, *names: str) -> list[torch.Tensor]:
    return [rehearsal.buffers[name].typed() for name in names]


def of_entry(name: str) -> tuple[Rehearsal, dict[str, torch.Tensor]]:
    rehearsal = rehearse(ENTRIES.find(f"codegen.{name}").case)
    return rehearsal, rehearsal.outputs()


# What a device gave, said by hand: from the text of the entry, not from the prediction.


def test_every_second_masked_element_of_all_ones_is_known_and_a_third_value_is_not():
    rehearsal, right = of_entry("memory/value-c8ca17e52f")
    out = right["out0"]
    assert out.tolist() == [-128] * 64
    out[1::2] = -1
    assert taken(rehearsal, out0=out) == ("masked-narrow-negative-other",)
    out[9] = 1
    assert taken(rehearsal, out0=out) == ()


def test_the_lost_negation_of_a_minimum_is_known_and_a_wrong_sign_beside_it_is_not():
    rehearsal, right = of_entry("pointwise/value-56a78a9862")
    a, b, c = typed(rehearsal, "in0", "in1", "in2")
    wrong = torch.minimum(torch.minimum(a, b), c)
    assert not torch.equal(wrong, right["out0"])
    assert taken(rehearsal, out0=wrong) == ("negation-lost-in-extremum-of-three",)
    assert taken(rehearsal, out0=torch.where(wrong == wrong.max(), -wrong - 1, wrong)) == ()


@each("dtype", ["i32", "i16"])
@each("nodes, last, taken_for", [
    ((op("abs", 0),), "maximum", torch.maximum), ((op("abs_tl", 0), op("neg", 2)), "minimum", torch.minimum)])
def test_an_absolute_number_in_an_extremum_is_known_as_the_number_itself_and_its_negation_is_not(
        dtype: str, nodes: tuple[Node, ...], last: str,
        taken_for: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]):
    """max(|a|, b), which is one instruction of a, -a and b: ptxas of 3.8.0 leaves VIMNMX3 a, a, b."""
    graph = vector(load("in0"), load("in1"), *nodes, op(last, 1 + len(nodes), 1), store("out0", X, 2 + len(nodes)),
                   length=64, in0=dtype, in1=dtype, out0=dtype)
    rehearsal = rehearse(case_of(graph, mixed=True))
    a, b = typed(rehearsal, "in0", "in1")
    wrong = taken_for(a, b)
    assert taken(rehearsal, out0=wrong) == ("negation-lost-in-extremum-of-three",)
    assert taken(rehearsal, out0=taken_for(-a, b)) == ()


def test_a_negation_lost_in_an_index_expression_is_known_and_a_wrong_choice_beside_it_is_not():
    """min(min(-x, 5), x % 97) // -3 for every x, as min(x, 5) // -3 where VIMNMX3 has lost the negation."""
    x = X
    least = apply("min", apply("min", apply("neg", x), num(5)), apply("python_mod", x, num(97)))
    graph = vector(Index(expr=apply("floordiv", least, num(-3)), dtype="i32"), store("out0", X, 0), length=12,
                   out0="i32")
    rehearsal = rehearse(case_of(graph))
    k = torch.arange(12, dtype=torch.int32)
    assert torch.equal(rehearsal.outputs()["out0"], k // 3)
    wrong = torch.div(k.clamp(max=5), -3, rounding_mode="floor").to(torch.int32)
    assert taken(rehearsal, out0=wrong) == ("negation-lost-in-extremum-of-three",)
    wrong[7] = 1
    assert taken(rehearsal, out0=wrong) == ()


def test_one_for_the_bits_of_a_double_that_is_a_truth_is_known_and_two_is_not():
    graph = vector(load("in0"), load("in1"), op("eq", 0, 1), cast(2, "fp64"), replace(cast(3, "i64"), bitcast=True),
                   cast(4, "fp32"), store("out0", X, 5), store("out1", X, 4), in0="i32", in1="i32", out0="fp32",
                   out1="i64")
    rehearsal = rehearse(case_of(graph))
    assert rehearsal.outputs()["out0"].tolist() == [float(0x3FF << 52)] * 4
    assert taken(rehearsal, out0=torch.ones(4)) == ("bits-of-a-truth-as-a-half",)
    assert taken(rehearsal, out0=torch.full((4,), 2.0)) == ()


def test_the_bits_of_a_truth_are_converted_by_way_of_another_type_too():
    """1 as bf16, taken for fp16: the least subnormal number; ptxas makes it 1.0."""
    graph = vector(load("in0"), op("eq", 0, 0), cast(1, "i16"), cast(2, "bf16", bitcast=True),
                   cast(3, "fp16", bitcast=True), store("out0", X, 4), in0="i32", out0="fp16")
    rehearsal = rehearse(case_of(graph))
    assert rehearsal.outputs()["out0"].tolist() == [2.0**-24] * 4
    assert taken(rehearsal, out0=torch.ones(4, dtype=torch.float16)) == ("bits-of-a-truth-as-a-half",)
    assert taken(rehearsal, out0=torch.full((4,), 2.0, dtype=torch.float16)) == ()


def test_the_limit_of_a_negated_abs_is_known_and_another_constant_is_not():
    rehearsal, right = of_entry("pointwise/value-4264b32097")
    assert rehearsal.buffers["in0"].typed().tolist() == [-1, 0, 3] and right["out0"].tolist() == [-1, 0, -2]
    assert taken(rehearsal, out0=torch.tensor([-2, -2, -2])) == ("limit-of-negated-abs",)
    assert taken(rehearsal, out0=torch.tensor([-2, -1, -2])) == ()


def test_a_gather_at_the_limit_of_a_negated_abs_is_known_and_one_beside_it_is_not():
    """in0[max(min(v0, 4), -5)] with v0 = min(-x, x), as in0[-5] for every x."""
    x = X
    wrapped = apply("max", apply("min", Sym(name="v0"), num(4)), num(-5))
    graph = vector(Index(expr=apply("min", apply("neg", x), x)), Load(buffer="in0", index=wrapped, checked=True),
                   store("out0", X, 1), length=12, in0="i32", out0="i32")
    buffers = tuple(replace(one, length=5) if one.name == "in0" else one for one in graph.buffers)
    rehearsal = rehearse(case_of(replace(graph, buffers=buffers)))
    right = rehearsal.outputs()["out0"]
    assert right.tolist() == [-3, 1, 0, -1, -2, *[-3] * 7]
    assert taken(rehearsal, out0=torch.full_like(right, -3)) == ("limit-of-negated-abs",)
    assert taken(rehearsal, out0=torch.full_like(right, 1)) == ()


def test_a_16_bit_sum_that_one_of_its_users_gets_without_the_constant_is_known_and_another_sum_is_not():
    graph = vector(load("in0"), constant("-1", "i16"), op("add", 0, 1), op("logical_not", 2), cast(3, "fp32"),
                   store("out0", X, 4), store("out1", X, 2), in0="i16", out0="fp32", out1="i16")
    rehearsal = rehearse(case_of(graph))
    a, = typed(rehearsal, "in0")
    assert a.tolist() == [-3, -2, -1, 0] and rehearsal.outputs()["out0"].tolist() == [0.0] * 4
    assert taken(rehearsal, out0=(a == 0).to(torch.float32)) == ("packed-sum-half-used",)
    assert taken(rehearsal, out0=(a == 0).to(torch.float32), out1=a) == ("packed-sum-half-used",)
    assert taken(rehearsal, out0=(a == -1).to(torch.float32)) == ()
    assert taken(rehearsal, out0=(a == 0).to(torch.float32), out1=a + 1) == ()


@each("name, output, issue", [
    ("pointwise/value-7dffa9578f", "out2", "bits-of-a-truth-as-a-half"),
    ("memory/value-f62cbc5e25", "out0", "bits-of-a-truth-as-a-half")])
def test_one_for_the_bits_of_one_is_known_and_two_is_not(name: str, output: str, issue: str):
    rehearsal, right = of_entry(name)
    one = torch.ones_like(right[output])
    assert taken(rehearsal, **{output: one}) == (issue,)
    assert taken(rehearsal, **{output: one + 1}) == ()


_ZERO, _MINUS_ZERO, _ONE = (constant(value, "fp32") for value in ("0.0", "-0.0", "1.0"))


@each("nodes", [
    (_ONE, Masked(mask=2, arg=3, other="-0.0")), (op("exp", 1), _MINUS_ZERO, op("where", 2, 3, 4)),
    (_ONE, op("neg", 1), op("where", 2, 3, 4)), (_ONE, constant("-0.0", "fp16"), cast(4, "fp32"), op("where", 2, 3, 5)),
    (constant("-1.0", "fp32"), op("where", 2, 3, 1), op("neg", 4)),
    (constant("-1.0", "fp32"), Masked(mask=2, arg=3, other="0.0"), op("mul", 4, 3))])
def test_plus_zero_for_minus_zero_is_known_however_the_choice_is_folded_and_minus_one_is_not(
        nodes: tuple[Node, ...]):
    graph = vector(load("in0"), _ZERO, op("lt", 0, 1), *nodes, store("out0", X, 2 + len(nodes)), in0="fp32",
                   out0="fp32")
    rehearsal = rehearse(case_of(graph))
    right = rehearsal.outputs()["out0"]
    assert right.tolist() == [1.0, 1.0, 1.0, 0.0] and right[3].signbit()
    assert taken(rehearsal, out0=right.abs()) == ("choice-of-minus-zero",)
    assert taken(rehearsal, out0=right - right.abs() - 1) == taken(rehearsal, out0=right.abs() * 0) == ()
    relative = CHOICE.without(rehearsal.case)
    assert relative is not None and not CHOICE.has(relative)


@each("value", ["5.0", "-1.0"])
def test_minus_zero_that_is_chosen_with_another_number_than_one_is_compiled_right(value: str):
    graph = vector(load("in0"), constant(value, "fp32"), op("lt", 0, 1), _MINUS_ZERO, op("where", 2, 1, 3),
                   store("out0", X, 4), in0="fp32", out0="fp32")
    assert not CHOICE.has(case_of(graph))


@each("logic, beside, table", [
    ("bitwise_or", 0, lambda a, b: a | b), ("bitwise_and", 0, lambda a, b: a & ~b), ("bitwise_xor", 0, lambda a, b: b),
    ("bitwise_and", 1, lambda a, b: b & ~a), ("bitwise_xor", 1, lambda a, b: a)])
def test_the_tables_that_the_assembler_makes_of_a_lop3_are_known(
        logic: str, beside: int, table: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]):
    """Beside the register that it has once or twice; what else asks for the lop3 is right."""
    graph = vector(load("in0"), load("in1"), Asm(body="lop3_xor", args=(0, 1, 1)), op(logic, 2, beside),
                   op("sub", 2, 3), store("out0", X, 4), in0="i32", in1="i32", out0="i32")
    rehearsal = rehearse(case_of(graph, mixed=True))
    a, b = typed(rehearsal, "in0", "in1")
    wrong = a - table(a, b)
    assert taken(rehearsal, out0=wrong) == ("lop3-of-one-register-twice",)
    wrong[0] = 12345
    assert taken(rehearsal, out0=wrong) == ()


def _with_a_lop3(value: str, last: str, *behind: Node) -> Case:
    """`last` of in0 and `value ^ in1 ^ in1`, and that itself."""
    return case_of(vector(
        load("in0"), load("in1"), constant(value, "i32"), Asm(body="max_s32", args=(2, 2)),
        Asm(body="lop3_xor", args=(1, 1, 3)), op(last, 0, 4), *behind, store("out0", X, 5 + len(behind)),
        store("out1", X, 4), in0="i32", in1="i32", out0="i32", out1="i32"))


@each("value, known", [("2", True), ("6", False)])
def test_a_bit_of_an_exponent_that_is_the_register_itself_is_known_and_another_is_not(value: str, known: bool):
    """`LOP3.LUT P4, RZ, R14, 0x2, RZ, 0x84`: whether bit 1 is set is asked of 2 & ~b. The mask of a bit is no 6."""
    rehearsal = rehearse(_with_a_lop3(value, "pow"))
    a, b = typed(rehearsal, "in0", "in1")
    wrong = torch.where(b & 2 != 0, 1, a ** int(value)).to(torch.int32)
    assert taken(rehearsal, out0=wrong) == (("lop3-of-one-register-twice",) if known else ())
    assert taken(rehearsal, out0=wrong, out1=torch.full_like(wrong, 3)) == ()
    assert taken(rehearsal, out0=wrong + 7) == ()


@each("value, last, controlled", [
    ("2", "pow", False), ("6", "pow", True), ("2", "right_shift", True), ("2", "lt", True), ("2", "bitwise_and", True)])
def test_a_lop3_that_is_combined_with_more_than_is_known_is_controlled(value: str, last: str, controlled: bool):
    case, name, asked = _with_a_lop3(value, last, cast(5, "i32")), "lop3-of-one-register-twice", list[Case]()

    def attributed(*names: str, fails: bool) -> tuple[str, ...]:
        def run(relative: Case) -> Outcome:
            asked.append(relative)
            return outcome(relative, failed=fails)

        return Attribution(run).issues(case, replace(outcome(case, failed=True), explained_by=names))

    assert attributed(fails=False) == ((name,) if controlled else ()) and attributed(fails=True) == ()
    assert len(asked) == 2 * controlled and not any(LOP3.has(one) for one in asked)
    assert attributed(name, fails=True) == (name,) and len(asked) == 2 * controlled


@each("value, known", [(2.0**32, True), (65535.0, True), (255.0, True), (2.0**33, False)])
def test_an_unsigned_number_modulo_a_smaller_power_of_two_is_known(value: float, known: bool):
    """-1 of i8 by way of u64 as fp32 (corpus, 3.8.0 on): 2^32 for 2^64."""
    rehearsal, right = of_entry("pointwise/value-16fc4b2029")
    assert right["out5"].tolist() == [2.0**64]
    issue = ("vectoriser-narrows-unsigned-of-signed",) if known else ()
    assert taken(rehearsal, out5=torch.full_like(right["out5"], value)) == issue


def test_the_fraction_of_an_integer_beyond_a_half_is_known_and_another_is_not():
    """-2^31 of negative numbers has -0.5, and -inf, which it is as a half, has itself."""
    graph = vector(load("in0"), constant("-2147483648", "i32"), op("bitwise_and", 0, 1), cast(2, "fp16"),
                   op("frexp", 3), Part(of=4, item=0), store("out0", X, 5), in0="i32", out0="fp16")
    rehearsal = rehearse(case_of(replace(graph, schedules=(Schedule(upcast=False),))))
    right = rehearsal.outputs()["out0"]
    assert right.tolist() == [-math.inf] * 3 + [0.0]
    assert taken(rehearsal, out0=right.clamp(min=-0.5)) == ("half-of-few-bits-not-infinite",)
    assert taken(rehearsal, out0=right.clamp(min=-0.25)) == ()


def test_an_integer_beyond_a_half_is_known_where_it_is_stored_and_controlled_where_others_meet_it():
    """PTX of 3.6.0 and 3.9.0: shl.b32 r, r, 22; cvt.rn.f32.s32. Only 3.6.0 multiplies that."""
    nodes = load("in0"), constant("22", "i32"), op("left_shift", 0, 1), cast(2, "fp16")
    stored = vector(*nodes, store("out0", X, 3), in0="i32", out0="fp32")
    case = case_of(replace(stored, schedules=(Schedule(upcast=False),)))
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert right.tolist() == [-math.inf] * 3 + [0.0]
    whole = rehearsal.buffers["in0"].typed().float() * 2**22
    assert taken(rehearsal, out0=whole) == ("half-of-few-bits-not-infinite",)
    assert taken(rehearsal, out0=whole / 2) == ()
    met = vector(*nodes, op("mul", 3, 3), store("out0", X, 4), in0="i32", out0="fp16")
    for graph, controlled in (stored, False), (met, True):
        case = case_of(replace(graph, schedules=(Schedule(upcast=False),)))
        records = [one.relative for one in issues_of(case, "own") if one.name == "half-of-few-bits-not-infinite"]
        assert any(records) == controlled and len(records) == 1 + controlled


def test_a_negative_product_is_left_as_its_remainder_and_may_saturate_behind_that():
    """From machine code of ptxas 12.8 and 12.9: FSETP.GEU of a product and a divisor's absolute value."""
    nodes = load("in0"), load("in1"), op("mul", 0, 1), op("remainder", 2, 0)
    kinds = {"in0": "fp32", "in1": "fp32"}
    rehearsal = rehearse(case_of(vector(*nodes, store("out0", X, 3), out0="fp32", **kinds), mixed=True))
    right, (a, b) = rehearsal.outputs()["out0"], typed(rehearsal, "in0", "in1")
    left = torch.where(a * b < 0, a * b + a.clamp(min=0), right)
    assert taken(rehearsal, out0=left) == ("product-of-two-reads-is-a-square",)
    assert taken(rehearsal, out0=left + 1) == ()
    rehearsal = rehearse(case_of(vector(*nodes, op("mul", 3, 3), op("mul", 4, 4), store("out0", X, 5), out0="fp8e5",
                                        **kinds), mixed=True))
    assert float((left**4).max()) > 61440
    squared = (left**4).clamp(max=57344).to(torch.float8_e5m2)
    assert taken(rehearsal, out0=squared) == ("product-of-two-reads-is-a-square",)
    assert taken(rehearsal, out0=(left**4).clamp(max=49152).to(torch.float8_e5m2)) == ()


def test_a_quotient_without_a_constant_or_a_place_in_a_thread_is_known_and_another_place_is_not():
    """ceildiv(r, 3) of elements 64 apart, of which constants 2 and 66 are lost."""
    graph = matrix(Index(expr=apply("ceildiv", Sym(name="r"), num(3))), store("out0", at(127), 0), rows=1, columns=127,
                   out0=("i64", 127))
    rehearsal, r = rehearse(case_of(graph)), torch.arange(127)
    right = rehearsal.outputs()["out0"]
    assert taken(rehearsal, out0=torch.where(r % 64 < 32, r % 64 // 3, right)) == ("packed-sum-half-used",)
    assert taken(rehearsal, out0=torch.where(r % 64 < 32, r % 62 // 3, right)) == ()


def _extremum(*behind: Node) -> Graph:
    """relu(max(a, b)) of 16-bit integers, and what comes behind it."""
    return vector(load("in0"), load("in1"), op("maximum", 0, 1), op("relu", 2), *behind,
                  store("out0", X, 3 + len(behind)), in0="i16", in1="i16", out0="i16")


def test_an_extremum_without_its_relu_is_known_and_its_negation_is_not():
    rehearsal = rehearse(case_of(_extremum()))
    a, = typed(rehearsal, "in0")
    assert rehearsal.outputs()["out0"].tolist() == [0, 0, 0, 0] and a.tolist() == [-3, -2, -1, 0]
    assert taken(rehearsal, out0=a) == ("packed-relu-of-extremum",)
    assert taken(rehearsal, out0=torch.where(a == -3, -a, a)) == ()


def test_a_maximum_without_the_relu_in_it_is_known_and_the_next_number_is_not():
    """max(~b, k > 0 ? relu(a) : 3) of bytes, of which every second one was max(~b, a) on an H200."""
    graph = vector(load("in0"), load("in1"), op("bitwise_not", 1), op("relu", 0),
                   Index(expr=apply("ge", X, num(1)), dtype="i1"), Masked(mask=4, arg=3, other="3"),
                   op("maximum", 2, 5), store("out0", X, 6), length=64, in0="i8", in1="i8", out0="i8")
    rehearsal = rehearse(case_of(graph, mixed=True))
    a, b = typed(rehearsal, "in0", "in1")
    wrong = torch.where(torch.arange(64) % 2 == 1, torch.maximum(~b, a), rehearsal.outputs()["out0"])
    assert taken(rehearsal, out0=wrong) == ("packed-relu-of-extremum",)
    place = int(torch.nonzero((wrong < 0) & (torch.arange(64) % 2 == 1))[0])
    wrong[place] += 1
    assert taken(rehearsal, out0=wrong) == ()


def test_an_element_of_another_output_beside_a_known_one_is_new():
    graph = vector(load("in0"), load("in1"), op("maximum", 0, 1), op("relu", 2), op("add", 0, 1), store("out0", X, 3),
                   store("out1", X, 4), in0="i16", in1="i16", out0="i16", out1="i16")
    rehearsal = rehearse(case_of(graph))
    wrong, = typed(rehearsal, "in0")
    assert taken(rehearsal, out0=wrong) == ("packed-relu-of-extremum",)
    other = changed(rehearsal.outputs()["out1"], 2, how="sign", dtype="i16")
    assert taken(rehearsal, out0=wrong, out1=other) == ()


# Where nothing is predicted, or what is wrong meets what is right, the relative decides.


CONTROLLED = [one for one in ISSUES if one.relative and one.entries]


@each("known", CONTROLLED, ids=lambda one: one.name)
def test_a_defect_that_stays_without_the_form_is_new(known: KnownIssue):
    case = ENTRIES.find(known.entries[0]).case
    signature = ENTRIES.find(known.entries[0]).signature
    failure = replace(outcome(case, failed=True), signature=signature, verdict=signature.verdict,
                      backend=known.backends[0] if known.backends else "cuda",
                      explained_by=(known.name,) if known.explains else ())
    run: list[Case] = []

    def second_defect(relative: Case) -> Outcome:
        run.append(relative)
        return outcome(relative, failed=True)

    assert Attribution(second_defect).issues(case, failure) == ()
    assert run and all(not known.match(one) or len(issues_of(case, "own")) > 1 for one in run)
    assert known.name in Attribution(lambda one: outcome(one, failed=False)).issues(case, failure)


def test_what_meets_other_elements_is_controlled_and_what_does_not_is_only_predicted():
    def records(graph: Graph) -> list[tuple[bool, bool]]:
        return [(bool(one.explains), one.relative is not None) for one in issues_of(case_of(graph), "own")
                if one.name == "masked-narrow-negative-other"]

    nodes = (Index(expr=apply("lt", X, num(1)), dtype="i1"), Load(buffer="in0", index=at(3), mask=0, other="-5"))
    buffers = {"in0": ("i16", 6), "out0": ("i16", 6)}
    assert records(matrix(*nodes, store("out0", at(3), 1), rows=2, columns=3, **buffers)) == [(True, False)]
    total = matrix(*nodes, Reduce(kind="sum", args=(1,)), store("out0", X, 2), rows=2, columns=3,
                   in0=("i16", 6), out0=("i32", 2))
    assert sorted(records(total)) == [(False, True), (True, False)]
