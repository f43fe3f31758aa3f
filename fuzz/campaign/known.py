"""What the corpus already knows, checked again when it comes up and before a campaign relies on it."""

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.campaign.replay import attempts, misfit
from tridiff.fuzz.corpus.cause import assertion_of, finding_of_entry, same_finding
from tridiff.fuzz.corpus.expected import foreseen
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.attribute import is_issue
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Outcome, Record, Verdict
from tridiff.fuzz.registry import select
from tridiff.fuzz.workers.pool import NoWorker

Run = Callable[[Case, str], Outcome]
"""Runs a case of a subject."""
MOST_REPLAYED = 8
"""At most so many entries of one finding are replayed until one of them fails here."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the corpus has about the targets and subjects of a campaign. entries: those that may still fail, by their
    finding; none is replayed before its finding comes up. keys: findings that are taken at their word. unreadable: one
    line per broken corpus file."""

    entries: dict[str, tuple[CorpusEntry, ...]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def known_of(corpus: Corpus, options: CampaignOptions) -> Known:
    """Read the entries that concern this campaign; nothing runs.

    Hangs are taken at their word: each would cost the whole hang limit. So is everything where shards run on machines
    that do not see the campaign's folder.
    """
    wanted = select(options.targets)
    names = {target.name for target in wanted}
    relatives = {target.name for target in select(tuple({target.family for target in wanted}))}
    unreadable: list[str] = []
    keys: list[str] = []
    entries: dict[str, list[CorpusEntry]] = {}
    for entry in corpus.entries():
        if isinstance(entry, TridiffError):
            unreadable.append(str(entry))
            continue
        signature, finding = entry.signature, finding_of_entry(entry)
        assertion = assertion_of(signature, entry.evidence.log)
        shared = is_issue(finding) or assertion != "" or (
            signature.target in relatives and not finding.startswith(f"{signature.target} |"))
        # An issue may show on subjects that its entries do not have.
        if not (shared or signature.target in names) or not (
                is_issue(finding) or not options.subjects or signature.subject in options.subjects):
            continue
        # An assertion that an issue ends in is known of cases that do not have its pattern.
        for key in dict.fromkeys(filter(None, (finding, assertion))):
            if signature.verdict is Verdict.HANG or options.scheduler:
                keys.append(key)
            else:
                entries.setdefault(key, []).append(entry)
    return Known(entries={finding: tuple(found) for finding, found in entries.items()},
                 keys=tuple(dict.fromkeys(keys)), unreadable=tuple(unreadable))


class Replayed(Record, kw_only=True):
    """What became of a finding's entries when the finding came up. fails: whether one of them shows it here. stopped:
    ids of entries that were expected to fail here and do not."""

    finding: str
    backend: str
    fails: bool
    stopped: tuple[str, ...] = ()


_ENTRIES = msgspec.json.Decoder(tuple[CorpusEntry, ...])
_REPLAYED = msgspec.json.Decoder(Replayed)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def provide(state: Path, known: Known) -> None:
    """Put the entries where the drivers of the campaign find them."""
    folder = state / "known"
    folder.mkdir(exist_ok=True)
    for finding, entries in known.entries.items():
        (folder / f"{_digest(finding)}.entries").write_bytes(msgspec.json.encode(entries))


def replayed(state: Path) -> list[Replayed]:
    """What is known so far of the entries that were replayed."""
    return [_REPLAYED.decode(path.read_bytes()) for path in sorted((state / "known").glob("*.replayed"))]


def known_findings(spec: ShardSpec, state: Path) -> frozenset[str]:
    """The findings that a shard takes for known because the corpus has them."""
    return frozenset(spec.known) | {one.finding for one in replayed(state) if one.fails}


class KnownFindings:
    """Findings that a shard need not follow up: the corpus has them, or another shard of the campaign.

    environment: what the shard's cases run on; asked when the first entry is replayed."""

    def __init__(self, spec: ShardSpec, state: Path, *, environment: Callable[[], Environment]) -> None:
        self._spec, self._entries, self._environment = spec, state / "known", environment
        self._known = set(spec.known)
        self._claims = state / "claims"
        self._shard = spec.index
        self._new: set[str] = set()
        """Findings that no entry shows here."""

    def is_known(self, finding: str, run: Run) -> bool:
        """Whether a finding, by its cause (`fuzz.corpus.cause`), is nothing new. The first time that it comes up in a
        campaign on this backend, its entries are replayed until one shows it: on the shard's subject, and on their own
        where their target lacks that one. run: runs a case of a subject on the shard's backend; what it raises, but for
        a TridiffError about the case, is passed on."""
        if finding in self._known:
            return True
        if finding in self._new:
            return False
        found = self._replayed(finding, run)
        (self._known if found else self._new).add(finding)
        return found

    def _replayed(self, finding: str, run: Run) -> bool:
        name = f"{_digest(finding)}-{_digest(f'{self._spec.backend} {self._spec.subject}')}.replayed"
        with contextlib.suppress(FileNotFoundError):
            return _REPLAYED.decode((self._entries / name).read_bytes()).fails
        try:
            entries = _ENTRIES.decode((self._entries / f"{_digest(finding)}.entries").read_bytes())
        except FileNotFoundError:
            return False
        stopped: list[str] = []
        fails = False
        for entry in sorted(entries, key=self._promise, reverse=True)[:MOST_REPLAYED]:
            outcome = _again(entry, run, self._subject(entry))
            fails = outcome is not None and (same_finding(outcome, entry) or self._left_to_chance(entry))
            if fails:
                break
            if outcome is not None and not outcome.verdict.failed and self._promise(entry)[0]:
                stopped.append(entry.id)
        told = Replayed(finding=finding, backend=self._spec.backend, fails=fails, stopped=tuple(stopped))
        temporary = self._entries / f".{name}.{os.getpid()}"
        temporary.write_bytes(msgspec.json.encode(told))
        temporary.rename(self._entries / name)
        return fails

    def _promise(self, entry: CorpusEntry) -> tuple[bool, bool, bool]:
        """How likely an entry is to show its finding here, to be compared: expected to fail on this backend of the
        installed releases; about this target; seen on this backend at all."""
        subject, backend, here = self._subject(entry), self._spec.backend, self._environment()
        wanted = foreseen(entry, subject=subject, triton=here.triton, backend=backend, torch=here.torch)
        seen = any((one.subject, one.backend) == (subject, backend) for one in entry.expected)
        return wanted is not None and wanted.verdict.failed, entry.case.target == self._spec.target, seen

    def _left_to_chance(self, entry: CorpusEntry) -> bool:
        """Whether an entry failed on the installed release, on whatever backend, but does not each time: that it does
        not now says nothing. What a compiler reads of its freed memory depends on all that it compiled before."""
        here = self._environment().triton
        return entry.status == "flaky" and any(one.triton == here and one.verdict.failed for one in entry.expected)

    def _subject(self, entry: CorpusEntry) -> str:
        """On what an entry is replayed."""
        own = entry.signature.subject
        return own if misfit(entry.case, self._spec.subject) and not misfit(entry.case, own) else self._spec.subject

    def claim(self, finding: str) -> bool:
        """Whether this shard is the one to follow up a new finding; it is known from now on, here and to others."""
        self._new.discard(finding)
        self._known.add(finding)
        self._claims.mkdir(exist_ok=True)
        try:
            with open(self._claim(finding), "x") as file:
                file.write(f"{self._shard}")
        except FileExistsError:
            return False
        return True

    def written(self, finding: str, name: str) -> None:
        """A finding that this shard claimed is on disk, under that id."""
        with contextlib.suppress(FileNotFoundError), open(self._claim(finding), "r+") as file:
            file.write(f"{self._shard} {name}")
            file.truncate()

    def became(self, finding: str, other: str) -> None:
        """The smallest case of a finding that this shard claimed shows it under another name."""
        if finding != other:
            self.written(finding, f"is\n{other}")

    def called(self, finding: str) -> str:
        """What a finding that is known became, for any shard; itself if it is called so still."""
        with contextlib.suppress(FileNotFoundError):
            return self._claim(finding).read_text().partition("\n")[2] or finding
        return finding

    def withdraw(self, finding: str) -> None:
        """A finding that this shard claimed was none: whoever sees it next may claim it."""
        self._known.discard(finding)
        self._claim(finding).unlink(missing_ok=True)

    def _claim(self, finding: str) -> Path:
        return self._claims / _digest(finding)


def _again(entry: CorpusEntry, run: Run, subject: str) -> Outcome | None:
    """The outcome of an entry's case: of a flaky one the first that shows its finding, or the last."""
    outcome = None
    if misfit(entry.case, subject):
        return None
    for _ in range(attempts(entry)):
        try:
            outcome = run(entry.case, subject)
        except NoWorker:
            raise
        except TridiffError:
            return None
        if same_finding(outcome, entry):
            break
    return outcome


def release_claims(state: Path, *, shard: int | None = None) -> None:
    """Give up claims to findings that were lost before they were written, of one shard or of all: they may be found
    again."""
    for claim in (state / "claims").glob("*"):
        owner, _, name = claim.read_text().partition(" ")
        if not name and (shard is None or owner == str(shard)):
            claim.unlink()
