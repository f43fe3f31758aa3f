"""How pairs of failures are counted, and that failures of planted faults of several kernels are told apart."""

from msgspec.structs import replace

from tests.support.cases import division
from tests.support.outcomes import outcome_of
from tests.support.repository import ENTRIES
from tridiff.fuzz.bench.deduplication import PARTS, Filed, filed, grouped, part_of, record, scored
from tridiff.fuzz.bench.failures import Failure, Laboratory, of_faults, of_issues
from tridiff.fuzz.bench.triton_failures import EACH_TARGET, in_turn
from tridiff.fuzz.records import Evidence, Signature, Verdict
from tridiff.fuzz.workers.pool import Pool, PoolOptions


def test_pairs_are_counted_over_all_failures():
    found = scored([Filed(cause="a", finding="1"), Filed(cause="a", finding="1"), Filed(cause="a", finding="2"),
                    Filed(cause="b", finding="2"), Filed(cause="c", finding="3")])
    assert (found.failures, found.causes, found.findings) == (5, 3, 3)
    assert (found.together, found.alike, found.both) == (2, 3, 1)
    assert (found.precision, found.recall) == (0.5, 1 / 3)


def test_no_failures_are_no_mistakes():
    found = scored([])
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_faults_of_several_kernels_are_told_apart():
    pool = Pool(PoolOptions(backend="interpreter", spare=False))
    laboratory = Laboratory(lambda case, subject, backend: pool.execute(case, subject, backend=backend),
                            lambda case, backend: pool.inputs(case), runs=60, seconds=10)
    try:
        failures = list(of_faults(laboratory, targets=("triton.negate",), each=2, draws=12, seed=1))
    finally:
        pool.close()
    signatures = scored([filed(one, by="signature") for one in failures])
    patterns = scored(grouped(failures, by="pattern"))
    assert patterns.causes == signatures.causes >= 2
    # What two faults of one kernel put in place of what is right tells them apart; their signatures need not.
    assert patterns.precision >= signatures.precision
    assert patterns.precision == 1.0
    # The names of the faults are hidden: what a campaign would print by itself.
    assert not any("fault:" in filed(one, by="pattern").finding for one in failures)


def test_what_an_entry_shows_that_is_none_of_its_issue_is_left_out():
    """An entry of what the interpreter does wrong does not compile either: that is another issue."""
    one = ENTRIES.find("language.movement/not-supported-betwe-a8f639e5b5")

    def said(text: str) -> list[str]:
        signature = replace(one.signature, kind=text)
        outcome = outcome_of(one.case, Verdict.CRASH, signature, reason=text)
        laboratory = Laboratory(lambda case, subject, backend: outcome, lambda case, backend: Evidence(), runs=0,
                                seconds=0)
        return [found.cause for found in of_issues(laboratory, [one], ["interpreter", "compile:sm_90"])]

    causes = said("TypeError: '<=' not supported between instances of 'int' and 'NoneType'")
    assert set(causes) == {"issue flip-without-an-axis"} and len(causes) > 1
    assert said("AttributeError: 'dtype' object has no attribute 'numel'") == []


def failure(fault: str, out: str, *, said: str = "1 of 1 rows of out are wrong (value)") -> Failure:
    """One of a planted fault of div_floor_integer, with the outputs that it gave."""
    signature = Signature(target="helpers.div_floor_integer", subject=f"own+fault:{fault}", verdict=Verdict.DISAGREE,
                          kind="value", where="out")
    case = division((-1,), (2,))
    outcome = outcome_of(case, Verdict.DISAGREE, signature, subject=signature.subject, reason=said,
                         evidence=Evidence(actual={"out": (out,)}))
    return Failure(cause=f"{case.target} {fault}", subject=signature.subject, drawn=case.digest,
                   case=case, outcome=outcome)


def test_a_record_tells_of_each_part():
    failures = [failure("unsigned_operands", "0"), failure("in_32_bits", "0"), failure("in_32_bits", "0")]
    issue = replace(failures[0], cause="issue x", issues=("signed-floordiv-ramp",))
    lines = list(record([*failures, issue]))
    assert lines[2] == "| known issues: 1 | 1 | 1 | 100.0% | 100.0% |"
    assert lines[3] == "| faults of operations and helpers: 3 | 2 | 1 | 33.3% | 100.0% |"
    assert lines[4].startswith("| all: 4 | 3 | 2 |") and len(lines) == 6


def test_of_each_cause_targets_take_turns_and_what_fails_anyway_is_left_out():
    one = failure("in_32_bits", "0")
    cases = {name: [one.case] * 4 for name in ("a", "b")}
    laboratory = Laboratory(lambda case, subject, backend: one.outcome, lambda case, backend: Evidence(), runs=0,
                            seconds=0)
    right = laboratory.instead(lambda case, subject, backend: replace(one.outcome, verdict=Verdict.AGREE),
                               lambda case, backend: Evidence())
    causes = ["triton make_ttir add_cse: x => y @0", "triton front-end: x => y @0", "triton language/core.py:1:off"]
    assert [part_of(cause) for cause in causes] == [PARTS[3], PARTS[3], PARTS[4]]
    assert len(list(in_turn(laboratory, cases, "interpreter", right, causes[0], 3))) == 3
    assert len(list(in_turn(laboratory, cases, "interpreter", right, causes[0], 9))) == 2 * EACH_TARGET
    assert not list(in_turn(laboratory, cases, "interpreter", laboratory, causes[0], 9))
