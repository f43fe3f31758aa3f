"""Whole sweeps in the interpreter: planted faults, exact sets, interruption, dead workers, the command."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from tridiff.fuzz.cli.app import app
from tridiff.fuzz.sweep import run as running
from tridiff.fuzz.sweep.files import read
from tridiff.fuzz.sweep.messages import result_path
from tridiff.fuzz.sweep.records import Box, SweepRecord, SweepSpec
from tridiff.fuzz.sweep.run import Plan, Run, sweep

each = pytest.mark.parametrize
SPECS = tuple(SweepSpec(op=op, dtypes=tuple(dtypes.split()), planted=planted, bits=16) for op, dtypes, planted in (
    ("exp", "fp16", -1), ("add", "i8 i8", 0x7F01), ("round", "bf16", 0x42F7), ("floor_divide", "i8 i8", -1),
    ("remainder", "u8 u8", -1), ("to_fp8e4nv", "bf16", -1), ("to_i8", "fp16", -1), ("sigmoid", "bf16", -1),
    ("nextafter", "fp16 fp16", -1), ("floor_divide", "fp16 fp16", -1), ("fma", "fp32 fp32 fp32", -1),
    ("left_shift", "i8 i8", -1), ("clamp", "i8 i8 i8", -1), ("frexp_mantissa", "bf16", -1),
    ("copysign", "fp64 fp64", -1), ("exp", "fp64", 0x1234), ("pow", "i8 i8", -1), ("signbit", "fp64", -1),
    ("minimum", "bf16 bf16", -1), ("where", "i1 fp8e5 fp8e5", -1), ("pack_value_flag", "i8 u8", -1),
    ("unpack_value_i8", "u16", -1)))
NEAREST = tuple(SweepSpec(op=op, dtypes=("bf16",), bits=16, nearest=True) for op in ("to_fp8e4nv", "to_fp8e5", "exp"))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> SweepRecord:
    return sweep(SPECS + NEAREST, tmp_path_factory.mktemp("sweep"), backend="interpreter")


def of(record: SweepRecord, spec: SweepSpec):
    return next(one for one in record.results if one.spec == spec)


@each("spec", [s for s in SPECS if s.planted < 0], ids=lambda s: s.key)
def test_what_is_right_agrees_on_every_input(swept: SweepRecord, spec: SweepSpec):
    found = of(swept, spec)
    if spec.op == "sigmoid":
        # exp(-x) overflows in fp32: the interpreter computes like the device here.
        (flushed,) = found.deviations
        assert (flushed.kind, flushed.boxes, flushed.complete) == ("flushed", (Box(((0xC2B2, 0xC2B7),)),), True)
        assert flushed.known
        return
    assert (found.verdict, found.wrong) == ("agree", 0), (found.reason, found.deviations[:1])
    assert found.judged + found.undefined == found.inputs
    assert found.crosscheck.refuted == 0
    if len(spec.dtypes) == 1 and "64" not in spec.dtypes[0]:
        assert found.inputs == 1 << 16 and found.crosscheck.sampled > 500


def test_saturation_shows_with_its_exact_inputs_where_only_the_nearest_value_counts(swept: SweepRecord):
    by_op = {spec.op: of(swept, spec) for spec in NEAREST}
    (nan,), (inf,) = by_op["to_fp8e4nv"].deviations, by_op["to_fp8e5"].deviations
    # 464 = 0x43e8 is a tie and rounds to 448; 61440 = 0x4770 is one and would round to infinity, the even neighbour.
    assert (nan.kind, nan.boxes) == ("nan_missing", (Box(((0x43E9, 0x7F80),)), Box(((0xC3E9, 0xFF80),))))
    assert (inf.kind, inf.boxes) == ("inf", (Box(((0x4770, 0x7F80),)), Box(((0xC770, 0xFF80),))))
    assert nan.known and inf.known and all(one.crosscheck.refuted == 0 for one in by_op.values())
    assert by_op["exp"].tolerance == "the nearest value" and by_op["exp"].verdict == "agree"


def test_undefined_inputs_are_exactly_those_the_contract_leaves_open(swept: SweepRecord):
    by_op = {one.spec.op: one for one in swept.results if one.spec.dtypes in (("i8", "i8"), ("fp16",), ("u8", "u8"))}
    assert by_op["floor_divide"].undefined == 256 and by_op["remainder"].undefined == 256
    # Magnitudes below 129 (negative) or 128 survive truncation to i8: 2 * 0x5800 patterns and (128, 129).
    assert by_op["to_i8"].judged == 2 * 0x5800 + 8


@each("spec, where, expected", [
    (SPECS[1], ((0x7F, 0x7F), (1, 1)), "-128"), (SPECS[2], ((0x42F7, 0x42F7),), "124.0")], ids=["pair", "unary"])
def test_a_fault_at_one_input_of_the_space_is_found(
        swept: SweepRecord, spec: SweepSpec, where: tuple[tuple[int, int], ...], expected: str):
    (only,) = of(swept, spec).deviations
    assert (only.kind, only.count, only.boxes, only.complete) == ("value", 1, (Box(where),), True)
    assert only.worst.expected == expected and only.worst.ulps == 1 and not only.known


def test_a_planted_fault_among_64_bit_inputs_is_found(swept: SweepRecord):
    found = of(swept, next(s for s in SPECS if s.dtypes == ("fp64",) and s.op == "exp"))
    assert found.space == "stratified: 2^16 of fp64"
    # A flipped last bit is one ulp at most: right under the tolerance or not, it stands out as the largest error.
    assert found.max_ulps.ulps >= 1


def test_the_parent_needs_no_gpu_library_and_the_record_is_small(swept: SweepRecord):
    assert len(msgspec.json.encode(swept)) < 60_000
    assert swept.environment.backend == "interpreter" and swept.environment.triton
    code = "import sys, tridiff.fuzz.sweep.run, tridiff.fuzz.cli.sweep; " \
           "sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path):
    specs = (SPECS[0], SweepSpec(op="neg_operator", dtypes=("fp16",), bits=16))
    run = Run.start(Plan(specs, "interpreter", (0,), 1), tmp_path)

    def stop_after_one(progress: running.Progress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    first = run.run(stop_after_one)
    assert first.interrupted and len(first.results) == 1
    done = result_path(tmp_path, first.results[0].spec)
    before = done.stat().st_mtime_ns
    second = Run.resume(tmp_path).run()
    assert not second.interrupted and [one.spec for one in second.results] == list(specs)
    assert done.stat().st_mtime_ns == before and not list((tmp_path / "parts").glob("*"))


def test_a_worker_that_dies_costs_one_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run.start(Plan((SPECS[0], SPECS[3]), "interpreter", (0,), 1), tmp_path)
    hand_over = running.Worker.give

    def killing(worker: running.Worker, task: object) -> None:
        hand_over(worker, task)
        if getattr(task, "spec", None) == SPECS[0]:
            worker._process.kill()

    monkeypatch.setattr(running.Worker, "give", killing)
    found = run.run()
    verdicts = {one.spec.op: (one.verdict, one.reason) for one in found.results}
    assert verdicts["exp"] == ("not_checked", "the worker killed by signal 9")
    assert verdicts["floor_divide"][0] == "agree"


def test_the_command(tmp_path: Path):
    found = CliRunner().invoke(app, [
        "sweep", "neg*", "--dtype", "fp16", "--backend", "interpreter", "--state", str(tmp_path / "state"),
        "--record", str(tmp_path / "record"), "--workers", "1", "--json"])
    described = json.loads(found.stdout)
    verdicts = {one["sweep"].partition("-")[0]: one["verdict"] for one in described["results"]}
    assert verdicts["neg"] == "agree" and found.exit_code == 0
    assert len(read(tmp_path / "record").results) == 2
    assert "# Sweep: Triton" in (tmp_path / "record" / "report.md").read_text()
