"""Findings on disk: written before they are shrunk, and a note on those for which there was no time yet."""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.corpus.cause import backend_of_pair
from tridiff.fuzz.corpus.expected import torch_matters
from tridiff.fuzz.corpus.store import BESIDE, entry_id
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issues import issue_of_entry
from tridiff.fuzz.records import (
    Case,
    CorpusEntry,
    Environment,
    Evidence,
    Expectation,
    Outcome,
    Signature,
    Verdict,
    pretty_json,
)
from tridiff.fuzz.records.outcome import PERHAPS_TRAPPED
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.target.subjects import fault_of
from tridiff.kernels.record import Record


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """When a finding turned up: after so many seconds of drawing and so many cases, and as which case."""

    seconds: float
    cases: int
    case: Case


class Unfinished(Record, kw_only=True):
    """A finding that may become smaller: the shard that found it, its smallest case so far and what that gave."""

    shard: int
    signature: Signature
    case: Case
    outcome: Outcome
    finding: str = ""
    """Its cause (`fuzz.corpus.cause`)."""
    unasked: bool = False
    """Whether there was no time to ask if it is known."""


_UNFINISHED = msgspec.json.Decoder(Unfinished)


def built(signature: Signature, case: Case, outcome: Outcome, *, failed: int, runs: int,
          environment: Environment, finding: str = "") -> CorpusEntry:
    """The corpus entry of a finding; failed: how many of `runs` runs of the case gave the signature. finding: its cause
    (`fuzz.corpus.cause`), if that is not the signature's."""
    torch_version = environment.torch.partition("+")[0] if torch_matters(signature.subject) else ""
    about = f" ({signature.about})" if signature.about else ""
    title = f"{signature.target}{about}, {signature.subject} on {outcome.backend}: {outcome.reason}"[:300]
    return CorpusEntry(
        id=id_of(signature, finding), title=title, signature=signature, case=case,
        evidence=outcome.evidence or Evidence(), status="stable" if failed == runs > 0 else "flaky",
        reproduced=f"{failed}/{runs}",
        expected=(Expectation(subject=signature.subject, triton=environment.triton, backend=outcome.backend,
                              verdict=outcome.verdict, kind=signature.kind, torch=torch_version),),
        found_in=environment)


def doubt(entry: CorpusEntry) -> str:
    """Why a finding does not count; "" if it does. One failure alone may be an accident, a process may be killed from
    outside (as the system does when it is out of memory), a device assertion that may be due may come as a launch
    failure, and limits of time and memory are tridiff's own. Planted faults are what they are."""
    signature, (failed, runs) = entry.signature, map(int, entry.reproduced.split("/"))
    if runs == 0:
        return "seen once, with no time to run it again: the next campaign begins with it"
    if fault_of(signature.subject):
        return ""
    if signature.verdict is Verdict.CRASH and signature.kind == "out_of_memory":
        return "the memory that a worker may have was used up, a limit of this campaign"
    if signature.verdict is Verdict.CRASH and signature.kind == "SIGKILL" and failed < runs:
        return "the worker was killed from outside: it did not come again each time"
    if signature.kind == "launch_failure" and failed < runs and PERHAPS_TRAPPED in entry.title:
        return "the trap behind a device assertion may have stopped the launch: it did not come again each time"
    if signature.verdict is Verdict.HANG and failed == 0:
        return "a time limit of this campaign was reached once, and not again"
    return ""


def id_of(signature: Signature, finding: str) -> str:
    """The id of a finding. Beside a known issue whose entry has the same signature, another defect has its own id; so
    has a difference between two builds that is seen without a device."""
    name = entry_id(signature)
    if (backend := backend_of_pair(finding)) not in ("", "cuda"):
        return f"{name}-{backend}"
    issue = issue_of_entry(signature.target, name)
    return name if not issue or not finding or finding == cause(issue) else f"{name}{BESIDE}"


def _replace(path: Path, text: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.parent / f".{path.stem}.{os.getpid()}"
    temporary.write_bytes(text)
    temporary.rename(path)


def write(state: Path, entry: CorpusEntry) -> None:
    """Put the entry, or a better form of it, among the campaign's findings."""
    _replace(state / "findings" / f"{entry.id}.json", pretty_json(entry).encode())


def _note(state: Path, name: str) -> Path:
    return state / "unfinished" / f"{name}.json"


def keep(state: Path, one: Unfinished) -> None:
    """Note that the finding may become smaller."""
    _replace(_note(state, id_of(one.signature, one.finding)), msgspec.json.encode(one))


def withdraw(state: Path, name: str) -> None:
    """What was written and noted of a finding is taken back: it is none, or has another id. name: this one. The note
    last: whoever is killed before that comes here again."""
    (state / "findings" / f"{name}.json").unlink(missing_ok=True)
    _note(state, name).unlink(missing_ok=True)


def settle(state: Path, entry: CorpusEntry) -> None:
    """The finding is as small as it gets."""
    _note(state, entry.id).unlink(missing_ok=True)


def hurries(name: str) -> bool:
    """Whether the end of a campaign is kept for a finding with this id, if it may become smaller: what a gate's
    candidate repairs is as good a reason to upgrade as it was drawn."""
    return not name.startswith(f"{Relation.FIXED.value}-")


def unfinished(state: Path) -> list[Unfinished]:
    """Findings that may become smaller, in the order in which they turned up; those last that are in no hurry."""
    notes = sorted((state / "unfinished").glob("*.json"), key=lambda path: (
        not hurries(path.stem), path.stat().st_mtime_ns))
    return [_UNFINISHED.decode(path.read_bytes()) for path in notes]
