"""A gate on real builds: copies of the installed Triton with a planted fault, with a harmless edit, and broken."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import HARMLESS, NO_IMPORT, WRONG_OFFSETS, WRONG_SUM, edited, installed, pools
from tests.support.cases import addition
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import GateSummary
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Case, Verdict, decode
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.workers.pool import Pool, PoolOptions

SHORT = ("--target", "triton.vector_add", "--subject", "own", "--backend", "interpreter", "--workers", "1", "--seed",
         "5", "--json")


def gate(folder: Path, baseline: Path, candidate: Path, *more: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    """One gate, and the object that it ends with."""
    run = subprocess.run(
        [sys.executable, "-m", "tridiff.fuzz", "gate", "--baseline", str(baseline), "--candidate", str(candidate),
         *SHORT, *more], cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=os.environ.copy())
    assert "Traceback" not in run.stderr, run.stderr
    return run, json.loads(run.stdout) if run.stdout.strip() else None


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return edited(tmp_path_factory.mktemp("planted"), WRONG_SUM)


@pytest.fixture(scope="module")
def sides(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Pool]]:
    """Workers that compile: of the installed build, of the planted one, and of one with a harmless edit."""
    harmless = edited(tmp_path_factory.mktemp("harmless"), HARMLESS)
    with pools(PoolOptions(backend="compile:sm_90", spare=False), installed().parent, planted, harmless) as made:
        yield made


def compared(baseline: Pool, candidate: Pool, case: Case) -> PairOutcome:
    pool = PairPool(baseline, candidate)
    pool.execute(case, "own")
    assert pool.last is not None
    return pool.last


@pytest.mark.slow
def test_a_planted_fault_blocks_with_its_shrunk_case(tmp_path: Path) -> None:
    faulty = edited(tmp_path / "faulty", WRONG_OFFSETS)
    run, said = gate(tmp_path, installed().parent, faulty, "--max-cases", "2", "--id", "one")
    assert run.returncode == 1, run.stderr
    assert said["verdict"] == "do not upgrade" and said["regressions"] == 1 and said["pairs"] == 2
    found = decode((tmp_path / "reports/one/gate.json").read_bytes(), GateSummary, source="gate.json")
    finding = found.findings[0]
    assert (finding.relation, finding.action) == (Relation.REGRESSION, "block")
    rows = [(row.triton, row.verdict) for row in finding.entry.expected]
    assert [verdict for _, verdict in rows] == [Verdict.AGREE, Verdict.DISAGREE]
    assert finding.entry.case.sizes["rows"] == 1, "the smallest case that shows it"
    assert found.guards[0].entry == finding.entry.id and "op=triton.vector_add" in found.guards[0].bad
    assert (tmp_path / f"reports/one/cases/regression/{finding.entry.id}.json").exists()
    assert "do not upgrade" in (tmp_path / "reports/one/gate.md").read_text()
    for name in ("report.html", "junit.xml", "report.sarif", f"findings/{finding.entry.id}.md"):
        assert finding.entry.id in (tmp_path / "reports/one" / name).read_text(), name


@pytest.mark.slow
def test_code_of_both_builds_is_compared_before_anything_runs(sides: list[Pool]) -> None:
    good, planted, harmless = sides
    case, floats = addition(rows=8), addition(rows=8, dtype="fp32")
    assert compared(good, harmless, floats).relation is Relation.IDENTICAL_CODE
    changed = compared(good, planted, floats)
    assert changed.relation is Relation.SAME and changed.code_changed == ("ttgir", "ptx")
    assert compared(good, planted, case).relation is Relation.IDENTICAL_CODE, "the fault is one of floats"


@pytest.mark.slow
def test_a_build_that_cannot_be_imported_is_refused_in_one_line(tmp_path: Path) -> None:
    broken = edited(tmp_path / "broken", NO_IMPORT)
    run, said = gate(tmp_path, installed().parent, broken, "--max-cases", "1")
    assert run.returncode == 2 and said["fix"] == "repair or rebuild it"
    line = run.stderr.strip().splitlines()
    assert len(line) == 1 and "`import triton` fails" in line[0] and "no_such_module" in line[0]


@pytest.mark.parametrize("name, problem", [
    ("no-build", "is no build of triton"), (".", "holds no package triton"), ("nothing.whl", "cannot be read")])
def test_what_names_no_build_is_refused(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(TridiffError, match=problem):
        resolve(str(tmp_path) if name == "." else name, cache=tmp_path / "cache")
