"""Storing findings: ids, duplicates, updates, look-up, and writes that are all or nothing."""

import errno
import json
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.refusals import refusal, refused
from tests.unit.corpus.entries import division_case, entry, expect, rich_entry
from tridiff.fuzz.corpus import Corpus, entry_id, expectation, with_verdict
from tridiff.fuzz.corpus.store import MAX_BYTES, parse
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Evidence, Verdict, pretty_json
from tridiff.fuzz.records.pretty import WIDTH

each = pytest.mark.parametrize


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def only(corpus: Corpus) -> CorpusEntry:
    """The one entry that is stored."""
    (stored,) = corpus.entries()
    assert isinstance(stored, CorpusEntry), stored
    return stored


def stored_names(corpus: Corpus) -> list[str]:
    """Every file under the root, hidden ones included."""
    return sorted(str(path.relative_to(corpus.root)) for path in corpus.root.rglob("*") if path.is_file())


def test_a_new_finding_lands_at_target_and_id_and_reads_back_equal(corpus: Corpus):
    new = rich_entry()
    admission = corpus.admit(new)
    assert admission.status == "new"
    assert admission.path == corpus.root / "helpers.div_floor_integer" / f"{new.id}.json"
    assert list(corpus.entries()) == [new]
    assert stored_names(corpus) == [f"helpers.div_floor_integer/{new.id}.json"]
    assert admission.path.stat().st_mode & 0o777 == 0o644


def test_entries_come_sorted_by_path_and_lazily(corpus: Corpus):
    for target in ("triton.mod", "helpers.minimum", "triton.floordiv"):
        corpus.admit(entry(case=division_case(target=target)))
    found = [one.case.target for one in corpus.entries() if isinstance(one, CorpusEntry)]
    assert found == ["helpers.minimum", "triton.floordiv", "triton.mod"]
    stream = corpus.files()
    next(stream)
    (corpus.root / "triton.mod" / f"{entry(case=division_case(target='triton.mod')).id}.json").write_text("{")
    assert [isinstance(one, CorpusEntry) for _, one in stream] == [True, False]


def test_the_same_signature_is_stored_once(corpus: Corpus):
    first = entry()
    corpus.admit(first)
    again = replace(first, id="another-name", case=division_case(("-7",), ("3",)))
    admission = corpus.admit(again)
    assert (admission.status, admission.entry, admission.added) == ("duplicate", first, 0)
    other_kind, other_subject, other_about = entry(kind="unwritten"), entry(subject="own"), entry(about="uint blocks")
    assert {corpus.admit(one).status for one in (other_kind, other_subject, other_about)} == {"new"}
    assert len(list(corpus.entries())) == 4


def test_a_known_finding_gains_the_versions_it_was_not_seen_on(corpus: Corpus):
    first = entry(expected=(expect(triton="3.9.0"),))
    corpus.admit(first)
    admission = corpus.admit(replace(first, expected=(expect(triton="3.6.0"),)))
    assert (admission.status, admission.added) == ("updated", 1)
    stored = only(corpus)
    assert stored == admission.entry
    assert [one.triton for one in stored.expected] == ["3.6.0", "3.9.0"]


def test_admitting_never_overturns_a_recorded_verdict(corpus: Corpus):
    """A finding that was fixed and comes back must stay visible as a regression."""
    fixed = entry(expected=(expect(verdict=Verdict.AGREE),))
    corpus.admit(fixed)
    admission = corpus.admit(entry(expected=(expect(verdict=Verdict.DISAGREE), expect(triton="3.6.0"))))
    assert (admission.status, admission.added, admission.contradicted) == ("updated", 1, 1)
    kept = expectation(admission.entry, subject="own", triton="3.9.0", backend="interpreter")
    assert kept.verdict is Verdict.AGREE
    corpus.rewrite(with_verdict(admission.entry, subject="own", triton="3.9.0", backend="interpreter",
                                verdict=Verdict.DISAGREE, kind="value"))
    assert only(corpus).expected[1] == expect(kind="value")


def test_known_finds_by_signature_alone(corpus: Corpus):
    first = entry()
    assert corpus.known(first.signature) is None
    corpus.admit(first)
    (corpus.root / first.case.target / "aaa.json").write_text("not JSON")
    assert corpus.known(first.signature) == first
    assert corpus.known(entry(kind="unwritten").signature) is None


def test_expectations_are_per_subject_version_and_backend():
    one = entry(expected=(expect(), expect(triton="3.9.0+git1a2b"),
                          expect("inductor", torch="2.11.0", verdict=Verdict.AGREE),
                          expect("inductor", torch="2.13.0")))

    def verdict(**at: str) -> Verdict | None:
        where = {"subject": "own", "triton": "3.9.0", "backend": "interpreter"} | at
        found = expectation(one, **where)
        return found.verdict if found else None

    assert verdict() is Verdict.DISAGREE
    assert verdict(torch="2.99.0+cu130") is Verdict.DISAGREE, "torch is no part of the subject own"
    assert verdict(triton="3.6.0") is verdict(backend="cuda") is verdict(subject="own+fault:x") is None
    assert verdict(triton="3.9.0+git1a2b") is Verdict.DISAGREE
    assert verdict(triton="3.9.0+gitffff") is None, "another commit is another compiler"
    assert verdict(subject="inductor", torch="2.11.0+cpu") is Verdict.AGREE
    assert verdict(subject="inductor", torch="2.13.0+cu130") is Verdict.DISAGREE
    assert verdict(subject="inductor", torch="2.12.0") is None


def test_with_verdict_replaces_exactly_its_own_expectation():
    one = entry(expected=(expect(triton="3.6.0"), expect(triton="3.9.0")))
    changed = with_verdict(one, subject="own", triton="3.9.0", backend="interpreter", verdict=Verdict.AGREE)
    assert changed.expected == (expect(triton="3.6.0"), expect(triton="3.9.0", verdict=Verdict.AGREE))
    added = with_verdict(changed, subject="inductor", triton="3.9.0", backend="cuda", verdict=Verdict.CRASH,
                         torch="2.13.0+cu130")
    assert added.expected[0] == expect("inductor", backend="cuda", verdict=Verdict.CRASH, torch="2.13.0")
    assert len(added.expected) == 3


def test_ids_are_readable_and_pass_the_loader():
    for kind in ("value", "SIGSEGV", "CompilationError: N:N", "Ünïcode ../../x", "", "é"):
        one = entry(kind=kind)
        assert parse(pretty_json(one).encode(), source="x").id == one.id
    assert entry_id(entry(kind="nan_missing").signature).startswith("nan-missing-")
    assert entry_id(entry(kind="a").signature) != entry_id(entry(kind="a", subject="own").signature)


def test_an_entry_is_found_by_id_beginning_or_path(corpus: Corpus):
    first, second = entry(), entry(kind="unwritten")
    paths = [corpus.admit(one).path for one in (first, second)]
    assert corpus.find(first.id) == first
    assert corpus.find("unw") == second
    assert corpus.find(f"{first.case.target}/{first.id}") == first
    assert corpus.find(f"{first.case.target}/unw") == second
    assert corpus.find(str(paths[0])) == first
    third = entry(case=division_case(target="triton.floordiv"))
    corpus.admit(replace(third, id=f"{first.id}x"))
    assert corpus.find(first.id) == first, "a whole id wins over being a beginning"
    with refused(r"fits 2 entries: .*; give more of the name"):
        corpus.find("value")


@each("text", ["", "no-such-entry", "../../etc/passwd", "\x1b[31m", "helpers.div_floor_integer"])
def test_a_name_that_fits_nothing_gets_one_line(corpus: Corpus, text: str):
    corpus.admit(entry())
    corpus.admit(entry(kind="unwritten"))
    refusal(lambda: corpus.find(text))


def test_near_names_are_offered(corpus: Corpus):
    first = entry()
    corpus.admit(first)
    with refused(f"try {first.id}"):
        corpus.find(first.id.replace("value", "valeu"))


def test_what_the_loader_would_refuse_is_not_written(corpus: Corpus):
    bad = (
        replace(entry(), id="../../escape"), replace(entry(), id="Upper"),
        entry(title="x" * 501), entry(case=replace(division_case(), target="../up")),
        entry(case=replace(division_case(), sizes={"rows": 10**6, "cols": 10**6})),
        entry(expected=(expect(), expect(verdict=Verdict.AGREE))),
    )
    for one in bad:
        for write in (corpus.admit, corpus.rewrite):
            with pytest.raises(TridiffError):
                write(one)
    assert list(corpus.root.parent.rglob("*")) == []


def test_long_evidence_is_left_out_rather_than_the_finding_lost(corpus: Corpus):
    many = tuple(str(k * 1_000_003) for k in range(20_000))
    long = replace(entry(), evidence=Evidence(
        inputs={"a": many, "b": ("2",)}, actual={"out": many}, expected={"torch": {"out": many}}, log="l" * 9000))
    admission = corpus.admit(long)
    assert admission.path.stat().st_size < 16_000
    stored = only(corpus)
    assert stored.evidence.inputs == {"a": (), "b": ("2",)}
    assert stored.case == long.case
    values = tuple(str(10**30 + k) for k in range(10_000))
    with refused(f"the limit is {MAX_BYTES:,}; shrink the case"):
        corpus.admit(entry(kind="other", case=division_case(values, ("1",))))


def test_an_id_taken_by_something_else_is_not_overwritten(corpus: Corpus):
    first = entry()
    path = corpus.path_of(first)
    path.parent.mkdir(parents=True)
    path.write_text("precious, though broken")
    with refused("exists and holds something else"):
        corpus.admit(first)
    assert path.read_text() == "precious, though broken"


@each("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@each("call", ["fsync", "replace"])
def test_a_failing_disk_leaves_the_old_file_and_one_line(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, number: int, call: str
):
    first = entry()
    before = corpus.admit(first).path.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with refused(f"{os.strerror(number)}.; nothing was changed"):
        corpus.admit(replace(first, expected=(expect(triton="3.6.0"),)))
    monkeypatch.undo()
    assert corpus.path_of(first).read_bytes() == before
    assert len(stored_names(corpus)) == 1, "a temporary file was left behind"


def _admit_with_little_room(root: str, limit: int, answer: multiprocessing.connection.Connection) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        Corpus(Path(root)).admit(entry())
        answer.send("written")
    except TridiffError as error:
        answer.send(str(error))


def test_a_write_that_the_kernel_cuts_short_leaves_nothing(tmp_path: Path):
    """The file size limit makes the kernel accept the first half and refuse the rest, as a full disk does."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_admit_with_little_room, args=(str(tmp_path), 600, theirs))
    process.start()
    assert ours.poll(30)
    message = ours.recv()
    process.join()
    assert message.startswith("cannot write ") and message.endswith("nothing was changed; free disk space")
    assert stored_names(Corpus(tmp_path)) == []


def test_a_folder_that_cannot_be_written_gets_one_line(tmp_path: Path):
    (tmp_path / "corpus").write_text("a file")
    with refused("choose a corpus folder that can be written"):
        Corpus(tmp_path / "corpus").admit(entry())


def _admit_many(root: str, worker: int) -> None:
    corpus = Corpus(Path(root))
    for number in range(30):
        corpus.admit(entry(kind=f"k{number % 5}", expected=(expect(triton=f"{worker}.{number}"),)))


def test_processes_that_admit_at_once_lose_no_expectation(tmp_path: Path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_admit_many, args=(str(tmp_path), number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    entries = [one for one in Corpus(tmp_path).entries() if isinstance(one, CorpusEntry)]
    assert len(entries) == 5
    seen = sorted(one.triton for stored in entries for one in stored.expected)
    assert seen == sorted(f"{worker}.{number}" for worker in range(3) for number in range(30))


def test_files_are_strict_json_with_a_line_per_thing():
    text = pretty_json(rich_entry())
    assert msgspec.json.decode(text.encode(), type=CorpusEntry) == rich_entry()
    assert json.loads(text)["case"]["arrays"][3]["content"]["base"]["value"] == "nan:0x1"
    assert text.endswith("}\n") and max(map(len, text.splitlines())) <= WIDTH + 2
    # One changed expectation is one changed line group, never a reflow of the file.
    changed = with_verdict(rich_entry(), subject="inductor", triton="3.9.0", backend="interpreter",
                           verdict=Verdict.CRASH, torch="2.13.0")
    before, after = set(text.splitlines()), set(pretty_json(changed).splitlines())
    assert len(before - after) <= 2


@each("cause, status", [("", "duplicate"), ("of-another-kind", "new")])
def test_a_finding_that_looks_like_an_entry_of_a_known_cause_under_another_name_is_kept(
        cause: str, status: str, tmp_path: Path):
    corpus = Corpus(tmp_path)
    stored = replace(entry(), id="value-0123456789", cause=cause)
    corpus.rewrite(stored)
    assert corpus.admit(entry()).status == status
    assert len(list(corpus.entries())) == (1 if status == "duplicate" else 2)
