"""The error over the input range as a picture: one sheet per type, one small plot per operation.

Needs matplotlib (`pip install 'tridiff[plots]'`), which nothing else does.
"""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

from fuzz.errors import TridiffError
from fuzz.sweep.compare import name_of
from fuzz.sweep.records import SweepRecord, SweepResult

COLUMNS = 6


def draw(record: SweepRecord, folder: Path) -> tuple[Path, ...]:
    """Write a sheet per operand type for all sweeps of unary operations with an error profile; the files."""
    try:
        Figure: Any = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise TridiffError("matplotlib is not installed", fix="pip install 'tridiff[plots]'") from None
    sheets: dict[str, list[SweepResult]] = {}
    for one in record.results:
        if len(one.spec.dtypes) == 1 and one.profile:
            sheets.setdefault(one.spec.dtypes[0], []).append(one)
    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, results in sheets.items():
        rows = math.ceil(len(results) / COLUMNS)
        figure = Figure(figsize=(2.1 * COLUMNS, 1.25 * rows + 0.5), dpi=80, layout="constrained")
        figure.suptitle(f"largest error in ulps over the bit patterns of {name}: {name_of(record)}", fontsize=9)
        for axes, one in zip(figure.subplots(rows, COLUMNS, squeeze=False).flat, results, strict=False):
            _plot(axes, one)
        for axes in list(figure.axes)[len(results):]:
            axes.set_visible(False)
        path = folder / f"error-{name}.png"
        figure.savefig(path, metadata={"Software": None})
        written.append(path)
    return tuple(written)


def _plot(axes: Any, one: SweepResult) -> None:
    """Positive numbers from zero to NaN on the left, negative ones on the right, as their patterns lie."""
    heights = [max(value, 0.0) for value in one.profile]
    axes.fill_between(range(len(heights)), heights, step="mid", linewidth=0, color="#35618f")
    axes.set_title(f"{one.spec.op}  {max(heights):.3g}", fontsize=7, pad=2)
    axes.set_xticks([0, len(heights) // 2])
    axes.set_xticklabels(["+0", "-0"], fontsize=6)
    axes.tick_params(axis="y", labelsize=6)
    axes.set_ylim(bottom=0)
