"""Which known repairs a gate finds by what it draws."""

from pathlib import Path

from msgspec.structs import replace

from tests.unit.corpus.entries import entry, expect
from tests.unit.report import records
from tridiff.fuzz.bench.repairs import causes, found_again, table
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.report.record import read_gate


def seen(cause: str, before: Verdict, after: Verdict, backend: str = "cuda") -> CorpusEntry:
    rows = tuple(expect(triton=triton, backend=backend, verdict=verdict, subject="own")
                 for triton, verdict in (("3.6.0", before), ("3.9.0", after)))
    made = entry(subject="own", expected=rows)
    return replace(made, cause=cause)


def test_causes_count_that_one_release_has_and_the_other_has_not() -> None:
    wrong, right = Verdict.DISAGREE, Verdict.AGREE
    entries = [seen("repaired", wrong, right), seen("lasting", wrong, wrong), seen("new", right, wrong),
               seen("elsewhere", wrong, right, "interpreter"), seen("unasked", Verdict.CRASH, Verdict.NOT_CHECKED)]
    assert list(causes(entries, failing="3.6.0", right="3.9.0", backend="cuda")) == ["repaired"]
    assert list(causes(entries, failing="3.9.0", right="3.6.0", backend="cuda")) == ["new"]


def test_what_a_gate_drew_is_held_against_them(tmp_path: Path) -> None:
    gate = read_gate(records.gate(tmp_path))
    fixed = [one for one in gate.findings if one.relation is Relation.FIXED]
    assert fixed and len(fixed) < len(gate.findings)
    where = fixed[0].entry.found_in.backend.partition(":")[0]
    found = found_again(gate, relation=Relation.FIXED, backend=where, asked=lambda one: ("repaired",))
    assert found == {"repaired": [one.entry.id for one in fixed]}
    said = table({"repaired": ["t/a"], "missed": ["t/b"]}, found)
    assert said.startswith("1 of 2 causes found again (50%).") and "| missed | t/b | not found |" in said
