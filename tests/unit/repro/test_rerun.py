"""One more run of a finding, in a fresh worker."""

from msgspec.structs import replace

from tests.support.refusals import refused
from tests.unit.corpus.entries import division_case, entry, expect
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro.rerun import rerun
from tridiff.kernels.codegen.dialect import found_version


def test_a_fault_is_seen_again_with_inputs_expected_and_actual_values():
    one = entry(expected=(expect("own+fault:trunc_for_floor", triton=found_version()),))
    again = rerun(one)
    assert (again.subject, again.backend) == ("own+fault:trunc_for_floor", "interpreter")
    assert again.outcome.verdict is Verdict.DISAGREE and again.expected == one.expected[0]
    evidence = again.outcome.evidence
    assert (evidence.inputs, evidence.actual) == ({"a": ("-1",), "b": ("2",)}, {"out": ("0",)})
    assert evidence.expected["numpy"] == evidence.expected["torch"] == {"out": ("-1",)}
    assert again.environment.triton == found_version()


def test_a_clean_run_shows_its_values_too():
    again = rerun(division_case(("-7", "7"), ("2", "2")))
    assert (again.subject, again.outcome.verdict, again.expected) == ("own", Verdict.AGREE, None)
    assert again.outcome.evidence.actual == {"out": ("-4", "3")}


def test_what_cannot_run_is_refused_before_a_worker_starts():
    with refused("does not fit"):
        rerun(replace(division_case(), arrays=()))
    with refused("has no subject 'theirs'"):
        rerun(entry(), subject="theirs")
    with refused("would take"):
        rerun(replace(division_case(), sizes={"rows": 10**6, "cols": 10**6}))
