"""`tridiff faults`: does the fuzzer catch what is planted?"""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.faults import Caught, plan_faults, run_faults, table
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.cli import options as reading
from tridiff.fuzz.cli.options import (
    AsJson,
    Gpus,
    HangLimit,
    Workers,
    chosen_backends,
    chosen_devices,
    chosen_workers,
    seconds as duration,
)
from tridiff.fuzz.cli.planted import planted
from tridiff.fuzz.cli.text import plain
from tridiff.fuzz.errors import TridiffError

EXAMPLES = """**Examples**

`tridiff faults helpers.x_grid_barrier` : every planted fault of one target, 20 s each at most

`tridiff faults 'helpers.*' 'gluon.*' --backend cuda --record reports/faults.md`

`tridiff faults 'codegen.*' --time 60s --backend cuda --workers 16` : those of the program generator, each in the
families that show it

`tridiff faults triton.vector_add --hooks --process` : planted compile errors, crashes and hangs as well

`tridiff faults --triton --time 90s --workers 4 --at-once 4 --results faults.jsonl --record faults.md` : faults in
copies of Triton's Python layer, each through a gate; goes on where it was interrupted

`tridiff faults --triton --probe 12 --number 200` : the same in seconds for each: is there a case that shows it?

`tridiff faults --triton --list --fault 'language/*' --number 100` : what would be planted
"""


def faults(
    target: Annotated[list[str] | None, typer.Argument(help="Target name, glob or family; default all.")] = None,
    time: Annotated[str, typer.Option(help="What one fault may take to be caught.")] = "20s",
    fault: Annotated[list[str] | None, typer.Option(help="Name of a fault; default all of the targets. With "
                                                  "--triton: name or glob of file:line:operator.")] = None,
    backend: Annotated[list[str] | None, typer.Option(help="cuda, interpreter, evaluated[:ARCH], with --triton also "
                                                    "compile[:ARCH]; default as for fuzz, without evaluated.")] = None,
    gpus: Gpus = "",
    workers: Workers = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default random, always printed.")] = None,
    hang_limit: HangLimit = "10s",
    hooks: Annotated[bool, typer.Option("--hooks", help="Also the three faults every kernel can plant.")] = False,
    process: Annotated[bool, typer.Option("--process", help="Also those that kill or stop the worker.")] = False,
    shrink: Annotated[bool, typer.Option(help="Minimise what is caught.")] = True,
    triton: Annotated[bool, typer.Option("--triton", help="Plant faults into copies of the installed Triton's Python "
                                         "layer instead, each gated against the original.")] = False,
    number: Annotated[int, typer.Option(min=1, help="With --triton: faults, chosen by the seed.")] = 80,
    harmless: Annotated[int, typer.Option(min=0, help="With --triton: edits that change nothing.")] = 10,
    public: Annotated[bool, typer.Option("--public", help="With --triton: public functions only, one fault of each at "
                                         "most.")] = False,
    at_once: Annotated[int, typer.Option(min=1, help="With --triton: gates at the same time.")] = 1,
    subject: Annotated[list[str] | None, typer.Option(help="With --triton: own, inductor; default all.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="With --triton: only say what would be planted.")] = False,
    max_cases: Annotated[int | None, typer.Option(help="With --triton: end a gate after this many cases.")] = None,
    probe: Annotated[int, typer.Option(min=0, help="With --triton: instead of gates, draw this many cases for each "
                                       "target and backend once, and try each fault with those that run it.")] = 0,
    results: Annotated[Path | None, typer.Option(help="With --triton: keep results in this file, a line each, and go "
                                                 "on from there.")] = None,
    record: Annotated[Path | None, typer.Option(help="Write the table to this Markdown file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Test the tester: fuzz each planted fault until it is caught.

    Exit status: 0 all caught, 1 some not, 2 none could be tried.
    """
    # Not every fault shows in the IR: it is evaluated only if that is asked for.
    left_out = (*(() if backend else ("evaluated",)), *(() if triton else ("compile",)))
    backends = tuple(one for one in chosen_backends(backend or []) if kind(one) not in left_out)
    devices = chosen_devices(gpus, backends)
    options = CampaignOptions(
        seconds=duration(time), targets=tuple(target or ()), subjects=tuple(subject or ()), backends=backends,
        devices=devices, workers=chosen_workers(workers, backends, devices),
        seed=reading.chosen_seed(seed),
        max_cases=reading.count(max_cases, option="--max-cases"), hang_limit=reading.hang_limit(hang_limit),
        shrink=shrink)
    if triton:
        raise typer.Exit(planted(
            options, asked=tuple(backend or ()), only=tuple(fault or ()), number=number, harmless=harmless,
            at_once=at_once, listed=listed, probe=probe, public=public, results=results, record=record,
            as_json=as_json))
    hunts = plan_faults(options, process=process, hooks=hooks, only=fault or ())
    if record is not None and not record.parent.is_dir():
        raise TridiffError(f"{record.parent} is no folder", fix="create it, or choose another --record")

    def watch(lines: list[Caught], number: int) -> None:
        if record is not None:
            # As it goes: what is cut off keeps what it has.
            record.write_text(table(lines, budget=options.seconds), encoding="utf-8")
        if len(lines) % 10 == 0 or len(lines) == number:
            caught = sum(bool(one.judge) for one in lines)
            print(f"{len(lines)} of {number} faults tried, {caught} caught", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="tridiff-faults-") as folder:
        lines = run_faults(hunts, options, Path(folder), watch)
    text = table(lines, budget=options.seconds)
    print(json.dumps([{**asdict(one), "environment": None} for one in lines]) if as_json else plain(text))
    tried = [one for one in lines if not one.left_out]
    raise typer.Exit(2 if not tried else int(any(not one.judge for one in tried)))
