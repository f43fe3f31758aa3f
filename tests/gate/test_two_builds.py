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

SHORT = ("--target", "triton.vector_add", "--subject", "own", "--workers", "1", "--seed",
         "5", "--json")


def gate(folder: Path, baseline: Path, candidate: Path, *more: str, backend: str = "interpreter",
         ) -> tuple[subprocess.CompletedProcess[str], Any]:
    """One gate, and the object that it ends with."""
    command = [sys.executable, "-m", "tridiff.fuzz", "gate", "--baseline", str(baseline), "--candidate", str(candidate),
               "--backend", backend, *SHORT, *more]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False,
                         env=os.environ.copy())
    assert "Traceback" not in run.stderr, run.stderr
    return run, json.loads(run.stdout) if run.stdout.strip() else None


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Pool]]:
    """Workers that compile: of the installed build and of one with planted faults."""
    faulty = edited(tmp_path_factory.mktemp("faulty"), WRONG_SUM)
    with pools(PoolOptions(backend="compile:sm_90", spare=False), installed().parent, faulty) as made:
        yield made


def compared(baseline: Pool, candidate: Pool, case: Case) -> PairOutcome:
    pool = PairPool(baseline, candidate)
    pool.execute(case, "own")
    assert pool.last is not None
    return pool.last


@pytest.mark.slow
def test_a_planted_fault_blocks_with_its_shrunk_case(tmp_path: Path):
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
def test_a_harmless_edit_is_an_upgrade(tmp_path: Path):
    same = edited(tmp_path / "same", HARMLESS)
    run, said = gate(tmp_path, installed().parent, same, "--max-cases", "4", "--id", "one", backend="compile:sm_90")
    assert (run.returncode, said["verdict"], said["pairs"]) == (0, "upgrade", 4), run.stderr
    assert said["identical_code"] == 4, "other text, the same code"
    assert not (said["why"] or said["findings"] or said["guards"] or said["api"] or said["flaky"])


@pytest.mark.slow
def test_code_of_both_builds_is_compared(sides: list[Pool]):
    good, faulty = sides
    changed = compared(good, faulty, addition(rows=8, dtype="fp32"))
    assert changed.relation is Relation.SAME and changed.code_changed == ("ttgir", "ptx")
    assert compared(good, faulty, addition(rows=8)).relation is Relation.IDENTICAL_CODE, "the faults are of floats"


@pytest.mark.slow
def test_what_the_candidate_refuses_is_a_regression_and_the_other_way_round_it_is_fixed(sides: list[Pool]):
    good, faulty = sides
    case = addition(rows=8, dtype="fp16")
    worse, better = compared(good, faulty, case), compared(faulty, good, case)
    assert (worse.relation, better.relation) == (Relation.REGRESSION, Relation.FIXED)
    assert worse.candidate.verdict is better.baseline.verdict is Verdict.COMPILE_ERROR
    assert worse.kind == better.kind and worse.repeated and better.repeated
    assert compared(faulty, faulty, case).relation is Relation.BOTH


@pytest.mark.slow
def test_a_build_that_cannot_be_imported_is_refused_in_one_line(tmp_path: Path):
    broken = edited(tmp_path / "broken", NO_IMPORT)
    run, said = gate(tmp_path, installed().parent, broken, "--max-cases", "1")
    assert run.returncode == 2 and said["fix"] == "repair or rebuild it"
    line = run.stderr.strip().splitlines()
    assert len(line) == 1 and "`import triton` fails" in line[0] and "no_such_module" in line[0]


@pytest.mark.parametrize("name, problem", [
    ("no-build", "is no build of triton"), (".", "holds no package triton"), ("nothing.whl", "cannot be read")])
def test_what_names_no_build_is_refused(name: str, problem: str, tmp_path: Path):
    with pytest.raises(TridiffError, match=problem):
        resolve(str(tmp_path) if name == "." else name, cache=tmp_path / "cache")


def test_a_signal_for_all_of_a_gates_processes_loses_no_public_names():
    code = """
import os, signal, threading
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.gate.api import names
build = resolve("installed")
signal.signal(signal.SIGTERM, lambda *_: None)
threading.Timer(0.3, os.killpg, (0, signal.SIGTERM)).start()
print(len(names(build)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True)
    assert ran.returncode == 0 and int(ran.stdout) > 1000, ran.stderr
