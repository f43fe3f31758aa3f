"""Equal code is not launched, save one pair in twenty, and only where both builds launch alike."""

from pathlib import Path

import pytest

from tests.support.builds import HARMLESS, edited, installed
from tests.support.in_subprocess import run_script
from tests.support.pairs import CASE, observed, outcome
from tridiff.fuzz.builds.launch_path import launch_alike
from tridiff.fuzz.pair.pool import CONTROL, EQUAL, PairPool
from tridiff.fuzz.records import Environment, Outcome, Verdict
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.workers.pool import PoolOptions


class Device:
    """Stands in for a `Pool` on a GPU: code of every compilation, bits of every launch."""

    def __init__(self, code: str, bits: bytes) -> None:
        self.options = PoolOptions(backend="cuda")
        self.compile_seconds = 0.0
        self.observed: Observed | None = None
        self.launches = 0
        self._code, self._bits = {"ptx": code}, bits
        self.environment = Environment(triton="3.9.0", backend="cuda")

    def execute(self, case: object, subject: str, *, observe: Observe, **given: object) -> Outcome:
        if observe.compiled_only:
            self.observed = observed(code=self._code)
            return outcome(Verdict.NOT_CHECKED, reason="compiled and not launched", backend="cuda",
                           cells=("tt.load",), compiled_kernels=1)
        self.launches += 1
        self.observed = observed(self._bits, code=self._code, parts=bool(observe.chunks))
        return outcome(Verdict.AGREE, backend="cuda")


ONE, TWO = b"\1\0\0\0", b"\2\0\0\0"


def relations(before: Device, after: Device, cases: int, *, alike: bool = True) -> tuple[PairPool, list[Relation]]:
    pool = PairPool(before, after, equal_code_runs=not alike)  # type: ignore[arg-type]
    found = []
    for _ in range(cases):
        pool.execute(CASE, "own", backend="cuda")
        assert pool.last is not None
        found.append(pool.last.relation)
    return pool, found


def test_of_equal_code_one_pair_in_twenty_is_launched() -> None:
    before, after = Device("a", ONE), Device("a", ONE)
    pool, found = relations(before, after, 3 * CONTROL)
    assert set(found) == {Relation.IDENTICAL_CODE} and (before.launches, after.launches) == (3, 3)
    assert pool.last is not None and not pool.last.launched and pool.marked({"cell"}) == {EQUAL + "cell"}


def test_the_control_finds_equal_code_that_gives_other_results() -> None:
    _, found = relations(Device("a", ONE), Device("a", TWO), CONTROL)
    assert found.count(Relation.CHANGED) == 1


def test_other_code_is_launched_each_time() -> None:
    before, after = Device("a", ONE), Device("b", ONE)
    pool, found = relations(before, after, 3)
    assert set(found) == {Relation.SAME} and before.launches == after.launches == 3
    assert pool.last is not None and pool.last.code_changed == ("ptx",) and pool.marked({"cell"}) == {"cell"}
    assert pool.last.baseline.cells == ("tt.load",), "what was compiled ahead counts"


def test_equal_code_is_launched_each_time_where_builds_launch_in_other_ways() -> None:
    before, after = Device("a", ONE), Device("a", ONE)
    relations(before, after, 4, alike=False)
    assert before.launches == after.launches == 4


def test_builds_launch_alike_if_the_files_behind_the_compiler_are_the_same(tmp_path: Path) -> None:
    front = edited(tmp_path / "front", HARMLESS)
    launcher = edited(tmp_path / "launcher", {"runtime/jit.py": ("import ast\n", "import ast  # other\n")})
    assert launch_alike("", str(installed().parent)) and launch_alike("", str(front))
    assert not launch_alike("", str(launcher)) and not launch_alike(str(front), str(launcher))


HELD_BACK = """
import torch, triton
from tests.support.cases import addition
from tridiff.fuzz.backends.cuda import CudaRunner
from tridiff.fuzz.inductor.session import _StandInDriver
from tridiff.fuzz.judge.observed import code
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.workers.execute import _Attempt

class Runner(CudaRunner):
    def synchronise(self):
        pass

triton.runtime.driver.set_active(_StandInDriver())
target, codes = find("triton.vector_add"), []
for case in (addition(rows=8, dtype="fp32"), addition(rows=9, dtype="fp32"), addition(rows=8, dtype="i32")):
    attempt = _Attempt(case, target, parse_subject("own", target), "cuda", torch.device("cpu"), Runner(),
                       lambda name: None, False, None)
    outcome = attempt.compile_launches()
    assert outcome.verdict is Verdict.NOT_CHECKED and outcome.reason == "compiled and not launched", outcome
    assert not attempt.buffers, "nothing was computed that could be compared"
    codes.append(code(attempt.reports)["ptx"])
print(codes[0] == codes[1], codes[0] == codes[2], outcome.compiled_kernels, len(outcome.cells) > 0)
"""


@pytest.mark.slow
def test_a_runner_on_a_device_compiles_what_it_would_launch(tmp_path: Path) -> None:
    run = run_script(HELD_BACK, interpret=False, env={"TRITON_CACHE_DIR": str(tmp_path)})
    assert run.stdout.split() == ["True", "False", "1", "True"]
