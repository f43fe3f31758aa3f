"""Blames of a campaign's new findings, as many as there is time for, each within a budget of its own."""

from collections.abc import Collection, Iterable

from tridiff.fuzz.blame.batch import SHORTEST, batch
from tridiff.fuzz.blame.jobs import Job
from tridiff.fuzz.blame.record import with_blame
from tridiff.fuzz.campaign.clock import told_at_once
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Blame, CorpusEntry
from tridiff.fuzz.report.scripts import planted

PART = 0.5
"""Of the time for what people read that blames may take; the rest is for scripts."""

EACH = 45.0
"""Seconds for one finding."""


def campaign_blames(entries: Iterable[CorpusEntry], *, seconds: float, corpus: Corpus | None,
                    tried: Collection[str] = ()) -> list[CorpusEntry]:
    """The entries, with where they go wrong as far as that was found out, which is put into the corpus as well. Each is
    blamed on the backend on which it was found; faults planted on purpose are not. seconds: for all together, the
    start of the processes included. tried: ids of entries of which none was found."""
    known = {f"{one.case.target}/{one.id}": one for one in entries}
    jobs = [Job(entry=one, backends=(one.found_in.backend,), rank=(place,)) for place, one in enumerate(known.values())
            if one.found_in.backend and not one.blame and not planted(one) and one.id not in tried]
    if not jobs or PART * seconds < SHORTEST:
        return list(known.values())
    for one in batch(jobs, workers=told_at_once(), seconds=EACH, total=PART * seconds):
        if one.blame is not None:
            known[one.entry] = noted(known[one.entry], one.blame, corpus)
    return list(known.values())


def noted(entry: CorpusEntry, found: Blame, corpus: Corpus | None) -> CorpusEntry:
    """The entry with a blame, which is put into the corpus as well."""
    stored = corpus.known(entry.signature) if corpus is not None else None
    if corpus is not None and stored is not None:
        corpus.rewrite(with_blame(stored, found))
    return with_blame(entry, found)
