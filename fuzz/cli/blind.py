"""`tridiff targets --blind`: which share of draws could hide a new defect behind a known one."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.table import Table

from tridiff.fuzz.cli.text import console
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.known.blind import Blindness, BlindShare
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.target import Target

NOTE = """\
drawn: draws with the pattern of a known issue. taken: wrong values planted in their right outputs that were taken for \
it, as parts of draws. controlled: draws where a failure counts as known only if the nearest case without the pattern \
agrees; a defect that needs the pattern is hidden there."""


def show(chosen: Sequence[Target], *, corpus: Path, draws: int, as_json: bool) -> None:
    """Measure the targets, and print a table as they are measured, or one JSON list."""
    blindness = Blindness([one for one in Corpus(corpus).entries() if isinstance(one, CorpusEntry)])
    versions = blindness.versions()
    measured = (share for target in chosen for share in blindness.measure(target, versions=versions, draws=draws))
    if as_json:
        print(json.dumps([msgspec.to_builtins(share) for share in measured]))
        return
    worst = 0.0
    for share in _printed(measured):
        worst = max(worst, share.share)
    console().print(f"worst: {worst:.1%} of draws", NOTE, sep="\n", highlight=False)


def _printed(measured: Iterator[BlindShare]) -> Iterator[BlindShare]:
    for share in measured:
        table = Table(box=None, show_header=False, pad_edge=False)
        for width in (42, 8, 8):
            table.add_column(min_width=width, no_wrap=True)
        table.add_column()
        labels = ", ".join(f"{one.name} {one.drawn}/{one.taken:g}/{one.controlled}" for one in share.labels)
        table.add_row(share.target, share.triton, f"{share.share:.1%}",
                      f"open {share.open_elements:.1%} of elements, {share.open_outputs:.1%} of outputs. {labels}")
        console().print(table)
        yield share
