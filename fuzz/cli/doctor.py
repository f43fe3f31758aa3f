"""`tridiff doctor`: what this machine can run."""

import importlib.metadata
import importlib.util
import itertools
import json
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.available import available_backends, gpu_count
from tridiff.fuzz.cli.new_triton import checklist
from tridiff.fuzz.cli.options import AsJson
from tridiff.fuzz.cli.text import coloured, console, listing
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Content, CorpusEntry, Environment, Iota, Verdict
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.codegen.dialect import found_version

EXAMPLES = """**Examples**

`tridiff doctor` : check packages, devices, compilers, and run one case on every backend

`tridiff doctor --json` : the same for a script

`tridiff doctor --new-triton` : what is to be looked at before a new release of Triton is supported
"""

_MOST_UNCOMPILED = 0.2
"""Part of the files that nobody need import."""

_PACKAGES = ("torch", "triton", "numpy", "hypothesis", "ml_dtypes", "scipy", "mpmath", "msgspec")


def _case() -> Case:
    ramp = Content(base=Iota(start=-3, step=0, per_row=1))
    return Case(target="triton.vector_add", sizes={"rows": 10}, params={"block": 4}, arrays=(
        ArraySpec(name="a", dtype="i32", dims=("rows",), content=ramp),
        ArraySpec(name="b", dtype="i32", dims=("rows",), content=ramp),
        ArraySpec(name="out", dtype="i32", dims=("rows",))))


def _packages() -> list[tuple[str, bool, str]]:
    found = [("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for name in _PACKAGES:
        try:
            version = found_version() if name == "triton" else importlib.metadata.version(name)
            found.append((name, True, version))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, False, f"not installed: pip install {name}"))
    return found


def _tools() -> list[tuple[str, bool, str]]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    free = shutil.disk_usage(".").free
    return [
        ("C compiler", compiler is not None, compiler or "none: Triton needs one to launch kernels on a GPU"),
        ("GPUs", True, f"{gpu_count()} usable" + ("" if gpu_count() else ": interpreter and compile-only instead")),
        ("disk", free > 1 << 30, f"{free / 2**30:.1f} GiB free here" + ("" if free > 1 << 30 else ": want 1 GiB")),
    ]


def _bytecode() -> tuple[str, bool, str]:
    """Whether each process finds tridiff and Triton compiled. Where nothing may be written (containers often set
    PYTHONDONTWRITEBYTECODE), every process of a campaign compiles some 500 files for itself, seconds of a core."""
    fine = ("bytecode", True, "written, or there")
    if not sys.dont_write_bytecode:
        return fine
    packages = filter(None, (importlib.util.find_spec(name) for name in ("tridiff.fuzz", "tridiff.oracles", "triton")))
    folders = [Path(place) for spec in packages for place in spec.submodule_search_locations or ()]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    missing = sum(not Path(importlib.util.cache_from_source(str(path))).exists() for path in files)
    if missing <= _MOST_UNCOMPILED * len(files):
        return fine
    return "bytecode", False, (
        f"PYTHONDONTWRITEBYTECODE is set and {missing:,} of {len(files):,} files are not compiled: every process "
        f"starts seconds later; unset it, or run `python -m compileall -q {' '.join(map(str, folders))}`")


def _backends(names: Sequence[str]) -> tuple[list[tuple[str, bool, str]], Environment | None]:
    """The rows of backends of one kind, whose cases one worker runs after each other, and where it ran."""
    rows: list[tuple[str, bool, str]] = []
    environment: Environment | None = None
    try:
        with Pool(PoolOptions(backend=names[0], spare=False, hang_limit=60)) as pool:
            started = time.monotonic()
            environment = pool.environment
            for name in names:
                outcome = pool.execute(_case(), "own", backend=name)
                ok = outcome.verdict is Verdict.AGREE
                device = name.partition(":")[2] or environment.device
                detail = f"Triton {environment.triton} on {device}, {time.monotonic() - started:.1f} s"
                rows.append((f"backend {name}", ok, detail if ok else f"{outcome.verdict.value}: {outcome.reason}"))
                started = time.monotonic()
    except TridiffError as error:
        rows += [(f"backend {name}", False, str(error)) for name in names[len(rows):]]
    return rows, environment


def _repairs(environment: Environment) -> tuple[str, bool, str]:
    """Whether the repairs of the interpreter hold in this Triton."""
    missing = environment.repairs_missing
    return "interpreter repairs", not missing, (
        f"nothing to repair was found for {'; '.join(missing)}: see `tridiff doctor --new-triton`" if missing else
        "each finds what it replaces")


def _new_triton(environments: tuple[Environment, ...], corpus: Path, records: Path, *, as_json: bool) -> int:
    try:
        triton = found_version()
    except importlib.metadata.PackageNotFoundError:
        raise TridiffError("Triton is not installed", fix="install the release in question") from None
    entries = [one for one in Corpus(corpus).entries() if isinstance(one, CorpusEntry)] if corpus.is_dir() else []
    items = checklist(triton, entries=entries, records=records, environments=environments)
    if as_json:
        print(json.dumps({"triton": triton, "items": [asdict(one) for one in items]}))
    else:
        table = listing(title=f"Triton {triton}", title_justify="left")
        for title in ("", "what", "where", "state"):
            table.add_column(title, overflow="fold")
        for one in items:
            mark = Text("ok", style="green") if one.done else Text("look", style="red")
            table.add_row(mark, one.what, one.where, one.detail)
        console().print(table)
    return 0 if all(one.done for one in items) else 2


def doctor(
    new_triton: Annotated[bool, typer.Option("--new-triton", help="List what the installed Triton, if it is a release "
                                                                  "that tridiff does not know, asks for.")] = False,
    corpus: Annotated[Path, typer.Option(help="Entries for --new-triton.", callback=corpus_to_read)] = DEFAULT,
    records: Annotated[Path, typer.Option(help="Campaign records for --new-triton.")] = Path("reports"),
    as_json: AsJson = False,
) -> None:
    """Check this machine; exit status 0 when at least one backend judges a case rightly, else 2.

    With --new-triton: 0 when nothing is left to look at, else 2.
    """
    rows = [*_packages(), *_tools(), _bytecode()]
    environments: list[Environment] = []
    usable = False
    backends = [list(names) for _, names in itertools.groupby(available_backends(), kind)]
    # At once: what takes time is that every worker imports torch and Triton.
    with (console(errors=True).status(coloured(f"running a case on {', '.join(itertools.chain(*backends))}")),
          ThreadPoolExecutor(max(len(backends), 1)) as threads):
        for found, environment in threads.map(_backends, backends):
            usable |= any(fine for _, fine, _ in found)
            rows += found
            if environment is not None:
                environments.append(environment)
                if environment.backend == "interpreter":
                    rows.append(_repairs(environment))
    if new_triton:
        raise typer.Exit(_new_triton(tuple(environments), corpus, records, as_json=as_json))
    if as_json:
        print(json.dumps([{"check": name, "ok": ok, "detail": detail} for name, ok, detail in rows]))
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, ok, detail in rows:
            table.add_row(Text("ok", style="green") if ok else Text("no", style="red"), name, detail)
        console().print(table)
    raise typer.Exit(0 if usable else 2)
