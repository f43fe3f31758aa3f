"""`tridiff coverage`: which branches of Triton's Python layer the targets' cases take."""

import json
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.backends import expand
from tridiff.fuzz.builds import Build, inspect
from tridiff.fuzz.cli.text import plain
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.planted import unnoticed
from tridiff.fuzz.planted.branches import Report, markdown, measure, merged

EXAMPLES = """**Examples**

`tridiff coverage --cases 12` : all targets, compiled for sm_90 and interpreted

`tridiff coverage 'launch.*' --backend compile:sm_90 --record branches.md` : one family, with what it does not take

`tridiff coverage --weak --at-once 16 --record weak.md` : small wrong expressions in Triton that no case would notice

`tridiff coverage --merge one.json --merge two.json --only-merge --record branches.md` : what runs with `--json` took
"""


def coverage(
    pattern: Annotated[list[str] | None, typer.Argument(help="Targets: names, globs or families; default all.")] = None,
    backend: Annotated[list[str] | None, typer.Option(help="Default compile:sm_90 and interpreter.")] = None,
    cases: Annotated[int, typer.Option(help="Cases of each target and backend.", min=1)] = 12,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 16,
    at_once: Annotated[int, typer.Option(help="Processes at the same time.", min=1)] = 1,
    merge: Annotated[list[Path] | None, typer.Option(help="Count what earlier runs with --json took as well.")] = None,
    only: Annotated[bool, typer.Option("--only-merge", help="Run nothing: count what --merge names.")] = False,
    weak: Annotated[bool, typer.Option("--weak", help="Instead of branches: wrong alternatives of expressions, "
                                       "evaluated beside them (weak mutation), that no case tells apart.")] = False,
    record: Annotated[Path | None, typer.Option(help="Write the page to this Markdown file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of totals.")] = False,
) -> None:
    """Count the branches of Triton's Python layer that drawn cases take."""
    if record is not None and not record.parent.is_dir():
        raise TridiffError(f"{record.parent} is no folder", fix="create it, or choose another --record")
    running = inspect(Build(name="installed"))
    backends = tuple(one for name in backend or ("compile:sm_90", "interpreter") for one in expand(name))
    package = Path(running.file).parent
    if weak:
        if merge or only:
            raise TridiffError("--weak has nothing to merge", fix="leave --merge out")
        told = unnoticed.measure(package, triton=running.version, targets=tuple(pattern or ()), backends=backends,
                                 cases=cases, seed=seed, at_once=at_once, watch=_watch)
        return _tell(told, unnoticed.markdown(told), "## Never", record, as_json=as_json)
    reports = [_read(path) for path in merge or ()]
    if not only:
        reports.append(measure(package, triton=running.version, targets=tuple(pattern or ()), backends=backends,
                               cases=cases, seed=seed, at_once=at_once, watch=_watch))
    elif not reports:
        raise TridiffError("--only-merge has nothing to count", fix="name files of earlier runs with --merge")
    found = merged(reports, package)
    _tell(found, markdown(found), "## Not taken", record, as_json=as_json)


def _tell(found: msgspec.Struct, page: str, details: str, record: Path | None, *, as_json: bool) -> None:
    """Write the page, and show it up to the heading of its details, or all as JSON."""
    if record is not None:
        record.write_text(page, encoding="utf-8")
    print(json.dumps(msgspec.to_builtins(found)) if as_json else plain(page.partition(details)[0].strip()))


def _read(path: Path) -> Report:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError) as error:
        raise TridiffError(f"{path} is no report: {error}", fix="keep what `tridiff coverage --json` prints") from error


def _watch(done: int, number: int) -> None:
    print(f"{done} of {number} targets and backends", file=sys.stderr, flush=True)
