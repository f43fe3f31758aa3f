"""Known issues of extrema, wherever they are folded or taken of two."""

from msgspec.structs import replace

from tridiff.fuzz.known.contents import of_small_numbers
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.statements import by, having, interpreter, replacing
from tridiff.fuzz.language.rows.rereads import extremum
from tridiff.fuzz.records import Case
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.script import Node

_EXTREMA = ("tl.max", "tl.min", "tl.max.indices", "tl.min.indices", "tl.minimum", "tl.maximum", "tl.clamp")
_BY_A_FUNCTION = ("tl.reduce", "tl.reduce.pair", "tl.reduce.three", "tl.associative_scan")


def _extrema(case: Case) -> bool:
    call = case.program
    return isinstance(call, Call) and of_small_numbers(case) != case and (
        extremum(call) if call.row == "memory.reread" else call.row in (*_EXTREMA, *_BY_A_FUNCTION))


def _of_two(one: Node) -> str:
    """Which extremum a node of a program of statements takes."""
    found = one.word("function").removeprefix("tl.") if one.row == "call" else ""
    return found[:3] if found[:3] in ("min", "max") else ""


def _of_three(one: Node) -> tuple[Node, ...]:
    """What comes into an extremum of an extremum of the same kind."""
    inner = [part for part in one.parts if _of_two(one) and _of_two(part) == _of_two(one)]
    return (*one.parts, *(part for found in inner for part in found.parts)) if inner else ()


def _negated(one: Node) -> bool:
    return (one.row == "cast" and any(map(_negated, one.parts))) or (one.row == "unary" and one.word("op") == "-")


_not_negated = replacing(lambda one: one.row == "unary" and _negated(one),
                         lambda one: replace(one, words=one.words | {"op": "~"}))
"""The complement of the numbers, -x - 1, in place of every -x."""


_OF_PAIRS = ("tl.minimum", "tl.maximum")


def _is_told(one: Node) -> bool:
    """Whether an operand is a literal, or chosen in place of NaN."""
    return one.row == "number" or (
        one.word("function") == "tl.where" and one.parts[0].parts == (one.parts[1], one.parts[1]))


def _may_meet_nan(one: Node) -> bool:
    return one.row == "call" and one.word("function") in _OF_PAIRS and not all(map(_is_told, one.parts))


def _or_else(one: Node, other: Node) -> Node:
    """The operand, or the other one where it is NaN."""
    same = Node(row="compare", words={"op": "=="}, parts=(one, one))
    return one if _is_told(one) else Node(row="call", words={"function": "tl.where"}, parts=(same, one, other))


def _of_numbers(one: Node) -> Node:
    """An extremum of two whose operands are NaN only together; what it gives is the same."""
    return replace(one, parts=(_or_else(*one.parts), _or_else(*one.parts[::-1])))


ISSUES = (
    interpreter(
        name="interpreter-extrema-give-nan", title="the lesser of a number and NaN is NaN in the interpreter",
        **by(_may_meet_nan, _of_numbers),
        kinds=("value", "inf", "nan_missing", "nan_unexpected", "zero_sign")),
    KnownIssue(
        name="negation-lost-in-extremum-of-three", title="an extremum of three loses the negation of an operand",
        upstream=("pytorch#190973", "triton#11032"), stage="ptxas", backends=("cuda",),
        where=(("language.*", "own"),), match=having(lambda one: any(map(_negated, _of_three(one)))),
        relative=_not_negated, kinds=("value",)),
    KnownIssue(
        name="interpreter-minds-signalling-nans", stage="interpreter", truth="contract", backends=("interpreter",),
        where=(("language.*", "own"), ("language.*", PLAIN)),
        entries=("language.reductions/nan-unexpected-236875debc",), match=_extrema, relative=of_small_numbers,
        explains="tridiff.fuzz.known.predictions.extrema:signalling",
        title="numpy's fmax and fmin give NaN beside a signalling NaN in some places of a line, GPUs the number"),
)
