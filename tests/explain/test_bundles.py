"""Everything that a maintainer asks for, in one folder."""

import json
import re
from pathlib import Path

from tests.support.repository import ENTRIES
from tridiff.fuzz.corpus.store import parse
from tridiff.fuzz.explain.model import Departure
from tridiff.fuzz.report.bundle import as_test, write_bundle


def test_the_bundle_of_a_compiler_that_aborts(tmp_path: Path):
    folder = tmp_path / "bundle"
    said = write_bundle(ENTRIES.find("gluon.view_chain/sigabrt-4e679f5cf0"), folder, seconds=60.0)
    assert said.answer == "BUG" and {path.name for path in folder.iterdir()} == said.files.keys()
    entry = parse((folder / "entry.json").read_bytes(), source="entry.json")
    assert entry.id == "sigabrt-4e679f5cf0"
    (blame,) = json.loads((folder / "blame.json").read_text())
    assert blame["stage"] == "ttgir" and blame["confidence"] == "seen"
    assert "wrong for: compile:" in (folder / "way-round.txt").read_text()
    issue = (folder / "issue.md").read_text()
    assert "## Workarounds" in issue and "| | Triton 3.6.0 |" in issue
    assert "run here it says BUG" in issue and "Dialect.cpp" in issue
    page = (folder / "explanation.html").read_text()
    assert "Dialect.cpp" in page and "does not run Gluon kernels" in page
    listed = re.findall(r"^\| (\S+) \|", (folder / "README.md").read_text(), re.MULTILINE)
    assert set(listed) - {"file"} == said.files.keys() - {"README.md"}
    assert "before.mlir" in said.missing


def test_ir_in_front_of_a_pass_is_a_test_of_that_pass():
    text = as_test(Departure(step="make_ttgir add_coalesce", pipeline="any(tritongpu-coalesce)", before="module {}"))
    assert text.splitlines() == ["// make_ttgir add_coalesce",
                                 "// RUN: triton-opt %s --pass-pipeline='any(tritongpu-coalesce)'", "module {}"]
