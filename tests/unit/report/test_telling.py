"""Blames and scripts that are worked out while a campaign runs: what has its turn, for how long, and what is kept."""

import tempfile
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.unit.report.records import entry
from tridiff.fuzz.blame.batch import Blamed
from tridiff.fuzz.campaign import clock
from tridiff.fuzz.campaign.findings import write
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.campaign.told import Tellings, Told
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Blame, CorpusEntry, Environment, Verdict
from tridiff.fuzz.report import scripts, telling
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.report.record import kept_entries, read_scripts
from tridiff.fuzz.report.telling import Telling
from tridiff.fuzz.repro.script import run as run_script
from tridiff.fuzz.repro.waited import own_folder

OPTIONS = campaign_options(seconds=1000.0, workers=20)
ZERO, VALUE = entry("zero-sign-c65330b634"), entry("value-00ebe13492")
FOUND = Environment(backend="interpreter", triton="3.9.0")


class Stand:
    """Stands in for what blames and writes: what was asked for, in order, and with how much time."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, float]] = []
        self.started = self.abandoned = 0
        self.slow = threading.Event()
        self.slow.set()

    def blamed(self, job: object, laboratory: object, seconds: float) -> Blamed:
        one: CorpusEntry = job.entry
        self.asked.append(("blame", one.id, seconds))
        self.slow.wait(20)
        return Blamed(entry=one.id, recorded="unknown", blame=Blame(
            stage="front-end", confidence="seen", triton="3.9.0", backend="interpreter"))

    def written(self, one: CorpusEntry, seconds: float, **_: object) -> Script:
        self.asked.append(("script", one.id, seconds))
        self.slow.wait(20)
        return Script(text=f"# {one.id}\n", note="run here it says BUG")


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    made = Stand()

    class Laboratory:
        def __init__(self, **_: object) -> None:
            made.started += 1

        def start(self, **_: object) -> None: ...
        def restart(self) -> None: ...
        def __enter__(self) -> "Laboratory":
            return self

        def __exit__(self, *_: object) -> None: ...
        def abandon(self) -> None:
            made.abandoned += 1
            made.slow.set()

    monkeypatch.setattr(telling, "Laboratory", Laboratory)
    monkeypatch.setattr(telling, "blamed", made.blamed)
    monkeypatch.setattr(telling, "written", made.written)
    monkeypatch.setattr(telling, "told_at_once", lambda: 1)
    monkeypatch.setattr(telling, "LOOK_SECONDS", 0.02)
    return made


def found(state: Path, one: CorpusEntry, **changes: object) -> CorpusEntry:
    """A finding of a campaign."""
    made = replace(one, **{"found_in": FOUND, "status": "stable", "reproduced": "5/5", "blame": (), **changes})
    state.mkdir(exist_ok=True)
    write(state, made)
    time.sleep(0.002)  # Findings are in the order of their files' times.
    return made


def at_once(state: Path, *, corpus: Corpus | None = None, options: CampaignOptions = OPTIONS) -> list[Told]:
    """All that is told of what is there, in the end."""
    with Telling(state, options, corpus=corpus) as one:
        one.finish(10.0)
        one.wait()
    return one.all()


def test_findings_are_told_while_the_campaign_runs_the_most_promising_first(tmp_path: Path, stand: Stand):
    flaky = found(tmp_path, ZERO, id="flaky", status="flaky", reproduced="3/5")
    aborted = found(tmp_path, VALUE, id="aborted", signature=replace(VALUE.signature, verdict=Verdict.CRASH))
    ours = found(tmp_path, VALUE, id="ours")
    with Telling(tmp_path, OPTIONS, corpus=None) as one:
        deadline = time.monotonic() + 10
        while len(one.all()) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
    for part in ("blame", "script"):
        assert [name for what, name, _ in stand.asked if what == part] == [ours.id, aborted.id, flaky.id]
    assert stand.started == 1, "what serves many is started once"
    assert {told.blame.stage for told in one.all() if told.blame} == {"front-end"}
    assert {told.script for told in one.all() if told.part == "script"} == {"# ours\n", "# aborted\n", "# flaky\n"}


def test_what_may_be_one_finding_with_another_comes_later(tmp_path: Path, stand: Stand):
    for name in ("one", "same"):
        found(tmp_path, VALUE, id=name)
    found(tmp_path, ZERO, id="other", status="flaky", reproduced="3/5")
    at_once(tmp_path)
    assert [name for what, name, _ in stand.asked if what == "script"] == ["one", "other", "same"]


def test_nothing_is_told_of_what_is_known_doubtful_planted_or_not_small_yet(tmp_path: Path, stand: Stand):
    state = tmp_path / "state"
    found(state, VALUE, reproduced="0/0")
    found(state, VALUE, id="planted", signature=replace(VALUE.signature, subject="own+fault:x"))
    known, own = found(state, ZERO), found(state, VALUE, id="own")
    small = found(state, ZERO, id="large")
    (state / "unfinished").mkdir()
    (state / "unfinished" / "large.json").touch()
    corpus = Corpus(tmp_path / "corpus")
    corpus.admit(replace(known, case=replace(known.case, sizes={**known.case.sizes, "rows": 9})))
    corpus.admit(own)
    drawing = Telling(state, OPTIONS, corpus=corpus)
    assert [one.id for one in drawing._wanted()] == ["own"], "what it brought there itself is new"
    assert drawing.untold() == 2, "one now, and one when it is small"
    assert {told.entry for told in at_once(state, corpus=corpus)} == {"own", small.id}, "it gets no smaller in the end"
    assert drawing.untold() == 1, "of the other nothing is told as long as it may become smaller"
    (state / "unfinished" / "large.json").unlink()
    assert drawing.untold() == 0


def test_what_is_told_is_not_told_again_unless_the_case_became_smaller(tmp_path: Path, stand: Stand):
    one = found(tmp_path, VALUE)
    assert len(at_once(tmp_path)) == 2 == len(stand.asked)
    assert len(at_once(tmp_path)) == 2 == len(stand.asked), "a campaign that is resumed goes on"
    smaller = found(tmp_path, one, case=replace(one.case, sizes={**one.case.sizes, "rows": 9}))
    assert all(told.of(smaller) for told in at_once(tmp_path)) and len(stand.asked) == 4


def test_all_together_take_a_small_part_of_the_time_of_the_workers(
        tmp_path: Path, stand: Stand, monkeypatch: pytest.MonkeyPatch):
    moment = [1000.0]
    monkeypatch.setattr(telling.time, "monotonic", lambda: moment[0])
    for number in range(8):
        found(tmp_path, VALUE, id=f"value-{number}")
    one = Telling(tmp_path, campaign_options(seconds=1000.0, workers=2), corpus=None)
    share = telling.share_of(campaign_options(seconds=1000.0, workers=2))
    assert 0.12 < share < 0.2

    def spend(seconds: float, number: int) -> None:
        told = Told(entry=f"value-{number}", case=VALUE.case.digest, part="script", seconds=seconds)
        Tellings(tmp_path).keep(told)

    first = one._next()
    assert first is not None and first.seconds == telling.EACH["blame"], "bounded for each"
    spend(30.0, 0)
    moment[0] += 0.9 * 30 / share
    assert one._next() is None, "those before it took the share of the time until now"
    moment[0] += 0.2 * 30 / share
    assert one._next() is not None
    spend(share * 1000 - 36.0, 1)
    moment[0] += 800
    last = one._next()
    assert last is not None and last.seconds == 6.0, "what is left for the whole campaign"
    spend(share * 1000 - 31.0, 1)
    assert one._next() is None
    one.finish(9.0)
    rest = one._next()
    assert rest is not None and rest.seconds == 9.0, "what the campaign keeps for it in the end"


def test_the_first_of_many_may_not_take_all(tmp_path: Path, stand: Stand):
    found(tmp_path, VALUE)
    one = Telling(tmp_path, campaign_options(seconds=200.0, workers=2), corpus=None)
    first = one._next()
    assert first is not None and first.seconds == pytest.approx(telling.LARGEST * 0.068 * 400)


def test_a_campaign_that_ends_gives_up_what_runs_and_keeps_what_is_done(tmp_path: Path, stand: Stand):
    found(tmp_path, VALUE)
    stand.slow.clear()
    began = time.monotonic()
    with Telling(tmp_path, OPTIONS, corpus=None) as one:
        while not stand.asked:
            time.sleep(0.01)
        one.finish(0.0)
        assert one.wait() == 0.0
    assert time.monotonic() - began < 5 and stand.abandoned == 1 and one.all() == []


def test_a_finding_that_cannot_be_told_of_costs_no_other(
        tmp_path: Path, stand: Stand, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "told").mkdir()
    (tmp_path / "told" / "half.script.json").write_text('{"entry": "ha')
    found(tmp_path, VALUE, id="bad")
    found(tmp_path, ZERO, id="good")

    def breaking(one: CorpusEntry, seconds: float, **_: object) -> Script:
        if one.id == "bad":
            raise ValueError("of no use")
        return Script(text="#\n", note="run here it says BUG")

    monkeypatch.setattr(telling, "written", breaking)
    told = {(one.entry, one.part): one for one in at_once(tmp_path)}
    assert told["good", "script"].script == "#\n" and told["bad", "blame"].blame is not None
    assert (told["bad", "script"].script, told["bad", "script"].note) == ("", scripts.NO_TIME)


def test_what_a_killed_campaign_left_of_its_trials_and_scripts_is_removed(
        tmp_path: Path, stand: Stand, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = [tmp_path / f"{prefix}999999999-x" for prefix in ("tridiff-trials-", "tridiff-repro-")]
    for folder in left:
        folder.mkdir()
    with own_folder() as ours, Telling(tmp_path / "state", OPTIONS, corpus=None):
        assert ours.exists() and not any(folder.exists() for folder in left)


@pytest.fixture
def taken_seriously(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted faults are told of as if nobody had planted them."""
    for module in (scripts, clock):
        monkeypatch.setattr(module, "fault_of", lambda subject: "")


@pytest.mark.slow
@pytest.mark.usefixtures("taken_seriously")
def test_a_finding_of_a_short_campaign_comes_out_with_blame_and_script(tmp_path: Path):
    for seconds in (16, 48, 150):  # the longer ones on a machine that needs the shorter for its first results
        folder = tmp_path / f"{seconds}"
        folders = [word for name in ("state", "corpus", "reports") for word in (f"--{name}", str(folder / name))]
        began = time.monotonic()
        status = ending(run, ["fuzz", "--id", "one", "--seed", "3", "--time", f"{seconds}s", "--workers", "2",
                              "--backend", "interpreter", "--backend", "compile:sm_90", "--target", "triton.vector_add",
                              "--subject", "own+fault:wrong_value", *folders])
        assert status == 1 and time.monotonic() - began < seconds + 6
        record = folder / "reports" / "one"
        scripted = {name for name, one in read_scripts(record).items() if one.text}
        whole = [one for one in kept_entries(record).values() if one.blame and one.id in scripted]
        if whole:
            break
    assert whole, "of the one that came first"
    assert {one.part for one in Tellings(folder / "state" / "one").all()} == {"blame", "script"}
    one = whole[0]
    assert Corpus(folder / "corpus").find(one.id).blame == one.blame
    # On a busy machine its run beside the campaign may have been too slow.
    script = read_scripts(record)[one.id]
    assert script.note.startswith("run here it") and run_script(script.text).answer == "BUG"
    assert one.blame[0].evidence[0] in (record / "findings" / f"{one.id}.md").read_text()
