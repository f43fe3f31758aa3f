"""What changed between two records: verdicts, largest errors, and the inputs that became wrong or right."""

from dataclasses import dataclass, field

from tridiff.fuzz.sweep.records import Box, Deviation, SweepRecord, SweepResult, SweepSpec

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Change:
    """One difference of one sweep. kind: verdict, max_ulps, class (counts or sets of a class), only_in_one.

    gained, lost: inputs wrong only in the second, only in the first record; None where a list is incomplete.
    """

    key: str
    dtypes: tuple[str, ...]
    kind: str
    text: str
    gained: tuple[Box, ...] | None = ()
    lost: tuple[Box, ...] | None = ()


@dataclass(frozen=True)
class Comparison:
    """compared: sweeps in both records that were checked in both. changes: what differs."""

    first: str
    second: str
    compared: int
    unchanged: int
    changes: tuple[Change, ...] = field(default=())


def name_of(record: SweepRecord) -> str:
    """Versions and device of a record, in a few words."""
    environment = record.environment
    return f"Triton {environment.triton} on {environment.device or environment.backend}"


def compare(first: SweepRecord, second: SweepRecord) -> Comparison:
    """Compare sweep by sweep; the same spec in both."""
    before = {one.spec.key: one for one in first.results}
    after = {one.spec.key: one for one in second.results}
    changes: list[Change] = []
    compared = unchanged = 0
    for key, old in before.items():
        if key not in after:
            changes.append(Change(key, old.spec.dtypes, "only_in_one", "only in the first record"))
            continue
        new = after[key]
        found = _changes(key, old, new)
        compared += 1
        unchanged += not found
        changes += found
    changes += [Change(key, new.spec.dtypes, "only_in_one", "only in the second record")
                for key, new in after.items() if key not in before]
    return Comparison(name_of(first), name_of(second), compared, unchanged, tuple(changes))


def _changes(key: str, old: SweepResult, new: SweepResult) -> list[Change]:
    found, dtypes = [], old.spec.dtypes
    if old.verdict != new.verdict:
        reason = f" ({new.reason or old.reason})" if new.reason or old.reason else ""
        found.append(Change(key, dtypes, "verdict", f"{old.verdict} -> {new.verdict}{reason}"))
    if "not_checked" in (old.verdict, new.verdict):
        return found
    mine, theirs = ({one.kind: one for one in result.deviations} for result in (old, new))
    for kind in sorted(mine.keys() | theirs.keys()):
        change = _class_change(old.spec, kind, mine.get(kind), theirs.get(kind))
        if change is not None:
            found.append(change)
    before, after = (result.max_ulps.ulps if result.max_ulps else 0.0 for result in (old, new))
    if before != after:
        at = new.max_ulps or old.max_ulps
        where = f" at {', '.join(at.values)}" if at else ""
        found.append(Change(key, dtypes, "max_ulps", f"largest error {before:g} -> {after:g} ulp{where}"))
    return found


def _class_change(spec: SweepSpec, kind: str, old: Deviation | None, new: Deviation | None) -> Change | None:
    if old and new and old.digest == new.digest and old.count == new.count:
        return None
    before, after = (one.boxes if one else () for one in (old, new))
    complete = all(one is None or one.complete for one in (old, new))
    gained = subtract(after, before) if complete else None
    lost = subtract(before, after) if complete else None
    counts = f"{old.count if old else 0:,} -> {new.count if new else 0:,} inputs"
    return Change(spec.key, spec.dtypes, "class", f"{kind}: {counts}", gained, lost)


def subtract(boxes: tuple[Box, ...], others: tuple[Box, ...]) -> tuple[Box, ...]:
    """The inputs in `boxes` but in none of `others`, as disjoint boxes; both disjoint in themselves."""
    left: list[Ranges] = [box.ranges for box in boxes]
    for other in others:
        left = [piece for box in left for piece in _without(box, other.ranges)]
    return tuple(Box(ranges) for ranges in sorted(left))


def _without(box: Ranges, hole: Ranges) -> list[Ranges]:
    """A box minus another: at most two slabs per axis."""
    if any(last < first_hole or first > last_hole
           for (first, last), (first_hole, last_hole) in zip(box, hole, strict=True)):
        return [box]
    pieces: list[Ranges] = []
    rest = list(box)
    for axis, (first_hole, last_hole) in enumerate(hole):
        first, last = rest[axis]
        if first < first_hole:
            pieces.append((*rest[:axis], (first, first_hole - 1), *rest[axis + 1 :]))
        if last > last_hole:
            pieces.append((*rest[:axis], (last_hole + 1, last), *rest[axis + 1 :]))
        rest[axis] = (max(first, first_hole), min(last, last_hole))
    return pieces
