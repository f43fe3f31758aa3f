"""Does the script of a bundle say BUG on an affected build of Triton, and OK on a repaired one?

    python -m tridiff.fuzz.bench.bundles --build 3.6.0 --build 3.7.1 --build 3.8.0 --build 3.9.0 --number 20 > table.md

Entries are chosen by their verdicts: defects that show on a backend without a GPU, on which one of the builds fails
and another is right, of as many kinds (family, stage, verdict there) as there are. A script that interprets runs in
Triton's own interpreter, and the corpus holds the verdicts of tridiff's repaired one: of such entries the verdicts are
those that the harness gives without its repairs (subject `plain`), asked under every build before any is chosen. Each
bundle is made under an affected build; its script then runs under every build that has a verdict.
"""

import argparse
import importlib.metadata
import itertools
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds import Build, inspect, resolve
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.script import run
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.fuzz.workers.pool import Pool, PoolOptions

LIMIT = 300.0
"""Seconds for one bundle."""

ALWAYS = ("README.md", "bug.py", "entry.json", "environment.txt", "expected.txt", "issue.md", "versions.txt",
          "way-round.txt", "blame.json")
"""Files that every bundle has."""


UNWRITTEN = ("launch.", "language.refusals")
"""Targets of which no standalone script is written: their cases are about launching itself, or about programs that must
be refused, and not about what one launch computes."""


Verdicts = Mapping[str, Mapping[str, Verdict]]
"""By version, then by TARGET/ID of an entry: what Triton's own interpreter does."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, a backend, and what each version is recorded to do there, or seen to do if its interpreter is Triton's
    own: BUG or OK."""

    entry: str
    kind: tuple[str, str, str]
    backend: str
    recorded: dict[str, str]

    @property
    def affected(self) -> str:
        """The version that the bundle is made under: the last that fails."""
        failing = [version for version, said in self.recorded.items() if said == "BUG"]
        return (failing or list(self.recorded))[-1]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one bundle. said: the script's answers by version. lines: of the script. lacking: files that it
    should have and has not."""

    chosen: Chosen
    said: dict[str, str]
    lines: int = 0
    lacking: tuple[str, ...] = ()
    missing: dict[str, str] = {}
    localised: bool = False
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.said == self.chosen.recorded and not self.lacking


def choices(entries: Iterable[CorpusEntry], versions: Sequence[str], plain: Verdicts | None = None) -> Iterator[Chosen]:
    """Defects with a backend on which one of the versions fails and another is right; the interpreter only where no
    compiler shows it. plain: what stands in the place of the interpreter's record."""
    for entry in entries:
        name = f"{entry.case.target}/{entry.id}"
        rows = [one for one in entry.expected if one.subject == entry.signature.subject and kind(one.backend) != "cuda"]
        if entry.case.target.startswith(UNWRITTEN) or entry.truth != "defect":
            continue
        for backend in sorted(dict.fromkeys(one.backend for one in rows), key=lambda name: name == "interpreter"):
            found = {version: one.verdict for version in versions for one in rows
                     if (one.backend, one.triton) == (backend, version)}
            if backend == "interpreter":
                found |= {version: seen[name] for version, seen in (plain or {}).items() if name in seen}
            recorded = {version: "BUG" if verdict.failed else "OK" for version, verdict in found.items()
                        if verdict.failed or verdict is Verdict.AGREE}
            if {"OK", "BUG"} <= set(recorded.values()):
                shown = next(verdict for verdict in found.values() if verdict.failed)
                yield Chosen(entry=name, backend=backend, recorded=recorded,
                             kind=(entry.case.target.partition(".")[0], entry.stage, shown.value))
                break


def interpreted(entries: Iterable[CorpusEntry]) -> dict[str, Verdict]:
    """What the installed Triton's own interpreter does, by TARGET/ID; targets without such a subject are left out."""
    found: dict[str, Verdict] = {}
    with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
        for entry in entries:
            if PLAIN in find(entry.case.target).subjects:
                try:
                    outcome = pool.execute(entry.case, PLAIN)
                except TridiffError:
                    continue
                found[f"{entry.case.target}/{entry.id}"] = outcome.verdict
    return found


def _interpreted_under(build: Build, names: Sequence[str]) -> dict[str, Verdict]:
    """The same under another build, by a process of its own."""
    command = [sys.executable, "-m", "tridiff.fuzz.bench.bundles", "--interpret", *names]
    done = subprocess.run(command, env=build.environment(), capture_output=True, text=True, timeout=LIMIT, check=True)
    return {name: Verdict(said) for name, said in json.loads(done.stdout).items()}


def spread(found: Iterable[Chosen], number: int) -> list[Chosen]:
    """`number` of them: one of each kind, then a second one of each, and so on."""
    kinds: dict[tuple[str, str, str], list[Chosen]] = {}
    for one in sorted(found, key=lambda one: (one.kind, one.backend == "interpreter", one.entry)):
        kinds.setdefault(one.kind, []).append(one)
    rounds = itertools.zip_longest(*kinds.values())
    return [one for turn in rounds for one in turn if one is not None][:number]


def bundle(chosen: Chosen, builds: Mapping[str, Build], folder: Path, *, seconds: float = 60.0) -> Row:
    """Make the bundle and run its script. seconds: the longest to blame, and to look for ways round."""
    started = time.monotonic()
    build = builds[chosen.affected]
    command = [sys.executable, "-m", "tridiff.fuzz", "repro", chosen.entry, "--bundle", str(folder), "--backend",
               chosen.backend, "--time", f"{seconds:g}", "--json"]
    made = subprocess.run(command, env=build.environment(), capture_output=True, text=True, timeout=LIMIT, check=False)
    try:
        told = json.loads(made.stdout)
    except ValueError:
        return Row(chosen=chosen, said={}, missing={"bundle": (made.stderr.strip().splitlines() or ["no answer"])[-1]})
    lacking = tuple(name for name in ALWAYS if name not in told["files"])
    script = (folder / "bug.py").read_text() if "bug.py" in told["files"] else ""
    said = {}
    for version in chosen.recorded if script else ():
        answer = run(script, path=builds[version].path)
        said[version] = answer.answer if answer.answer != "SKIP" else f"SKIP: {answer.reason.partition('(')[0][:40]}"
    blames = json.loads((folder / "blame.json").read_text()) if "blame.json" in told["files"] else []
    return Row(chosen=chosen, said=said, lines=len(script.splitlines()), lacking=lacking, missing=told["missing"],
               localised=any(one.get("confidence", "not localised") != "not localised" for one in blames),
               seconds=round(time.monotonic() - started, 1))


def heading(rows: Sequence[Row], versions: Sequence[str], *, candidates: int, workers: int) -> Iterator[str]:
    """What was done, in Markdown. candidates: entries from which the bundles were chosen."""
    longest, python = max((row.seconds for row in rows), default=0.0), platform.python_version()
    torch = importlib.metadata.version("torch")
    yield "# Bundles under affected and repaired builds"
    yield ""
    yield f"`python -m tridiff.fuzz.bench.bundles`, Triton {', '.join(versions)}, torch {torch}, Python"
    yield f"{python}, no GPU; {workers} at a time, each made, blamed and run in {longest:.0f} s at most."
    yield f"Chosen of {candidates} entries, one of each kind first: defects that a backend without a GPU shows, on"
    yield "which one build fails and another is right. On the interpreter that is what Triton's own does, in which"
    yield "scripts run, not tridiff's repaired one, of which the corpus tells."
    yield ""


def table(rows: Sequence[Row], versions: Sequence[str]) -> Iterator[str]:
    """Markdown."""
    good = sum(row.good for row in rows)
    kinds = len({row.chosen.kind for row in rows})
    yield f"{good} of {len(rows)} bundles of {kinds} kinds are whole and say what is recorded."
    yield ""
    yield "| entry | kind | backend | " + " | ".join(versions) + " | lines | blame | IR of the pass | not here |"
    yield "|---" * (len(versions) + 7) + "|"
    for row in rows:
        answers = [row.said.get(one, "") + ("" if row.said.get(one, "") == row.chosen.recorded.get(one, "") else
                                            f" (recorded: {row.chosen.recorded.get(one, 'nothing')})")
                   for one in versions]
        yield "| " + " | ".join([
            row.chosen.entry, ", ".join(row.chosen.kind), row.chosen.backend, *answers, str(row.lines),
            "localised" if row.localised else "no", "no" if "before.mlir" in row.missing else "yes",
            " ".join(row.lacking) or "-"]) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status: 0 where every bundle is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", default=[], help="a release, a wheel, a folder or `installed`")
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0, help="to blame, and to look for ways round, each")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--entry", action="append", default=[], help="only these, by their ids")
    parser.add_argument("--folder", type=Path, help="keep the bundles here")
    parser.add_argument("--json", type=Path, help="append each result here, and leave out what is there")
    parser.add_argument("--interpret", nargs="+", metavar="ENTRY",
                        help="nothing but what the installed Triton's own interpreter does with these")
    given = parser.parse_args(arguments)
    corpus = Corpus(corpus_to_read(DEFAULT))
    if given.interpret:
        seen = interpreted(map(corpus.find, given.interpret))
        print(json.dumps({name: verdict.value for name, verdict in seen.items()}))
        return 0
    found = [resolve(one) for one in given.build or ["installed"]]
    builds = {inspect(one).version: one for one in found}
    entries = [one for one in corpus.entries() if isinstance(one, CorpusEntry)]
    asked = [one.entry for one in choices(entries, tuple(builds)) if one.backend == "interpreter"]
    candidates = list(choices(entries, tuple(builds), {
        version: _interpreted_under(build, asked) for version, build in builds.items()}))
    chosen = [one for one in candidates if any(one.entry.endswith(name) for name in given.entry)] if given.entry else (
        spread(candidates, given.number))
    rows: list[Row] = []
    if given.json is not None and given.json.exists():
        rows = [msgspec.json.decode(line, type=Row) for line in given.json.read_bytes().splitlines()]
    done = {row.chosen.entry for row in rows}
    with tempfile.TemporaryDirectory(prefix="tridiff-bundles-") as own:
        def made(one: Chosen) -> Row:
            return bundle(one, builds, (given.folder or Path(own)) / one.entry.replace("/", "-"), seconds=given.seconds)

        with ThreadPoolExecutor(given.workers) as pool:
            for row in pool.map(made, [one for one in chosen if one.entry not in done]):
                rows.append(row)
                print(f"{len(rows)} of {len(chosen)}: {row.chosen.entry} {row.said} {row.seconds} s", file=sys.stderr,
                      flush=True)
                if given.json is not None:
                    with given.json.open("ab") as stream:
                        stream.write(msgspec.json.encode(row) + b"\n")
    print("\n".join((*heading(rows, tuple(builds), candidates=len(candidates), workers=given.workers),
                     *table(rows, tuple(builds)))))
    return 0 if rows and all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
