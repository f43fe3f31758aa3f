"""Split a budget into shards."""

import math

from msgspec.structs import replace

from tridiff.fuzz.backends import ARCHITECTURES, FOR_CHIPS, kind
from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.registry import select
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import PLAIN, parse_subject

LONGEST_SHARD = 120.0
"""Seconds; longer campaigns get more shards, so that a target comes up again with another seed."""

FLOOR = 0.4
"""Part of the time that all combinations share equally, where the rest goes by yield."""

OF_ISSUES = 0.35
"""Part of a gate's time that known issues may have together, which are drawn anew."""

BESIDE_GPU = 0.15
"""What the interpreter, or a compilation for another chip, gets of a gate's time where a GPU gets 1 for bringing as
much."""

LONGEST_FLOOR = 30.0
"""Seconds of a shard of that part; longer campaigns have more of them."""

_ELEMENTS = {"cuda": 1 << 22, "interpreter": 1 << 12, "compile": 1 << 14, "evaluated": 1 << 12}
_ROWS = {"cuda": 1 << 20, "interpreter": 1 << 8, "compile": 1 << 10, "evaluated": 1 << 8}


def seed_of(options: CampaignOptions, index: int) -> int:
    """The seed of shard number `index`."""
    return finalise(options.seed * 1_000_003 + index) >> 1


def shard_of(options: CampaignOptions, target: Target, subject: str, backend: str, *, index: int, seconds: float,
             max_cases: int | None = None, known: tuple[str, ...] = (), most_findings: int | None = None) -> ShardSpec:
    """Shard number `index`: its device, its seed and the sizes that suit the backend follow from the number."""
    sort = kind(backend)
    elements = _ELEMENTS[sort]
    if sort in ("interpreter", "evaluated"):
        elements = min(elements, target.draw.interpreter_elements)
    return ShardSpec(
        index=index, target=target.name, subject=subject, backend=backend,
        device=options.devices[index % len(options.devices)] if sort == "cuda" else 0,
        seed=seed_of(options, index), seconds=seconds, max_cases=max_cases,
        hang_limit=options.hang_limit, memory=options.memory, elements=elements, rows=_ROWS[sort],
        shrink=options.shrink, known=known, most_findings=most_findings, builds=options.builds,
        alike=replace(options.alike, functions=()))


def _backends(options: CampaignOptions, target: Target) -> list[str]:
    return [backend for backend in options.backends if kind(backend) in target.backends]


def wanted(options: CampaignOptions) -> list[tuple[Target, str, str]]:
    """Targets, subjects and backends (`compile` and `evaluated` for all architectures) that a campaign is about. Raises
    TridiffError where there are none, or one is unknown."""
    targets = select(options.targets)
    found = []
    refusals: list[TridiffError] = []
    for target in targets:
        for subject in options.subjects or tuple(one for one in target.subjects if one != PLAIN):
            if options.builds is not None and subject in target.controls:
                continue  # eager torch is no matter of Triton's build
            try:
                parse_subject(subject, target)
            except TridiffError as error:
                refusals.append(error)
                continue
            found += [(target, subject, backend) for backend in _backends(options, target)
                      if subject != PLAIN or backend == "interpreter"]
    if not found:
        if refusals:
            raise refusals[0]
        raise TridiffError(f"no target runs on {' '.join(options.backends)}", fix="see `tridiff targets`")
    return found


def plan_shards(options: CampaignOptions, *, known: tuple[str, ...] = ()) -> tuple[ShardSpec, ...]:
    """Shards that fill `workers` processes for `seconds`, every combination getting the same share. Of a campaign by
    yield: those that fill FLOOR of it, each combination once before any comes up again, in an order that the seed
    decides, broad targets for longer (`weight`).

    `compile` and `evaluated` without an architecture rotate through all of them from shard to shard.
    """
    combinations = wanted(options)
    if options.by_yield:
        return _floor(options, combinations, known)
    waves = max(math.ceil(len(combinations) / options.workers), math.ceil(options.seconds / LONGEST_SHARD), 1)
    number = waves * options.workers
    per_shard = None
    if options.max_cases is not None:
        number = min(len(combinations) * math.ceil(options.workers / len(combinations)),
                     max(options.max_cases, len(combinations)))
        per_shard = math.ceil(options.max_cases / number)
    shards = []
    for index in range(number):
        target, subject, backend = _turn(combinations, index)
        shards.append(shard_of(options, target, subject, backend, index=index, known=known, max_cases=per_shard,
                               seconds=options.seconds / waves))
    return tuple(shards)


def _turn(combinations: list[tuple[Target, str, str]], index: int) -> tuple[Target, str, str]:
    """What shard number `index` is about."""
    target, subject, backend = combinations[index % len(combinations)]
    if backend in FOR_CHIPS:
        turn = index % len(combinations) + index // len(combinations)
        backend = f"{backend}:{ARCHITECTURES[turn % len(ARCHITECTURES)]}"
    return target, subject, backend


def _floor(options: CampaignOptions, combinations: list[tuple[Target, str, str]], known: tuple[str, ...],
           ) -> tuple[ShardSpec, ...]:
    # What a short campaign has no time for is not the same each night.
    places = sorted(range(len(combinations)), key=lambda place: finalise(options.seed * 1_000_037 + place))
    shuffled = [combinations[place] for place in places]
    weights = [weight(target) * backend_share(options, backend) for target, _, backend in shuffled]
    each = FLOOR * options.seconds * options.workers / sum(weights)
    cycles = max(math.ceil(each * max(weights) / LONGEST_FLOOR), 1)
    return tuple(shard_of(options, *_turn(shuffled, index), index=index, known=known,
                          seconds=each * weights[index % len(shuffled)] / cycles)
                 for index in range(cycles * len(shuffled)))


def backend_share(options: CampaignOptions, backend: str) -> float:
    """A backend's part beside that of the GPU in a gate: what the front end makes of a kernel is compared there, and
    cells cost the interpreter least."""
    return BESIDE_GPU if options.builds is not None and "cuda" in options.backends and backend != "cuda" else 1.0


def weight(target: Target) -> float:
    """A target's part of the time that everything shares, beside that of a target of one thing: with the cube root of
    its breadth, so that broad ones leave time for those that draw few things in many ways."""
    return math.cbrt(target.draw.breadth)
