"""Are failures of one cause put together, and those of two causes apart? Measured on failures whose cause is known.

    python -m tridiff.fuzz.bench.deduplication --failures 1000 --seconds 300 --json

Causes are the planted faults of targets (whose names are hidden first: they would tell the cause), those planted in
Triton (in its Python layer by `fuzz.planted.failures`, to the same file), and known issues, by their entries under
several options. Failures of faults are made small first, those in Triton blamed as well. A failure's finding is told in
two ways: by its known issues, else its signature's key (`fuzz.corpus.cause`), which is what a campaign counts; and by
its pattern and its neighbours (`fuzz.corpus.pattern`), which is what a campaign proposes as one.

Every pair of failures counts. Precision: of the pairs that were put together, how many have one cause. Recall: of the
pairs that have one cause, how many were put together. Pairs of two faults of one target are told of on their own: they
are two wrong lines in one kernel, and a signature holds what came out wrong and not which line did it. So are, with
`--cross`, those of them that no outcome tells apart: each fault gives the same outputs on the other's case.
"""

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.bench.failures import Failure, Laboratory, kept, of_faults, of_issues, read
from tridiff.fuzz.bench.indistinct import Indistinct
from tridiff.fuzz.bench.triton_failures import of_passes
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.corpus.alike import Alike
from tridiff.fuzz.corpus.cause import findings_of
from tridiff.fuzz.corpus.pattern import key_of, raised_alone
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import Case, CorpusEntry, Evidence, Outcome
from tridiff.fuzz.workers.pool import Pool, PoolOptions


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """One failing run. cause: what is known to be wrong. place: the kernel that the cause lies in, where causes of one
    kernel are told apart by what comes out alone; "" otherwise. finding: what it is filed under."""

    cause: str
    finding: str
    place: str = ""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of failures. together: put under one finding; alike: of one cause; both: of these, both. near: pairs that
    were put together and are of two causes in one place; same: those of them that no outcome tells apart, of which
    nothing is known unless each case was run on the other fault."""

    failures: int
    causes: int
    findings: int
    together: int
    alike: int
    both: int
    near: int
    same: int = 0

    @property
    def precision(self) -> float:
        """1 where nothing was put together."""
        return self.both / self.together if self.together else 1.0

    @property
    def precision_of_places(self) -> float:
        """Without pairs of two causes in one place."""
        return self.both / (self.together - self.near) if self.together > self.near else 1.0

    @property
    def precision_of_outcomes(self) -> float:
        """Without pairs that no outcome tells apart."""
        return self.both / (self.together - self.same) if self.together > self.same else 1.0

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
    placed = [one for one in failures if one.place]
    near = pairs((one.finding, one.place) for one in placed) - pairs(
        (one.finding, one.place, one.cause) for one in placed)
    return Scores(failures=len(failures), causes=len({one.cause for one in failures}),
                  findings=len({one.finding for one in failures}), together=together,
                  alike=pairs((one.cause,) for one in failures), both=both, near=near)


def unlike(failures: Sequence[Failure], files: Sequence[Filed], same: Callable[[Failure, Failure], bool]) -> int:
    """How many pairs of two causes were put together of which `same` is true."""
    groups: dict[str, list[tuple[Failure, Filed]]] = {}
    for failure, file in zip(failures, files, strict=True):
        groups.setdefault(file.finding, []).append((failure, file))
    return sum(one.cause != other.cause and same(failure, another) for group in groups.values()
               for (failure, one), (another, other) in itertools.combinations(group, 2))


def filed(failure: Failure, *, by: str, alone: Collection[str] = ()) -> Filed:
    """The failure under its finding: by "pattern", with which others a campaign proposes it as one, or by "signature",
    which is the finding itself. alone: see `fuzz.corpus.pattern.raised_alone`."""
    told = failure.told
    signature = told.signature
    assert signature is not None
    finding = findings_of(signature, failure.issues)[0]
    if by == "pattern" and not failure.issues:
        finding = key_of(signature, failure.case, told.evidence, told.reason, filter(None, (failure.blame,)), alone)
    return Filed(cause=failure.cause, finding=finding, place=failure.place)


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
    shares = {"precision": scores.precision, "precision_of_places": scores.precision_of_places,
              "precision_of_outcomes": scores.precision_of_outcomes, "recall": scores.recall}
    return {**msgspec.to_builtins(scores), **{name: round(share, 4) for name, share in shares.items()}}


PARTS = ("known issues", "faults of operations and helpers", "faults of the generator of programs",
         "faults of Triton's IR", "faults of Triton's Python layer")
"""What causes are, as a record tells of them."""


def part_of(cause: str) -> str:
    """One of PARTS."""
    kinds = {"issue ": 0, "codegen ": 2, "triton make_": 3, "triton front-end": 3, "triton ": 4}
    return PARTS[next((place for begin, place in kinds.items() if cause.startswith(begin)), 1)]


def record(failures: Sequence[Failure], same: Callable[[Failure, Failure], bool] | None) -> Iterator[str]:
    """The figures as a table in Markdown, by part. same: whether no outcome tells two failures apart; None where that
    was not asked."""
    yield "| failures | causes | findings | precision | precision of outcomes | recall |"
    yield "|---|---|---|---|---|---|"
    parts = [(part, [one for one in failures if part_of(one.cause) == part]) for part in PARTS]
    for name, by, some in (*((part, "pattern", some) for part, some in parts), ("all", "pattern", list(failures)),
                           ("all by signature, which a campaign counts", "signature", list(failures))):
        if not some:
            continue
        files = grouped(some, by=by)
        found = msgspec.structs.replace(
            scored(files), same=unlike(some, files, same) if same is not None and by == "pattern" else 0)
        outcomes = f"{found.precision_of_outcomes:.1%}" if same is not None and by == "pattern" else ""
        yield (f"| {name}: {found.failures:,} | {found.causes} | {found.findings} | {found.precision:.1%} | {outcomes} "
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
    parser.add_argument("--cross", action="store_true",
                        help="run the cases of two faults that were put together on each other")
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
        lines = list(record(failures, Indistinct(laboratory.outcome) if given.cross else None)) if given.table else []
        for by in () if given.table else ("signature", "pattern"):
            files = grouped(failures, by=by)
            same = unlike(failures, files, Indistinct(laboratory.outcome)) if given.cross and by == "pattern" else 0
            found[by] = told(msgspec.structs.replace(scored(files), same=same))
    finally:
        for pool in pools.values():
            pool.close()
    print("\n".join(lines) if given.table else json.dumps(found) if given.json else "\n".join(
        f"by {by}, {name}: {value}" for by, figures in found.items() for name, value in figures.items()))


if __name__ == "__main__":
    main()
