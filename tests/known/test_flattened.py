"""Loops that become one or are unrolled, and bits that are given to functions that are not inlined: what is known of
them, and what a control still shows."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from tests.known.relatives import relative_of
from tests.known.test_issues import entry
from tests.support.outcomes import outcome_of
from tridiff.fuzz.known import Attribution, KnownIssue
from tridiff.fuzz.known.statements import ISSUES
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.repro.script import script
from tridiff.fuzz.statements.cases import rewritten
from tridiff.fuzz.statements.draft import literal, node, variable
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.script import Node

each = pytest.mark.parametrize

FLATTENED, BITS, UNROLLED = (next(one for one in ISSUES if one.name == name) for name in (
    "flattened-loop-reads-the-inner-value", "stored-half-of-a-double-is-converted",
    "unrolled-loop-of-no-trips"))


def _without(words: tuple[str, ...]) -> Callable[[Node], Node]:
    return lambda one: replace(one, words={key: word for key, word in one.words.items() if key not in words})


@each("issue, cause", [
    (FLATTENED, ("flatten",)), (BITS, ("bitcast",)), (UNROLLED, ("loop_unroll_factor",))])
def test_the_relative_lacks_the_pattern_alone_and_a_failure_of_it_is_new(
        issue: KnownIssue, cause: tuple[str, ...]):
    recorded = entry(issue.entries[0])
    case = recorded.case
    relative = relative_of(issue, case)
    assert relative == rewritten(case, _without(cause))

    def outcome(one: Case, verdict: Verdict) -> Outcome:
        return outcome_of(one, verdict, recorded.signature if verdict.failed else None, backend="cuda")

    failed = outcome(case, Verdict.DISAGREE)
    assert issue.name in Attribution(lambda one: outcome(one, Verdict.AGREE)).issues(case, failed)
    assert Attribution(lambda one: outcome(one, Verdict.DISAGREE)).issues(case, failed) == ()


def test_bits_that_a_function_of_the_program_is_given_are_known_and_its_inlined_form_is_the_control():
    case = entry("language.functions/value-a265306b06").case
    inlined = relative_of(BITS, case)
    assert inlined == rewritten(case, _without(("noinline",)))
    numbers = rewritten(case, _without(("bitcast",)))
    assert numbers is not None and not BITS.match(numbers) and "noinline" in numbers.program.functions[0].words
    *before, last = case.program.body
    called = replace(last, parts=(replace(last.parts[0], parts=(literal(3),) * 3),))
    bits = node("assign", last.parts[0].parts[1], name="v9")
    for body, known in (((*before, bits, called), False), ((*before, bits, replace(called, parts=(
            replace(called.parts[0], parts=(literal(3), variable("v9"), literal(3))),))), True)):
        assert BITS.match(replace(case, program=replace(case.program, body=body))) is known, "bits must be handed on"


@each("bounds, known", [((5, 2, 2), True), ((2, 5, 2), False), ((5, 2, 1), False)])
def test_only_unrolled_loops_with_a_step_that_may_make_no_trip_are_known(bounds: Sequence[int], known: bool):
    case = rewritten(entry(UNROLLED.entries[0]).case, lambda one: replace(
        one, parts=(*map(literal, bounds), one.parts[3])) if one.row == "for" else one)
    assert case is not None and UNROLLED.match(case) is known


def test_a_function_that_is_not_inlined_stays_one_in_a_script():
    text = script(entry(BITS.entries[0])).text
    assert "@triton.jit(noinline=True)" in text and "v1 = apart(x0, " in text


def test_a_loop_with_a_tensor_for_a_condition_is_the_control_of_one_with_a_constant():
    issue = next(one for one in ISSUES if one.name == "while-of-a-constant")
    recorded = entry(issue.entries[0])
    relative = relative_of(issue, recorded.case)
    with Pool(PoolOptions(backend="compile:sm_90", spare=False)) as compiler:
        assert compiler.execute(recorded.case, "own").verdict is Verdict.COMPILE_ERROR
        assert compiler.execute(relative, "own").verdict is Verdict.AGREE
    other = replace(recorded.signature, kind="'int' object has no attribute 'handle'")
    assert issue.shows_as(recorded.signature) and not issue.shows_as(other)
