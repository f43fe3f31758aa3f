"""What torch.compile computes of coordinates: integers beyond 32 bits, and conversions that it leaves out."""

import pytest

from tests.known.relatives import relative_of
from tests.known.test_programs import named, told, wrong
from tests.unit.graphs.graphs import X, apply, cast, constant, load, num, op, store, vector
from tridiff.fuzz.known import Attribution, KnownIssue
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.graph import Index, Node, Real, Sym

each = pytest.mark.parametrize

BEYOND, LOST, MULTIPLIED, EXACT = map(named, (
    "index-in-int32", "constants-lose-the-sign-of-zero", "divisors-of-nested-quotients-multiplied",
    "coordinates-neither-wrap-nor-round"))


def of(*nodes: Node, out: str = "i64") -> Case:
    """A program over 40 coordinates that stores the last value; in0 is there to be loaded."""
    graph = vector(*nodes, store("out0", X, len(nodes) - 1), length=40, in0="i64", out0=out)
    return Case(target="inductor.programs_indexing", program=graph, sizes={"n_in0": 40, "n_out0": 40}, arrays=(
        "in0 i64[n_in0] ~ constant", f"out0 {out}[n_out0]"))


def times(factor: int) -> Index:
    return Index(expr=apply("mul", X, num(factor)))


def is_that_or_new(issue: KnownIssue, case: Case) -> None:
    """Whether the case has the pattern, and a failure of it is of the issue unless its relative fails as well."""
    relative_of(issue, case)
    assert Attribution(lambda one: wrong(one, failed=False)).issues(case, wrong(case)) == (issue.name,)
    assert Attribution(wrong).issues(case, wrong(case)) == ()


I32, I64, LARGE = Index(expr=X, dtype="i32"), Index(expr=X), constant(str(2**32), "i64")


@each("nodes", [
    (I64, LARGE, op("sub", 1, 0)), (I64, LARGE, op("minimum", 0, 1)), (I64, LARGE, op("mul_add", 0, 0, 1)),
    (I32, cast(0, "i64"), LARGE, op("add", 1, 2)), (times(2**20), Index(expr=apply("mul", Sym(name="v0"), num(2**12)))),
    (Index(expr=apply("min", X, num(2**40))),), (Index(expr=apply("ceildiv", X, num(2**40))),)])
def test_a_number_beyond_int32_is_known_beside_coordinates_whatever_is_done_with_it(nodes: tuple[Node, ...]):
    is_that_or_new(BEYOND, of(*nodes))
    assert len(nodes) == 1 or not BEYOND.match(of(load("in0"), *nodes[1:]))


@each("kind", ["out_of_bounds", "illegal_address"])
def test_an_address_that_left_int32_may_be_out_of_bounds_and_another_one_is_new(kind: str):
    case = of(load("in0", apply("python_mod", apply("mul", X, num(2**27)), num(40))))
    assert told(case, kind, relatives_fail=False) == ("index-in-int32",) and told(case, kind) == ()
    assert told(of(load("in0")), kind, relatives_fail=False) == ()


@each("nodes, out, lost", [
    ((times(11), cast(0, "i8"), cast(1, "i64")), "i64", True), ((times(11), cast(0, "i8")), "i8", False),
    ((times(11), cast(0, "i16"), cast(1, "i64")), "i64", False), ((times(11), cast(0, "i8"), op("abs", 1)), "i8", True),
    ((I64, cast(0, "u8"), op("neg", 1), cast(2, "i64")), "i64", True), ((I32, op("mul", 0, 0)), "i32", False),
    ((times(2**20), cast(0, "i32"), op("mul", 1, 1)), "i32", True),
    ((times(2**20), cast(0, "fp32"), op("mul", 1, 1)), "fp32", True),
    ((I64, cast(0, "fp32"), op("mul", 1, 1)), "fp32", False),
    ((I64, cast(0, "fp32"), op("neg", 1), op("mul", 1, 2)), "fp32", True),
    ((times(11), cast(0, "bf16"), op("add", 1, 1)), "bf16", True),
    ((times(11), cast(0, "fp16"), op("add", 1, 1)), "fp16", False),
    ((times(11), op("bitwise_or", 0, 0), cast(1, "i8"), cast(2, "i64")), "i64", False),
    ((Index(expr=apply("mul", Sym(name="n0"), num(11))), cast(0, "i8"), cast(1, "i64")), "i64", True),
    ((Index(expr=apply("add", Sym(name="n0"), num(11))), cast(0, "i8"), cast(1, "i64")), "i64", False),
    ((load("in0"), cast(0, "i8"), cast(1, "i64")), "i64", False)])
def test_coordinates_that_their_type_does_not_hold_are_known_and_made_tensors(
        nodes: tuple[Node, ...], out: str, lost: bool):
    case = of(*nodes, out=out)
    if lost:
        is_that_or_new(EXACT, case)
    else:
        assert not EXACT.match(case)


def test_an_address_may_be_a_quotient_of_sizes_and_the_same_with_the_number_is_right():
    quotient = apply("int_true_div", apply("mul", Sym(name="n0"), num(16777259)), num(7))
    issue = named("quotient-of-sizes")
    is_that_or_new(issue, of(load("in0", apply("python_mod", apply("trunc_to_int", quotient), num(40)))))


@each("divisor, known", [(-2, True), (2, False)])
@each("node", ["nested", "of an axis", "operation"])
def test_a_quotient_by_a_negative_number_is_known_where_torch_multiplies_divisors(
        node: str, divisor: int, known: bool):
    inner = X if node == "of an axis" else apply("floordiv", X, num(3))
    case = of(Index(expr=inner), constant(str(divisor), "i64"), op("floor_divide", 0, 1)) if node == "operation" else (
        of(Index(expr=apply("floordiv", inner, num(divisor)))))
    assert MULTIPLIED.match(case) is known
    if known:
        is_that_or_new(MULTIPLIED, case)
    if known and node != "operation" and MULTIPLIED.relative is not None:
        relative = MULTIPLIED.relative(case)
        assert relative is not None and rehearse(relative).outputs()["out0"].equal(rehearse(case).outputs()["out0"])


@each("modulus, divisor, known", [(1, "-7.0", True), (1, "7.0", False), (2, "-7.0", False)])
def test_a_minus_zero_that_an_expression_of_coordinates_is_everywhere_is_lost(
        modulus: int, divisor: str, known: bool):
    """SymPy makes 0 of it, in which no zero has a sign."""
    zero = apply("to_float", apply("mul", apply("python_mod", X, num(modulus)), num(5)))
    case = of(Index(expr=apply("float_true_div", zero, Real(value=divisor)), dtype="fp64"), out="fp64")
    assert LOST.match(case) is known
    if known:
        is_that_or_new(LOST, case)


@each("divisor, known", [("-inf", True), ("inf", False), ("-2.0", False)])
def test_a_quotient_by_minus_infinity_is_a_product_with_a_minus_zero_that_is_lost(divisor: str, known: bool):
    case = of(load("in0"), cast(0, "fp32"), constant(divisor, "fp32"), op("truediv", 1, 2), out="fp32")
    assert LOST.match(case) is known
    if known:
        is_that_or_new(LOST, case)


@each("divisor, known", [("-7.0", True), ("7.0", False), ("-1.0", False)])
def test_a_minus_zero_that_operations_on_constants_give_is_lost(divisor: str, known: bool):
    """torch.compile computes 1 / -7, 1 / 7 and 1 / -1, and rounds them."""
    quotient = Index(expr=apply("float_true_div", Real(value="1.0"), Real(value=divisor)), dtype="fp64")
    case = of(quotient, op("round", 0), out="fp64")
    assert LOST.match(case) is known
    if known:
        is_that_or_new(LOST, case)


def test_a_constant_that_is_used_twice_by_each_of_many_operations_is_computed_once():
    twice = [op("mul", place, place) for place in range(60)]
    assert not LOST.match(of(constant("1.0", "fp32"), *twice, out="fp32"))


def test_bits_of_what_is_computed_of_a_size_do_not_compile():
    kind = "Cannot bitcast data-type of size N to data-type of size N"
    of_size = Index(expr=apply("python_mod", Sym(name="n0"), num(97)), dtype="i32")
    case = of(of_size, Index(expr=X, dtype="i32"), op("add", 0, 1), cast(2, "fp32", bitcast=True), out="fp32")
    assert told(case, kind, relatives_fail=False) == ("sizes-are-of-64-bits",) and told(case, kind) == ()
