"""`tridiff targets --blind`: which share of draws could hide a new defect behind a known one."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.table import Table

from tridiff.fuzz.bench.blind import Blindness, BlindShare, Label, Ran
from tridiff.fuzz.campaign.record import IssueCounts, Summary
from tridiff.fuzz.cli.text import console
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.codec import decode_file
from tridiff.fuzz.target import Target

NOTE = """\
Of every issue: drawn/taken/controlled, and (failed/explained/refuted) in the last campaign that ran the target.
drawn: draws with its pattern. taken: wrong values planted in right outputs that were taken for it, as parts of draws.
controlled: draws where a failure counts as known only if the nearest case without the pattern agrees; a defect that \
needs the pattern is hidden there.
failed: cases that failed where the pattern is. explained: those that were the issue. refuted: those that were not, \
because the nearest case without it failed as well."""


def show(chosen: Sequence[Target], *, corpus: Path, records: Path, draws: int, as_json: bool) -> None:
    """Measure the targets, and print a table as they are measured, or one JSON list."""
    entries = [one for one in Corpus(corpus).entries() if isinstance(one, CorpusEntry)]
    blindness = Blindness(entries, ran(records))
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
        labels = ", ".join(_shown(label) for label in share.labels)
        table.add_row(share.target, share.triton, f"{share.share:.1%}",
                      f"open {share.open_elements:.1%} of elements, {share.open_outputs:.1%} of outputs. {labels}")
        console().print(table)
        yield share


def _shown(label: Label) -> str:
    ran = "" if label.failed is None else f" ({label.failed}/{label.explained}/{label.refuted})"
    return f"{label.name} {label.drawn}/{label.taken:g}/{label.controlled}{ran}"


def ran(records: Path) -> dict[Ran, dict[str, IssueCounts]]:
    """What the newest record of each version, target and subject says of known issues. Records that cannot be read, or
    are from before issues were counted, say nothing."""
    found: dict[Ran, dict[str, IssueCounts]] = {}
    for path in sorted(records.glob("*/summary.json"), key=lambda path: path.stat().st_mtime):
        try:
            summary = decode_file(path.read_bytes(), Summary, source=str(path))
        except (TridiffError, OSError):
            continue
        for environment in summary.environments:
            for place, issues in summary.issues.items():
                target, _, subject = place.partition(" ")
                found[environment.triton, target, subject] = issues
    return found
