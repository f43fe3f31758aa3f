"""`pytest tests/corpus` on a corpus made for the purpose: what passes, fails and is skipped, and why."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.unit.corpus.entries import division_case, entry, expect
from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.records import Verdict
from tridiff.kernels.codegen.dialect import found_version

REPOSITORY = Path(__file__).resolve().parents[3]


def run_items(folder: Path, *, parallel: bool) -> str:
    """The report of the replay tests, as they stand in a checkout at `folder`."""
    tests = folder / "tests" / "corpus"
    tests.mkdir(parents=True)
    shutil.copy(REPOSITORY / "tests" / "corpus" / "test_replay.py", tests)
    plugins = ["-n", "2"] if parallel and importlib.util.find_spec("xdist") else []
    python_path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", *plugins, "-p", "no:cacheprovider", str(tests)], cwd=folder,
        env=os.environ | {"PYTHONPATH": python_path, "COLUMNS": "400"}, capture_output=True, text=True, timeout=200,
        check=False)
    return done.stdout + done.stderr


def test_every_entry_is_an_item_with_its_own_result(tmp_path: Path):
    corpus, version = Corpus(tmp_path / "corpus"), found_version()
    fault = "own+fault:trunc_for_floor"

    def admit(kind: str, **at: object) -> str:
        wanted = {"triton": version} | at
        one = entry(kind=kind, expected=(expect(fault, **wanted),))
        return corpus.admit(one).entry.id

    still_fails = admit("still-fails")
    stopped = admit("stopped", verdict=Verdict.CRASH)
    elsewhere = admit("elsewhere", backend="compile:sm_12345")
    unseen = admit("unseen", triton="1.2.3")
    nowhere = corpus.admit(entry(kind="nowhere", expected=())).entry.id
    foreign = corpus.admit(msgspec.structs.replace(entry(
        subject="own", case=division_case(target="helpers.of_tomorrow"), expected=(expect(triton=version),)))).entry.id
    (tmp_path / "corpus" / "helpers.div_floor_integer" / "broken.json").write_text("{")
    report = run_items(tmp_path, parallel=True)
    lines = re.findall(r"^(PASSED|FAILED) \S*test_entry\[[\w.]+/([\w.-]+)\S*\]", report, re.M)
    names = (still_fails, stopped, nowhere, foreign, "broken")
    seen = {name: state for state, shown in lines for name in names if shown.startswith(name)}
    assert seen == {still_fails: "PASSED", stopped: "FAILED", nowhere: "FAILED", foreign: "FAILED",
                    "broken": "FAILED"}, report
    assert "expected crash, got disagree: 1 of 1 rows of out are wrong" in report
    assert "expects nothing on any backend; record a verdict" in report
    assert "unknown target 'helpers.of_tomorrow'" in report
    assert "broken.json: not valid JSON" in report
    assert "this machine has no compile:sm_12345" in report and elsewhere
    assert "nothing is expected here yet; saw disagree" in report and unseen
    assert re.search(r"4 failed, 2 passed, 2 skipped", report), report


def test_an_empty_corpus_is_said_and_a_missing_one_fails(tmp_path: Path):
    (tmp_path / "empty" / "corpus").mkdir(parents=True)
    assert "the corpus has no entry yet" in run_items(tmp_path / "empty", parallel=False)
    (tmp_path / "absent").mkdir()
    report = run_items(tmp_path / "absent", parallel=False)
    assert "no corpus folder at" in report and "1 failed" in report
