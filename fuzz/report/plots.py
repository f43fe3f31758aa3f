"""Where the lines and points of a trend lie in its picture."""

from dataclasses import dataclass

from tridiff.fuzz.report.model import Trend

WIDTH, HEIGHT, ABOVE = 300.0, 96.0, 18.0
"""Units of a picture, and what is left above the highest point for its number."""


@dataclass(frozen=True)
class Plot:
    """A trend to draw. line, points: in units; a point with what it says. last, most: the newest and the largest value
    as text. said: the whole picture in a sentence."""

    title: str
    names: tuple[str, ...]
    values: tuple[str, ...]
    line: str
    points: tuple[tuple[str, str, str], ...]
    last: str
    most: str
    said: str
    width: float = WIDTH
    height: float = HEIGHT
    floor: float = HEIGHT - 4


def plot(trend: Trend) -> Plot:
    """The picture of a trend with at least one point; the floor is 0."""
    values = [value for _, value in trend.points]
    largest = max(max(values), 1e-9)
    step = (WIDTH - 8) / max(len(values) - 1, 1)
    points = []
    for place, (name, value) in enumerate(trend.points):
        x, y = 4 + place * step, HEIGHT - 4 - max(value, 0.0) / largest * (HEIGHT - 4 - ABOVE)
        points.append((f"{x:.1f}", f"{y:.1f}", f"{name}: {_shown(value)}"))
    return Plot(
        title=trend.title, names=tuple(name for name, _ in trend.points), values=tuple(map(_shown, values)),
        line=" ".join(f"{x},{y}" for x, y, _ in points), points=tuple(points), last=_shown(values[-1]),
        most=_shown(max(values)),
        said=f"{trend.title} over {len(values)} campaigns: from {_shown(values[0])} to {_shown(values[-1])}, between "
             f"{_shown(min(values))} and {_shown(max(values))}")


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"
