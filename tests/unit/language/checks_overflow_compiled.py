"""Checked arithmetic, compiled: what the front end's IR computes and asserts, and what is left of it in the code."""

from collections import Counter

from tests.support.draws import draws
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.language.boundaries import boundary_cases
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor

SM_90 = "compile:sm_90"
LIMITS = Limits(elements=1 << 8, rows=8, variants=False)


def drawn(number: int, seed: int) -> list[Case]:
    return draws(boundary_cases(target="language.overflow", limits=LIMITS), number, seed=seed)


def check_the_ir_asserts_and_computes_what_is_due():
    evaluation = Evaluation("sm_90")
    found = [evaluation.outcome(one, "own") for one in drawn(40, 5)]
    assert not any(one.verdict.failed for one in found), [one.reason for one in found if one.verdict.failed]
    assert sum("as it must" in one.reason for one in found) >= 4
    assert sum(one.verdict is Verdict.AGREE for one in found) >= 35


def _compiled(subject: str, number: int) -> list[Outcome]:
    executor = Executor(backend=SM_90)
    return [executor.execute(one, subject, backend=SM_90)[0] for one in drawn(number, 6)
            if call_of(one).row not in ("overflow.fold", "overflow.nothing")]


def check_the_code_asserts_where_an_input_is_due_and_nowhere_else():
    found = Counter(one.verdict for one in _compiled("own", 20))
    assert found.keys() <= {Verdict.AGREE} and found[Verdict.AGREE] >= 12, found


def check_what_always_holds_is_no_unasked_assertion_of_ttgir():
    """Pitches and places are checked too; only the PTX, which a chip of AMD has none of, leaves these out."""
    folds = [one for one in drawn(60, 6) if call_of(one).row == "overflow.fold"][:6]
    executor = Executor(backend="compile:gfx942")
    found = Counter(executor.execute(one, "own", backend="compile:gfx942")[0].verdict for one in folds)
    assert len(folds) == 6 and found.keys() == {Verdict.AGREE}, found


def check_lost_and_unasked_assertions_are_seen_in_the_code():
    for fault, kind in (("computed_wide", "assertion_lost"), ("checked_early", "assertion_unasked")):
        found = _compiled(f"own+fault:{fault}", 20)
        kinds = Counter(one.signature.kind for one in found if one.signature is not None)
        assert kinds.keys() == {kind}, (fault, kinds)
