"""Where a build must not be used, as one line of data for each finding, with what was tried to find its bounds."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import ARCHITECTURES, FOR_CHIPS, kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.shard import close_pools, pool_for
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import GateFinding, Guard
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.workers.pool import TimeUp

SECONDS_SHARE, LEAST_SECONDS = 0.05, 10.0
"""Time for proofs: a part of the gate's, and so many seconds at least."""

PLAIN = "options=default"

_PLAIN = LaunchOptions()


def guards(findings: tuple[GateFinding, ...], *, triton: str) -> tuple[Guard, ...]:
    """A guard for each finding that needs one. triton: version of the candidate."""
    return tuple(_guard(one, triton, {}) for one in findings
                 if one.relation in (Relation.REGRESSION, Relation.CHANGED) and not one.accepted)


def proved(given: tuple[Guard, ...], findings: tuple[GateFinding, ...], *, triton: str, shards: tuple[ShardSpec, ...],
           state: Path, seconds: float) -> tuple[Guard, ...]:
    """The guards, with the bounds that the shrunk cases prove: each case runs on both builds again with default
    options, and for the other architectures where it is only compiled. What changes nothing is no part of the guard.
    seconds: for all of them; guards for which there is no time stay as they are."""
    end = time.monotonic() + seconds
    by_entry = {one.entry.id: one for one in findings}
    made: list[Guard] = []
    try:
        for guard in given:
            one = by_entry[guard.entry]
            made.append(_guard(one, triton, _tried(one, shards, state, end)))
    finally:
        close_pools()
    return tuple(made)


def variations(one: GateFinding) -> Iterator[tuple[str, str, Case]]:
    """Name, backend and case of what could show the difference as well."""
    case, backend = one.entry.case, one.entry.found_in.backend
    if case.options != _PLAIN:
        yield PLAIN, backend, replace(case, options=_PLAIN)
    sort = kind(backend)
    if sort in FOR_CHIPS:
        for architecture in ARCHITECTURES:
            if f"{sort}:{architecture}" != backend:
                yield f"arch={architecture}", f"{sort}:{architecture}", case


def _tried(one: GateFinding, shards: tuple[ShardSpec, ...], state: Path, end: float) -> dict[str, bool]:
    """Whether each variation shows the difference; those that cannot be run, or for which no time is left, are out."""
    found: dict[str, bool] = {}
    like = next(spec for spec in shards if kind(spec.backend) == kind(one.entry.found_in.backend))
    for name, backend, case in variations(one):
        if time.monotonic() >= end:
            break
        with contextlib.suppress(TridiffError, TimeUp):
            pool = pool_for(replace(like, backend=backend), state)
            said = pool.execute(case, one.entry.signature.subject, backend=backend, until=end)
            found[name] = said.signature is not None and said.signature.kind == one.key
    return found


def _guard(one: GateFinding, triton: str, tried: dict[str, bool]) -> Guard:
    entry = one.entry
    case, architecture = entry.case, entry.found_in.architecture
    dtypes = " ".join(dict.fromkeys(spec.dtype for spec in case.arrays))
    options = "" if tried.get(PLAIN) else " ".join(
        f"{name}={getattr(case.options, name)}" for name in case.options.__struct_fields__
        if getattr(case.options, name) != getattr(_PLAIN, name))
    operation = case.target if not entry.signature.about else f"{case.target} ({entry.signature.about})"
    where = f"backend={entry.found_in.backend}"
    if architecture:
        also = [name.partition("=")[2] for name, shows in tried.items() if shows and name.startswith("arch=")]
        where = f"arch={' '.join((architecture, *also))}"
    parts = [f"triton=={triton}", where, f"op={operation}", f"dtype={dtypes}"]
    return Guard(bad="; ".join([*parts, f"options={options}"] if options else parts), entry=entry.id,
                 runs=entry.reproduced, tried=tried)
