"""Loops between unsigned bounds: which of them show that Triton counts with a sign, and what else is wrong there."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.support.draws import draws
from tests.support.outcomes import outcome_of
from tridiff.fuzz.content.place import place
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.bounds import counted_with_a_sign, counts_otherwise
from tridiff.fuzz.known.statements import ISSUES
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements import answers
from tridiff.fuzz.statements.cases import nodes, problem, script_of
from tridiff.fuzz.statements.draft import literal, node, variable
from tridiff.fuzz.statements.faults import planted
from tridiff.fuzz.statements.meaning.names import Statements
from tridiff.fuzz.statements.meaning.values import Illegal
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Result
from tridiff.kernels.language.script import Node
from tridiff.oracles.bits import to_bits
from tridiff.oracles.dtypes import dtype

each = pytest.mark.parametrize
KNOWN = next(one for one in ISSUES if one.name == "unsigned-bounds-are-negative")
RIGHT = Statements.loop
Rows = list[list[int]]


def _with_a_sign(self: Statements, first: Any, second: Any = None, step: Any = 1, **hints: Any) -> Iterator[Any]:
    """`range` as Triton compiles it."""
    if self.run.decide is not None:
        yield from RIGHT(self, first, second, step, **hints)
        return
    low, high = (0, first) if second is None else (first, second)
    down = isinstance(step, int) and step < 0
    ends = [self.run.tensor(one) for one in (low, high, -step if down else step)]
    kind = dtype((ends[0] | ends[1] | ends[2]).name)
    signed, whole = kind.kind == "int", 1 << kind.bits

    def extended(one: Any) -> int:
        own = 1 << dtype(one.name).bits
        bits = int(one.data.item()) % own
        bits = (bits - own if signed and bits >= own // 2 else bits) % whole
        return bits - whole if bits >= whole // 2 else bits

    places = [extended(one) for one in ends]
    numbers = range(places[0], places[1], -places[2] if down else places[2])
    if len(numbers) > 64:
        raise Illegal("too many trips")
    for number in numbers:
        yield self.run.constant(number if signed else number % whole, kind.name)


def _rows(case: Case, fault: str = "") -> Rows | None:
    """The bits of every row in which nothing undefined happens; None for a program that does not end."""
    inputs = [place(one, case.sizes, device=torch.device("cpu")).values for one in case.arrays if one.content]
    try:
        found, is_open = answers._run(replace(case, program=planted(script_of(case), fault)), tuple(inputs),
                                      answers.in_torch)
    except Illegal:
        return None
    return [[] if is_open[row] else [bits for one in found for bits in to_bits(one[row].reshape(-1)).tolist()]
            for row in range(case.sizes["rows"])]


def _compiled(case: Case, monkeypatch: pytest.MonkeyPatch, fault: str = "") -> Rows | None:
    with monkeypatch.context() as patch:
        patch.setattr(Statements, "loop", _with_a_sign)
        return _rows(case, fault)


def test_loops_that_count_otherwise_are_known_and_their_relatives_count_right(monkeypatch: pytest.MonkeyPatch):
    matched = wrong = 0
    cases = draws(find("language.statements").draw.cases(Limits(elements=64, rows=4)), 60, seed=3)
    for case in cases:
        right = _rows(case)
        if not KNOWN.match(case):
            assert _compiled(case, monkeypatch) == right
            continue
        matched += 1
        wrong += _compiled(case, monkeypatch) != right
        relative = counted_with_a_sign(case)
        assert relative is not None and not counts_otherwise(relative) and find(case.target).draw.valid(relative)
        assert _compiled(relative, monkeypatch) == _rows(relative) == right
    assert wrong >= 2 and matched <= len(cases) // 6, "few loops can show it"


@each("name", KNOWN.entries)
def test_another_defect_in_such_a_program_is_new(name: str, monkeypatch: pytest.MonkeyPatch):
    found = entry(name)

    def run(case: Case, fault: str) -> Outcome:
        verdict = Verdict.AGREE if _compiled(case, monkeypatch, fault) == _rows(case) else Verdict.DISAGREE
        return outcome_of(case, verdict, found.signature if verdict.failed else None, backend="cuda")

    failed = run(found.case, "")
    assert failed.verdict is Verdict.DISAGREE
    assert Attribution(lambda case: run(case, "")).issues(found.case, failed) == (KNOWN.name,)
    for fault in ("lost_carry", "one_trip_more"):  # of the very loop
        assert Attribution(lambda case, fault=fault: run(case, fault)).issues(found.case, failed) == ()


@each("bounds, shows", [
    (("0", "4"), False), (("250", "255"), True), (("120", "127"), False), (("126", "128"), True)])
def test_bounds_of_u8_show_it_beyond_127(bounds: tuple[str, str], shows: bool):
    case = entry("language.statements/value-843ef4b6ee").case

    def between(one: Node) -> Node:
        if one.row == "for" and "dtype" in one.words:
            ends = (node("cast", node("number", value=end), to="u8", function=True) for end in bounds)
            return replace(one, parts=(*ends, one.parts[-1]))
        return replace(one, parts=tuple(map(between, one.parts)))

    script = script_of(case)
    changed = replace(case, program=replace(script, body=tuple(map(between, script.body))))
    assert any(one.row == "for" for one in nodes(script_of(changed).body)) and KNOWN.match(changed) is shows


@each("to, shows", [("u8", True), ("i64", False)])
def test_a_bound_that_a_function_is_given_may_be_of_each_type_that_something_is_cast_to(to: str, shows: bool):
    """A loop from 0 to `a1` where nothing but what the function is given is of that type."""
    case = entry("language.statements/value-843ef4b6ee").case
    script = script_of(case)
    nine, loop = literal(9), next(one for one in script.body if one.row == "for")
    inner = replace(loop, parts=(variable("a1"), node("block", node("pass"))))
    function = node("define", node("block", inner, node("return", nine)), name="f1", parameters="a1")
    given = node("cast", nine, to=to, function=True)
    called = node("assign", node("invoke", given, name="f1"), name="v1")
    operands = tuple(replace(one, dtype="i32") for one in script.operands)
    changed = replace(script, operands=operands, functions=(function,), body=(called,), stored=("v1",),
                      results=(Result(dtype="i32"),))
    assert not problem(changed) and KNOWN.match(replace(case, program=changed)) is shows
