"""Variables that loops lose: which ones, what is stored then, and what else is wrong there. Triton's front end
compiles, and its IR is evaluated on the CPU."""

import pytest
import torch
from msgspec.structs import replace

from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.content.place import place
from tridiff.fuzz.known.carried import as_compiled, loses_a_variable, with_values_of_their_own
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.known.statements import ISSUES
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.records import Case, Content, Explicit, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.answers import outputs_of
from tridiff.fuzz.statements.cases import arrays_of, script_of, sizes_of
from tridiff.fuzz.statements.launching import declined
from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.language.script import Node, Script

each = pytest.mark.parametrize
KNOWN = next(one for one in ISSUES if one.name == "copy-in-a-loop-not-carried")


def _node(row: str, *parts: Node, **words: bool | int | str) -> Node:
    return Node(row=row, words=words, parts=parts)


def _name(name: str) -> Node:
    return _node("name", name=name)


def _number(value: str) -> Node:
    return _node("number", value=value)


def _is(name: str, value: Node) -> Node:
    return _node("assign", value, name=name)


def _more(name: str, by: str = "1") -> Node:
    return _node("augment", _number(by), name=name, op="+")


def _swapped(one: str, other: str) -> Node:
    return _node("unpack", _node("tuple", _name(other), _name(one)), names=f"{one} {other}")


def _if(condition: Node, *body: Node) -> Node:
    return _node("if", condition, _node("block", *body))


def _for(*body: Node, trips: str = "3", loop: str = "range", name: str = "i3") -> Node:
    hints: dict[str, bool | int | str] = {} if loop == "tl.static_range" else {"dtype": "i32"}
    return _node("for", _number(trips), _node("block", *body), name=name, loop=loop, **hints)


def _case(*body: Node) -> Case:
    """v1 and v2 are x0 to begin with; both are stored."""
    script = Script(operands=(Operand(kind="scalar", dtype="i32"),), stored=("v1", "v2"),
                    body=(_is("v1", _name("x0")), _is("v2", _name("x0")), *body),
                    results=(Result(dtype="i32"), Result(dtype="i32")))
    given = {"x0": Content(base=Explicit(values=("5", "-7")))}
    case = Case(target="language.statements", sizes=sizes_of(script, 2), program=script,
                arrays=arrays_of(script, given))
    assert find(case.target).draw.valid(case)
    return case


def _compiled(case: Case) -> Outcome:
    return Evaluation("sm_90").outcome(case, "own", None)


_POSITIVE = _node("compare", _name("x0"), _number("0"), op=">")
_COPIED = _is("v1", _name("v2"))
_SAME = _node("cast", _name("v2"), to="i32")
_LOOPS = {
    "copy": (_for(_COPIED, _more("v2")),),
    "while": (_is("k4", _number("0")), _node(
        "while", _node("compare", _name("k4"), _number("3"), op="<"),
        _node("block", _COPIED, _more("v2"), _more("k4")))),
    "swapped": (_for(_swapped("v1", "v2"), _more("v1", "3")),),
    "in a branch": (_for(_if(_POSITIVE, _COPIED), _more("v2")),),
    "in one that is known": (_for(_if(_number("True"), _COPIED), _more("v2")),),
    "of a choice": (_for(_is("v1", _node("ternary", _number("True"), _name("v2"), _name("x0"))), _more("v2")),),
    "of an item": (_for(_is("v1", _node("item", _node("tuple", _name("x0"), _name("v2")), place=-1)), _more("v2")),),
    "of its own type": (_for(_is("v1", _SAME), _more("v2")),),
    "of an item's own type": (_for(_is("v1", _node("like", _node(
        "item", _node("tuple", _name("v2"), _number("3")), place=-2), _name("v2"), by=".dtype")), _more("v2")),),
    "within": (_is("v5", _number("0")), _for(
        _is("v5", _node("binary", _node("walrus", _name("v2"), name="v1"), _name("x0"), op="+")), _more("v2"))),
    "first of three": (_for(_for(_COPIED, _more("v2")), _node("augment", _name("v1"), name="v2", op="+"),
                            loop="tl.static_range", name="i4"),),
    "trip of an outer loop": (_for(_for(_COPIED, name="i4"), _more("v2")),),
}


@each("form", _LOOPS)
def test_what_a_loop_that_loses_a_variable_stores_is_predicted_and_its_relative_is_right(form: str):
    case = _case(*_LOOPS[form])
    assert KNOWN.match(case)
    wrong = _compiled(case)
    if reason := declined(script_of(case), installed()):
        assert (wrong.verdict, wrong.reason) == (Verdict.NOT_CHECKED, reason)
        return
    assert (wrong.verdict, wrong.explained_by) == (Verdict.DISAGREE, (KNOWN.name,))
    relative = with_values_of_their_own(case)
    assert relative is not None and find(case.target).draw.valid(relative) and not KNOWN.match(relative)
    assert _compiled(relative).verdict is Verdict.AGREE


_APART = _more("v2", "4")
"""Before a loop: v2 is no longer v1."""
_RIGHT = {
    "of another value": (_APART, _for(_COPIED, _more("v2"))),
    "of another type": (_for(_is("v1", _node("cast", _node("cast", _name("v2"), to="i64"), to="i32")), _more("v2")),),
    "of a choice": (_for(_is("v1", _node("ternary", _POSITIVE, _name("v2"), _name("x0"))), _more("v2")),),
    "unrolled": (_for(_COPIED, _more("v2"), loop="tl.static_range"),),
    "behind the sum": (_for(_more("v2"), _COPIED),),
    "never the other way": (_for(_if(_number("False"), _COPIED), _more("v2")),),
    "of what stays": (_is("v5", _name("x0")), _for(_COPIED, _more("v5"))),
    "in an inner loop": (_for(_more("v2"), _for(_COPIED, _more("v2"), name="i4")),),
}


@each("form", _RIGHT)
def test_a_loop_that_loses_nothing_is_not_known_and_right(form: str):
    case = _case(*_RIGHT[form])
    assert not KNOWN.match(case) and as_compiled(script_of(case)) == ""
    assert _compiled(case).verdict is Verdict.AGREE


def test_a_program_without_loops_is_as_it_is_compiled():
    assert not loses_a_variable(_case(_COPIED, _more("v2")))


def _stored(case: Case, text: str) -> dict[str, torch.Tensor]:
    """What a kernel with this text stores, by output."""
    inputs = [place(one, case.sizes, device=torch.device("cpu")).values for one in case.arrays if one.content]
    outputs, known = outputs_of(case, text, *(one for one in inputs if one is not None))
    assert known.all()
    return {f"out{number}": one for number, one in enumerate(outputs)}


@each("form", ("copy", "swapped", "in a branch"))
def test_another_wrong_element_beside_a_lost_variable_is_new(form: str):
    case = _case(*_LOOPS[form])
    lost = _stored(case, as_compiled(script_of(case)))
    judged, names = rehearse(case).judged(lost)
    assert (judged.verdict, names) == (Verdict.DISAGREE, (KNOWN.name,))
    for name in lost:
        changed = lost | {name: lost[name].clone()}
        changed[name][0] += 1
        judged, names = rehearse(case).judged(changed)
        assert (judged.verdict, names) == (Verdict.DISAGREE, ())


@each("form", ("copy", "in a branch"))
def test_a_loop_that_loses_a_variable_and_ends_a_trip_early_is_new(form: str):
    case = _case(*_LOOPS[form])
    early = _stored(case, as_compiled(_shorter(script_of(case))))
    judged, names = rehearse(case).judged(early)
    assert (judged.verdict, names) == (Verdict.DISAGREE, ())


def _shorter(script: Script) -> Script:
    return replace(script, body=tuple(
        replace(one, parts=(_number("2"), *one.parts[1:])) if one.row == "for" else one for one in script.body))
