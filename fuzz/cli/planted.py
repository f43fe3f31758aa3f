"""`tridiff faults --triton`: what of Triton's Python layer would a gate notice?"""

import json
import sys
import tempfile
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import FOR_CHIPS
from tridiff.fuzz.builds import Build, inspect
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.cli.text import plain
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.planted.choose import choose, choose_harmless, edits
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.measure import measure
from tridiff.fuzz.planted.probe import Probe, draw
from tridiff.fuzz.planted.record import Results, Settings, Tried
from tridiff.fuzz.planted.run import Measure, run
from tridiff.fuzz.planted.table import QUIET, headline, table


def planted(options: CampaignOptions, *, asked: tuple[str, ...], only: tuple[str, ...], number: int, harmless: int,
            at_once: int, listed: bool, probe: int, public: bool, results: Path | None, record: Path | None,
            as_json: bool) -> int:
    """Plant a choice of edits into copies of the installed Triton, one at a time, and gate each copy; the exit status:
    0 all faults caught and all harmless edits quiet, 1 not so, 2 none could be tried. asked: backends of the gates,
    none for those that each gate chooses by the files that differ."""
    if probe and options.subjects not in ((), ("own",)):
        raise TridiffError("probes run own kernels only", fix="leave --subject out, or leave --probe out")
    running = inspect(Build(name="installed"))
    package = Path(running.file).parent
    found = edits(package, only=only)
    chosen = choose(found, number=number, seed=options.seed, only=only, public=public)
    chosen += choose_harmless(found, number=harmless, seed=options.seed)
    if listed:
        _list(chosen, as_json=as_json)
        return 0
    settings = Settings(triton=running.version, backends=probed(options.backends) if probe else asked,
                        seconds=options.seconds, workers=options.workers, seed=options.seed, targets=options.targets,
                        subjects=options.subjects, max_cases=options.max_cases, probe=probe)
    if record is not None and not record.parent.is_dir():
        raise TridiffError(f"{record.parent} is no folder", fix="create it, or choose another --record")
    with tempfile.TemporaryDirectory(prefix="tridiff-planted-") as folder:
        kept = Results(results or Path(folder) / "results.jsonl", settings)

        def watch(line: Tried) -> None:
            print(plain(f"{len(kept.lines)} of {len(chosen)}: {line.name} ({line.function}): {line.outcome}"
                        f"{' (harmless)' if line.harmless else ''}{': ' + line.how if line.how else ''}"),
                  file=sys.stderr, flush=True)
            if record is not None:
                record.write_text(table(kept.lines, settings), encoding="utf-8")

        measured: Measure = measure
        if probe:
            drawn = draw(settings, package, kept.path.with_suffix(".cases"), cases=probe, at_once=at_once,
                         watch=_drawing)
            measured = Probe(drawn, package)
        lines = run(chosen, settings, package=package, results=kept, folder=Path(folder) / "running", at_once=at_once,
                    watch=watch, measured=measured)
    text = table(lines, settings)
    if record is not None:
        record.write_text(text, encoding="utf-8")
    print(json.dumps([msgspec.to_builtins(one) for one in lines]) if as_json else plain(text))
    if not as_json:
        print(plain(headline(lines)), file=sys.stderr)
    return status(lines)


def probed(backends: tuple[str, ...]) -> tuple[str, ...]:
    """The backends of a probe, which looks at one chip: that of the table of what cannot show."""
    return tuple(f"{one}:sm_90" if one in FOR_CHIPS else one for one in backends)


def _drawing(done: int, number: int) -> None:
    if done % 20 == 0 or done == number:
        print(f"cases drawn and run for {done} of {number} targets and backends", file=sys.stderr, flush=True)


def status(lines: list[Tried]) -> int:
    """0, 1 or 2, as `planted` says."""
    tried = [one for one in lines if one.outcome not in ("not tried", "loud", "cannot show")]
    if not tried:
        return 2
    return int(any((one.outcome not in QUIET) if one.harmless else (one.outcome != "caught") for one in tried))


def _list(chosen: list[Edit], *, as_json: bool) -> None:
    rows = [{"name": one.name, "function": one.function, "before": one.before, "after": one.after,
             "harmless": one.harmless} for one in chosen]
    print(json.dumps(rows) if as_json else "\n".join(
        plain(f"{row['name']}  {row['function']}: {row['before']} -> {row['after']}") for row in rows))
