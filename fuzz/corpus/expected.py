"""Expected verdicts of an entry: per subject, Triton version and backend.

Where the installed torch is itself under test (subject `inductor`), its version counts as well.
"""

from msgspec.structs import replace

from tridiff.fuzz.records import CorpusEntry, Expectation, Verdict
from tridiff.fuzz.target.subjects import without_fault
from tridiff.fuzz.versions import release


def torch_matters(subject: str) -> bool:
    """Whether the installed torch is the thing under test."""
    return without_fault(subject) == "inductor"


def _key(one: Expectation) -> tuple[str, str, str, str]:
    return one.subject, one.triton, one.backend, one.torch if torch_matters(one.subject) else ""


def expectation(entry: CorpusEntry, *, subject: str, triton: str, backend: str, torch: str = "") -> Expectation | None:
    """What the entry is expected to do, or None when nobody has seen it there.

    triton, torch: versions as the packages report them. Triton's is compared whole, since its local part
    (`+git...`) names another compiler; torch's without its local part (`+cu130`), and only where torch is the
    subject and the expectation names a version.
    """
    for one in entry.expected:
        if (one.subject, one.triton, one.backend) != (subject, triton, backend):
            continue
        if not torch_matters(subject) or not one.torch or _public(one.torch) == _public(torch):
            return one
    return None


def foreseen(entry: CorpusEntry, *, subject: str, triton: str, backend: str, torch: str = "") -> Expectation | None:
    """What the entry is expected to do (`expectation`); on a Triton that nobody has seen it on, what it does on the
    newest release among those that are recorded."""
    exact = expectation(entry, subject=subject, triton=triton, backend=backend, torch=torch)
    rows = [one for one in entry.expected if (one.subject, one.backend) == (subject, backend)]
    if exact is not None or any(one.triton == triton for one in rows):
        return exact
    return max(rows, key=lambda one: (release(one.triton), one.torch), default=None)


def _public(version: str) -> str:
    return version.partition("+")[0]


def with_verdict(
    entry: CorpusEntry, *, subject: str, triton: str, backend: str, verdict: Verdict, kind: str = "", torch: str = "",
) -> CorpusEntry:
    """The entry with this expected verdict in place of any for the same subject, versions and backend."""
    new = Expectation(subject=subject, triton=triton, backend=backend, verdict=verdict, kind=kind,
                      torch=_public(torch) if torch_matters(subject) else "")
    rest = [one for one in entry.expected if _key(one) != _key(new)]
    return replace(entry, expected=tuple(sorted((*rest, new), key=_key)))


def merge(stored: CorpusEntry, newcomer: CorpusEntry) -> tuple[CorpusEntry, int, int]:
    """(stored with the newcomer's further expectations, how many were added, how many contradict stored ones)."""
    known = {_key(one): one for one in stored.expected}
    added = [one for one in newcomer.expected if _key(one) not in known]
    contradicted = sum(_key(one) in known and known[_key(one)].verdict is not one.verdict for one in newcomer.expected)
    if not added:
        return stored, 0, contradicted
    expected = tuple(sorted((*stored.expected, *added), key=_key))
    return replace(stored, expected=expected), len(added), contradicted
