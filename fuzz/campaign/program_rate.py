"""How fast a campaign went through generated programs."""

from collections.abc import Iterable

from tridiff.fuzz.campaign.record import Counts, ProgramRate
from tridiff.fuzz.campaign.seen import Seen

NEAREST_PUBLIC = 4.5
"""Valid programs per second that the nearest public generator of Triton programs yields on an H200, in one process."""


def generated(target: str) -> bool:
    """Whether the cases of a target are generated programs."""
    return target.startswith("codegen.")


def program_rate(judged: Iterable[tuple[str, Iterable[str]]], counts: Counts, seconds: float) -> ProgramRate | None:
    """judged: shard by shard its target and the digests of the programs that were judged; counts: of all that were
    drawn; None if none was."""
    programs = Seen()
    for target, digests in judged:
        programs.fresh(f"{target} {digest}" for digest in digests)
    distinct = len(programs)
    if not counts.executed:
        return None
    rate = distinct / seconds if seconds else 0.0
    return ProgramRate(
        distinct=distinct, per_second=round(rate, 2), to_nearest_public=round(rate / NEAREST_PUBLIC, 2),
        accepted=round((counts.agree + counts.disagree) / counts.executed, 4))
