"""`tridiff targets`: what exists."""

import json
from typing import Annotated

import hypothesis
import typer
from rich.table import Table

from fuzz.backends import expand
from fuzz.cli.render import wide_console
from fuzz.subjects import fault_names
from fuzz.target import Limits, Target
from fuzz.targets import select

EXAMPLES = """**Examples**

`tridiff targets` : a table

`tridiff targets 'helpers.*' --json` : one object per target
"""


def oracle_names(target: Target) -> tuple[str, ...]:
    """Sources that judge the target's simplest case."""
    simplest = hypothesis.find(target.cases(Limits(elements=16, rows=1)), lambda case: True,
                               settings=hypothesis.settings(database=None))
    return tuple(reference.source for reference in target.oracles(simplest))


def targets(
    pattern: Annotated[list[str] | None, typer.Argument(help="Names, globs or families; default all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list instead of a table.")] = False,
) -> None:
    """List targets with their subjects, backends, oracles, contracts and faults."""
    chosen = select(tuple(pattern or ()))
    described = [{
        "name": target.name, "family": target.family, "summary": target.summary,
        "subjects": list(target.subjects), "backends": [b for name in target.backends for b in expand(name)],
        "oracles": list(oracle_names(target)), "contract": target.contract, "dtypes": list(target.dtypes),
        "faults": list(fault_names(target)),
    } for target in chosen]
    if as_json:
        print(json.dumps(described))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("target", "subjects", "oracles", "dtypes", "faults", "contract", "what it is"):
        table.add_column(title, no_wrap=title in ("target", "subjects", "oracles"))
    for target, one in zip(chosen, described, strict=True):
        table.add_row(target.name, " ".join(target.subjects), " ".join(one["oracles"]), str(len(target.dtypes)),
                      str(len(target.faults)), target.contract, target.summary)
    wide_console().print(table)
