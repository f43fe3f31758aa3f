"""What the corpus already knows, checked again before a campaign relies on it."""

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.campaign.replay import replay
from tridiff.fuzz.corpus.cause import finding_of_entry, same_finding
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.registry import select


@dataclass(frozen=True, kw_only=True)
class Known:
    """keys: findings that still fail here, to be suppressed. stopped: ids that were expected to fail here
    and no longer do. unreadable: one line per broken corpus file."""

    keys: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def check_known(corpus: Corpus, options: CampaignOptions) -> Known:
    """Replay the entries that concern this campaign's targets and subjects on its backends.

    Hangs are taken at their word: each would cost the whole hang limit.
    """
    wanted = select(options.targets)
    names = {target.name for target in wanted}
    relatives = {target.name for target in select(tuple({target.family for target in wanted}))}

    def concerned(entry: CorpusEntry) -> bool:
        signature = entry.signature
        shared = signature.target in relatives and finding_of_entry(entry) != signature.key
        return shared or signature.target in names

    unreadable: list[str] = []
    keys: list[str] = []
    relevant: list[CorpusEntry] = []
    for entry in corpus.entries():
        if isinstance(entry, TridiffError):
            unreadable.append(str(entry))
        elif concerned(entry) and (not options.subjects or entry.signature.subject in options.subjects):
            if entry.signature.verdict is Verdict.HANG:
                keys.append(finding_of_entry(entry))
            else:
                relevant.append(entry)
    stopped: list[str] = []
    if relevant:
        by_id = {entry.id: entry for entry in relevant}
        failing: set[str] = set()
        for result in replay(relevant, backends=options.backends, device=options.devices[0] if options.devices else 0):
            outcome = result.outcome
            if outcome is not None and same_finding(outcome, by_id[result.id]):
                failing.add(result.id)
            elif result.status == "changed" and outcome is not None and not outcome.verdict.failed:
                stopped.append(result.id)
        keys += [finding_of_entry(by_id[name]) for name in sorted(failing)]
        # An entry that still fails on one backend is still known.
        stopped = [name for name in stopped if name not in failing]
    return Known(keys=tuple(keys), stopped=tuple(dict.fromkeys(stopped)), unreadable=tuple(unreadable))


class KnownFindings:
    """Findings that a shard need not follow up: the corpus has them, or another shard of the campaign."""

    def __init__(self, spec: ShardSpec, state: Path) -> None:
        self._known = set(spec.known)
        self._claims = state / "claims"
        self._shard = spec.index

    def is_known(self, finding: str) -> bool:
        """Whether a finding, by its cause (`fuzz.corpus.cause`), is nothing new."""
        return finding in self._known

    def claim(self, finding: str) -> bool:
        """Whether this shard is the one to follow up a new finding; it is known from now on, here and to others."""
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

    def withdraw(self, finding: str) -> None:
        """A finding that this shard claimed was none: whoever sees it next may claim it."""
        self._known.discard(finding)
        self._claim(finding).unlink(missing_ok=True)

    def _claim(self, finding: str) -> Path:
        return self._claims / hashlib.blake2b(finding.encode(), digest_size=8).hexdigest()


def release_claims(state: Path, *, shard: int | None = None) -> None:
    """Give up claims to findings that were lost before they were written, of one shard or of all: they may be found
    again."""
    for claim in (state / "claims").glob("*"):
        owner, _, name = claim.read_text().partition(" ")
        if not name and (shard is None or owner == str(shard)):
            claim.unlink()
