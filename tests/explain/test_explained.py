"""`tridiff explain`, whole and in parts; each part's checks run in one child process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks
from tridiff.fuzz.cli.app import run

HERE = Path(__file__).parent
FILES = {path.stem: Checks(path, interpret=path.stem.endswith("memory")) for path in sorted(HERE.glob("checks_*.py"))}
ADD = ["--args", "x=fp32[10]=iota y=fp32[10]=ones out=fp32[10]=out n=10 BLOCK=4", "--grid", "3"]


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_explained(file: str, name: str) -> None:
    FILES[file].require(name)


def test_a_finding_is_explained_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "triton.floordiv/value-cd18b7a4b0", "--json", "--against", "num_warps=2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {"source", "specialisation", "stages", "element", "blame", "checks", "commands"} <= said.keys()
    element = said["element"]
    assert element["buffer"] == "out" and element["index"] == [1]
    assert (element["interpreted"], element["recorded"], element["expected"]["numpy"]) == ("0", "-1", "0")
    (division,) = (step for step in element["steps"] if step["operation"] == "sdiv")
    assert [one["values"] for one in division["operands"]] == [["-1"], ["2"]]
    shared = next(one for one in said["checks"] if one["name"] == "one register, different values")
    assert shared["holds"] is False and "0xffffffff and 0x0" in shared["said"]
    assert any("warpsPerCTA = [2]" in one.get("diff", "") for one in said["against"] if one["stage"] == "ttgir")
    assert any(one["command"].endswith("--pdb --program 0,0,0") for one in said["commands"])


def test_the_debugger_stops_in_the_program_that_was_named() -> None:
    command = [sys.executable, "-m", "tridiff.fuzz", "explain", f"{HERE / 'explained_kernels.py'}:vector_add", *ADD,
               "--pdb", "--program", "2"]
    done = subprocess.run(command, input="n\nn\nn\np offsets.handle.data\np a.handle.data[:2]\nl .\nw\nq\n", text=True,
                          capture_output=True, timeout=120)
    assert "-> offsets = tl.program_id(0) * BLOCK" in done.stdout.splitlines()[2], done.stdout
    assert "array([ 8,  9, 10, 11]" in done.stdout and "array([8., 9.]" in done.stdout
    assert "->\t    b = tl.load(y + offsets, mask=mask)" in done.stdout


@pytest.mark.parametrize(("arguments", "said"), [
    (["value-cd18b7a4b0", "--arch", "sm_12"], "use one of sm_80"),
    (["value-cd18b7a4b0", "--stage", "hex"], "use one of source"),
    (["value-cd18b7a4b0", "--element", "out"], "such as 'out[0, 5]'"),
    (["value-cd18b7a4b0", "--grid", "3"], "FILE.py:kernel"),
    (["nowhere.py:add"], "no file nowhere.py")])
def test_what_is_not_understood_is_taught(arguments: list[str], said: str) -> None:
    from tridiff.fuzz.errors import TridiffError

    with pytest.raises(TridiffError, match=said.replace("[", r"\[")):
        run(["explain", *arguments])
