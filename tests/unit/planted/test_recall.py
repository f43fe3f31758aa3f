"""Edits in a real copy of Triton: what the gate says of them."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
import triton

from tests.support.planted import PACKAGE, edit_in
from tridiff.fuzz.builds import Build
from tridiff.fuzz.gate import api
from tridiff.fuzz.planted.choose import edits
from tridiff.fuzz.planted.copy import plant
from tridiff.fuzz.planted.edit import Edit, Replacement
from tridiff.fuzz.planted.loud import loud
from tridiff.fuzz.planted.measure import measure
from tridiff.fuzz.planted.record import Settings, Tried


def test_a_copy_is_all_links_but_one_file(tmp_path: Path):
    edit = edit_in("language/random.py", "philox", "dropped_statement", "c1")
    folder = plant(edit, PACKAGE, tmp_path / "build")
    real = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert real == [folder / "triton" / edit.file]
    assert (folder / "triton" / edit.file).read_bytes() == edit.applied((PACKAGE / edit.file).read_bytes())
    run = subprocess.run([sys.executable, "-c", "import triton.language.random as r; print(r.__file__)"], text=True,
                         capture_output=True, env=Build(name="copy", folders=(str(folder),)).environment())
    assert run.stdout.strip() == str(folder / "triton" / edit.file)
    assert plant(edit, PACKAGE, folder) == folder, "what was there is replaced"


def test_a_fault_that_nobody_could_miss_is_loud(tmp_path: Path):
    data = (PACKAGE / "language/core.py").read_bytes()
    broken = Edit(file="language/core.py", line=1, operator="other", function="", before="", after="",
                  replacements=(Replacement(start=0, end=0, text="import module_that_is_not_there\n"),))
    assert broken.applied(data).endswith(data)
    assert loud(plant(broken, PACKAGE, tmp_path / "broken"), tmp_path / "one").startswith("SyntaxError: from __fut")
    quiet = edit_in("language/semantic.py", "TritonSemantic.mod", "other_instruction", "create_srem")
    assert loud(plant(quiet, PACKAGE, tmp_path / "quiet"), tmp_path / "two") == ""


def measured(operator: str, backend: str, folder: Path) -> Tried:
    """An edit where floats are added, through a gate of one target."""
    settings = Settings(triton=triton.__version__, backends=(backend,), seconds=90.0, workers=1, seed=1,
                        targets=("triton.vector_add",), subjects=("own",), max_cases=12)
    edit = edit_in("language/semantic.py", "TritonSemantic.add", operator, "create_fadd")
    line = measure(edit, settings, PACKAGE, folder / "planted", stop=threading.Event())
    if line.outcome == "not tried":  # a gate that a crowded machine ended says nothing of the edit
        print(line.how)
        line = measure(edit, settings, PACKAGE, folder / "again", stop=threading.Event())
    return line


def test_a_wrong_value_is_caught(tmp_path: Path):
    line = measured("other_instruction", "interpreter", tmp_path)
    assert (line.outcome, line.verdict) == ("caught", "do not upgrade"), line.how
    assert "regression" in line.how and "triton.vector_add" in line.how


def test_other_code_is_caught_where_no_values_are_computed(tmp_path: Path):
    line = measured("other_instruction", "compile:sm_90", tmp_path)
    assert (line.outcome, line.code_changed) == ("caught", ("triton.vector_add on compile:sm_90",)), line.how


@pytest.mark.nightly  # by day tests/gate/test_two_builds.py has such a gate
def test_an_edit_that_changes_nothing_stays_quiet(tmp_path: Path):
    line = measured("named_result", "compile:sm_90", tmp_path)
    assert (line.outcome, line.harmless, line.verdict) == ("missed", True, "upgrade"), line.how
    assert line.pairs > 0


def test_every_file_of_the_python_layer_has_faults():
    for file in ("backends/nvidia/driver.py", "experimental/gluon/language/nvidia/hopper/tma.py"):
        assert any(not one.harmless for one in edits(PACKAGE, only=(file,))), file


def test_a_changed_default_of_a_module_below_another_is_a_change_of_the_api(tmp_path: Path):
    file = "experimental/gluon/language/nvidia/ampere/async_copy.py"
    build = plant(edit_in(file, "mbarrier_arrive", "other_default"), PACKAGE, tmp_path / "build")
    changed = api.changes(api.names(Build(name="installed")), api.names(Build(name="copy", folders=(str(build),))))
    assert [one.name for one in changed] == [
        "triton.experimental.gluon.language.nvidia.ampere.async_copy.mbarrier_arrive"]
