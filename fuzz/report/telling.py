"""Blames and scripts of a campaign's findings, worked out while it runs, in processes of their own beside its workers.

A finding has its turn as soon as it is as small as it gets, the most promising first. Each part of each has a budget,
and all together a small part of the time of the campaign's workers; what is left when nothing is drawn any more is done
in what the campaign keeps for that, all at once. Every part is on disk when it is done (`fuzz.campaign.told`): a
campaign that is cut off and resumed goes on with the others.
"""

import contextlib
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame import laboratory as laboratories
from tridiff.fuzz.blame.batch import blamed
from tridiff.fuzz.blame.jobs import Job
from tridiff.fuzz.blame.laboratory import Laboratory
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.campaign.clock import TELLING_BESIDE, longest_telling, told_at_once
from tridiff.fuzz.campaign.findings import doubt
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.campaign.told import PARTS, Part, Tellings, Told, settled, unsettled
from tridiff.fuzz.corpus.pattern import key_of
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Verdict, decode
from tridiff.fuzz.report import blames, scripts
from tridiff.fuzz.report.scripts import planted, written
from tridiff.fuzz.repro import waited
from tridiff.fuzz.workers.leftovers import sweep

EACH: dict[Part, float] = {"blame": blames.EACH, "script": scripts.EACH}
"""Seconds for one part of one finding; ..."""

LARGEST = 0.5
"""... no more than that part of what all together may take while the campaign runs."""

SHORTEST = 5.0
"""Seconds with fewer of which nothing is begun."""

LOOK_SECONDS = 0.5
"""How often is looked for findings."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What is to be told next. seconds: that it may take."""

    entry: CorpusEntry
    part: Part
    seconds: float


def share_of(options: CampaignOptions) -> float:
    """Worker seconds that may be spent, while a campaign draws, in a second of it."""
    return TELLING_BESIDE * options.workers * longest_telling(options.seconds) / options.seconds


class Telling:
    """Tells of a campaign's findings as they come: use as a context around its run. state: its folder. preloaded: that
    of processes which import for its workers, and may for this (`workers.preloaded`)."""

    def __init__(self, state: Path, options: CampaignOptions, *, corpus: Corpus | None,
                 preloaded: Path | None = None) -> None:
        self._state, self._options, self._corpus, self._preloaded = state, options, corpus, preloaded
        self._tellings = Tellings(state)
        self._lock = threading.Condition()
        self._began = time.monotonic()
        self._until: float | None = None
        """The moment (monotonic) until which everything is told; None while the campaign draws."""
        self._stopped = False
        self._entries: dict[str, tuple[int, CorpusEntry | None]] = {}
        """By id, with the moment at which they were written; None for one of which nothing is told."""
        self._running: dict[tuple[str, Part], float] = {}
        """When each piece was begun on which somebody works."""
        self._broken: set[tuple[str, Part]] = set()
        self._keys: dict[str, str] = {}
        """By case and signature, what findings share that may be one."""
        self._idle_until = 0.0
        """There is nothing to begin before that moment: several lanes look."""
        self._laboratories: list[Laboratory] = []
        self._lanes = [threading.Thread(target=self._work, name=f"telling {place}", daemon=True)
                       for place in range(told_at_once() if options.shrink and options.builds is None else 0)]

    def __enter__(self) -> "Telling":
        for prefix in (laboratories.PREFIX, waited.PREFIX) if self._lanes else ():
            sweep(prefix)
        for lane in self._lanes:
            lane.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def finish(self, seconds: float) -> None:
        """Nothing is drawn any more: for so many seconds everything is told that is left."""
        with self._lock:
            self._until, self._idle_until = time.monotonic() + seconds, 0.0
            self._lock.notify_all()

    def wait(self) -> float:
        """Wait until everything is told or the time is up; returns the seconds that are left."""
        with self._lock:
            while self._until is not None and self._lanes and not self._stopped and (
                    self._running or self._next() is not None) and self._until > time.monotonic():
                self._lock.wait(LOOK_SECONDS)
        self.stop()
        return 0.0 if self._until is None else max(self._until - time.monotonic(), 0.0)

    def stop(self) -> None:
        """What runs is given up, and its processes end."""
        with self._lock:
            for one in self._laboratories if not self._stopped else ():
                one.abandon()
            self._stopped = True
            self._lock.notify_all()
        for lane in self._lanes:
            if lane.is_alive():
                lane.join(SHORTEST)

    def all(self) -> list[Told]:
        """All that is told."""
        return self._tellings.all()

    def untold(self) -> float:
        """How many findings there are of which is still to be told while the campaign draws, also of those that may
        become smaller; half of one is a part."""
        if not self._lanes:
            return 0.0
        with self._lock:
            done = {(one.entry, one.part, one.case) for one in self._tellings.all()}
            left = [part for entry in self._wanted() for part in PARTS
                    if (entry.id, part) not in self._broken and (entry.id, part, entry.case.digest) not in done]
        return len(left) / len(PARTS) + unsettled(self._state)

    # -- what is next

    def _next(self) -> Piece | None:
        """The next piece, if it is time for one; if there is none, nobody looks again at once."""
        now = time.monotonic()
        if now < self._idle_until:
            return None
        piece = self._due()
        self._idle_until = 0.0 if piece is not None else now + LOOK_SECONDS
        return piece

    def _due(self) -> Piece | None:
        """Of both parts the one of which there are fewer."""
        told = self._tellings.all()
        seconds = self._seconds(told)
        if seconds < SHORTEST:
            return None
        done = {(one.entry, one.part): one for one in told}
        entries = [entry for entry in self._wanted() if not self._broken.issuperset((entry.id, one) for one in PARTS)]
        waiting: dict[Part, list[CorpusEntry]] = {part: [
            one for one in entries if (one.id, part) not in self._running and (one.id, part) not in self._broken
            and not ((one.id, part) in done and done[one.id, part].of(one))] for part in PARTS}
        possible = [part for part in PARTS if waiting[part]]
        if not possible:
            return None
        had = Counter(part for _, part in (*done, *self._running))
        part = min(possible, key=lambda one: had[one])
        begun = Counter(self._key(one) for one in entries if (one.id, part) in self._running or (one.id, part) in done)
        half = {name for name, one in (*done, *self._running) if one != part}
        entry = min(waiting[part], key=lambda one: (begun[self._key(one)], one.id not in half, *_rank(one)))
        return Piece(entry=entry, part=part, seconds=min(seconds, EACH[part]))

    def _key(self, entry: CorpusEntry) -> str:
        name = f"{entry.case.digest} {entry.signature.key}"
        if name not in self._keys:
            self._keys[name] = _key(entry)
        return self._keys[name]

    def _spent(self, told: list[Told]) -> float:
        now = time.monotonic()
        return sum(one.seconds for one in told) + sum(now - began for began in self._running.values())

    def _seconds(self, told: list[Told]) -> float:
        """Those that another piece may take, 0 where it is not time for one."""
        now, options = time.monotonic(), self._options
        if self._until is not None:
            return self._until - now
        spent, share = self._spent(told), share_of(options)
        if spent > share * (now - self._began) or len(self._running) > share:
            return 0.0
        if options.max_cases is not None:
            return max(EACH.values())
        return min(share * options.seconds - spent, max(LARGEST * share * options.seconds, SHORTEST))

    def _wanted(self) -> list[CorpusEntry]:
        """Findings that are as small as they get, count and are nobody's on purpose, and that the corpus did not have,
        in the order in which they came."""
        paths = {path.stem: path for path in settled(self._state, drawing=self._until is None)}
        for name in self._entries.keys() - paths.keys():
            del self._entries[name]
        for name, path in paths.items():
            with contextlib.suppress(OSError, TridiffError):
                moment = path.stat().st_mtime_ns
                if name not in self._entries or self._entries[name][0] != moment:
                    entry = decode(path.read_bytes(), CorpusEntry, source=str(path))
                    self._entries[name] = moment, entry if self._tells(entry) else None
        return [entry for _, entry in sorted(self._entries.values(), key=lambda one: one[0]) if entry is not None]

    def _tells(self, entry: CorpusEntry) -> bool:
        if doubt(entry) or planted(entry) or not entry.found_in.backend:
            return False
        known = self._corpus.known(entry.signature) if self._corpus is not None else None
        # What this campaign brought there is new.
        return known is None or known.id != entry.id or known.case == entry.case

    # -- the work

    def _work(self) -> None:
        with contextlib.ExitStack() as stack:
            laboratory: Laboratory | None = None
            while (piece := self._taken()) is not None:
                began = time.monotonic()
                told: Told | None = None
                try:
                    if piece.part == "blame":
                        laboratory = laboratory or self._laboratory(piece, stack)
                        told = self._blamed(piece, laboratory, piece.seconds - (time.monotonic() - began))
                    else:
                        told = self._scripted(piece)
                except Exception:  # A finding that breaks what tells of it is told without.
                    if laboratory is not None:
                        laboratory.restart()
                self._end(piece, told, time.monotonic() - began)

    def _taken(self) -> Piece | None:
        """The next piece, when it is time for one; None when nothing more is to be told."""
        with self._lock:
            while not self._stopped and not (self._until is not None and self._until <= time.monotonic()):
                piece = self._next()
                if piece is not None:
                    self._running[piece.entry.id, piece.part] = time.monotonic()
                    return piece
                self._lock.wait(LOOK_SECONDS)
            return None

    def _end(self, piece: Piece, told: Told | None, seconds: float) -> None:
        with self._lock:
            del self._running[piece.entry.id, piece.part]
            self._idle_until = 0.0
            if not self._stopped:
                told = told or Told(entry=piece.entry.id, case=piece.entry.case.digest, part=piece.part, seconds=0.0,
                                    note=scripts.NO_TIME)
                try:
                    self._tellings.keep(replace(told, seconds=round(seconds, 2)))
                except OSError:
                    self._broken.add((piece.entry.id, piece.part))
            self._lock.notify_all()

    def _laboratory(self, piece: Piece, stack: contextlib.ExitStack) -> Laboratory:
        """One with its processes, which serve all that follows."""
        baseline = resolve(self._options.baseline) if self._options.baseline else None
        found = stack.enter_context(Laboratory(seconds=piece.seconds, baseline=baseline, preloaded=self._preloaded))
        with self._lock:
            self._laboratories.append(found)
            if self._stopped:
                found.abandon()
        found.start(interpreted=kind(piece.entry.found_in.backend) != "compile")
        return found

    @staticmethod
    def _blamed(piece: Piece, laboratory: Laboratory, seconds: float) -> Told:
        entry = piece.entry
        found = blamed(Job(entry=entry, backends=(entry.found_in.backend,), rank=()), laboratory, seconds)
        return Told(entry=entry.id, case=entry.case.digest, part="blame", seconds=0.0, blame=found.blame,
                    note=found.problem)

    def _scripted(self, piece: Piece) -> Told:
        end = time.monotonic() + piece.seconds
        made = written(piece.entry, piece.seconds, stop=lambda: self._stopped or time.monotonic() > end,
                       preloaded=self._preloaded)
        return Told(entry=piece.entry.id, case=piece.entry.case.digest, part="script", seconds=0.0, script=made.text,
                    note=made.note)


def _key(entry: CorpusEntry) -> str:
    """What findings share that may be one."""
    try:
        return key_of(entry.signature, entry.case, entry.evidence, entry.title)
    except (TridiffError, KeyError, ValueError, IndexError):
        return entry.signature.key


def _rank(entry: CorpusEntry) -> tuple[bool, ...]:
    """The smallest is the most promising: what comes each time, does not hang, is wrong without a word, and is of a
    kernel of ours, which takes less time than one of torch.compile."""
    verdict = entry.signature.verdict
    return (entry.status != "stable", verdict is Verdict.HANG, verdict is not Verdict.DISAGREE,
            entry.signature.subject != "own")

