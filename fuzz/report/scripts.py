"""Standalone scripts for the findings of a record, as many as there is time for, each run where that is possible."""

import os
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tridiff.fuzz.campaign.clock import TOLD_BY
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import GateFinding
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.repro.script import Run, run, runs_here, script
from tridiff.fuzz.repro.waited import Stop, never
from tridiff.fuzz.target.subjects import fault_of

SHARE, LEAST, MOST = 0.1, 15.0, 300.0
"""Time for scripts: a part of a campaign's budget, in seconds at least and at most."""

SHORTEST = 5.0
"""Seconds in which a script may be written; with less nothing is begun."""

EACH = 60.0
"""Seconds for writing one script and for a run of it."""

PHASE = 0.5
"""Largest part of what is left for one of them: a script that hangs does not take the time of all."""

AT_ONCE = 32
"""Scripts that are written and run at the same time, where there are as many cores."""

NO_TIME = "no time was left to write one: `tridiff report --scripts` does"
NOBODY = "nobody ran it: the builds of the gate are not what their names stand for here"
_LATE = "no answer within"
_RIGHT = re.compile(r", on the (baseline|candidate) OK\b")

Builds = tuple[str, str]
"""Of the baseline and of the candidate: folders that come first in the path of a process."""

_Work = tuple[CorpusEntry, Callable[[float], Script]]
"""A finding, and what writes its script in so many seconds."""


def seconds_after(options: CampaignOptions, *, took: float, interrupted: bool) -> float:
    """Seconds that scripts may take after a campaign or a gate: a tenth of its budget, or of what its number of cases
    took (seconds). None where it was interrupted, when somebody waits, or was not to shrink what it found."""
    if interrupted or not options.shrink:
        return 0.0
    if options.max_cases is None:
        return min(max(SHARE * options.seconds, LEAST), MOST)
    return min(SHARE * took, MOST)


def seconds_left(end: float) -> float:
    """Seconds that are left for blames and scripts of a campaign whose time ends, or ended, at a moment (monotonic)."""
    return max(min(end + TOLD_BY - time.monotonic(), MOST), 0.0)


def planted(entry: CorpusEntry) -> bool:
    """Whether the defect is one of our own, planted to test the tester: nobody reports it."""
    return bool(fault_of(entry.signature.subject))


def campaign_scripts(entries: Iterable[CorpusEntry], *, seconds: float) -> dict[str, Script]:
    """A script for each entry, by id; one for which there was no time says so."""
    def work(entry: CorpusEntry) -> _Work:
        return entry, lambda limit: written(entry, limit)

    return _all([work(entry) for entry in entries if not planted(entry)], seconds)


def gate_scripts(findings: Iterable[GateFinding], *, seconds: float, builds: Builds | None) -> dict[str, Script]:
    """A script for each finding, by the entry's id, run on both builds where they are known."""
    def work(one: GateFinding) -> _Work:
        return one.entry, lambda limit: _of_difference(one, limit, builds)

    return _all([work(one) for one in findings], seconds)


def _all(works: Iterable[_Work], seconds: float) -> dict[str, Script]:
    end = time.monotonic() + seconds

    def timed(given: _Work) -> tuple[str, Script]:
        entry, work = given
        left = end - time.monotonic()
        return entry.id, work(min(left * PHASE, EACH)) if left >= SHORTEST else Script(note=NO_TIME)

    # Nothing else of the campaign or the gate runs any more. Scripts that show hangs tell it late, and come first.
    with ThreadPoolExecutor(min(len(os.sched_getaffinity(0)), AT_ONCE)) as pool:
        return dict(pool.map(timed, sorted(works, key=lambda one: not _hangs(one[0]))))


def _hangs(entry: CorpusEntry) -> bool:
    return entry.signature.verdict is Verdict.HANG


def written(entry: CorpusEntry, limit: float, *, stop: Stop = never, preloaded: Path | None = None) -> Script:
    """The script of an entry. limit: seconds for writing it and for each run of it. stop, preloaded: as in
    `repro.script`."""
    try:
        made = script(entry, time_limit=limit, fails=True, stop=stop, preloaded=preloaded)
    except TridiffError as error:
        return _none(error)
    return Script(text=made.text, note=_said("here", made.ran))


def wants_time(script: Script) -> bool:
    """Whether more time, or the builds of the gate, may say more than is known of a finding's script."""
    return script.note in (NO_TIME, NOBODY) or _LATE in script.note


def confirms(script: Script, relation: Relation | None = None) -> bool:
    """Whether a script that was run shows its finding: it says BUG here, and of a regression or a fix OK on the other
    build. relation: of a gate's finding. Where both builds are within the contract there is nothing to show."""
    if relation is Relation.CHANGED:
        return True
    paired = relation in (Relation.REGRESSION, Relation.FIXED)
    return " it says BUG" in script.note and (not paired or _RIGHT.search(script.note) is not None)


def _of_difference(one: GateFinding, limit: float, builds: Builds | None) -> Script:
    if one.relation is Relation.CHANGED:
        return Script(note="both builds are within the contract, which leaves the answer open: no script can call one "
                           "of them wrong")
    baseline, candidate = builds or ("", "")
    failing, other = (baseline, candidate) if one.relation is Relation.FIXED else (candidate, baseline)
    names = ("candidate", "baseline") if failing == candidate else ("baseline", "candidate")
    try:
        made = script(one.entry, time_limit=limit, verify=builds is not None, path=failing, length="short if possible",
                      fails=True if builds is not None else None,
                      other=other if builds and one.relation in (Relation.REGRESSION, Relation.FIXED) else None)
    except TridiffError as error:
        return _none(error)
    if builds is None or not runs_here(made.backend):
        return Script(text=made.text, note=f"nobody ran it: {made.backend} is not available here" if builds else NOBODY)
    again = made.beside or run(made.text, time_limit=limit, path=other)
    word = _word(again)
    if again.answer == "SKIP" and made.ran.answer == "BUG":
        word = _in_its_own_words(one.entry, limit, other) or word
    return Script(text=made.text, note=f"{_said(f'on the {names[0]}', made.ran)}, on the {names[1]} {word}")


def _in_its_own_words(entry: CorpusEntry, limit: float, build: str) -> str:
    """What the script says that the other build writes: Gluon has other words in each release. "" if that is nothing
    either."""
    try:
        ran = script(entry, time_limit=limit, path=build, length="short if possible", fails=False).ran
    except TridiffError:
        return ""
    return f"{ran.answer} (the script as that build writes it)" if ran.answer in ("BUG", "OK") else ""


def _none(error: TridiffError) -> Script:
    """Why there is no script; one that was given up is tried again when somebody gives it the time."""
    return Script(note=NO_TIME if _LATE in error.problem else error.problem)


def _said(where: str, ran: Run) -> str:
    if ran.answer == "BUG":
        return f"run {where} it says BUG"
    if ran.answer == "none" and "not available" in ran.reason:
        return f"nobody ran it: {ran.reason}"
    if ran.answer == "none" and ran.reason.startswith(_LATE):
        return f"run {where} it gave {ran.reason}"
    return f"run {where} it does not show the finding, it says {_word(ran)}"


def _word(ran: Run) -> str:
    return f"nothing ({ran.reason})" if ran.answer == "none" else ran.line
