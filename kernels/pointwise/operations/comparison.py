"""Comparisons, extrema, selections, logic and shifts."""

from tridiff.kernels.pointwise.record import (
    ALL,
    BOOL,
    FLOATS,
    FULL,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    Exactness,
    Form,
    Group,
    Op,
    Signature,
    operation,
    same,
)

ORDERED = INTEGERS + FLOATS
_EXTREMUM: Group = "min/max"


def _compare(name: str, operator: str, dtypes: Signature) -> Op:
    return operation(name, "comparison", Form(same(dtypes, 2), f"{{0}} {operator} {{1}}", "i1"),
                     torch=f"{{0}} {operator} {{1}}", predicate=f"a {operator} b")


def _logical(name: str, operator: str) -> Op:
    return operation(name, "logic", Form(same(BOOL, 2), f"{{0}} {operator} {{1}}", "i1"),
                     Form(same(ORDERED, 2), f"({{0}} != 0) {operator} ({{1}} != 0)", "i1"),
                     torch=f"torch.{name}({{0}}, {{1}})", predicate=f"(a != 0) {operator} (b != 0)")


def _extremum(name: str, dtypes: Signature, floats: str, integers: str, exact: Exactness = "") -> Op:
    return operation(name, _EXTREMUM, Form(same(dtypes, 2), f"pointwise.{name}({{0}}, {{1}})"), exact=exact,
                     torch=f"torch.{name}({{0}}, {{1}})", judged=floats, judged_integers=integers)


def _extremum_tl(name: str, template: str, variant_of: str, integers: Signature = ()) -> Op:
    # Triton widens bf16 here and does not narrow it again.
    return operation(name, _EXTREMUM, Form(same((*integers, "fp16", *FULL), 2), template),
                     Form(same(("bf16",), 2), f"{template}.to(tl.bfloat16)"), variant_of=variant_of)


_LESS, _GREATER = "tl.where(a < b, a, b)", "tl.where(a < b, b, a)"


def comparison() -> list[Op]:
    return [
        _compare("eq", "==", BOOL + ORDERED), _compare("ne", "!=", BOOL + ORDERED), _compare("lt", "<", ORDERED),
        _compare("le", "<=", ORDERED), _compare("gt", ">", ORDERED), _compare("ge", ">=", ORDERED),
        _extremum("minimum", ORDERED, f"tl.where((a != a) | (b != b), a + b, {_LESS})", _LESS),
        _extremum("maximum", ORDERED, f"tl.where((a != a) | (b != b), a + b, {_GREATER})", _GREATER),
        _extremum("fmin", FLOATS, f"tl.where(a != a, b, tl.where(b != b, a, {_LESS}))", _LESS,
                  "numbers, zeros alike"),
        _extremum("fmax", FLOATS, f"tl.where(a != a, b, tl.where(b != b, a, {_GREATER}))", _GREATER,
                  "numbers, zeros alike"),
        _extremum_tl("minimum_tl", "tl.minimum({0}, {1})", "fmin", INTEGERS),
        _extremum_tl("maximum_tl", "tl.maximum({0}, {1})", "fmax", INTEGERS),
        _extremum_tl("minimum_nan_tl", "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "minimum"),
        _extremum_tl("maximum_nan_tl", "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "maximum"),
        operation("relu", _EXTREMUM, Form(same(ORDERED, 1), "pointwise.relu({0})"), torch="torch.relu({0})",
                  judged="tl.where(a > 0, a, tl.where(a != a, a, 0.0))", judged_integers="tl.where(a > 0, a, 0)",
                  exact="numbers, zeros alike"),
        operation("clamp", _EXTREMUM, Form(same(ORDERED, 3), "pointwise.clamp({0}, {1}, {2})"),
                  torch="torch.clamp({0}, {1}, {2})", judged_integers=f"tl.where({_GREATER} < c, {_GREATER}, c)",
                  judged=f"tl.where((a != a) | (b != b) | (c != c), a + b + c, tl.where({_GREATER} < c, "
                         f"{_GREATER}, c))", exact="numbers, zeros alike"),
        operation("where", "select", Form(tuple(("i1", name, name) for name in ALL), "tl.where({0}, {1}, {2})", 1),
                  torch="torch.where({0}, {1}, {2})"),
    ]


def logic() -> list[Op]:
    bits = BOOL + INTEGERS
    return [
        _logical("logical_and", "&"), _logical("logical_or", "|"), _logical("logical_xor", "^"),
        operation("logical_not", "logic", Form(same(BOOL, 1), "~{0}", "i1"), Form(same(ORDERED, 1), "{0} == 0", "i1"),
                  torch="torch.logical_not({0})", predicate="a == 0"),
        *(operation(f"bitwise_{name}", "logic", Form(same(bits, 2), f"{{0}} {sign} {{1}}"), torch=f"{{0}} {sign} {{1}}",
                    judged_integers=f"p {sign} q") for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))),
        operation("bitwise_not", "logic", Form(same(BOOL + SIGNED, 1), "~{0}"),
                  Form(same(UNSIGNED, 1), "pointwise.complement({0})"), torch="~{0}", judged_integers="-1 - p"),
        operation("bitwise_not_operator", "logic", Form(same(bits, 1), "~{0}"), variant_of="bitwise_not",
                  note="the interpreter of Triton 3.6.0 fails on unsigned types"),
        operation("left_shift", "shifts", Form(same(INTEGERS, 2), "pointwise.left_shift({0}, {1})")),
        operation("right_shift", "shifts", Form(same(INTEGERS, 2), "pointwise.right_shift({0}, {1})")),
        operation("left_shift_operator", "shifts", Form(same(INTEGERS, 2), "{0} << {1}"), variant_of="left_shift"),
        operation("right_shift_operator", "shifts", Form(same(INTEGERS, 2), "{0} >> {1}"), variant_of="right_shift"),
    ]
