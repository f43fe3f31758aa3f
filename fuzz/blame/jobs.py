"""Which entries are blamed where, and in which order: by what their verdicts say, nothing is run here."""

from collections.abc import Iterable
from dataclasses import dataclass

from tridiff.fuzz.backends import kind
from tridiff.fuzz.records import CorpusEntry, Verdict

EVALUATED = "evaluated:sm_90"
"""Where wrong values of a GPU may show without one: what the last TTGIR computes, evaluated on the CPU."""

_ENDS = (Verdict.COMPILE_ERROR, Verdict.CRASH, Verdict.HANG)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One entry to blame. backends: to be tried in this order until it fails on one. rank: the smallest goes first."""

    entry: CorpusEntry
    backends: tuple[str, ...]
    rank: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.entry.case.target}/{self.entry.id}"


def backends_of(entry: CorpusEntry, backends: tuple[str, ...], triton: str = "") -> tuple[str, ...]:
    """Where an entry may be blamed on a machine with `backends`, the most telling first.

    triton: a version; backends on which it is recorded to be right with that version are left out, those on which it
    is recorded to fail come first. A GPU comes first; without one, wrong values are looked for in the IR, and failures
    of a launch in the compiler, because where a pass fails needs no device. An exception of the interpreter is another
    failure than wrong values."""
    rows = [one for one in entry.expected if one.subject == entry.signature.subject and not (
        entry.signature.verdict is Verdict.DISAGREE and one.backend == "interpreter" and one.verdict in _ENDS)]
    ours = {one.backend: one.verdict.failed for one in rows if one.triton == triton}
    seen = dict.fromkeys([entry.found_in.backend, *(one.backend for one in rows if one.verdict.failed)])
    order = [one for one in seen if kind(one) == "cuda"] + [one for one in seen if kind(one) == "compile"]
    if "cuda" in seen and "cuda" not in backends and ours.get("cuda", True):
        order.append("compile:sm_90" if entry.signature.verdict in _ENDS else EVALUATED)
    order += [one for one in seen if kind(one) == "interpreter"]
    possible = [one for one in dict.fromkeys(order)
                if (one in backends or kind(one) in ("compile", "evaluated")) and ours.get(one, True)]
    return tuple(sorted(possible, key=lambda one: one not in ours and one != EVALUATED))


def jobs(entries: Iterable[CorpusEntry], backends: tuple[str, ...], triton: str = "", *,
         only: str = "") -> list[Job]:
    """What to blame on this machine with this version of Triton, the most promising first: defects before others, what
    is recorded to fail here before what nobody tried, what fails on this backend alone before what shows elsewhere as
    well, kernels of ours before those of torch.compile, which take longer, and what hangs at the end.

    only: the one backend that is meant; entries that were never seen to fail there are left out."""
    found = []
    for entry in entries:
        where = backends_of(entry, (*backends, only) if only else backends, triton)
        if only:
            where = tuple(one for one in where if one == only)
        if where:
            found.append(Job(entry=entry, backends=where, rank=_rank(entry, where[0], triton)))
    return sorted(found, key=lambda one: (one.rank, one.name))


def _rank(entry: CorpusEntry, backend: str, triton: str) -> tuple[int, ...]:
    rows = [one for one in entry.expected if one.subject == entry.signature.subject and one.verdict.failed]
    here = any(one.triton == triton and one.backend == backend for one in rows)
    elsewhere = any(kind(one.backend) != kind(backend) for one in rows)
    return (entry.truth != "defect", not here, entry.signature.verdict is Verdict.HANG, elsewhere,
            entry.signature.subject != "own")
