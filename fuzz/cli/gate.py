"""`tridiff gate`: two builds of Triton, the same cases, a verdict."""

import sys
import time as clock
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.builds import Build, resolve
from tridiff.fuzz.builds.alike import alike
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.campaign.records import GATE
from tridiff.fuzz.cli import options as reading
from tridiff.fuzz.cli.options import (
    AsObject,
    Backends,
    Gpus,
    HangLimit,
    MaxCases,
    Memory,
    Resume,
    Seed,
    Targets,
    chosen_backends,
    chosen_devices,
    chosen_workers,
    seconds,
)
from tridiff.fuzz.cli.progress import LiveProgress
from tridiff.fuzz.cli.render_gate import render_gate
from tridiff.fuzz.cli.text import plain
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus, readable
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.bisect import RELEASES, bisect
from tridiff.fuzz.gate.issues import drawable
from tridiff.fuzz.gate.markdown import markdown
from tridiff.fuzz.gate.policy import Policy, read
from tridiff.fuzz.gate.record import GateSummary
from tridiff.fuzz.gate.run import Gate, backends_between, resume, run, start
from tridiff.fuzz.records import encode, pretty_json_without_defaults
from tridiff.fuzz.report.publish import publish_gate
from tridiff.fuzz.report.scripts import seconds_after

EXAMPLES = """**Examples**

`tridiff gate --baseline 3.6.0 --candidate 3.9.0` : fifteen minutes, and whether the upgrade is safe

`tridiff gate --baseline installed --candidate ~/triton/python --time 5m` : a source build against what is installed

`tridiff gate --baseline 3.6.0 --candidate ~/triton/python --issue topk-of-one --time 1m` : is a known defect repaired?

`tridiff gate --resume` : go on with the gate that was interrupted last

`tridiff gate --bisect value-025d1cf54b` : the first release in which a saved finding fails
"""


def gate(
    baseline: Annotated[str, typer.Option(help="Release, wheel, folder with a triton package, or installed.")] = "",
    candidate: Annotated[str, typer.Option(help="As --baseline: what would take its place.")] = "",
    time: Annotated[str, typer.Option(help="Budget, such as 90s, 15m.")] = "15m",
    baseline_torch: Annotated[str, typer.Option(help="torch of the baseline, if another one: release or folder.")] = "",
    candidate_torch: Annotated[str, typer.Option(help="torch of the candidate, if another one.")] = "",
    target: Targets = None,
    subject: Annotated[list[str] | None, typer.Option(help="own, inductor; repeatable.")] = None,
    backend: Backends = None,
    issue: Annotated[list[str] | None, typer.Option(help="Draw the pattern of this known issue and nothing else: is "
                                                    "it repaired? Repeatable.")] = None,
    gpus: Gpus = "",
    workers: Annotated[int | None, typer.Option(help="Pairs of processes; default one per core.")] = None,
    seed: Seed = None,
    max_cases: MaxCases = None,
    hang_limit: HangLimit = "10s",
    memory: Memory = "6G",
    sweep: Annotated[list[str] | None, typer.Option(help="Also run all inputs of these operations (names, globs) on "
                                                    "both builds, beyond --time; repeatable.")] = None,
    policy: Annotated[Path | None, typer.Option(help="What blocks; default is in fuzz/gate/policy.toml.")] = None,
    corpus: Annotated[Path, typer.Option(help="Saved findings, which run first.")] = DEFAULT,
    reports: Annotated[Path, typer.Option(help="Where the gate's record goes.")] = Path("reports"),
    state: Annotated[Path, typer.Option(help="Where running gates keep their files.")] = Path(".tridiff/gates"),
    name: Annotated[str, typer.Option("--id", help="Name of the gate; default date and builds.")] = "",
    resumed: Resume = False,
    bisected: Annotated[str, typer.Option("--bisect", metavar="ENTRY", help="Name the first bad release of a saved "
                                          "finding instead.")] = "",
    releases: Annotated[str, typer.Option(help="For --bisect: builds in order, comma between.")] = ",".join(RELEASES),
    as_json: AsObject = False,
) -> None:
    """Say whether a Triton upgrade is safe: the same cases on two builds.

    Every case runs on both builds, on the same machine. What was right and fails now is a regression, whatever any
    reference says; where no reference decides, the bits of both builds are compared.
    """
    began = clock.monotonic()
    reading.name_of_campaign(name)
    rules = read(policy)
    store = Corpus(corpus_to_read(corpus))
    if bisected:
        builds = tuple(one.strip() for one in releases.split(",") if one.strip())
        found = bisect(bisected, store, builds, backend=(backend or [""])[0])
        print(encode(found).decode() if as_json else found.told)
        raise typer.Exit(0 if found.first_bad or found.first_good else 2)
    if resumed:
        made = resume(name, corpus=store, root=state)
        _check(reports / made.campaign.plan.id)
    else:
        if not baseline or not candidate:
            raise TridiffError("a gate compares two builds", fix="give --baseline and --candidate, such as "
                               "--baseline 3.6.0 --candidate 3.9.0")
        sides = [_build(one, torch) for one, torch in ((baseline, baseline_torch), (candidate, candidate_torch))]
        shared = alike(sides[0].path, sides[1].path)
        backends = chosen_backends(backend or list(backends_between(shared, available_backends())))
        devices = chosen_devices(gpus, backends)
        options = CampaignOptions(
            seconds=seconds(time), targets=tuple(target or ()), subjects=tuple(subject or ()), backends=backends,
            devices=devices, workers=chosen_workers(workers, backends, devices), seed=reading.chosen_seed(seed),
            max_cases=reading.count(max_cases, option="--max-cases"), hang_limit=reading.hang_limit(hang_limit),
            memory=reading.memory(memory), shrink=True, corpus=str(corpus),
            by_yield=max_cases is None and not issue, alike=shared, issues=_issues(issue or (), max_cases))
        identity = name or f"gate-{clock.strftime('%Y%m%d-%H%M%S', clock.gmtime())}"
        if (state / identity).exists():
            raise TridiffError(f"gate {identity} exists", fix="resume it or choose another --id")
        _check(reports / identity)
        made = start(identity, options, baseline=sides[0], candidate=sides[1], corpus=store, root=state,
                     sweep=tuple(sweep or ()))
        print(plain(f"tridiff gate: {made.about.baseline.triton} -> {made.about.candidate.triton}, "
                    f"{' '.join(backends)}, {options.workers} workers, seed {options.seed}"), file=sys.stderr)
        print(plain(shared.told), file=sys.stderr)
    _finish(made, reports, began, as_json=as_json, rules=rules)


def _finish(made: Gate, reports: Path, began: float, *, as_json: bool, rules: Policy) -> None:
    with LiveProgress(made.campaign.plan) as progress:
        summary = run(made, progress.watch, policy=rules, since=began)
    folder = reports / summary.id
    try:
        write(summary, folder)
    except OSError as error:
        raise TridiffError(f"{error.filename} cannot be written ({error.strerror})",
                           fix=f"free disk space, then run `tridiff gate --resume --id {summary.id}`") from None
    if as_json:
        print(encode(summary).decode())
    else:
        render_gate(summary, folder)
    options = made.campaign.plan.options
    problem = publish_gate(folder, summary, builds=options.builds, seconds=seconds_after(
        options, took=summary.seconds, interrupted=summary.interrupted))
    print(plain(f"tridiff: {problem}" if problem else f"report in {folder / 'report.html'}"), file=sys.stderr)
    if summary.interrupted:
        print(f"interrupted; continue with: tridiff gate --resume --id {summary.id}", file=sys.stderr)
    raise typer.Exit(summary.exit_status)


def write(summary: GateSummary, folder: Path) -> None:
    """The record: `gate.json`, `gate.md`, and each shrunk case as a file that `tridiff repro` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / GATE).write_text(pretty_json_without_defaults(summary, only_in_rows=True))
    (folder / "gate.md").write_text(markdown(summary))
    for one in summary.findings:
        place = folder / "cases" / one.relation.value
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{one.entry.id}.json").write_bytes(readable(one.entry))


def _build(text: str, torch: str) -> Build:
    made = resolve(text)
    return made.beside(resolve(torch, package="torch")) if torch else made


def _issues(names: Sequence[str], max_cases: int | None) -> tuple[str, ...]:
    known = drawable()
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.0)
            raise TridiffError(f"no known issue that a gate can draw is called {name}", fix=f"such as {near[0]}; the "
                               "names are in corpus/BUGS.md")
    if names and max_cases is not None:
        raise TridiffError("a gate for known issues ends with its time", fix="give --time instead of --max-cases")
    return tuple(dict.fromkeys(names))


def _check(record: Path) -> None:
    fresh = not record.exists()
    reading.writable_folder(record, option="--reports")
    if fresh:
        record.rmdir()
