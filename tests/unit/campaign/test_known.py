"""What the corpus knows is replayed when it comes up, once for all shards of a campaign, and not before."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.fake_pool import FakePool, stand_in
from tests.support.outcomes import outcome_of
from tests.support.repository import ENTRIES
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.known import KnownFindings, known_of, provide, replayed
from tridiff.fuzz.campaign.record import ShardResult
from tridiff.fuzz.corpus.cause import finding_of_entry, findings_of
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Expectation, Outcome, Signature, Verdict

OF_A_CONSTANT = (
    "C->getType() == Ty->getScalarType() && \"ConstantInt type doesn't match the type implied by its value!\"")
OPTIONS = campaign_options(targets=("triton.vector_add",), backends=("interpreter",))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each case was run, by digest; all cases with rows fail."""
    counted: Counter[str] = Counter()

    class Pool(FakePool):
        @staticmethod
        def failing(case: Case) -> str:
            counted[case.digest] += 1
            return "value" if case.sizes["rows"] and case.digest not in healed else ""

    healed.clear()
    stand_in(monkeypatch, Pool)
    return counted


healed: set[str] = set()
"""Digests of cases that agree."""


def run(state: Path, index: int = 0) -> ShardResult:
    return shard.run_shard(shard_spec(max_cases=60, index=index, seed=index + 1, rows=64), str(state))


@pytest.fixture
def corpus(tmp_path: Path, ran: Counter[str]) -> Corpus:
    """The findings of a shard; large cases, as others may draw the smallest."""
    made = Corpus(tmp_path / "corpus")
    for entry in shard.run_shard(shard_spec(max_cases=60, rows=64, shrink=False), str(tmp_path / "first")).findings:
        made.admit(entry)
    ran.clear()
    return made


def entries(corpus: Corpus) -> list[CorpusEntry]:
    return [entry for entry in corpus.entries() if isinstance(entry, CorpusEntry)]


def prepared(tmp_path: Path, corpus: Corpus) -> Path:
    state = tmp_path / "state"
    state.mkdir()
    provide(state, known_of(corpus, OPTIONS))
    return state


def test_nothing_runs_before_it_comes_up(tmp_path: Path, corpus: Corpus, ran: Counter[str]):
    known = known_of(corpus, OPTIONS)
    assert entries(corpus) and known.keys == () and not ran
    assert {entry.id for found in known.entries.values() for entry in found} == {e.id for e in entries(corpus)}
    state = prepared(tmp_path, corpus)
    assert replayed(state) == [] and not ran


def test_what_still_fails_is_known_to_all_shards_after_one_replay(
        tmp_path: Path, corpus: Corpus, ran: Counter[str]):
    state = prepared(tmp_path, corpus)
    results = [run(state, index) for index in (1, 2)]
    assert [result.findings for result in results] == [(), ()]
    for result in results:
        assert sum(result.known_seen.values()) == result.counts.disagree > 0
        assert result.counts.shrink_runs == 0 and result.counts.executed == 60
    assert {one.fails for one in replayed(state)} == {True}
    assert sum(ran.values()) == 120 + len(entries(corpus)), "each entry is replayed once"


def test_a_finding_whose_entry_agrees_here_is_new_and_the_entry_is_told(
        tmp_path: Path, corpus: Corpus, ran: Counter[str]):
    healed.update(entry.case.digest for entry in entries(corpus))
    state = prepared(tmp_path, corpus)
    result = run(state, 1)
    told = replayed(state)
    assert told and not any(one.fails for one in told)
    assert {name for one in told for name in one.stopped} <= {entry.id for entry in entries(corpus)}
    assert {name for one in told for name in one.stopped}
    assert {entry.id for entry in result.findings} >= {name for one in told for name in one.stopped}
    assert result.known_seen == {}


def test_a_finding_that_does_not_come_each_time_is_known_on_releases_where_it_came(
        tmp_path: Path, corpus: Corpus, ran: Counter[str]):
    healed.update(entry.case.digest for entry in entries(corpus))
    for number, triton in enumerate((entries(corpus)[0].found_in.triton, "3.5.0")):
        for entry in entries(corpus):
            rows = tuple(replace(one, triton=triton, backend="compile:sm_90") for one in entry.expected)
            corpus.rewrite(replace(entry, status="flaky", reproduced="1/2", expected=rows))
        folder = tmp_path / triton
        folder.mkdir()
        result = run(prepared(folder, corpus), 1)
        assert {one.fails for one in replayed(folder / "state")} == {number == 0}
        assert (result.findings == ()) is (number == 0)


def test_machines_that_do_not_see_the_folder_take_the_corpus_at_its_word(
        tmp_path: Path, corpus: Corpus, ran: Counter[str]):
    options = campaign_options(targets=("triton.vector_add",), backends=("interpreter",), scheduler="tcp://there:8786")
    known = known_of(corpus, options)
    assert known.entries == {} and len(known.keys) == len(entries(corpus))


@pytest.mark.parametrize("issue, subjects", [
    # Its entry is a program of the own generator, which is all that its target has.
    ("comparison-of-cast-half", {"own"}),
    ("any-of-uint8", {"inductor"}),
])
def test_an_issue_whose_entries_another_subject_has_is_replayed_on_that_one(
        tmp_path: Path, issue: str, subjects: set[str]):
    asked: list[str] = []

    def run(fails: bool) -> Callable[[Case, str], Outcome]:
        def outcome(case: Case, subject: str) -> Outcome:
            asked.append(subject)
            entry = next(one for found in known.entries.values() for one in found if one.case == case)
            return outcome_of(case, entry.signature.verdict if fails else Verdict.AGREE,
                              entry.signature if fails else None, subject=subject, backend="cuda")
        return outcome

    known = known_of(ENTRIES, campaign_options(
        targets=("inductor.programs_mixed",), subjects=("inductor",), backends=("cuda",)))
    spec = shard_spec(target="inductor.programs_mixed", subject="inductor", backend="cuda")

    def here() -> Environment:
        return Environment(triton="3.6.0", torch="2.11.0+cu130")

    for fails in (True, False):
        state = tmp_path / str(fails)
        state.mkdir()
        provide(state, known)
        found = KnownFindings(spec, state, environment=here)
        assert found.is_known(f"issue {issue}", run(fails)) is fails
        assert set(asked) == subjects
        assert bool(replayed(state)[0].stopped) is not fails


@pytest.mark.parametrize("triton, told", [("3.6.0", True), ("3.8.0", False), ("3.9.0", False), ("3.10.0", False)])
def test_an_entry_stopped_failing_only_where_its_release_or_the_newest_one_before_failed(
        tmp_path: Path, corpus: Corpus, ran: Counter[str], triton: str, told: bool):
    entry = entries(corpus)[0]
    rows = (("3.6.0", Verdict.DISAGREE), ("3.8.0", Verdict.AGREE), ("3.9.0", Verdict.AGREE))
    corpus.rewrite(msgspec.structs.replace(entry, expected=tuple(
        Expectation(subject=entry.signature.subject, triton=version, backend="interpreter", verdict=verdict)
        for version, verdict in rows)))
    state = prepared(tmp_path, corpus)
    found = KnownFindings(shard_spec(), state, environment=lambda: Environment(triton=triton))

    def agrees(case: Case, subject: str) -> Outcome:
        return outcome_of(case, Verdict.AGREE, subject=subject)

    assert not found.is_known(finding_of_entry(entry), agrees)
    assert replayed(state)[0].stopped == ((entry.id,) if told else ())


@pytest.mark.parametrize("text, fails, known", [
    (OF_A_CONSTANT, True, True), (OF_A_CONSTANT, False, False), ("C->getType() == Ty", True, False)])
def test_an_assertion_that_an_entry_of_an_issue_ends_in_here_is_known_in_cases_without_its_pattern(
        tmp_path: Path, text: str, fails: bool, known: bool):
    spec = shard_spec(target="codegen.scan", subject="own", backend="cuda")
    found = known_of(ENTRIES, campaign_options(targets=("codegen.scan",), backends=("cuda",)))
    provide(tmp_path, found)

    def again(case: Case, subject: str) -> Outcome:
        entry = next(one for each in found.entries.values() for one in each if one.case == case)
        return outcome_of(case, Verdict.CRASH if fails else Verdict.AGREE, entry.signature if fails else None,
                          subject=subject, backend="cuda", evidence=entry.evidence)

    crash = Signature(target="codegen.scan", subject="own", verdict=Verdict.CRASH, kind="SIGABRT")
    log = f"python3: /source/llvm-project/llvm/lib/IR/Constants.cpp:12: f(): Assertion `{text}' failed."
    (finding,) = findings_of(crash, (), log)
    shard = KnownFindings(spec, tmp_path, environment=lambda: Environment(triton="3.6.0"))
    assert finding.startswith("assertion Constants.cpp: ") and shard.is_known(finding, again) is known
    assert findings_of(crash, (), "no assertion") == (crash.key,)


def test_a_broken_file_is_one_line(tmp_path: Path, corpus: Corpus):
    (corpus.root / "triton.vector_add" / "broken.json").write_text("{")
    assert len(known_of(corpus, OPTIONS).unreadable) == 1
