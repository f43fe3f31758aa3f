"""Which known repairs a gate finds by what it draws."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from tests.support.pairs import CASE, keep, outcome
from tests.unit.corpus.entries import entry, expect
from tests.unit.report import records
from tridiff.fuzz.bench.repairs import among, attributed, causes, drawn, found_again, table
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.gate.record import GateFinding
from tridiff.fuzz.pair.relate import relate
from tridiff.fuzz.records import Case, CorpusEntry, Verdict
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.report.record import read_gate


def seen(cause: str, before: Verdict, after: Verdict, backend: str = "cuda") -> CorpusEntry:
    rows = tuple(expect(triton=triton, backend=backend, verdict=verdict, subject="own")
                 for triton, verdict in (("3.6.0", before), ("3.9.0", after)))
    made = entry(subject="own", expected=rows)
    return replace(made, cause=cause)


def test_causes_count_that_one_release_has_and_the_other_has_not():
    wrong, right = Verdict.DISAGREE, Verdict.AGREE
    entries = [seen("repaired", wrong, right), seen("lasting", wrong, wrong), seen("new", right, wrong),
               seen("elsewhere", wrong, right, "interpreter"), seen("unasked", Verdict.CRASH, Verdict.NOT_CHECKED)]
    assert list(causes(entries, failing="3.6.0", right="3.9.0", backend="cuda")) == ["repaired"]
    assert list(causes(entries, failing="3.9.0", right="3.6.0", backend="cuda")) == ["new"]


def test_what_a_gate_drew_is_held_against_them(tmp_path: Path):
    gate = read_gate(records.gate(tmp_path))
    fixed = [one for one in gate.findings if one.relation is Relation.FIXED]
    assert fixed and len(fixed) < len(gate.findings)
    where = fixed[0].entry.found_in.backend.partition(":")[0]
    found = found_again(gate, relation=Relation.FIXED, backend=where, known=(), asked=lambda one: ("repaired",))
    assert found == {"repaired": [one.entry.id for one in fixed]}
    said = table({"repaired": ["t/a"], "missed": ["t/b"]}, found)
    assert said.startswith("1 of 2 causes found again (50%).") and "| missed | t/b | not found |" in said


def test_a_difference_is_not_run_for_causes_that_are_found(tmp_path: Path):
    proved = Corpus(corpus_to_read(DEFAULT)).find("zero-sign-c65330b634")
    gate = read_gate(records.gate(tmp_path))
    one = next(one for one in gate.findings if one.relation is Relation.FIXED)
    found_in = replace(one.entry.found_in, backend="cuda")
    of_it = [replace(one, entry=replace(proved, id=name, found_in=found_in)) for name in ("first", "second")]
    other = replace(one, entry=replace(one.entry, id="other", found_in=found_in))
    asked: list[str] = []

    def ask(finding: GateFinding) -> tuple[str, ...]:
        asked.append(finding.entry.id)
        return (proved.cause,) if finding.entry.id == "first" else ()

    found = found_again(replace(gate, findings=(other, *of_it)), relation=Relation.FIXED, backend="cuda",
                        known=(proved.cause,), asked=ask)
    assert asked == ["first", "other"] and found == {proved.cause: ["first"]}


def test_other_cases_with_the_pattern_of_a_cause_are_asked_until_one_belongs_to_it(tmp_path: Path):
    proved = Corpus(corpus_to_read(DEFAULT)).find("zero-sign-c65330b634")
    name, case = proved.cause, proved.case
    cases = [replace(case, sizes=dict(case.sizes) | {"n": number}) for number in (1, 2, 3)]
    pairs = [relate(one, outcome(Verdict.DISAGREE, kind="zero_sign", case=one), outcome(Verdict.AGREE, case=one),
                    (None, None), lambda chunks: (None, None)) for one in cases]
    keep(tmp_path, *pairs, relate(CASE, outcome(Verdict.DISAGREE), outcome(Verdict.AGREE), (None, None),
                                  lambda chunks: (None, None)))
    kept = list(drawn(tmp_path, relation=Relation.FIXED, backend="interpreter"))
    assert len(kept) == 4 and not list(drawn(tmp_path, relation=Relation.FIXED, backend="cuda"))
    asked: list[str] = []

    def ask(one: Case, subject: str) -> tuple[str, ...]:
        asked.append(one.digest)
        return (name,) if len(asked) == 2 else ()

    found = among(kept, lacking={name, "another"}, asked=ask)
    # The addition has no known pattern; the third case is not run, as the second one belongs.
    assert found == {name: [asked[1]]} and len(asked) == 2 and CASE.digest not in asked


def test_a_difference_that_does_not_show_at_once_is_run_again():
    (found,) = (one for one in Corpus(corpus_to_read(DEFAULT)).entries() if isinstance(one, CorpusEntry)
                and one.id == "another-shape-a3e9f40cb8")
    failing = replace(outcome(Verdict.DISAGREE), signature=found.signature)
    said = [outcome(Verdict.AGREE), failing]

    def execute(case: Case, subject: str, *, backend: str) -> Any:
        return said.pop(0) if said and case == found.case else outcome(Verdict.AGREE)

    pools: Any = {"cuda": SimpleNamespace(execute=execute)}
    assert found.cause in attributed(pools, found.case, "own", "cuda") and not said
    assert attributed(pools, found.case, "own", "cuda") == ()
