"""Faults planted in the text of a program: what a front end that is wrong might make of it."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import script_of
from tridiff.kernels.language.script import Node, Script

Change = Callable[[Node], Node | None]
"""A construct with the fault, None where it has no place for it."""


def _negated(one: Node) -> Node | None:
    if one.row != "if" or len(one.parts) < 3:
        return None
    return replace(one, parts=(one.parts[0], one.parts[2], one.parts[1]), words={})


def _longer(one: Node) -> Node | None:
    """A loop whose upper bound is one higher."""
    if one.row != "for":
        return None
    place = 0 if len(one.parts) == 2 else 1
    higher = Node(row="binary", words={"op": "+"}, parts=(one.parts[place], Node(row="number", words={"value": "1"})))
    return replace(one, parts=(*one.parts[:place], higher, *one.parts[place + 1:]))


def _forgetful(one: Node) -> Node | None:
    """A loop whose last statement is not carried to the next trip."""
    if one.row != "for" or not one.parts[-1].parts or one.parts[-1].parts[-1].row != "augment":
        return None
    body = one.parts[-1]
    return replace(one, parts=(*one.parts[:-1], replace(body, parts=body.parts[:-1])))


_OTHER = {"+": "-", "-": "+", "*": "+", "&": "|", "|": "&", "^": "|", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
          "==": "!=", "!=": "==", "and": "or", "or": "and"}


def _operator(row: str) -> Change:
    def change(one: Node) -> Node | None:
        if one.row != row or one.word("op") not in _OTHER:
            return None
        return replace(one, words=one.words | {"op": _OTHER[one.word("op")]})

    return change


def _swapped(one: Node) -> Node | None:
    if one.row != "ternary":
        return None
    return replace(one, parts=(one.parts[0], one.parts[2], one.parts[1]))


def _other_part(one: Node) -> Node | None:
    """A record with its parts in each other's place, or an operator's sides."""
    if one.row not in ("record", "operated") or one.parts[0] == one.parts[1]:
        return None
    return replace(one, parts=(one.parts[1], one.parts[0], *one.parts[2:]))


FAULTS: dict[str, Change] = {
    "other_branch": _negated, "one_trip_more": _longer, "lost_carry": _forgetful, "other_operator": _operator("binary"),
    "other_update": _operator("augment"), "other_comparison": _operator("compare"),
    "other_connective": _operator("logic"), "swapped_sides": _swapped,
    "other_part": _other_part,
}
"""Each changes the first construct that has a place for it."""


def _first(nodes: tuple[Node, ...], change: Change) -> tuple[Node, ...] | None:
    """The constructs with the first one changed; None if none can be."""
    for number, one in enumerate(nodes):
        found = change(one)
        if found is None and (inside := _first(one.parts, change)) is not None:
            found = replace(one, parts=inside)
        if found is not None:
            return (*nodes[:number], found, *nodes[number + 1:])
    return None


def planted(script: Script, fault: str) -> Script:
    """The program with a fault; as it is if there is no place for it, or for no fault."""
    if fault not in FAULTS:
        return script
    body = _first(script.body, FAULTS[fault])
    return script if body is None else replace(script, body=body)


def affects(case: Case, fault: str) -> bool:
    """Whether a fault changes the text of a case's kernel."""
    return fault not in FAULTS or planted(script_of(case), fault) != script_of(case)

