"""The error over the input range as a picture: one sheet per type, one small plot per operation, as SVG.

A plot has one step per part of the range, the largest error in it: positive numbers from zero to NaN on the left,
negative ones on the right, as their patterns lie. Written by hand: a sheet is some 20 KB and is the same everywhere.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from tridiff.fuzz.sweep.compare import name_of
from tridiff.fuzz.sweep.records import SweepRecord, SweepResult

COLUMNS, WIDTH, HEIGHT = 6, 150, 74
PLOT_TOP, PLOT_HEIGHT, PLOT_WIDTH = 16, 44, 128


def draw(record: SweepRecord, folder: Path) -> tuple[Path, ...]:
    """Write a sheet per operand type for all sweeps of unary operations with an error profile; the files."""
    sheets: dict[str, list[SweepResult]] = {}
    for one in record.results:
        same_type = sheets.setdefault(one.spec.dtypes[0], [])
        # Two lowerings with one profile are one picture.
        if len(one.spec.dtypes) == 1 and one.profile and not any(one.profile == other.profile for other in same_type):
            same_type.append(one)
    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, results in sheets.items():
        if results:
            path = folder / f"error-{name}.svg"
            path.write_text(sheet(f"largest error in ulps over the bit patterns of {name}: {name_of(record)}", results))
            written.append(path)
    return tuple(written)


def sheet(title: str, results: Sequence[SweepResult]) -> str:
    """The text of one SVG file."""
    rows = math.ceil(len(results) / COLUMNS)
    width, height = COLUMNS * WIDTH + 10, rows * HEIGHT + 24
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="9">',
             '<style>path{fill:#35618f}line{stroke:#999}</style>',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="6" y="13" font-size="11">{title}</text>']
    for number, one in enumerate(results):
        x, y = (number % COLUMNS) * WIDTH + 10, (number // COLUMNS) * HEIGHT + 22
        lines.append(f'<g transform="translate({x} {y})">{_plot(one)}</g>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _plot(one: SweepResult) -> str:
    heights = [max(value, 0.0) for value in one.profile]
    largest = max(heights)
    bottom, middle = PLOT_TOP + PLOT_HEIGHT, PLOT_WIDTH // 2
    return (f'<text y="11">{one.spec.op}: {largest:.4g}</text><path d="{_steps(heights, largest)}"/>'
            f'<line y1="{bottom}" x2="{PLOT_WIDTH}" y2="{bottom}"/>'
            f'<line x1="{middle}" y1="{PLOT_TOP}" x2="{middle}" y2="{bottom}"/>'
            f'<text y="{bottom + 9}">+0</text><text x="{middle}" y="{bottom + 9}">-0</text>')


def _steps(heights: Sequence[float], largest: float) -> str:
    """The outline of a row of bars, without the steps that change nothing."""
    bottom = PLOT_TOP + PLOT_HEIGHT
    found = [f"M0 {bottom}"]
    last = bottom
    for number, value in enumerate(heights):
        top = bottom - round(PLOT_HEIGHT * value / largest)
        if top != last:
            found.append(f"H{number * PLOT_WIDTH / len(heights):g}V{top}")
            last = top
    return "".join([*found, f"H{PLOT_WIDTH}V{bottom}z"])
