"""Known issues of shifts to the right whose operands differ in signedness (contract: language.md §1)."""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.statements import by, having, interpreter, replacing
from tridiff.fuzz.statements.draft import literal, node
from tridiff.kernels.language.script import Node


def _shifts(one: Node) -> bool:
    """Whether something is shifted to the right by a tensor that may be unsigned. A number takes the other operand's
    type."""
    if one.row not in ("binary", "augment") or one.word("op") != ">>":
        return False
    amount = one.parts[-1]
    return amount.row != "number" and not (amount.row == "cast" and amount.word("to")[0] == "i")


def _by_a_signed_amount(one: Node) -> Node:
    """The same shift by an amount of i8, which holds every width and leaves the type of the other operand as it is."""
    amount = node("cast", one.parts[-1], to="i8", function=True)
    return replace(one, parts=(*one.parts[:-1], amount))


def _as_wide(left: Node, amount: Node) -> Node:
    """`left | (amount & 0)`: the same number in the type of both together."""
    zero = node("binary", amount, literal(0), op="&")
    return node("binary", left, zero, op="|")


def _shifts_another_type(one: Node) -> bool:
    """Whether the left operand of a shift may have to be converted. A variable that keeps its type does not."""
    if one.row != "binary" or not _shifts(one):
        return False
    left, amount = one.parts
    return not (left.row == "binary" and left == _as_wide(left.parts[0], amount))


def _in_the_type_of_both(one: Node) -> Node:
    """The same shift of a left operand that has the type of both."""
    return replace(one, parts=(_as_wide(*one.parts), one.parts[1]))


ISSUES = (
    KnownIssue(
        name="shift-by-the-left-operands-sign", stage="front-end", truth="contract",
        title="a signed number that is shifted to the right by an unsigned one is unsigned, and filled with its sign",
        where=(("language.*", "own"),), entries=("language.statements/value-891406c2b7",),
        match=having(_shifts), instead=replacing(_shifts, _by_a_signed_amount), kinds=("value",),
        explains="tridiff.fuzz.known.predictions.shifts:filled_by_the_left"),
    interpreter(
        name="interpreter-shifts-leave-signed-numbers",
        title="in the interpreter `>>` of a signed and an unsigned number leaves signed numbers under an unsigned type",
        entries=("language.statements/value-753439ae3b",), **by(_shifts_another_type, _in_the_type_of_both),
        errors=("TypeError: ufunc '*", "ValueError: numpy data itemsize *")),
)
