"""What a campaign saw once is kept beside its record, and the next campaign begins with it."""

import os
from pathlib import Path

from msgspec.structs import replace

from tests.gate.test_plan import entry
from tests.support.campaigns import campaign_options
from tests.support.cases import addition
from tridiff.fuzz.campaign import again
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.records import CorpusEntry

SHARDS = plan_shards(campaign_options(seconds=20.0, workers=4, targets=("triton.vector_add", "triton.negate"),
                                      subjects=("own",), backends=("interpreter",), seed=1))


def record(reports: Path, name: str, *entries: CorpusEntry, when: int) -> None:
    """A campaign's record with findings that do not count."""
    (reports / name).mkdir()
    again.keep(reports / name, entries)
    (reports / name / "summary.json").write_text("{}")
    os.utime(reports / name / "summary.json", (when, when))


def test_the_latest_record_speaks_and_what_is_no_entry_is_left_out(tmp_path: Path):
    assert again.left(tmp_path) == ()
    old, new = entry(addition(rows=3), "interpreter"), entry(addition(rows=4), "interpreter")
    record(tmp_path, "b", old, when=1000)
    record(tmp_path, "a", new, when=2000)
    (tmp_path / "a" / again.FOLDER / "bad.json").write_text("{")
    assert again.left(tmp_path) == (new,)
    record(tmp_path, "gate", old, when=4000)
    (tmp_path / "gate" / "gate.json").write_text("{}")
    assert again.left(tmp_path) == (new,), "a gate's record is none of a campaign"
    record(tmp_path, "c", when=3000)
    assert again.left(tmp_path) == ()


def test_of_a_finding_with_more_evidence_than_a_file_may_hold_the_case_is_tried_again(tmp_path: Path):
    one = entry(addition(rows=3), "interpreter")
    long = ("-1.2345678",) * 20_000
    large = replace(one, evidence=replace(one.evidence, inputs={"a": long, "b": ("1.0",)}, actual={"out": long},
                                          expected={"numpy": {"out": long}}))
    record(tmp_path, "a", large, when=1000)
    (found,) = again.left(tmp_path)
    assert (found.case, found.signature, found.evidence.inputs) == (one.case, one.signature, {"a": (), "b": ("1.0",)})
    many = {f"a{k}": ("-1.2345678",) * 60 for k in range(500)}
    again.keep(tmp_path / "a", [replace(large, evidence=replace(one.evidence, inputs=many))])
    assert [kept.case for kept in again.left(tmp_path)] == [one.case]


def test_the_first_shard_of_its_target_and_backend_begins_with_it():
    seen, elsewhere = entry(addition(rows=3), "interpreter"), entry(addition(rows=4), "cuda")
    other = replace(addition(rows=5), target="triton.no_such")
    planned = again.first(SHARDS, (seen, elsewhere, entry(other, "interpreter")))
    first = [spec for spec in planned if spec.first]
    assert len(first) == 1 and first[0].first == (seen.case,) and first[0].target == "triton.vector_add"
    assert first[0] == replace(next(spec for spec in SHARDS if spec.target == first[0].target), first=(seen.case,))
    assert [spec.index for spec in planned] == [spec.index for spec in SHARDS]
