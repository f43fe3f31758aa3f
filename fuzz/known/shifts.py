"""Known issue of shifts to the right whose operands differ in signedness (contract: language.md §1)."""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.statements import having
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import rewritten
from tridiff.kernels.language.script import Node


def _shifts(one: Node) -> bool:
    """Whether something is shifted to the right by a tensor that may be unsigned. A number takes the other operand's
    type."""
    if one.row not in ("binary", "augment") or one.word("op") != ">>":
        return False
    amount = one.parts[-1]
    return amount.row != "number" and not (amount.row == "cast" and amount.word("to")[0] == "i")


def _by_signed_amounts(case: Case) -> Case | None:
    """The same shifts by amounts of i8, which hold every width and leave the type of the other operand as it is."""

    def change(one: Node) -> Node:
        if not _shifts(one):
            return one
        amount = Node(row="cast", words={"to": "i8", "function": True}, parts=(one.parts[-1],))
        return replace(one, parts=(*one.parts[:-1], amount))

    return rewritten(case, change)


ISSUES = (
    KnownIssue(
        name="shift-by-the-left-operands-sign", stage="front-end", truth="contract",
        title="a signed number that is shifted to the right by an unsigned one is unsigned, and filled with its sign",
        where=(("language.*", "own"),), entries=("language.statements/value-891406c2b7",),
        match=having(_shifts), instead=_by_signed_amounts, kinds=("value",),
        explains="tridiff.fuzz.known.predictions.shifts:filled_by_the_left"),
)
