"""Equal code is not launched, save one pair in twenty, and only where both builds launch alike."""

from pathlib import Path

import pytest

from tests.support.builds import edited, installed
from tests.support.in_subprocess import run_script
from tests.support.pairs import CASE, observed, outcome
from tridiff.fuzz.builds.alike import Alike, alike
from tridiff.fuzz.gate.run import backends_between
from tridiff.fuzz.pair.pool import CODE_AGAIN, CONTROL, EQUAL, PairPool
from tridiff.fuzz.records import Environment, Outcome, Verdict
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.workers.pool import PoolOptions


class Device:
    """Stands in for a `Pool` on a GPU: code of every compilation, bits of every launch."""

    def __init__(self, code: str, bits: bytes, *, source: str = "s") -> None:
        self.options = PoolOptions(backend="cuda")
        self.compile_seconds = 0.0
        self.observed: Observed | None = None
        self.reached: tuple[int, ...] = ()
        self.imported: tuple[int, ...] = ()
        self.launches = self.compilations = 0
        self._source, self._code, self._bits = {"source": source}, {"ptx": code}, bits
        self.environment = Environment(triton="3.9.0", backend="cuda")

    def execute(self, case: object, subject: str, *, observe: Observe, **given: object) -> Outcome:
        if observe.stop == "source":
            self.observed = observed(code=self._source)
            return outcome(Verdict.NOT_CHECKED, reason="not compiled", backend="cuda")
        if observe.timed:
            self.observed = observed()
            return outcome(Verdict.NOT_CHECKED, reason="no clock", backend="cuda")
        self.compilations += 1
        if observe.stop:
            self.observed = observed(code=self._code)
            return outcome(Verdict.NOT_CHECKED, reason="compiled and not launched", backend="cuda",
                           cells=("tt.load",), compiled_kernels=1)
        self.launches += 1
        # Launched twice.
        self.observed = observed(self._bits, code={"ptx": 2 * self._code["ptx"]}, parts=bool(observe.chunks))
        return outcome(Verdict.AGREE, backend="cuda")


ONE, TWO = b"\1\0\0\0", b"\2\0\0\0"


LAUNCH = Alike(launch=True)
BEHIND_SOURCE = Alike(launch=True, behind_source=True)


def relations(before: Device, after: Device, cases: int, *, shared: Alike = LAUNCH) -> tuple[PairPool, list[Relation]]:
    pool = PairPool(before, after, alike=shared)  # type: ignore[arg-type]
    found = []
    for _ in range(cases):
        pool.execute(CASE, "own", backend="cuda")
        assert pool.last is not None
        found.append(pool.last.relation)
    return pool, found


def test_of_equal_code_one_pair_in_twenty_is_launched():
    before, after = Device("a", ONE), Device("a", ONE)
    pool, found = relations(before, after, 3 * CONTROL["code"])
    assert set(found) == {Relation.IDENTICAL_CODE} and (before.launches, after.launches) == (3, 3)
    assert pool.last is not None and not pool.last.launched and pool.marked({"cell"}) == {EQUAL + "cell"}


def test_the_control_finds_equal_code_that_gives_other_results():
    _, found = relations(Device("a", ONE), Device("a", TWO), CONTROL["code"])
    assert found.count(Relation.CHANGED) == 1


def test_other_code_is_launched_each_time():
    before, after = Device("a", ONE), Device("b", ONE)
    pool, found = relations(before, after, 3)
    assert set(found) == {Relation.SAME} and before.launches == after.launches == 3
    assert before.compilations == after.compilations == 3 + 3 + CODE_AGAIN, "only what was compiled alone is made again"
    assert pool.last is not None and pool.last.code_changed == ("ptx",) and pool.marked({"cell"}) == {"cell"}
    assert pool.last.baseline.cells == ("tt.load",), "what was compiled ahead counts"
    assert pool.last.observed is not None and [seen.code["ptx"] for seen in pool.last.observed] == ["a", "b"]


def test_equal_code_is_launched_each_time_where_builds_launch_in_other_ways():
    before, after = Device("a", ONE), Device("a", ONE)
    relations(before, after, 4, shared=Alike())
    assert before.launches == after.launches == 4


def test_of_equal_source_one_pair_in_fifty_is_compiled():
    before, after = Device("a", ONE), Device("a", ONE)
    _, found = relations(before, after, 3 * CONTROL["source"], shared=BEHIND_SOURCE)
    assert set(found) == {Relation.IDENTICAL_CODE}
    assert before.compilations == 3 + before.launches and before.launches == 1


def test_the_control_finds_equal_source_that_compiles_to_other_code():
    before, after = Device("a", ONE), Device("b", TWO)
    _, found = relations(before, after, CONTROL["source"], shared=BEHIND_SOURCE)
    assert found.count(Relation.CHANGED) == 1


def test_other_source_is_compiled_and_launched_each_time():
    before, after = Device("a", ONE, source="s"), Device("b", TWO, source="t")
    _, found = relations(before, after, 3, shared=BEHIND_SOURCE)
    assert set(found) == {Relation.CHANGED}


def test_what_builds_share_follows_from_the_files_that_differ(tmp_path: Path):
    def shared(name: str, *files: str) -> Alike:
        texts = {file: (installed() / file).read_text().splitlines(keepends=True)[-1] for file in files}
        return alike("", str(edited(tmp_path / name, {file: (line, line + "\n") for file, line in texts.items()})))

    def about(found: Alike) -> tuple[bool, bool, tuple[str, ...]]:
        return found.launch, found.behind_source, backends_between(found, ("cuda", "interpreter"))

    assert about(alike("", str(installed().parent))) == (True, True, ("cuda",))
    assert about(shared("front", "language/semantic.py")) == (True, True, ("cuda", "interpreter"))
    assert about(shared("launcher", "runtime/jit.py")) == (False, False, ("cuda", "interpreter"))
    assert about(shared("passes", "backends/nvidia/compiler.py")) == (True, False, ("cuda",))
    assert about(shared("interpreter", "runtime/interpreter.py")) == (False, False, ("interpreter",))
    assert about(shared("amd", "backends/amd/compiler.py")) == (True, False, ("compile:gfx942",))
    both = shared("both", "backends/amd/compiler.py", "language/core.py")
    assert about(both) == (True, False, ("cuda", "interpreter"))
    told = shared("two", "language/core.py", "language/math.py").told
    assert told == "2 files differ: language/core.py, language/math.py"
    assert backends_between(shared("none", "runtime/interpreter.py"), ("interpreter",)) == ("interpreter", "compile")


SOURCES = """
import sys
from tests.support.cases import addition
from tridiff.fuzz.records.observed import Observe
from tridiff.fuzz.workers.execute import Executor

executor, codes = Executor(backend="compile:sm_90"), []
for case in (addition(rows=8, dtype="fp32"), addition(rows=9, dtype="fp32"), addition(rows=8, dtype="i32")):
    outcome, _ = executor.execute(case, "own", backend="compile:sm_90", observe=Observe(stop="source"))
    assert outcome.reason == "read up to the source IR and not compiled" and not outcome.compiled_kernels, outcome
    codes.append(executor.observed.code)
print(codes[0] == codes[1], codes[0] == codes[2], *codes[0])
"""


def test_a_case_is_read_up_to_its_source_ir(tmp_path: Path):
    run = run_script(SOURCES, interpret=False, env={"TRITON_CACHE_DIR": str(tmp_path / "cache")})
    assert run.stdout.split() == ["True", "False", "source"]
    assert not (tmp_path / "cache").exists(), "nothing was compiled"


HELD_BACK = """
import torch, triton
from tests.support.cases import addition
from tridiff.fuzz.backends.cuda import CudaRunner
from tridiff.fuzz.backends.stand_in import StandInDriver
from tridiff.fuzz.judge.observed import code
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.workers.execute import Attempt

class Runner(CudaRunner):
    def synchronise(self):
        pass

triton.runtime.driver.set_active(StandInDriver())
target, codes = find("triton.vector_add"), []
for case in (addition(rows=8, dtype="fp32"), addition(rows=9, dtype="fp32"), addition(rows=8, dtype="i32")):
    attempt = Attempt(case, target, parse_subject("own", target), "cuda", torch.device("cpu"), Runner(),
                       lambda name: None, False, None)
    outcome = attempt.compile_launches()
    assert outcome.verdict is Verdict.NOT_CHECKED and outcome.reason == "compiled and not launched", outcome
    assert not attempt.buffers, "nothing was computed that could be compared"
    codes.append(code(attempt.reports)["ptx"])
print(codes[0] == codes[1], codes[0] == codes[2], outcome.compiled_kernels, len(outcome.cells) > 0)
"""


@pytest.mark.slow
def test_a_runner_on_a_device_compiles_what_it_would_launch(tmp_path: Path):
    run = run_script(HELD_BACK, interpret=False, env={"TRITON_CACHE_DIR": str(tmp_path)})
    assert run.stdout.split() == ["True", "False", "1", "True"]


ANEW = """
import gc, os, pathlib
import torch, triton
from tests.support.cases import addition
from tridiff.fuzz.backends.cuda import CudaRunner
from tridiff.fuzz.backends.stand_in import StandInDriver
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.workers.execute import Attempt

class Runner(CudaRunner):
    def synchronise(self):
        pass

triton.runtime.driver.set_active(StandInDriver())
target = find("triton.vector_add")
gc.collect()
gc.freeze()  # as where workers are forked from: what was imported is not among the collector's objects
runner = Runner()

def built():
    attempt = Attempt(addition(rows=8, dtype="fp32"), target, parse_subject("own", target), "cuda", torch.device("cpu"),
                      runner, lambda name: None, False, None)
    attempt.compile_launches()
    return sum(report.compiled for report in attempt.reports), bool(attempt.reports[0].ttgir)

print(built(), built())
with runner.compiling_anew():
    print(built(), built())
print(built(), sum(1 for _ in pathlib.Path(os.environ["TRITON_CACHE_DIR"]).iterdir()))
"""


@pytest.mark.slow
def test_what_a_process_has_compiled_is_compiled_again_on_request(tmp_path: Path):
    run = run_script(ANEW, interpret=False, env={"TRITON_CACHE_DIR": str(tmp_path)})
    assert run.stdout.splitlines() == ["(1, True) (0, False)", "(1, True) (0, False)", "(0, False) 1"]


ASSERTING = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tridiff.fuzz.judge.observed import normalised
from tridiff.kernels.generated import load

kernel = load('''
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, message: tl.constexpr):
    values = tl.load(x + tl.arange(0, 64))
    tl.device_assert(values > 0, message)
    tl.store(y, tl.sum(values))
''', name="asserting").kernel

for message in ("too small", "not positive"):
    made = triton.compile(ASTSource(kernel, {"x": "*i32", "y": "*i32"}, {"message": message}),
                          target=GPUTarget("cuda", 90, 32), options={"debug": True, "sanitize_overflow": True})
    for text in (made.asm["ptx"], normalised(made.asm["ptx"], "ptx")):
        print(hash(text))
"""


@pytest.mark.slow
def test_the_folder_of_a_build_is_no_code_and_what_an_assertion_says_is(tmp_path: Path):
    """An assertion in a function of Triton's, such as that of a sum's overflow, says in which file it stands."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/triton").symlink_to(installed())
    here, there = (run_script(ASSERTING, interpret=False, env={
        "PYTHONHASHSEED": "0", "TRITON_CACHE_DIR": str(tmp_path / f"cache{number}")} | more).stdout.split()
        for number, more in enumerate(({}, {"PYTHONPATH": str(tmp_path / "elsewhere")})))
    assert [one == other for one, other in zip(here, there, strict=True)] == [False, True, False, True]
    assert len(set(here)) == 4
