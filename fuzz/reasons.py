"""Why a case was not checked, as a class: what was in the way, without the numbers of the single case."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

MOST = 20
"""Classes that a record keeps; the rest are counted together."""

REST = "other reasons"

# A number that stands by itself: those in names (sm_80, fp8e4nv, i32) and versions (3.6.0) tell classes apart.
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-fA-F]+|\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.]*\w)")
# Generated kernels are named by their digests; where in one of them something happened tells no classes apart either.
_GENERATED = re.compile(r"<(generated [\w ]+?) [0-9a-f]{16}>(?::\d+)?")
# Which row, scene or option another release has is the same to whoever asks what was not checked.
_OF_A_RELEASE = re.compile(
    r"(?P<side>(?:\w+: )?).+? (?:is new in|is taken from|is about|takes .+ from) Triton (?P<release>[\d.]+\d)"
    r"(?: on| and later)?")
_LIBDEVICE = re.compile(r"NoStandIn: .*libdevice\.\w+ cannot be inter.*")
_LIST = re.compile(r"\bn(?:,? n\b)+")


def reason_class(reason: str) -> str:
    """`reason` with every number that stands by itself as `n`, lists of them as `n ...`, and generated kernels without
    their digests; what a release lacks, and what of libdevice cannot be interpreted, without names."""
    reason = " ".join(reason.split())
    later = _OF_A_RELEASE.fullmatch(reason)
    if later:
        return f"{later['side']}it is there from Triton {later['release']} on"
    if _LIBDEVICE.fullmatch(reason):
        return "NoStandIn: functions of libdevice that cannot be interpreted"
    return _LIST.sub("n ...", _NUMBER.sub("n", _GENERATED.sub(r"<\1>", reason)))


def by_class(reasons: Iterable[tuple[str, int]]) -> dict[str, int]:
    """(reason, number of cases) pairs added up by class, the most frequent MOST first."""
    found: Counter[str] = Counter()
    for reason, number in reasons:
        found[reason_class(reason)] += number
    kept = dict(most_frequent_first(found)[:MOST])
    rest = found.total() - sum(kept.values())
    return kept | {REST: kept.get(REST, 0) + rest} if rest else kept


def most_frequent_first(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    """Classes with their numbers; those that were only counted together come last."""
    return sorted(reasons.items(), key=lambda item: (item[0] == REST, -item[1], item[0]))
