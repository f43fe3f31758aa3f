"""The first bad release of a saved finding."""

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds import Build, inspect, resolve
from tridiff.fuzz.builds.search import FirstBad, Judge, first_bad
from tridiff.fuzz.corpus.cause import same_finding
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Record
from tridiff.fuzz.workers.pool import Pool, PoolOptions

RELEASES = ("3.6.0", "3.7.1", "3.8.0", "3.9.0")
"""Releases that `--bisect` looks through, oldest first."""


class Bisection(Record, kw_only=True):
    """What a bisection found: the first bad release and the last good one, or first_good, from which on it is right
    where the first release is bad; "" where there is none. runs: by build, how many of the runs failed ("3/3"). told:
    in one line."""

    entry: str
    backend: str
    first_bad: str
    last_good: str
    first_good: str = ""
    runs: dict[str, str]
    told: str


def bisect(name: str, corpus: Corpus, releases: tuple[str, ...], *, backend: str = "") -> Bisection:
    """Run an entry's case on some of the releases, oldest first. backend: "" for one on which the entry was seen.

    Raises TridiffError for an entry that does not exist, a build that cannot be had, and a history that is not "good,
    then bad" (a finding that was repaired is looked for from the other end: the first good release)."""
    entry = corpus.find(name)
    chosen = backend or _backend(entry)
    builds = {one: resolve(one) for one in releases}

    def judge(release: str) -> Judge:
        return _runs(builds[release], entry, chosen)

    found = first_bad(tuple(builds), judge)
    told = _told(found, {one: inspect(build).version for one, build in builds.items()})
    return Bisection(entry=entry.id, backend=chosen, first_bad=found.first_bad, last_good=found.last_good,
                     first_good=found.first_good, runs=found.runs, told=f"{entry.id} on {chosen}: {told}")


def _backend(entry: CorpusEntry) -> str:
    from tridiff.fuzz.backends.available import available_backends

    here = available_backends()
    for one in entry.expected:
        if one.verdict.failed and kind(one.backend) in here:
            return one.backend
    raise TridiffError(f"{entry.id} was not seen to fail on a backend of this machine", fix="name one with --backend")


def _runs(build: Build, entry: CorpusEntry, backend: str) -> Judge:
    pool = Pool(PoolOptions(backend=backend, build=build.path, spare=False))

    def fails() -> bool:
        outcome = pool.execute(entry.case, entry.signature.subject, backend=backend)
        return outcome.verdict.failed and same_finding(outcome, entry)

    return Judge(fails=fails, close=pool.close)


def _told(found: FirstBad, versions: dict[str, str]) -> str:
    if found.first_bad:
        return f"first bad release {versions[found.first_bad]}, last good {versions[found.last_good]}"
    if found.first_good:
        return f"bad from the first release on, repaired in {versions[found.first_good]}"
    return found.problem
