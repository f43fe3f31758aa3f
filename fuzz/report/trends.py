"""Figures over the campaigns of a machine, from their history."""

from tridiff.fuzz.campaign.history import History, Night
from tridiff.fuzz.report.model import Trend

MOST = 60
"""Campaigns that a trend shows."""


def trends(history: History, name: str) -> tuple[Trend, ...]:
    """Trends up to the campaign `name`, of campaigns on the same Triton, backends and device; none for less than two.
    A campaign that the history does not know stands behind all."""
    nights = history.nights
    here = next((place for place, one in enumerate(nights) if one.id == name), None)
    if here is not None:
        nights = tuple(one for one in nights[:here + 1] if _alike(one, nights[here]))
    nights = nights[-MOST:]
    if len(nights) < 2:
        return ()
    figures: tuple[tuple[str, list[float]], ...] = (
        ("new findings", [one.new for one in nights]), ("known findings", [one.known for one in nights]),
        ("cases per second", [one.cases_per_second for one in nights]),
        ("kernels per second", [one.kernels_per_second for one in nights]),
        ("coverage cells", [one.cells for one in nights]), ("cells gained", [one.gained for one in nights]))
    return tuple(Trend(title=title, points=tuple(zip((one.id for one in nights), values, strict=True)))
                 for title, values in figures)


def _alike(one: Night, other: Night) -> bool:
    return (one.triton, one.backends, one.device) == (other.triton, other.backends, other.device)
