"""`tridiff fuzz`: the main job."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.blame.record import with_blame
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.campaign import again, history, joined
from tridiff.fuzz.campaign.drivers import preload
from tridiff.fuzz.campaign.known import known_of
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, Plan, Summary
from tridiff.fuzz.campaign.records import CAMPAIGN
from tridiff.fuzz.campaign.run import Campaign, campaign_id
from tridiff.fuzz.campaign.told import Told
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
    Workers,
    chosen_backends,
    chosen_devices,
    chosen_workers,
    seconds,
)
from tridiff.fuzz.cli.progress import LiveProgress
from tridiff.fuzz.cli.render import render_summary
from tridiff.fuzz.cli.start import moment
from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.corpus.installed import DEFAULT, fill
from tridiff.fuzz.corpus.pattern import proposed
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.coverage.show import write_ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, pretty_json_without_defaults
from tridiff.fuzz.report.publish import publish_campaign, untold
from tridiff.fuzz.report.scripts import planted, seconds_after, seconds_left
from tridiff.fuzz.report.telling import Telling

EXAMPLES = """**Examples**

`tridiff fuzz` : one minute on whatever this machine has

`tridiff fuzz --time 8h --gpus 0,1` : a night on two GPUs

`tridiff fuzz --target 'triton.*' --backend cuda --seed 7` : a few targets, a fixed seed

`tridiff fuzz --target helpers.div_floor_integer --subject own+fault:trunc_for_floor` : test the tester

`tridiff fuzz --resume` : continue the campaign that was interrupted last
"""


def fuzz(
    time: Annotated[str, typer.Option(help="Budget, such as 60s, 30m, 8h.")] = "60s",
    target: Targets = None,
    subject: Annotated[list[str] | None, typer.Option(help="own, inductor, own+fault:NAME; repeatable.")] = None,
    backend: Backends = None,
    gpus: Gpus = "",
    workers: Workers = None,
    seed: Seed = None,
    max_cases: MaxCases = None,
    hang_limit: HangLimit = "10s",
    memory: Memory = "6G",
    shrink: Annotated[bool, typer.Option(help="Minimise new findings.")] = True,
    baseline: Annotated[str, typer.Option(help="A release, wheel or folder in which findings may be right: blames say "
                                          "what departs from it.")] = "",
    corpus: Annotated[Path, typer.Option(help="Where findings are kept.")] = DEFAULT,
    reports: Annotated[Path, typer.Option(help="Where the campaign's record goes.")] = Path("reports"),
    state: Annotated[Path, typer.Option(help="Where running campaigns keep their files.")] = Path(".tridiff/campaigns"),
    name: Annotated[str, typer.Option("--id", help="Name of the campaign; default date and backends.")] = "",
    resume: Resume = False,
    scheduler: Annotated[str, typer.Option(help="Address of a dask scheduler to run shards on.")] = "",
    as_json: AsObject = False,
) -> None:
    """Fuzz for a while; report what is new.

    Without options: one minute, every target, on the GPU if there is one, else in the interpreter, in the
    ahead-of-time compilers, and by evaluating the IR that they make for sm_90.
    """
    reading.name_of_campaign(name)
    if resume:
        campaign = Campaign.resume(name, root=state)
        store = _corpus_of(campaign, asked=corpus)
        _check_reports(reports / campaign.plan.id)
        started = contextlib.ExitStack()
        preloaded = None if campaign.plan.options.scheduler else started.enter_context(preload(campaign.plan.options))
    else:
        backends = chosen_backends(backend or [])
        devices = chosen_devices(gpus, backends)
        options = CampaignOptions(
            seconds=seconds(time), targets=tuple(target or ()), subjects=tuple(subject or ()), backends=backends,
            devices=devices, workers=chosen_workers(workers, backends, devices),
            seed=reading.chosen_seed(seed),
            max_cases=reading.count(max_cases, option="--max-cases"), hang_limit=reading.hang_limit(hang_limit),
            memory=reading.memory(memory), shrink=shrink, corpus=str(corpus), scheduler=scheduler,
            baseline=baseline and _build(baseline),
            by_yield=max_cases is None)
        plan_shards(options)  # refuse a bad target or subject before anything starts
        identity = name or campaign_id(options)
        if (state / identity).exists():
            raise TridiffError(f"campaign {identity} exists", fix="resume it or choose another --id")
        copied = fill(corpus)
        if copied and not as_json:
            console().print(f"{corpus} holds the {copied} entries that are installed with tridiff")
        store = Corpus(reading.writable_folder(corpus, option="--corpus"))
        _check_reports(reports / identity)
        _note(f"tridiff fuzz: {' '.join(backends)}, {options.workers} workers, seed {options.seed}")
        with contextlib.ExitStack() as undone:
            preloaded = None if scheduler else undone.enter_context(preload(options))
            known = known_of(store, options)
            for line in known.unreadable:
                _note(f"tridiff: {line}")
            shards = again.first(plan_shards(options, known=known.keys), again.left(reports))
            plan = Plan(id=identity, options=options, shards=shards)
            campaign = Campaign.start(plan, root=state, known=known)
            started = undone.pop_all()
    with started, Telling(campaign.state, campaign.plan.options, corpus=store,
                          preloaded=preloaded.folder if preloaded is not None else None) as telling:
        # They serve what tells of findings beyond the run.
        campaign.preloaded = contextlib.nullcontext(preloaded) if preloaded is not None else None
        campaign.untold = telling.untold
        with LiveProgress(campaign.plan) as progress:
            summary = campaign.run(progress.watch, since=None if resume else moment())
        after = seconds_after(summary.options, took=summary.seconds, interrupted=summary.interrupted)
        if after and campaign.until is not None:
            after = seconds_left(campaign.until)
        telling.finish(after)
        # The record first: it is there even if the corpus cannot take what was found. The mark that nothing is left
        # last.
        ledger = campaign.ledger(summary.environments[0].triton if summary.environments else "")
        record = _write(campaign, summary, ledger, reports)
        try:
            summary = _admit(campaign, summary, store, telling.all())
            _write_summary(summary, record)
        except OSError as error:
            raise TridiffError(f"{error.filename} cannot be written ({error.strerror}); the record is in {record}",
                               fix=f"free disk space, then run `tridiff fuzz --resume --id {summary.id}`") from None
        campaign.finish(summary)
        problem = history.note(reports / history.FILE, summary, ledger=ledger, findings=campaign.findings())
        if problem:
            _note(f"tridiff: {problem}")
        if as_json:
            print(json.dumps(_json(summary, record)))
        else:
            render_summary(summary, [one for one in campaign.findings() if one.id in summary.new_findings], record)
        # What people read comes last: nobody waits for it to know the result, and all of it can be written again.
        left = telling.wait()
    told = telling.all()
    problem = publish_campaign(record, summary, campaign.findings(), corpus=store, seconds=left, told=told)
    _note(f"tridiff: {problem}" if problem else f"report in {record / 'report.html'}")
    if told:
        took, had = sum(one.seconds for one in told), summary.seconds * summary.options.workers
        _note(f"blames and scripts took {took:.0f} s, {took / had:.1%} of what the workers had")
    if lacking := untold(record, summary):
        _note(f"tridiff: {lacking}")
    if summary.interrupted:
        _note(f"interrupted; continue with: tridiff fuzz --resume --id {summary.id}")
    raise typer.Exit(summary.exit_status)


def _corpus_of(campaign: Campaign, *, asked: Path) -> Corpus:
    """The corpus that a campaign to be resumed keeps its findings in.

    A plan is a file that may come from anywhere: it names no folder but itself, and one that is to be written to exists
    and lies below this folder, unless the command line names it too.
    """
    plan = campaign.plan
    if reading.name_of_campaign(plan.id) != campaign.state.name:
        raise TridiffError(f"{campaign.state / 'plan.json'} is the plan of campaign {plan.id[:120]!r}",
                           fix="start a new campaign")
    reading.count(plan.options.workers, option=f"the plan of campaign {plan.id}: workers", most=reading.MOST_WORKERS)
    corpus = Path(plan.options.corpus)
    if corpus.absolute() != asked.absolute():
        if not corpus.resolve().is_relative_to(Path.cwd()):
            raise TridiffError(f"campaign {plan.id} keeps its findings outside this folder, in {str(corpus)[:300]!r}",
                               fix="if that is right, name it again with --corpus")
        if not corpus.is_dir():
            raise TridiffError(f"{corpus}, where campaign {plan.id} keeps its findings, does not exist",
                               fix="if that is right, name it again with --corpus")
    return Corpus(reading.writable_folder(corpus, option="--corpus"))


def _build(text: str) -> str:
    """A folder or a name that a build has, installed where it was not."""
    build = resolve(text)
    return build.folders[0] if build.folders else build.name


def _check_reports(record: Path) -> None:
    """Refuse a place for the record that cannot be written now, not after a night."""
    fresh = not record.exists()
    reading.writable_folder(record, option="--reports")
    if fresh:
        record.rmdir()


def _note(line: str) -> None:
    print(plain(line), file=sys.stderr)



def _admit(campaign: Campaign, summary: Summary, corpus: Corpus, told: list[Told]) -> Summary:
    """Store findings and say which are new. One whose signature the corpus has, from another backend or version,
    is known: its entry gains what was seen here. One that this campaign brought there before it was interrupted is new
    still. Faults planted on purpose stay out of the corpus."""
    new: list[str] = []
    known = set(summary.known_findings)
    findings = campaign.findings()
    for entry in findings:
        if planted(entry) or entry.id in campaign.admitted():
            new.append(entry.id)
        elif corpus.admit(entry).status == "new":
            campaign.admit(entry.id)
            new.append(entry.id)
        else:
            known.add(entry.signature.key)
    blames = {one.entry: one.blame for one in told if one.blame is not None}
    fresh = (with_blame(one, blames[one.id]) if one.id in blames else one for one in findings if one.id in new)
    alike = proposed(fresh, (one for one in corpus.entries() if isinstance(one, CorpusEntry))) if new else {}
    return msgspec.structs.replace(summary, new_findings=tuple(new), proposed=alike,
                                   known_findings=tuple(sorted(known)))


def _write(campaign: Campaign, summary: Summary, ledger: Ledger, reports: Path) -> Path:
    folder = reports / summary.id
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_summary(summary, folder)
        again.keep(folder, campaign.doubtful())
        joined.keep(campaign.state, folder)
        if ledger.reached:
            write_ledger(folder, ledger)
        campaign.merge(folder / "outcomes.sqlite")
    except OSError as error:
        raise TridiffError(f"{folder} cannot be written ({error.strerror}); outcomes are safe in {campaign.state}",
                           fix=f"free disk space, then run `tridiff fuzz --resume --id {summary.id}`") from None
    return folder


def _write_summary(summary: Summary, folder: Path) -> None:
    (folder / CAMPAIGN).write_text(pretty_json_without_defaults(summary, only_in_rows=True))


def _json(summary: Summary, record: Path) -> dict[str, object]:
    counts = {name: getattr(summary.counts, name) for name in summary.counts.__struct_fields__}
    return {
        "id": summary.id, **counts, "new_findings": len(summary.new_findings),
        "known_findings": len(summary.known_findings), "seconds": summary.seconds,
        "new_finding_ids": list(summary.new_findings), "proposed": summary.proposed,
        "baseline": summary.options.baseline,
        "known_finding_keys": list(summary.known_findings),
        "stopped_failing": list(summary.stopped_failing), "not_checked_reasons": summary.not_checked_reasons,
        "left_out": {reason: list(names) for reason, names in summary.left_out.items()},
        "errors": list(summary.errors), "repaired": list(summary.repaired),
        "unconfirmed": {why: list(names) for why, names in summary.unconfirmed.items()},
        "joined": list(summary.joined), "interrupted": summary.interrupted, "record": str(record),
        "programs": msgspec.to_builtins(summary.programs),
        "environments": [msgspec.to_builtins(one) for one in summary.environments],
    }
