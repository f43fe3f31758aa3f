"""Which known differences between two builds does a gate find by what it draws?

    tridiff gate --baseline 3.6.0 --candidate 3.9.0 --corpus EMPTY --id drawn
    python -m tridiff.fuzz.bench.repairs reports/drawn > table.md

The gate is given an empty folder for a corpus, so that nothing is known to it. Its differences are run once more under
the build that fails, and told by the known issues: a cause counts as found if one of them belongs to it. Causes that
count are those of entries of which one release is recorded as failing and the other one as right on the backend. Runs
under the build that fails: the baseline, with --reversed the candidate. Each difference is told on standard error as
soon as its cause is known. A finding is one case of many that differ alike, as far as their signature tells: with
--state, the folder where the gate kept its files, other cases with the pattern of a cause that is not found yet are run
as well.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import GateFinding, GateSummary
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.records import Case, CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.report.record import read_gate
from tridiff.fuzz.workers.pool import Pool, PoolOptions

Asked = Callable[[GateFinding], Iterable[str]]
"""The causes to which a difference belongs."""
Ask = Callable[[Case, str], Iterable[str]]
"""Those to which the failure of a case on a subject belongs."""

AGAIN = 3
"""Runs at most until a difference shows: what a register or another partition happens to hold decides of some."""

COMPILE_LIMIT = 20.0
"""Seconds for a kernel: more than a failing compiler that does end has needed. Relatives are compiled as well."""

TRIES = 8
"""Cases that are run for one cause."""


def causes(entries: Iterable[CorpusEntry], *, failing: str, right: str, backend: str) -> dict[str, list[str]]:
    """Causes that show on the backend with one release of Triton and not with the other, with their entries."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        said = {one.triton: one.verdict for one in entry.expected
                if one.subject == entry.signature.subject and kind(one.backend) == backend}
        if failing in said and said[failing].failed and said.get(right) is Verdict.AGREE and entry.cause:
            found.setdefault(entry.cause, []).append(f"{entry.case.target}/{entry.id}")
    return found


def found_again(gate: GateSummary, *, relation: Relation, backend: str, known: Collection[str],
                asked: Asked) -> dict[str, list[str]]:
    """Causes of the gate's differences of a relation, with the ids of these. Differences that by pattern and failure
    may belong to a few of the known causes come first; those that may only belong to causes that are found are not
    asked."""
    found: dict[str, list[str]] = {}
    hopes = [(_hopes(one.entry.case, one.entry.signature, known), one) for one in gate.findings
             if one.relation is relation and kind(one.entry.found_in.backend) == backend]
    for hoped, one in sorted(hopes, key=lambda some: len(some[0]) or len(known) + 1):
        if not hoped or not hoped <= found.keys():
            for name in asked(one):
                found.setdefault(name, []).append(one.entry.id)
    return found


def _hopes(case: Case, signature: Signature, known: Collection[str]) -> set[str]:
    """Causes whose pattern a case has, and that fail as it does."""
    return {one.name for one in issues_of(case, signature.subject) if one.name in known and one.shows_as(signature)}


def drawn(state: Path, *, relation: Relation, backend: str) -> Iterator[tuple[Case, Signature]]:
    """Cases of all pairs of a relation that a gate kept, with what the failing side said."""
    for path in sorted((state / "pairs").glob("*.json")):
        pair = msgspec.json.decode(path.read_bytes(), type=PairOutcome)
        side = pair.baseline if relation is Relation.FIXED else pair.candidate
        if pair.relation is relation and kind(side.backend) == backend and side.signature is not None:
            yield pair.case, side.signature


def among(cases: Iterable[tuple[Case, Signature]], *, lacking: Collection[str], asked: Ask) -> dict[str, list[str]]:
    """Causes of those that lack a case, with the digest of one that belongs to each: of cases with its pattern that
    fail as it does, the first few are asked."""
    found: dict[str, list[str]] = {}
    tries: Counter[str] = Counter()
    for case, signature in cases:
        hoped = {name for name in _hopes(case, signature, lacking) if name not in found and tries[name] < TRIES}
        if hoped:
            tries.update(hoped)
            for name in set(asked(case, signature.subject)) & (set(lacking) - found.keys()):
                found[name] = [case.digest]
    return found


def table(known: Mapping[str, list[str]], found: Mapping[str, list[str]]) -> str:
    """What was found and what was not, in Markdown."""
    again = [name for name in sorted(known) if name in found]
    rows = [f"| {name} | {', '.join(known[name])} | {', '.join(found.get(name, ())) or 'not found'} |"
            for name in sorted(known)]
    share = f" ({len(again) / len(known):.0%})" if known else ""
    return "\n".join([f"{len(again)} of {len(known)} causes found again{share}.", "", "| cause | entries | found as |",
                      "|---|---|---|", *rows, ""])


def attributed(pools: dict[str, Pool], case: Case, subject: str, backend: str) -> tuple[str, ...]:
    """The known causes of a case's failure, () where it does not fail in any of a few runs or is none of them."""
    pool = pools.setdefault(backend, Pool(PoolOptions(backend=backend, compile_limit=COMPILE_LIMIT)))

    def run(one: Case, other: str = "") -> Outcome:
        return pool.execute(one, other or subject, backend=backend)

    for _ in range(AGAIN):
        if names := Attribution(run).issues(case, run(case)):
            return names
    return ()


def _attributing(pools: dict[str, Pool]) -> Asked:
    def asked(one: GateFinding) -> Iterable[str]:
        entry = one.entry
        names = attributed(pools, entry.case, entry.signature.subject, entry.found_in.backend)
        print(f"{entry.id}: {', '.join(names) or 'no known cause'}", file=sys.stderr, flush=True)
        return names

    return asked


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("record", type=Path)
    words.add_argument("--corpus", type=Path, default=DEFAULT)
    words.add_argument("--backend", default="cuda")
    words.add_argument("--state", type=Path, help="folder of the gate's files, CAMPAIGNS/ID")
    words.add_argument("--reversed", action="store_true", help="what the candidate broke")
    given = words.parse_args()
    try:
        gate, corpus = read_gate(given.record), Corpus(corpus_to_read(given.corpus))
    except TridiffError as error:
        sys.exit(str(error))
    failing, right = gate.baseline.triton, gate.candidate.triton
    relation = Relation.FIXED
    if given.reversed:
        failing, right, relation = right, failing, Relation.REGRESSION
    if (here := installed()) != failing:
        sys.exit(f"this is Triton {here}, the differences show with {failing}; put that one first in PYTHONPATH")
    pools: dict[str, Pool] = {}
    entries = [entry for entry in corpus.entries() if isinstance(entry, CorpusEntry)]
    known = causes(entries, failing=failing, right=right, backend=given.backend)
    try:
        found = found_again(gate, relation=relation, backend=given.backend, known=known, asked=_attributing(pools))
        if given.state is not None:
            found |= among(drawn(given.state, relation=relation, backend=given.backend), lacking=known.keys() - found,
                           asked=lambda case, subject: attributed(pools, case, subject, given.backend))
    finally:
        for pool in pools.values():
            pool.close()
    print(table(known, found))


if __name__ == "__main__":
    main()
