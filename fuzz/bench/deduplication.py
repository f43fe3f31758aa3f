"""Are failures of one cause put together, and those of two causes apart? Measured on failures whose cause is known.

    python -m tridiff.fuzz.bench.deduplication --failures 1000 --seconds 300 --json

Causes are the planted faults of targets (whose names are hidden first: they would tell the cause), those planted in
Triton (in its Python layer by `fuzz.planted.failures`, to the same file), and known issues, by their entries under
several options. Failures of faults are made small first, those in Triton blamed as well. A failure's finding is told in
two ways: by its known issues, else its signature's key (`fuzz.corpus.cause`), which is what a campaign counts; and by
its pattern and its neighbours (`fuzz.corpus.pattern`), which is what a campaign proposes as one.

Every pair of failures counts. Precision: of the pairs that were put together, how many have one cause. Recall: of the
pairs that have one cause, how many were put together.
"""

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.bench.failures import Failure, Laboratory, kept, of_faults, of_issues, read
from tridiff.fuzz.bench.triton_failures import of_passes
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.corpus.alike import Alike
from tridiff.fuzz.corpus.cause import findings_of
from tridiff.fuzz.corpus.pattern import key_of, raised_alone
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Case, CorpusEntry, Evidence, Outcome
from tridiff.fuzz.workers.pool import Pool, PoolOptions


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """One failing run. cause: what is known to be wrong. finding: what it is filed under."""

    cause: str
    finding: str


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of failures. together: put under one finding; alike: of one cause; both: of these, both."""

    failures: int
    causes: int
    findings: int
    together: int
    alike: int
    both: int

    @property
    def precision(self) -> float:
        """1 where nothing was put together."""
        return self.both / self.together if self.together else 1.0

    @property
    def recall(self) -> float:
        """1 where no two failures have one cause."""
        return self.both / self.alike if self.alike else 1.0


def scored(failures: Sequence[Filed]) -> Scores:
    """The pairs of these failures."""
    def pairs(keys: Iterable[tuple[str, ...]]) -> int:
        return sum(number * (number - 1) // 2 for number in Counter(keys).values())

    together = pairs((one.finding,) for one in failures)
    both = pairs((one.finding, one.cause) for one in failures)
    return Scores(failures=len(failures), causes=len({one.cause for one in failures}),
                  findings=len({one.finding for one in failures}), together=together,
                  alike=pairs((one.cause,) for one in failures), both=both)


def filed(failure: Failure, *, by: str, alone: Collection[str] = ()) -> Filed:
    """The failure under its finding: by "pattern", with which others a campaign proposes it as one, or by "signature",
    which is the finding itself. alone: see `fuzz.corpus.pattern.raised_alone`."""
    told = failure.told
    signature = told.signature
    assert signature is not None
    finding = findings_of(signature, failure.issues)[0]
    if by == "pattern" and not failure.issues:
        finding = key_of(signature, failure.case, told.evidence, told.reason, filter(None, (failure.blame,)), alone)
    return Filed(cause=failure.cause, finding=finding)


def grouped(failures: Sequence[Failure], *, by: str) -> list[Filed]:
    """Each under its finding; those of one pattern are told apart by their neighbours (`fuzz.corpus.alike`)."""
    alike: Alike[int] = Alike()
    alone = raised_alone((one.told.signature, filter(None, (one.blame,))) for one in failures if one.told.signature)
    files = [filed(one, by=by, alone=alone) for one in failures]
    if by != "pattern":
        return files
    found = []
    for number, (file, failure) in enumerate(zip(files, failures, strict=True)):
        named = failure.blame is not None and failure.blame.named
        first = alike.first(file.finding, None if named else failure.outcome.evidence, number,
                            case=failure.case, subject=failure.told.subject)
        found.append(msgspec.structs.replace(file, finding=f"#{first}"))
    return found


def told(scores: Scores) -> dict[str, float]:
    """The figures, by name."""
    shares = {"precision": scores.precision, "recall": scores.recall}
    return {**msgspec.to_builtins(scores), **{name: round(share, 4) for name, share in shares.items()}}


PARTS = ("known issues", "faults of operations and helpers", "faults of the generator of programs",
         "faults of Triton's IR", "faults of Triton's Python layer")
"""What causes are, as a record tells of them."""


def part_of(cause: str) -> str:
    """One of PARTS."""
    kinds = {"issue ": 0, "codegen ": 2, "triton make_": 3, "triton front-end": 3, "triton ": 4}
    return PARTS[next((place for begin, place in kinds.items() if cause.startswith(begin)), 1)]


def record(failures: Sequence[Failure]) -> Iterator[str]:
    """The figures as a table in Markdown, by part."""
    yield "| failures | causes | findings | precision | recall |"
    yield "|---|---|---|---|---|"
    parts = [(part, [one for one in failures if part_of(one.cause) == part]) for part in PARTS]
    for name, by, some in (*((part, "pattern", some) for part, some in parts), ("all", "pattern", list(failures)),
                           ("all by signature, which a campaign counts", "signature", list(failures))):
        if some:
            found = scored(grouped(some, by=by))
            yield (f"| {name}: {found.failures:,} | {found.causes} | {found.findings} | {found.precision:.1%} "
                   f"| {found.recall:.1%} |")


def main() -> None:
    """Collect failures until there are enough or the time is up, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--failures", type=int, default=1000, help="how many are enough")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--each", type=int, default=15, help="failures of one planted fault at the most")
    parser.add_argument("--runs", type=int, default=150, help="runs to shrink one failure; 0 leaves it as drawn")
    parser.add_argument("--shrink-seconds", type=float, default=15.0)
    parser.add_argument("--draws", type=int, default=40, help="cases drawn for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=Path("corpus"))
    parser.add_argument("--backends", nargs="*", default=["interpreter", "compile:sm_90"])
    parser.add_argument("--part", choices=("all", "issues", "faults", "passes"), default="all")
    parser.add_argument("--baseline", default="", help="a build that blames of passes are held against")
    parser.add_argument("--keep", type=Path, help="add failures to this file, a line of JSON each, and go on from it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--table", action="store_true", help="Markdown, by known issues, operations and programs")
    parser.add_argument("targets", nargs="*", help="names or globs; default all")
    given = parser.parse_args()
    pools: dict[str, Pool] = {}

    def run(case: Case, subject: str, backend: str) -> Outcome:
        family = kind(backend)
        if family not in pools:
            pools[family] = Pool(PoolOptions(backend=backend))
        return pools[family].execute(case, subject, backend=backend)

    def inputs(case: Case, backend: str) -> Evidence:
        return pools[kind(backend)].inputs(case)

    entries = [one for one in Corpus(given.corpus).entries() if isinstance(one, CorpusEntry)]
    failures = read(given.keep) if given.keep is not None and given.keep.exists() else []
    laboratory = Laboratory(run, inputs, runs=given.runs, seconds=given.shrink_seconds)
    drawing = {"targets": given.targets, "each": given.each, "draws": given.draws, "seed": given.seed}
    try:
        parts = {"issues": of_issues(laboratory, entries, given.backends),
                 "faults": of_faults(laboratory, **drawing),
                 "passes": of_passes(laboratory, **drawing,
                                     baseline=resolve(given.baseline) if given.baseline else None)}
        drawn = itertools.chain.from_iterable(
            part for name, part in parts.items() if given.part in ("all", name))
        failures += kept(drawn, given.keep, seconds=given.seconds, most=max(given.failures - len(failures), 0))
        found = {}
        lines = list(record(failures)) if given.table else []
        for by in () if given.table else ("signature", "pattern"):
            found[by] = told(scored(grouped(failures, by=by)))
    finally:
        for pool in pools.values():
            pool.close()
    print("\n".join(lines) if given.table else json.dumps(found) if given.json else "\n".join(
        f"by {by}, {name}: {value}" for by, figures in found.items() for name, value in figures.items()))


if __name__ == "__main__":
    main()
