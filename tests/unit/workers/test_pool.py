"""Workers are expendable: every fault gives its verdict, and the next case is judged as if nothing had happened."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace as replace_options
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.cases import addition, division, ramp
from tests.support.refusals import refusal
from tridiff.fuzz.records import ArraySpec, Case, LaunchOptions, Layout, Verdict
from tridiff.fuzz.records.outcome import WrongElement
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.pool import Pool, PoolOptions

each = pytest.mark.parametrize
pytestmark = pytest.mark.slow

ENDLESS = 2.0
"""Hang limit of these pools in seconds; nothing else here takes that long after the first case."""


@pytest.fixture(scope="module", params=["interpreter", "compile:sm_90"])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with Pool(PoolOptions(backend=request.param, hang_limit=60)) as made:
        yield made


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="interpreter", hang_limit=60)) as made:
        yield made


def hang_limit(pool: Pool, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "options", replace_options(pool.options, hang_limit=seconds, compile_limit=seconds))


def soon(holds: Callable[[], bool]) -> bool:
    """Whether something comes true within 20 seconds."""
    deadline = time.monotonic() + 20
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def recovers(pool: Pool) -> None:
    outcome = pool.execute(addition(), "own")
    assert (outcome.verdict, outcome.signature) == (Verdict.AGREE, None)


@each("fault, verdict, kind", [
    ("segfault", Verdict.CRASH, "SIGSEGV"), ("illegal_address", Verdict.CRASH, "SIGSEGV"),
    ("device_assert", Verdict.CRASH, "device_assert"), ("out_of_memory", Verdict.CRASH, "out_of_memory"),
    ("worker_killed", Verdict.CRASH, "SIGKILL"), ("endless_kernel", Verdict.HANG, ""),
])
def test_a_process_fault_is_its_verdict_and_the_next_case_agrees(
        pool: Pool, fault: str, verdict: Verdict, kind: str, monkeypatch: pytest.MonkeyPatch):
    if verdict is Verdict.HANG:
        recovers(pool)
        hang_limit(pool, ENDLESS, monkeypatch)
    case = addition()
    outcome = pool.execute(case, f"own+fault:{fault}")
    assert outcome.verdict is verdict
    if verdict is Verdict.HANG:
        # Ahead of time there is no launch to hang in.
        kind = "compile" if pool.options.backend.startswith("compile") else "launch"
    seen = outcome.signature
    assert (seen.kind, seen.subject, seen.about) == (kind, f"own+fault:{fault}", "int")
    assert (outcome.case_digest, outcome.backend) == (case.digest, pool.options.backend)
    assert outcome.reason and "\n" not in outcome.reason
    monkeypatch.undo()
    recovers(pool)


def test_a_hang_is_killed_within_its_limit_and_named_after_its_stage(
        interpreter: Pool, monkeypatch: pytest.MonkeyPatch):
    recovers(interpreter)
    victim = interpreter.worker
    hang_limit(interpreter, 0.7, monkeypatch)
    outcome = interpreter.execute(addition(), "own+fault:endless_kernel")
    assert outcome.reason == "no answer within 0.7 s of stage launch; the worker was killed"
    assert soon(lambda: not Path(f"/proc/{victim}").exists()), "the hung worker still lives"


@each("pool, fault, verdict, kind", [
    ("interpreter", "compile_error", Verdict.COMPILE_ERROR, None),
    ("interpreter", "runtime_error", Verdict.CRASH, "device_assert"),
    ("interpreter", "wrong_value", Verdict.DISAGREE, "value"),
    ("compile:sm_90", "compile_error", Verdict.COMPILE_ERROR, None),
    # Nothing runs ahead of time, so nothing can be wrong with what it computes.
    ("compile:sm_90", "runtime_error", Verdict.AGREE, None),
    ("compile:sm_90", "wrong_value", Verdict.AGREE, None),
], indirect=["pool"])
def test_faults_of_the_hook(pool: Pool, fault: str, verdict: Verdict, kind: str | None):
    outcome = pool.execute(division((7,), (2,)), f"own+fault:{fault}")
    assert outcome.verdict is verdict, outcome.reason
    assert (outcome.signature is None) == (verdict is Verdict.AGREE)
    if kind is not None:
        assert outcome.signature.kind == kind
    recovers(pool)


def test_a_wrong_value_carries_its_evidence(interpreter: Pool):
    outcome = interpreter.execute(division((4, -1, 9), (2, 2, 4)), "own+fault:trunc_for_floor")
    assert outcome.verdict is Verdict.DISAGREE
    assert outcome.signature.key == (
        "helpers.div_floor_integer | own+fault:trunc_for_floor | disagree | value | out | int blocks")
    assert outcome.failing_rows == (1,)
    assert (outcome.rows.agree, outcome.rows.disagree, outcome.rows.judged) == (2, 1, 3)
    assert outcome.rows.by_oracle == {"torch": 3, "numpy": 3}
    evidence = outcome.evidence
    assert evidence.whole and evidence.row == 1
    assert evidence.inputs == {"a": ("4", "-1", "9"), "b": ("2", "2", "4")}
    assert evidence.actual == {"out": ("2", "0", "2")}
    assert evidence.expected == {"torch": {"out": ("2", "-1", "2")}, "numpy": {"out": ("2", "-1", "2")}}


def test_of_a_long_output_the_first_wrong_elements_are_told(interpreter: Pool):
    outcome = interpreter.execute(division((4,) * 5000 + (-1, 9, -3), (2,) * 5003), "own+fault:trunc_for_floor")
    assert outcome.evidence.wrong == tuple(
        WrongElement(output="out", place=place, actual=got, expected={"torch": right, "numpy": right})
        for place, got, right in ((5000, "0", "-1"), (5002, "-1", "-2")))
    assert interpreter.execute(division((-1,), (2,)), "own+fault:trunc_for_floor").evidence.wrong == ()


def test_out_of_bounds_writes_are_seen(interpreter: Pool):
    outcome = interpreter.execute(addition(), "own+fault:mask_off_by_one")
    assert outcome.verdict is Verdict.DISAGREE
    assert outcome.signature.kind == "out_of_bounds"


def test_an_oversized_case_is_refused_with_one_line(pool: Pool):
    assert refusal(lambda: pool.execute(addition(rows=10**13), "own")) == (
        "array a would take 40,000,000,000,000 bytes (10,000,000,000,000 elements); "
        "keep every array within 268,435,456 elements")
    recovers(pool)


@each("case, subject, message", [
    (replace(addition(), target="nowhere"), "own", "unknown target 'nowhere'"),
    (addition(), "nobody", "triton.vector_add has no subject 'nobody'"),
    (addition(), "own+fault:nothing", "triton.vector_add has no fault 'nothing'"),
    (replace(ramp(start=-1, divisor=2), params={"form": "ramp", "block": 3}), "own",
     "helpers.div_floor_integer does not accept this case"),
    (replace(addition(), arrays=(*addition().arrays, ArraySpec(name="a", dtype="i32", dims=()))), "own",
     "case names an array twice"),
])
def test_what_cannot_be_run_is_refused_and_the_worker_lives(
        interpreter: Pool, case: Case, subject: str, message: str):
    before = interpreter.deaths
    assert refusal(lambda: interpreter.execute(case, subject)).startswith(message)
    recovers(interpreter)
    assert interpreter.deaths == before


def test_a_worker_killed_from_outside_in_the_middle_of_a_case(interpreter: Pool):
    recovers(interpreter)
    victim = interpreter.worker

    killer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    killer.start()
    outcome = interpreter.execute(addition(), "own+fault:endless_kernel")
    killer.join()
    assert outcome.verdict is Verdict.CRASH
    assert outcome.signature.kind == "SIGKILL"
    recovers(interpreter)


def test_a_worker_killed_between_two_cases_is_a_verdict_of_the_next_and_no_more(interpreter: Pool):
    recovers(interpreter)
    os.kill(interpreter.worker, signal.SIGKILL)
    time.sleep(0.2)
    outcome = interpreter.execute(addition(), "own")
    assert outcome.verdict is Verdict.CRASH
    recovers(interpreter)


def test_deaths_are_replaced_by_the_warm_spare(interpreter: Pool):
    before, measured = interpreter.deaths, len(interpreter.replacement_seconds)
    for _ in range(5):
        interpreter.execute(addition(), "own+fault:worker_killed")
    recovers(interpreter)
    assert interpreter.deaths == before + 5
    assert len(interpreter.replacement_seconds) >= measured + 5


def test_inputs_are_told_without_launching(interpreter: Pool):
    evidence = interpreter.inputs(addition(rows=4, dtype="i8"))
    assert evidence.inputs == {"a": ("-3", "-2", "-1", "0"), "b": ("-3", "-2", "-1", "0")}
    # The outputs hold poison: 0xAB.
    assert evidence.actual == {"out": ("-85",) * 4}


def test_wanted_inputs_come_with_an_agreement(interpreter: Pool):
    outcome = interpreter.execute(addition(rows=3), "own", want_inputs=True)
    assert outcome.verdict is Verdict.AGREE
    assert outcome.evidence.actual == {"out": ("-6", "-4", "-2")}
    assert interpreter.execute(addition(rows=3), "own").evidence is None


def test_the_environment_names_what_ran(interpreter: Pool):
    environment = interpreter.environment
    assert environment.backend == "interpreter"
    assert environment.triton and environment.torch and environment.repairs_off == ()
    assert environment.driver == ""


@pytest.mark.own_zygote
def test_close_leaves_no_process_behind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tridiff.fuzz.workers.pool.SPARE_AFTER", 600.0)
    made = Pool(PoolOptions(backend="interpreter"))
    recovers(made)
    assert made.spares() == 0, "the spare's start competes with the first workers of other pools"
    monkeypatch.setattr("tridiff.fuzz.workers.pool.SPARE_AFTER", 0.0)
    recovers(made)
    assert made.spares() == 1
    made.stand_by()
    processes, directory = made.processes(), made.folder
    made.close()
    assert soon(lambda: not any(map(alive, processes))), "a process outlives its pool"
    assert not directory.exists()


@pytest.mark.own_zygote
def test_what_a_failing_assembler_leaves_goes_with_the_pool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Triton keeps the PTX that ptxas refused as a temporary file."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    case = Case(target="launch.options", sizes={}, arrays=(), params={
        "scene": "options", "kernel": "dot", "knob": "", "arch": 90, "num_warps": 4, "num_stages": 1, "num_ctas": 1,
        "maxnreg": 32, "debug": True, "sanitize_overflow": True, "enable_fp_fusion": True, "enable_reflect_ftz": True,
        "launch_cooperative_grid": False, "launch_pdl": False})
    with Pool(PoolOptions(backend="compile:sm_90", hang_limit=60)) as made:
        outcome = made.execute(case, "own")
        assert outcome.verdict is Verdict.NOT_CHECKED and "registers" in outcome.reason, outcome
    assert not list(tmp_path.iterdir())


def test_nobody_outlives_a_driver_that_is_killed(tmp_path: Path):
    script = tmp_path / "driver.py"
    script.write_text(
        "import sys, time\n"
        "from tridiff.fuzz.workers.pool import Pool, PoolOptions\n"
        "pool = Pool(PoolOptions(backend='interpreter', spare=False))\n"
        "print(*pool.processes(), flush=True)\n"
        "time.sleep(120)\n")
    driver = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    processes = [int(word) for word in driver.stdout.readline().split()]
    assert len(processes) == 2
    driver.kill()
    driver.wait()
    driver.stdout.close()
    assert soon(lambda: not any(map(alive, processes))), "a worker outlives its driver"


@pytest.mark.own_zygote
def test_a_pool_that_cannot_start_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    # A package of that name which comes first and does not import, as a broken installation would have it.
    (tmp_path / "tridiff").mkdir()
    (tmp_path / "tridiff" / "__init__.py").write_text("import tridiff.gone\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir("/")
    made = Pool(PoolOptions(backend="interpreter", start_limit=60))
    try:
        line = refusal(lambda: made.execute(addition(), "own"))
        assert "No module named 'tridiff" in line and line.endswith("run `tridiff doctor`")
    finally:
        made.close()


def test_kernel_output_does_not_reach_the_protocol(interpreter: Pool):
    """What a case prints lands in the worker's log; the messages travel on a socket of their own."""
    outcome = interpreter.execute(addition(), "own+fault:segfault")
    assert outcome.verdict is Verdict.CRASH
    recovers(interpreter)
    log = interpreter.log
    assert log.name.startswith("worker-") and log.exists()
    descriptors = Path(f"/proc/{interpreter.worker}/fd")
    assert {os.readlink(descriptors / "1"), os.readlink(descriptors / "2")} == {str(log)}


def test_messages_survive_the_wire():
    request = protocol.Run(sequence=7, case=addition(), subject="own", backend="interpreter", want_inputs=True)
    written = protocol.line(request)
    assert written.count(b"\n") == 1 and written.endswith(b"\n")
    assert protocol.read_run(written) == request
    assert protocol.read_child(protocol.line(protocol.Refused(
        sequence=7, case_digest="d", problem="p\nq", fix="f"))) == protocol.Refused(
        sequence=7, case_digest="d", problem="p\nq", fix="f")
    assert protocol.read_zygote(protocol.line(protocol.Exited(pid=3, status=-9))) == protocol.Exited(pid=3, status=-9)


def test_unaligned_and_empty_cases_run(pool: Pool):
    assert pool.execute(addition(offset=1), "own").verdict is Verdict.AGREE
    empty = pool.execute(addition(rows=0), "own")
    if pool.options.backend == "interpreter":
        assert (empty.verdict, empty.rows.judged) == (Verdict.AGREE, 0)
    else:
        assert (empty.verdict, empty.reason) == (Verdict.NOT_CHECKED, "nothing to compile: the launch grid is empty")


def test_layouts_do_not_change_the_verdict(interpreter: Pool):
    odd = Layout(offset=7, gap=1, step=3)
    case = addition(rows=33)
    case = replace(case, arrays=tuple(replace(spec, layout=odd) for spec in case.arrays))
    assert interpreter.execute(case, "own").verdict is Verdict.AGREE
    assert interpreter.execute(case, "own+fault:stride_ignored").verdict is Verdict.DISAGREE


def test_the_interpreter_has_no_options_to_vary(interpreter: Pool):
    case = replace(addition(), variants=(LaunchOptions(num_warps=8),), repeats=2)
    outcome = interpreter.execute(case, "own")
    assert (outcome.verdict, outcome.launches) == (Verdict.AGREE, 3)


PARENT = """
import sys
import tridiff.fuzz.cli.app, tridiff.fuzz.campaign.run, tridiff.fuzz.campaign.shard, tridiff.fuzz.registry
tridiff.fuzz.registry.all_targets()
for name in tridiff.fuzz.cli.app.COMMANDS:
    tridiff.fuzz.cli.app.load(name)
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tests.support.cases import addition
with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
    print(pool.execute(addition(), "own").verdict.value)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "triton"}))
"""


def test_the_parent_never_imports_torch_or_triton():
    root = Path(__file__).parents[3]
    run = subprocess.run([sys.executable, "-c", PARENT], cwd=root, capture_output=True, text=True, timeout=120,
                         check=True)
    assert run.stdout.split("\n")[:2] == ["agree", "[]"]
