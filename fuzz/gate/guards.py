"""Where a build must not be used, as one line of data for each finding."""

from tridiff.fuzz.gate.record import Guard
from tridiff.fuzz.records import CorpusEntry, LaunchOptions

_PLAIN = LaunchOptions()


def guard(entry: CorpusEntry, *, triton: str, architecture: str, backend: str) -> Guard:
    """The guard that a shrunk case proves. What the case needs is named; what it would also fail with is not known."""
    case = entry.case
    dtypes = " ".join(dict.fromkeys(spec.dtype for spec in case.arrays))
    options = " ".join(f"{name}={getattr(case.options, name)}" for name in case.options.__struct_fields__
                       if getattr(case.options, name) != getattr(_PLAIN, name))
    operation = case.target if not entry.signature.about else f"{case.target} ({entry.signature.about})"
    parts = [f"triton=={triton}", f"arch={architecture}" if architecture else f"backend={backend}",
             f"op={operation}", f"dtype={dtypes}"]
    return Guard(bad="; ".join([*parts, f"options={options}"] if options else parts), entry=entry.id)
