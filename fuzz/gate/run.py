"""Run a gate: a campaign whose cases go to two builds."""

import concurrent.futures
import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.builds import Build, inspect
from tridiff.fuzz.builds.alike import Alike, alike
from tridiff.fuzz.campaign.drivers import preload
from tridiff.fuzz.campaign.findings import doubt
from tridiff.fuzz.campaign.record import CampaignOptions, Plan
from tridiff.fuzz.campaign.run import Campaign, Progress
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.gate import api
from tridiff.fuzz.gate.guards import LEAST_SECONDS, SECONDS_SHARE, proved
from tridiff.fuzz.gate.judge import judged
from tridiff.fuzz.gate.plan import gate_shards
from tridiff.fuzz.gate.policy import Policy
from tridiff.fuzz.gate.record import ApiChange, GateSummary, Side
from tridiff.fuzz.gate.settled import settle
from tridiff.fuzz.gate.sweeps import run_sweeps, swept
from tridiff.fuzz.pair.log import shown
from tridiff.fuzz.records import CorpusEntry, Environment, Record, decode, pretty_json
from tridiff.fuzz.records.reading import read_bytes

_ABOUT = "gate.json"


class About(Record, kw_only=True):
    """What a gate compares, beside the plan in its state folder."""

    baseline: Side
    candidate: Side
    sweep: tuple[str, ...] = ()
    """Operations of which all inputs are run, as they were asked for; none for no sweep."""
    began: float = 0.0
    """Seconds since 1970; for the record only."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A gate that can run: its campaign and what it compares."""

    campaign: Campaign
    about: About
    corpus: tuple[CorpusEntry, ...]
    """Entries whose cases it runs."""

    @property
    def state(self) -> Path:
        return self.campaign.state


def backends_between(shared: Alike, here: Iterable[str]) -> tuple[str, ...]:
    """Where two builds may differ, of the backends of this machine, the one that tells most first: a GPU and the
    interpreter, where the differing files are used by both. Without a GPU the interpreter and the compilers."""
    if "cuda" not in here:
        return "interpreter", "compile"
    found = tuple(name for name in ("cuda", "interpreter") if name in shared.reached)
    return found or (("compile:gfx942",) if "gfx942" in shared.reached else ("cuda",))


def start(name: str, options: CampaignOptions, *, baseline: Build, candidate: Build, corpus: Corpus,
          root: Path, sweep: tuple[str, ...] = ()) -> Gate:
    """Inspect both builds, write the plan. options: with what the builds share. sweep: operations, names or globs.
    Raises TridiffError for a build that cannot be imported, a target or an operation that does not exist, and a
    campaign of that name."""
    if sweep:
        swept(sweep, options.backends)
    options = msgspec.structs.replace(options, builds=(baseline.path, candidate.path))
    with contextlib.ExitStack() as undone:
        preloaded = undone.enter_context(preload(options))
        gate = _start(name, options, baseline=baseline, candidate=candidate, corpus=corpus, root=root, sweep=sweep)
        gate.campaign.preloaded = preloaded
        undone.pop_all()
    return gate


def _start(name: str, options: CampaignOptions, *, baseline: Build, candidate: Build, corpus: Corpus, root: Path,
           sweep: tuple[str, ...]) -> Gate:
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        sides = list(threads.map(_side, (baseline, candidate)))
    about = About(baseline=sides[0], candidate=sides[1], began=time.time(), sweep=sweep)
    entries = tuple(entry for entry in corpus.entries() if isinstance(entry, CorpusEntry))
    campaign = Campaign.start(Plan(id=name, options=options, shards=gate_shards(options, entries)), root=root)
    with writing(campaign.state, fix="free disk space"):
        (campaign.state / _ABOUT).write_text(pretty_json(about))
    return Gate(campaign=campaign, about=about, corpus=entries)


def _side(build: Build) -> Side:
    return Side(name=build.name, triton=inspect(build).version)


def resume(name: str, *, corpus: Corpus, root: Path) -> Gate:
    """An interrupted gate. Raises TridiffError if there is none, and if a build is another one by now."""
    campaign = Campaign.resume(name, root=root)
    try:
        path = campaign.state / _ABOUT
        if not path.exists() or campaign.plan.options.builds is None:
            raise TridiffError(f"{campaign.plan.id} is no gate", fix="resume it with `tridiff fuzz --resume`")
        about = decode(read_bytes(path, most=64 << 20), About, source=str(path))
        for side, build in zip((about.baseline, about.candidate), _builds(about, campaign.plan.options.builds),
                               strict=True):
            now = inspect(build).version
            if now != side.triton:
                raise TridiffError(f"gate {campaign.plan.id} was started with {side.name} = Triton {side.triton}, "
                                   f"which is {now} now", fix="start a gate of its own")
        if alike(*campaign.plan.options.builds) != campaign.plan.options.alike:
            raise TridiffError(f"the files of the builds of gate {campaign.plan.id} have changed since it was started",
                               fix="start a gate of its own")
    except BaseException:
        campaign.close()
        raise
    return Gate(campaign=campaign, about=about, corpus=tuple(
        entry for entry in corpus.entries() if isinstance(entry, CorpusEntry)))


def _builds(gate_about: About, folders: tuple[str, str]) -> tuple[Build, Build]:
    """Both builds, as they were when the gate was started."""
    baseline, candidate = (Build(name=side.name, folders=tuple(filter(None, path.split(os.pathsep))))
                           for side, path in zip((gate_about.baseline, gate_about.candidate), folders, strict=True))
    return baseline, candidate


def _api_changes(gate: Gate) -> tuple[ApiChange, ...]:
    folders = gate.campaign.plan.options.builds
    assert folders is not None
    return api.changes(*(api.names(build) for build in _builds(gate.about, folders)))


def _counted(gate: Gate) -> tuple[list[CorpusEntry], tuple[str, ...]]:
    """Differences that count, and lines about those that do not. One for whose confirmation there was no time counts
    all the same: each side ran it again when it was first seen, before anything else was done with it."""
    kept, lines = gate.campaign.findings(), []
    for entry in gate.campaign.doubtful():
        pair = shown(gate.state, entry)
        if pair is not None and pair.repeated and entry.reproduced.endswith("/0"):
            times = 1 + pair.repeated
            kept.append(msgspec.structs.replace(entry, status="stable", reproduced=f"{times}/{times}"))
        else:
            lines.append(f"{entry.id} ({doubt(entry)})")
    return kept, tuple(lines)


def run(gate: Gate, watch: Callable[[Progress], None], *, policy: Policy, since: float) -> GateSummary:
    """Run what is left of the gate and judge it. since: the moment (monotonic) from which its time counts."""
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        changes = beside.submit(_api_changes, gate)
        summary = gate.campaign.run(watch, since=since)
    sweeps = None
    if gate.about.sweep and not summary.interrupted:
        sweeps = run_sweeps(gate.about.sweep, gate.campaign.plan.options, gate.state, policy=policy)
    environments: dict[str, Environment] = {}
    for one in summary.environments:
        environments.setdefault(one.backend, one)
    torch = next((one.torch for one in summary.environments), "")
    candidate = msgspec.structs.replace(gate.about.candidate, torch=torch, environments=tuple(environments.values()))
    baseline = msgspec.structs.replace(gate.about.baseline, torch=torch)
    kept, doubtful = _counted(gate)
    if not kept and not summary.interrupted and baseline.triton == candidate.triton:
        settle(gate.state, gate.campaign.plan.shards)
    found = judged(summary, kept, state=gate.state, policy=policy, baseline=baseline,
                   candidate=candidate, api=changes.result(), seconds=time.monotonic() - since,
                   shards=gate.campaign.plan.shards, corpus=gate.corpus, sweeps=sweeps)
    if found.guards and not summary.interrupted:
        asked = gate.campaign.plan.options.seconds
        found = msgspec.structs.replace(found, guards=proved(
            found.guards, found.findings, triton=candidate.triton, shards=gate.campaign.plan.shards, state=gate.state,
            seconds=max(SECONDS_SHARE * asked, LEAST_SECONDS)))
    if sweeps is None or not sweeps.interrupted:
        gate.campaign.finish(summary)
    return msgspec.structs.replace(found, flaky=(*found.flaky, *doubtful))
