"""`tridiff faults --triton` on the command line."""

import json

import pytest

from tests.support.refusals import refused
from tridiff.fuzz.backends import expand
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.planted import probed

LIST = ["faults", "--triton", "--list", "--seed", "5", "--fault", "language/math.py"]


def test_what_would_be_planted_is_listed(capsys: pytest.CaptureFixture[str]):
    assert run([*LIST, "--number", "6", "--harmless", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["harmless"] for row in rows] == [False] * 6 + [True] * 2
    assert all(row["name"].startswith("language/math.py:") for row in rows)
    assert run([*LIST, "--number", "6", "--harmless", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0] for line in lines] == [row["name"] for row in rows[:6]]


def test_an_unknown_fault_and_probes_of_torch_are_refused():
    with refused("no fault is named"):
        run([*LIST[:-1], "language/math.py:99999:*"])
    with refused("own kernels only"):
        run(["faults", "--triton", "--probe", "3", "--subject", "inductor"])


def test_a_probe_that_names_no_chip_looks_at_one():
    assert probed(("interpreter", "compile", "evaluated:sm_80")) == ("interpreter", "compile:sm_90", "evaluated:sm_80")
    assert "compile:sm_90" in expand("compile")
