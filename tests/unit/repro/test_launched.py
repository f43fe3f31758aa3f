"""A case that is right as it is launched first, and wrong under other options or in another schedule: which launch is
told, and which one a script makes."""

import re

import pytest
from msgspec.structs import replace

from tests.support.refusals import refused
from tests.unit.graphs.graphs import X, filled, load, store
from tests.unit.repro.findings import FINDINGS, OTHER_OPTIONS
from tests.unit.repro.test_scripts import stored
from tridiff.fuzz.records import Case, Evidence, Iota, Launched, LaunchOptions
from tridiff.fuzz.repro.describe import describe_evidence
from tridiff.fuzz.repro.script import script
from tridiff.kernels.codegen.graph import Buffer, Graph, Schedule

OTHER = Launched(options=OTHER_OPTIONS)
VARIED = replace(FINDINGS[0].case, variants=(LaunchOptions(num_stages=2), OTHER_OPTIONS))


pytestmark = pytest.mark.usefixtures("in_this_process")


def written(case: Case, launched: Launched | None, *, kind: str = "value", where: str = "out") -> str:
    entry = stored(case, kind=kind, backend="cuda")
    return script(replace(entry, signature=replace(entry.signature, where=where),
                          evidence=Evidence(launched=launched)), verify=False).text


def options_of(text: str) -> list[str]:
    """The options of every launch."""
    return [", ".join(re.findall(r"num_\w+=\d+", line)) for line in text.splitlines() if line.startswith("kernel[")]


def test_a_script_makes_the_launch_that_was_wrong_and_that_alone():
    assert options_of(written(VARIED, None)) == [""]
    assert options_of(written(VARIED, OTHER)) == ["num_warps=8, num_stages=1"]
    assert options_of(written(VARIED, OTHER, kind="option_dependent")) == ["", "num_warps=8, num_stages=1"]


def test_a_script_is_of_the_schedule_that_was_wrong():
    graph = Graph(outer=(4,), buffers=(Buffer(name="in0", dtype="i32", length=4),
                                       Buffer(name="out0", dtype="i32", length=4, role="out")),
                  nodes=(load("in0"), store("out0", X, 0)),
                  schedules=(Schedule(x_blocks=(4,)), Schedule(x_blocks=(2,))))
    case = filled(graph, in0=Iota(start=5))
    second = Launched(options=case.options, schedule=1)
    assert ["kernel[(1,)]" in written(case, None, where="out0"), "kernel[(2,)]" in written(case, second, where="out0")
            ] == [True, True]
    with refused("two schedules"):
        written(case, second, kind="option_dependent", where="out0")


def test_which_launch_failed_is_told_where_it_is_not_the_first():
    assert describe_evidence(VARIED, Evidence(launched=OTHER)) == ["launched with num_warps=8 num_stages=1"]
    both = Evidence(launched=replace(OTHER, schedule=2), log="a line")
    assert describe_evidence(VARIED, both) == [
        "launched with num_warps=8 num_stages=1 in schedule 2", "end of the worker's log", "  a line"]
    assert describe_evidence(VARIED, Evidence()) == []
