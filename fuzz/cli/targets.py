"""`tridiff targets`: what exists."""

import json
from pathlib import Path
from typing import Annotated

import hypothesis
import typer
from rich.table import Table

from tridiff.fuzz.backends import expand
from tridiff.fuzz.cli import programs_ledger
from tridiff.fuzz.cli.options import AsList
from tridiff.fuzz.cli.text import console, listing
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.coverage.declared import DECLARED
from tridiff.fuzz.coverage.show import different, ledgers, seen, thin
from tridiff.fuzz.registry import select
from tridiff.fuzz.target import Limits, Target
from tridiff.fuzz.target.subjects import fault_names

EXAMPLES = """**Examples**

`tridiff targets` : a table

`tridiff targets 'gluon.*' --long` : with their oracles and where their contracts stand

`tridiff targets 'helpers.*' --json` : one object per target

`tridiff targets 'codegen.*' --ledger` : operations, dtypes and features that generated programs have reached

`tridiff targets 'triton.*' --blind` : the share of draws in which a new wrong value would be taken for a known one

`tridiff targets --language` : functions, operators and methods of the installed Triton, and what covers them

`tridiff targets --language --record reports/NAME` : by how many cases each was reached with each element type

`tridiff targets --ir` : operations of the compiler that the committed records have seen, and never seen
"""


def oracle_names(target: Target) -> tuple[str, ...]:
    """Sources that judge the target's simplest case."""
    # The first example of a run is the simplest one: nothing is left to shrink or to explain.
    first = hypothesis.settings(database=None, max_examples=1, phases=(hypothesis.Phase.generate,))
    simplest = hypothesis.find(target.draw.cases(Limits(elements=16, rows=1)), lambda case: True, settings=first)
    return tuple(reference.source for reference in target.judge.oracles(simplest))


def targets(
    pattern: Annotated[list[str] | None, typer.Argument(help="Names, globs or families; default all.")] = None,
    as_json: AsList = False,
    long: Annotated[bool, typer.Option("--long", help="Also oracles and where the contract stands.")] = False,
    ir: Annotated[bool, typer.Option("--ir", help="Operations of the compiler's IR instead of targets.")] = False,
    language: Annotated[bool, typer.Option("--language", help="Names of Triton's language instead.")] = False,
    ledger: Annotated[bool, typer.Option("--ledger", help="What generated programs have reached instead.")] = False,
    blind: Annotated[bool, typer.Option("--blind", help="What known issues could hide; takes minutes.")] = False,
    draws: Annotated[int, typer.Option(help="Draws of each target, for --blind.", min=1)] = 500,
    corpus: Annotated[Path, typer.Option(help="Folder of the corpus, for --blind.", callback=corpus_to_read)] = DEFAULT,
    record: Annotated[Path | None, typer.Option(
        help="Folder of a campaign's record, for --language: by how many cases each was reached.")] = None,
    records: Annotated[Path, typer.Option(
        help="Folder of campaign records, for --ir, --ledger and --blind.")] = Path("reports"),
) -> None:
    """List targets with their subjects, backends, oracles and faults."""
    if ir:
        _print_operations(records, as_json=as_json)
        return
    if language and record is not None:
        from tridiff.fuzz.cli import language_cells

        language_cells.show(record, as_json=as_json)
        return
    if language:
        from tridiff.fuzz.cli import language as table_of_language  # it needs Triton

        table_of_language.show(as_json=as_json)
        return
    chosen = select(tuple(pattern or ()))
    if ledger:
        programs_ledger.show(ledgers(records), chosen, as_json=as_json)
        return
    if blind:
        from tridiff.fuzz.cli import blind as blindness  # it needs torch

        blindness.show(chosen, corpus=corpus, records=records, draws=draws, as_json=as_json)
        return
    if not as_json:
        console().print(_table(chosen, long=long))
        return
    print(json.dumps([{
        "name": target.name, "family": target.family, "summary": target.summary,
        "subjects": list(target.subjects), "backends": [b for name in target.backends for b in expand(name)],
        "oracles": list(oracle_names(target)), "contract": target.contract, "dtypes": list(target.dtypes),
        "faults": list(fault_names(target)),
    } for target in chosen]))


def _table(chosen: tuple[Target, ...], *, long: bool) -> Table:
    """A line per target; asking for its oracles draws a case, which is left out of the short table."""
    table = listing()
    titles = ["target", "subjects", "dtypes", "faults", "what it is"]
    if long:
        titles[2:2], titles[-1:-1] = ["oracles"], ["contract"]
    rows = []
    for target in chosen:
        row = [target.name, " ".join(target.subjects), str(len(target.dtypes)), str(len(target.faults.planted)),
               target.summary]
        if long:
            row[2:2], row[-1:-1] = [" ".join(oracle_names(target))], [target.contract]
        rows.append(row)
    for place, title in enumerate(titles):
        # A line for each: what does not fit is the end of the summary.
        whole = title in ("target", "subjects", "oracles", "dtypes", "faults")
        table.add_column(title, no_wrap=whole or not long, overflow="fold" if long else "ellipsis",
                         min_width=max([len(title), *(len(row[place]) for row in rows)]) if whole else None)
    for row in rows:
        table.add_row(*row)
    return table


def _print_operations(records: Path, *, as_json: bool) -> None:
    """Every declared operation with what each Triton version's records have seen of it."""
    table = seen(ledgers(records))
    if as_json:
        print(json.dumps([{"operation": name, "triton": version, "status": entry.status, "reach": entry.reach,
                           "cells": entry.cells, "cases": entry.cases}
                          for name, versions in table.items() for version, entry in versions.items()]))
        return
    versions = list(next(iter(table.values())))
    shown = listing()
    shown.add_column("operation", no_wrap=True)
    for version in versions:
        shown.add_column(f"Triton {version}")
        shown.add_column("cells", justify="right")
        shown.add_column("cases", justify="right")
    for one in DECLARED:
        row = [one.name]
        for version in versions:
            entry = table[one.name][version]
            few = " (few)" if entry.cells and thin(one, entry) else ""
            row += [entry.status, f"{entry.cells}{few}", str(entry.cases)]
        shown.add_row(*row)
    out = console()
    out.print(shown)
    for version in versions:
        never = [one.name for one in DECLARED if table[one.name][version].status == "never seen"]
        out.print(f"Triton {version}: never seen {len(never)}{': ' + ' '.join(never) if never else ''}")
    found = ledgers(records)
    united = "" if any(record.digests for record in found) else " in one campaign"
    for version, counts in sorted(different(found).items()):
        said = ", ".join(f"{number:,} ({what})" for what, number in sorted(counts.items()))
        out.print(f"Triton {version}: different ones judged{united}: {said}")
