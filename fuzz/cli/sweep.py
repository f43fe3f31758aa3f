"""`tridiff sweep`: every input of a finite space."""

import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from tridiff.fuzz.cli.options import MOST_WORKERS, AsObject, chosen_backends, chosen_devices, count
from tridiff.fuzz.cli.progress import clock
from tridiff.fuzz.cli.sweep_rows import RowsWish, list_rows, sweep_rows
from tridiff.fuzz.cli.text import coloured, console, listing, plain
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.sweep import compare as comparing
from tridiff.fuzz.sweep.choose import SWEPT, Choice, choose, names
from tridiff.fuzz.sweep.deviations import explained_record
from tridiff.fuzz.sweep.files import file_of, read, save
from tridiff.fuzz.sweep.pictures import draw
from tridiff.fuzz.sweep.records import SweepOptions, SweepRecord, SweepResult
from tridiff.fuzz.sweep.report import comparison_markdown, example_text, markdown, measured_rows
from tridiff.fuzz.sweep.run import Plan, Progress, Run

EXAMPLES = """**Examples**

`tridiff sweep exp sin log --dtype fp32` : all 2^32 inputs of three functions

`tridiff sweep --arity 2 --dtype i8 --dtype fp16` : all pairs of every binary operation on two types

`tridiff sweep 'to_fp8*' --backend interpreter` : without a GPU, 8- and 16-bit spaces

`tridiff sweep --rows 'operator.*' tl.cast reductions` : calls of the language, every type and option, all inputs

`tridiff sweep --rows --list` : how each row is swept, and which are left to draws

`tridiff sweep --resume` : continue what was interrupted last

`tridiff sweep --compare reports/a/sweep.json --compare reports/b/sweep.json` : what changed, input by input
"""


def sweep(
    op: Annotated[list[str] | None, typer.Argument(help="Operations, globs, or helper names; default all.")] = None,
    dtype: Annotated[list[str] | None, typer.Option(help="Operand types; repeatable; default all.")] = None,
    arity: Annotated[int, typer.Option(help="Only operations of 1, 2 or 3 operands.")] = 0,
    backend: Annotated[str, typer.Option(help="cuda or interpreter; default the GPU if there is one.")] = "",
    gpus: Annotated[str, typer.Option(help="GPU numbers, such as 0,1; default all. They share every sweep.")] = "",
    bits: Annotated[int, typer.Option(help="Enumerate spaces of up to 2^bits; default 32, interpreter 16.")] = 0,
    stratified: Annotated[bool, typer.Option(help="Larger spaces too, by stratified sets.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes that compile and check; default one per core.")] = None,
    fusion: Annotated[bool, typer.Option(help="Let multiplications and additions fuse.")] = True,
    flush: Annotated[bool, typer.Option(help="libdevice flushes fp32 subnormals (Triton's default).")] = True,
    nearest: Annotated[bool, typer.Option("--nearest", help="Only the nearest value is right, without saturation.")
                       ] = False, num_warps: Annotated[int, typer.Option(help="Warps per program.")] = 4,
    plant: Annotated[int, typer.Option(help="Test the tester: flip a result bit at this index.")] = -1,
    record: Annotated[Path | None, typer.Option(help="Folder for sweep.json and report.md.")] = None,
    plots: Annotated[bool, typer.Option(help="Pictures of the error beside the record.")] = False,
    baseline: Annotated[Path | None, typer.Option(help="Record whose deviations are not news.")] = None,
    compare: Annotated[list[Path] | None, typer.Option(help="Compare two records instead; give it twice.")] = None,
    measured: Annotated[list[Path] | None, typer.Option(help="Print records' figures for the oracle tables.")] = None,
    render: Annotated[Path | None, typer.Option(help="Write report.md of a record again; with --plots, draw.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="OP names calls or topics of the language (`tridiff targets "
                                       "--language`).")] = False,
    every: Annotated[bool, typer.Option("--every", help="With --rows: each combination of options.")] = False,
    lines: Annotated[int, typer.Option(help="With --rows: length of what is folded and sorted, 4 or 8.")] = 0,
    listed: Annotated[bool, typer.Option("--list", help="Only list the operations, with their types.")] = False,
    state: Annotated[Path, typer.Option(help="Where running sweeps keep their parts.")] = Path(".tridiff/sweeps"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the sweep that was interrupted last.")] = False,
    as_json: AsObject = False,
) -> None:
    """Judge every input of an operation on the device and say exactly which are wrong, and by how much.

    Exit status: 0 all agree, or deviate as explained or as in --baseline; 1 new deviations; 2 something could not be
    checked.
    """
    if listed:
        if rows:
            list_rows(tuple(op or ("*",)), as_json=as_json)
        else:
            _list(tuple(op or ()), as_json=as_json)
        raise typer.Exit(0)
    if rows:
        raise typer.Exit(sweep_rows(RowsWish(patterns=tuple(op or ("*",)), backend=backend, gpus=gpus, workers=workers,
                                             every=every, lines=lines, record=record, as_json=as_json)))
    if compare:
        raise typer.Exit(_compare(compare, as_json))
    if measured:
        print(plain(measured_rows([read(path) for path in measured])))
        raise typer.Exit(0)
    if render is not None:
        _render_again(render, plots)
        raise typer.Exit(0)
    run = _resumed(state) if resume else _started(
        Choice(ops=tuple(op or ()), dtypes=tuple(dtype or ()), arity=arity, stratified=stratified, bits=bits,
               planted=plant, nearest=nearest,
               options=SweepOptions(num_warps=num_warps, fp_fusion=fusion, flush=flush)), backend, gpus, workers, state)
    known = read(baseline) if baseline else None
    with _Live() as live:
        found = run.run(live.watch)
    folder = record or run.folder
    save(found, folder / "sweep.json")
    _write(found, folder, plots)
    status = exit_status(found, known)
    if as_json:
        print(json.dumps({"record": str(folder / "sweep.json"), "exit_status": status, "seconds": found.seconds,
                          "results": [_brief(one) for one in found.results],
                          "environment": msgspec.to_builtins(found.environment)}))
    else:
        _render(found, folder)
    if found.interrupted:
        print("interrupted; continue with: tridiff sweep --resume", file=sys.stderr)
    raise typer.Exit(status)


def _list(patterns: tuple[str, ...], *, as_json: bool) -> None:
    """Operations that can be swept, each with its types."""
    described = [{"name": name, "arity": SWEPT[name].arity, "signatures": [list(one) for one in SWEPT[name].signatures]}
                 for name in names(patterns)]
    if as_json:
        print(json.dumps(described))
        return
    table = listing()
    for title in ("operation", "operands", "types"):
        table.add_column(title, no_wrap=title == "operation")
    for one in described:
        table.add_row(str(one["name"]), str(one["arity"]), " ".join(
            ",".join(signature) for signature in SWEPT[str(one["name"])].signatures))
    console().print(table)


def _render_again(path: Path, plots: bool) -> None:
    """The record with today's explanations, its report and its pictures."""
    record = explained_record(read(path))
    save(record, file_of(path))
    _write(record, file_of(path).parent, plots)


def _write(record: SweepRecord, folder: Path, plots: bool) -> None:
    (folder / "report.md").write_text(markdown(record))
    if plots:
        draw(record, folder)


def _started(choice: Choice, backend: str, gpus: str, workers: int | None, state: Path) -> Run:
    where = backend or ("cuda" if "cuda" in chosen_backends([]) else "interpreter")
    if where not in ("cuda", "interpreter"):
        raise TridiffError(f"--backend {where} cannot judge values", fix="use cuda or interpreter")
    chosen_backends([where])
    limit = choice.bits or (32 if where == "cuda" else 16)
    if choice.options.num_warps not in (1, 2, 4, 8, 16, 32):
        raise TridiffError(f"--num-warps {choice.options.num_warps} is no number of warps",
                           fix="use 1, 2, 4, 8, 16 or 32")
    if not 0 <= choice.arity <= 3:
        raise TridiffError(f"--arity {choice.arity} is out of range", fix="use 1, 2 or 3")
    if not 8 <= limit <= 34:
        raise TridiffError(f"--bits {limit} is out of range", fix="use 8 to 34")
    specs = choose(dataclasses.replace(choice, bits=limit))
    devices = chosen_devices(gpus, (where,))
    plan = Plan(specs, where, devices, count(workers, option="--workers", most=MOST_WORKERS)
                or len(os.sched_getaffinity(0)))
    return Run.start(plan, state / time.strftime("%Y%m%d-%H%M%S"))


def _resumed(state: Path) -> Run:
    """The last run that has no record yet."""
    open_runs = [one for one in sorted(state.glob("*")) if (one / "plan.json").exists()]
    if not open_runs:
        raise TridiffError(f"no sweep under {state}", fix="start one: tridiff sweep")
    return Run.resume(open_runs[-1])


def exit_status(record: SweepRecord, known: SweepRecord | None) -> int:
    """0, 1 or 2; see `sweep`."""
    before = {(one.spec.key, d.kind): d.digest for one in known.results for d in one.deviations} if known else {}
    news = [d for one in record.results for d in one.deviations
            if not d.known and before.get((one.spec.key, d.kind)) != d.digest]
    if news:
        return 1
    decided = record.results and all(one.verdict in ("agree", "disagree") or (one.judged == 0 and not one.reason)
                                     for one in record.results)
    return 0 if decided and not record.interrupted else 2


def _compare(paths: list[Path], as_json: bool) -> int:
    if len(paths) != 2:
        raise TridiffError(f"--compare was given {len(paths)} time(s)", fix="give it twice: --compare A --compare B")
    found = comparing.compare(read(paths[0]), read(paths[1]))
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        print(plain(comparison_markdown(found)))
    return 2 if not found.compared else 1 if found.changes else 0


def _brief(one: SweepResult) -> dict[str, object]:
    return {
        "sweep": one.spec.key, "verdict": one.verdict, "reason": one.reason, "space": one.space, "inputs": one.inputs,
        "judged": one.judged, "max_ulps": one.max_ulps.ulps if one.max_ulps else None,
        "at": list(one.max_ulps.operands) if one.max_ulps else [], "seconds": one.seconds,
        "deviations": {d.kind: d.count for d in one.deviations},
    }


def _render(record: SweepRecord, folder: Path) -> None:
    out = console()
    environment = record.environment
    out.print(f"{environment.backend}: Triton {environment.triton}, torch {environment.torch}, {environment.device}",
              style="dim")
    table = listing()
    for title in ("operation", "types", "inputs", "verdict", "max ulp", "wrong", "worst, or why not"):
        table.add_column(title, justify="right" if title in ("inputs", "max ulp", "wrong") else "left", overflow="fold")
    shown = [one for one in record.results if one.verdict != "agree"]
    shown = shown if len(record.results) > 40 else list(record.results)
    for one in shown:
        examples = [f"{d.kind}: {example_text(d, one.spec.op)}" + (f" ({d.known})" if d.known else "")
                    for d in one.deviations[:2]]
        worst = one.reason or "; ".join(examples)
        table.add_row(one.spec.op, " ".join(one.spec.dtypes), f"{one.judged:,}",
                      Text(one.verdict, style="" if one.verdict == "agree" else "red"),
                      f"{one.max_ulps.ulps:.3f}" if one.max_ulps else "", f"{one.wrong:,}" if one.wrong else "", worst)
    out.print(table)
    inputs, seconds = sum(one.judged for one in record.results), sum(one.seconds for one in record.results)
    agree = sum(one.verdict == "agree" for one in record.results)
    copy = f", plain copy {record.copy_bytes_per_second / 1e9:,.0f} GB/s" if record.copy_bytes_per_second else ""
    out.print(f"{len(record.results)} sweeps, {agree} agree; {inputs:,} inputs judged in {seconds:.2f} s of device "
                  f"time ({inputs / max(seconds, 1e-9):.3g} per second{copy}), {record.seconds:.0f} s in all")
    out.print(f"record: {folder / 'sweep.json'}, {folder / 'report.md'}")


class _Live:
    """A line on the terminal, or one every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._console = console(errors=True)
        self._status = self._console.status(coloured("starting workers"))
        self._last = 0.0

    def __enter__(self) -> "_Live":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._console.is_terminal:
            self._status.stop()

    def watch(self, progress: Progress) -> None:
        """Take in the latest state."""
        rate = progress.inputs / progress.device_seconds if progress.device_seconds else 0.0
        text = (f"{clock(progress.elapsed)}  {progress.done}/{progress.total} sweeps  {progress.inputs:,} inputs  "
                f"{rate:.2g}/s of device time  {progress.compiled} kernels  {progress.wrong} with deviations")
        if progress.last is not None:
            text += f"  last {progress.last.spec.key}"
        if self._console.is_terminal:
            self._status.update(coloured(text))
        elif time.monotonic() - self._last >= 10:
            self._last = time.monotonic()
            print(text, file=sys.stderr)
