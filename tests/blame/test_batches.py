"""Blames of many entries: which go first, that one that breaks costs no other, and how results come back together."""

import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.refusals import refused
from tests.support.repository import ENTRIES
from tridiff.fuzz.blame import batch as batches
from tridiff.fuzz.blame.batch import Blamed, batch, keep, read
from tridiff.fuzz.blame.jobs import EVALUATED, backends_of, jobs
from tridiff.fuzz.blame.localise import NotFailing
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Blame, CorpusEntry, Expectation, Verdict

GPU = ("cuda", "interpreter", "compile:sm_90")
NO_GPU = GPU[1:]


def entry(name: str, *rows: tuple[str, str, str]) -> CorpusEntry:
    """An entry of the corpus with other verdicts: (version, backend, verdict)."""
    found = ENTRIES.find(name)
    expected = tuple(Expectation(subject=found.signature.subject, triton=triton, backend=backend,
                                 verdict=Verdict(verdict)) for triton, backend, verdict in rows)
    return replace(found, expected=expected, blame=())


def value(*rows: tuple[str, str, str]) -> CorpusEntry:
    """A wrong value, found on a GPU."""
    return entry("triton.floordiv/value-cd18b7a4b0", *rows)


def crash(*rows: tuple[str, str, str]) -> CorpusEntry:
    """A crash that was found on a GPU."""
    return entry("gluon.view_chain/illegal-address-7f92aee734", *rows)


def test_wrong_values_are_looked_for_in_the_ir_where_there_is_no_gpu_and_crashes_in_the_compiler():
    found = value(("3.9.0", "cuda", "disagree"), ("3.9.0", "interpreter", "disagree"))
    assert backends_of(found, GPU, "3.9.0") == ("cuda", "interpreter")
    assert backends_of(found, NO_GPU, "3.9.0") == (EVALUATED, "interpreter")
    assert backends_of(crash(("3.9.0", "cuda", "crash")), NO_GPU, "3.9.0")[0] == "compile:sm_90"


def test_an_exception_of_the_interpreter_is_no_wrong_value():
    found = value(("3.9.0", "cuda", "disagree"), ("3.9.0", "interpreter", "crash"))
    assert backends_of(found, NO_GPU, "3.9.0") == (EVALUATED,)


def test_what_is_recorded_to_be_right_with_a_version_is_left_out():
    found = value(("3.6.0", "cuda", "disagree"), ("3.9.0", "cuda", "agree"))
    assert backends_of(found, GPU, "3.6.0") == ("cuda",)
    assert backends_of(found, GPU, "3.9.0") == ()
    assert backends_of(found, NO_GPU, "3.9.0") == ()


def test_defects_that_show_on_this_backend_alone_go_first_and_those_nobody_tried_last():
    alone = value(("3.9.0", "cuda", "disagree"))
    both = crash(("3.9.0", "cuda", "crash"), ("3.9.0", "compile:sm_90", "crash"))
    untried = replace(value(("3.6.0", "cuda", "disagree")), id="value-0000")
    judged = replace(alone, id="value-1111", truth="undefined")
    found = jobs([judged, untried, both, alone], GPU, "3.9.0", only="cuda")
    assert [job.entry for job in found] == [alone, both, untried, judged]
    assert not jobs([value(("3.9.0", "cuda", "agree"))], GPU, "3.9.0", only="cuda")


class Rooms:
    """In the place of laboratories: counts how many are open."""

    open, most = 0, 0

    def __init__(self, **_: object) -> None:
        self.triton, self.trials, self.begun = "3.9.0", 0, 0

    def start(self, *, interpreted: bool) -> None:
        type(self).open += 1
        type(self).most = max(self.most, self.open)

    def renew(self, seconds: float) -> None:
        self.budget = seconds

    def restart(self) -> None:
        self.begun += 1

    def __enter__(self) -> "Rooms":
        return self

    def __exit__(self, *exc: object) -> None:
        type(self).open -= 1


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> type[Rooms]:
    """The class in the place of laboratories, with fresh counts."""
    made = type("Counted", (Rooms,), {})
    monkeypatch.setattr(batches, "Laboratory", made)
    return made


def test_an_entry_that_breaks_the_tool_costs_no_other(monkeypatch: pytest.MonkeyPatch, rooms: type[Rooms]):
    def stand_in(case: object, subject: str, backend: str, **more: object) -> Blame:
        time.sleep(0.05)
        if backend == EVALUATED:
            raise NotFailing("it is right there", fix="")
        if backend == "compile:sm_90":
            raise ZeroDivisionError("in the tool")
        return Blame(stage="front-end", confidence="seen", triton="3.9.0", backend=backend)

    monkeypatch.setattr(batches, "blame", stand_in)
    wrong = value(("3.9.0", "cuda", "disagree"), ("3.9.0", "interpreter", "disagree"))
    chosen = jobs([wrong, crash(("3.9.0", "compile:sm_90", "crash"))] * 5, NO_GPU, "3.9.0")
    found = list(batch(chosen, workers=3, seconds=20))
    assert sorted(one.problem for one in found) == [""] * 5 + ["ZeroDivisionError: in the tool"] * 5
    assert {one.blame.backend for one in found if one.blame is not None} == {"interpreter"}
    assert (rooms.open, rooms.most) == (0, 3)


def test_no_entry_is_begun_once_the_time_of_all_is_over(monkeypatch: pytest.MonkeyPatch, rooms: type[Rooms]):
    def slow(*_: object, **more: object) -> Blame:
        time.sleep(0.2)
        return Blame(triton="3.9.0", backend="cuda")

    monkeypatch.setattr(batches, "blame", slow)
    chosen = jobs([value(("3.9.0", "cuda", "disagree"))] * 50, GPU, "3.9.0")
    found = list(batch(chosen, workers=1, seconds=20, total=batches.SHORTEST + 0.5))
    assert 1 <= len(found) <= 4
    assert rooms.open == 0


def test_results_made_elsewhere_are_merged_once_and_a_stage_is_not_given_up(tmp_path: Path):
    store, wrong = Corpus(tmp_path / "corpus"), value(("3.9.0", "cuda", "disagree"))
    store.admit(wrong)
    name = f"{wrong.case.target}/{wrong.id}"
    seen = Blame(stage="ttgir", confidence="seen", triton="3.9.0", backend="cuda")
    results = tmp_path / "results.jsonl"
    lines = [msgspec.json.encode(Blamed(entry=name, recorded="ttgir", blame=seen)),
             msgspec.json.encode(Blamed(entry="triton.mod/value-0000000000", recorded="ttgir", blame=seen))]
    results.write_bytes(b"\n".join(lines) + b"\n" + lines[0][:40])
    assert keep(store, read(results)) == (1, ["triton.mod/value-0000000000"])
    assert store.find(name).blame == (seen,)
    assert keep(store, read(results)[:1]) == (0, [])
    keep(store, [Blamed(entry=name, recorded="ttgir", blame=Blame(triton="3.9.0", backend="cuda"))])
    assert store.find(name).blame == (seen,)


def test_a_damaged_file_of_results_is_refused(tmp_path: Path):
    results = tmp_path / "results.jsonl"
    results.write_text('{"entry": 1}\n{}\n')
    with refused("line 1"):
        read(results)
