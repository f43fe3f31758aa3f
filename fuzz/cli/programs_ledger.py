"""The coverage of generated programs, as `tridiff targets --ledger` shows it."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

from tridiff.fuzz.cli.text import console, listing
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.kinds.graphs.coverage_report import Coverage, coverage
from tridiff.fuzz.target import Target

_COLUMNS = ("operations", "with_dtype", "with_feature", "pairs")


def _rows(records: Iterable[Ledger], names: set[str]) -> list[tuple[str, str, Coverage]]:
    """(Triton version, target, coverage), and once more per version for all targets together."""
    reached: dict[tuple[str, str], Counter[str]] = {}
    for one in records:
        for by_target in one.reached.values():
            for name in names & by_target.keys():
                reached.setdefault((one.triton, name), Counter()).update(by_target[name])
    rows = [(triton, name, coverage(cells)) for (triton, name), cells in sorted(reached.items())]
    for triton in sorted({triton for triton, _ in reached}):
        every = {cell for (version, _), cells in reached.items() if version == triton for cell in cells}
        rows.append((triton, "all", coverage(every)))
    return rows


def show(records: Iterable[Ledger], chosen: Iterable[Target], *, as_json: bool) -> None:
    """Cells that campaigns reached, per Triton version and target, and what none of them reached."""
    rows = _rows(records, {target.name for target in chosen if target.family == "codegen"})
    if as_json:
        print(json.dumps([{"triton": triton, "target": name, **asdict(found)} for triton, name, found in rows]))
        return
    table = listing()
    for title in ("Triton", "target", "operations", "x dtype", "x feature", "feature pairs", "not reached"):
        table.add_column(title, justify="left" if title in ("Triton", "target") else "right")
    for triton, name, found in rows:
        table.add_row(triton, name, *(str(getattr(found, column)) for column in _COLUMNS), str(len(found.missing)))
    console().print(table)
    for triton, name, found in rows:
        if name == "all":
            missing = " ".join(f"{op}/{dtype}" for op, dtype in found.missing)
            console().print(f"Triton {triton}, operations not reached: {missing or 'none'}")
            console().print(f"Triton {triton}, expressions not reached: {' '.join(found.expressions) or 'none'}")
    if not rows:
        console().print("no record has a generated program in it")
