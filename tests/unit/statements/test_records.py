"""Records of several parts and operators of aggregates: every choice is drawn, means what Python says, and compiles;
which of two methods an operator calls shows in the type."""

import itertools
from functools import cache

import pytest

from tests.support.draws import draws
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.known.statements import ISSUES
from tridiff.fuzz.records import Case, Content, Small, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements import cases, passages, records
from tridiff.fuzz.statements.constructs import since
from tridiff.fuzz.statements.draft import Draft, node, variable
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.language.script import Node, Script

TARGET = find("language.functions")


def program(*body: Node, results: tuple[str, ...]) -> Case:
    """A program of two i32 scalars, x0 and x1, that stores v1, v2, ..."""
    operands = (Operand(kind="scalar", dtype="i32"),) * 2
    script = Script(operands=operands, body=body, stored=tuple(f"v{number + 1}" for number in range(len(results))),
                    results=tuple(Result(dtype=one) for one in results))
    given = {f"x{number}": Content(base=Small(seed=number, low=1, high=99)) for number in range(2)}
    return Case(target=TARGET.name, sizes=cases.sizes_of(script, 4), program=script,
                arrays=cases.arrays_of(script, given))


def operated(left: str, right: str, symbol: str, result: str) -> Case:
    return program(node("operated", variable("x0"), variable("x1"), name="v1", left=left, right=right, op=symbol),
                   results=(result,))


@cache
def drawn() -> list[Node]:
    """The records and operators of some draws."""
    found: list[Node] = []
    for case in draws(TARGET.draw.cases(Limits(elements=1 << 8, rows=8)), 150, seed=6):
        assert TARGET.draw.valid(case)
        found += [one for one in cases.every(case) if one.row in ("record", "operated")]
    return found


def test_every_form_and_way_is_drawn():
    for word, known in (("form", records.FORMS), ("turn", records.TURNS), ("carry", records.CARRIES),
                        ("take", records.TAKES)):
        assert {one.word(word) for one in drawn() if one.row == "record"} == set(known), word
    assert {one.word(side) for one in drawn() if one.row == "operated" for side in ("left", "right")} == set(
        records.SIDES)


def test_every_combination_means_something_or_does_not_exist():
    """What has methods takes them; the rest is written and run."""
    draft = Draft(lambda strategy: strategy)  # nothing is drawn
    draft.define("x0", ("i32", ()))
    draft.define("x1", ("i32", ()))
    for form, turn, carry, take in itertools.product(records.FORMS, records.TURNS, records.CARRIES, records.TAKES):
        parts = (variable("x0"), variable("x1"), *([node("compare", variable("x0"), variable("x1"), op="<")]
                                                   if records.needs_condition(carry) else ()))
        made = node("record", *parts, names="v1 s1 i1", form=form, turn=turn, carry=carry, take=take)
        one = records.FORMS[form]
        if ("method" in (turn, take) and not one.methods) or (take == "unpacked" and not one.unpacked):
            with pytest.raises(ValueError, match="has no"):
                passages.statements((made,))
        else:
            found = draft.after(passages.statements((made,)))["v1"]
            assert (found.name, found.shape) == ("i32", ())


def test_which_side_is_asked_is_what_python_says():
    """Whether the reflected method of the heir is called, from the type of what it gives."""
    for left, right in itertools.product(records.SIDES, records.SIDES):
        if left == right == "tensor":
            continue
        for symbol in ("-", "<"):
            gives = {kind for kind in ("i1", "i8", "i32") if not cases.problem(cases.script_of(
                operated(left, right, symbol, kind)))}
            asked = right if records.reflects(left, right, symbol) else left
            own = "i1" if symbol == "-" and records.reflects(left, right, symbol) else "i8" if symbol == "<" else ""
            assert gives == {own if asked == "Backward" and own else "i1" if symbol == "<" else "i32"}, (left, right)
            node_ = cases.script_of(operated(left, right, symbol, next(iter(gives)))).body[0]
            assert (since(node_) == "3.9.0") == ("tensor" in (left, right) or records.reflects(left, right, symbol))


def test_the_heir_that_is_asked_last_is_known_and_another_type_there_is_not():
    known = next(one for one in ISSUES if one.name == "aggregates-ask-heirs-last")
    assert known.match(operated("Number", "Backward", "-", "i1"))
    for left, right in (("Number", "Plain"), ("Backward", "Number"), ("tensor", "Backward"), ("Backward", "Forward")):
        assert not known.match(operated(left, right, "-", "i32"))
    assert known.relative is not None
    relative = known.relative(operated("Number", "Backward", "<", "i8"))
    assert relative is not None and TARGET.draw.valid(relative) and not known.match(relative)


def test_records_are_right_in_the_interpreter_but_for_known_issues():
    made = [node("record", variable("x0"), variable("x1"), names=f"v{number + 1} s{number} i{number}", form=form,
                 turn=turn, carry=carry, take=take)
            for number, (form, turn, carry, take) in enumerate((
                ("pair", "apart", "for", "unpacked"), ("nested", "function", "static", "second"),
                ("Point", "text", "early", "apart"), ("Outer", "function", "while", "function")))]
    with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
        known = Attribution(lambda case: pool.execute(case, "own"))
        assert pool.execute(program(*made, results=("i32",) * 4), "own").verdict is Verdict.AGREE
        assert pool.execute(program(*made, results=("i32",) * 4), "own+fault:other_part").verdict is Verdict.DISAGREE
        method = program(node("record", variable("x0"), variable("x1"), names="v1 s1 i1", form="Duo", turn="method",
                              carry="", take="method"), results=("i32",))
        found = pool.execute(method, "own")
        assert found.verdict.failed and known.issues(method, found) == ("interpreter-aggregates-have-no-methods",)


def test_records_and_operators_compile():
    body = (node("record", variable("x0"), variable("x1"), names="v1 s1 i1", form="Scaled", turn="method",
                 carry="for", take="method"),
            node("operated", variable("x0"), variable("x1"), name="v2", left="Number", right="Number", op="-"),
            node("record", variable("x0"), variable("x1"), names="v3 s3 i3", form="Duo", turn="apart", carry="",
                 take="apart"))
    with Pool(PoolOptions(backend="compile:sm_90", spare=False)) as pool:
        found = pool.execute(program(*body, results=("i32",) * 3), "own")
    assert found.verdict is Verdict.AGREE, found.signature
