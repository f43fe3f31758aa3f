"""Sweeps on a real GPU: one wrong input of 2^32 is found, known deviations have their exact sets, rates are high."""

from pathlib import Path

import pytest

from tridiff.fuzz.backends.available import gpu_count
from tridiff.fuzz.sweep.boxes import contains
from tridiff.fuzz.sweep.records import Box, SweepOptions, SweepRecord, SweepResult, SweepSpec
from tridiff.fuzz.sweep.run import sweep

each = pytest.mark.parametrize
pytestmark = pytest.mark.gpu

PLANTED_UNARY, PLANTED_PAIR = 0x4049_0FDB, 0x1234_8001


def spec(op: str, *dtypes: str, planted: int = -1, flush: bool = True, nearest: bool = False) -> SweepSpec:
    return SweepSpec(op=op, dtypes=dtypes, planted=planted, options=SweepOptions(flush=flush), nearest=nearest)


SPECS = (
    spec("round", "fp32", planted=PLANTED_UNARY), spec("add", "i16", "i16", planted=PLANTED_PAIR),
    spec("exp", "fp32"), spec("sin", "fp32"), spec("log", "fp32"), spec("exp_tl", "fp32"),
    spec("floor", "fp32"), spec("floor_libdevice", "fp32"), spec("floor_libdevice", "fp32", flush=False),
    spec("neg", "fp32"), spec("signbit", "fp32"), spec("to_fp8e4nv", "fp32"), spec("to_fp8e5", "fp32"),
    spec("to_bf16", "fp32"), spec("to_fp16", "fp32"), spec("to_i32", "fp32"), spec("round", "fp32"),
    spec("truediv", "fp16", "fp16"), spec("fmod", "bf16", "bf16"), spec("floor_divide", "fp16", "fp16"),
    spec("nextafter", "fp16", "fp16"), spec("floor_divide", "i16", "i16"), spec("signbit", "fp64"),
    spec("to_fp8e4nv", "fp32", nearest=True), spec("to_fp8e5", "fp32", nearest=True), spec("j0", "fp32"),
    spec("mod_operator", "bf16", "bf16"), spec("lgamma", "fp32"),
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> SweepRecord:
    return sweep(SPECS, tmp_path_factory.mktemp("sweep"), backend="cuda", devices=tuple(range(gpu_count())), helpers=4)


def of(record: SweepRecord, wanted: SweepSpec) -> SweepResult:
    return next(one for one in record.results if one.spec == wanted)


@each("wanted", SPECS, ids=lambda one: one.key)
def test_every_sweep_is_complete_and_its_reference_confirmed(swept: SweepRecord, wanted: SweepSpec):
    found = of(swept, wanted)
    assert found.verdict in ("agree", "disagree"), found.reason
    assert found.judged + found.undefined == found.inputs and found.crosscheck.refuted == 0
    if wanted.dtypes != ("fp64",):
        assert found.inputs == 1 << 32


@each("wanted, where", [
    (SPECS[0], ((PLANTED_UNARY, PLANTED_UNARY),)),
    (SPECS[1], ((PLANTED_PAIR >> 16, PLANTED_PAIR >> 16), (PLANTED_PAIR & 0xFFFF, PLANTED_PAIR & 0xFFFF)))],
    ids=["unary", "pair"])
def test_the_one_wrong_input_of_four_thousand_million_is_found(
        swept: SweepRecord, wanted: SweepSpec, where: tuple[tuple[int, int], ...]):
    (only,) = of(swept, wanted).deviations
    assert (only.kind, only.count, only.boxes, only.complete) == ("value", 1, (Box(where),), True)


@each("op, dtypes", [
    ("floor", ("fp32",)), ("neg", ("fp32",)), ("signbit", ("fp32",)), ("to_fp8e4nv", ("fp32",)),
    ("to_fp8e5", ("fp32",)), ("to_bf16", ("fp32",)), ("to_fp16", ("fp32",)), ("to_i32", ("fp32",)),
    ("round", ("fp32",)), ("nextafter", ("fp16", "fp16")), ("floor_divide", ("i16", "i16")), ("signbit", ("fp64",))])
def test_exact_operations_agree_on_every_input(swept: SweepRecord, op: str, dtypes: tuple[str, ...]):
    found = of(swept, spec(op, *dtypes))
    assert found.verdict == "agree", found.deviations


def test_flush_to_zero_shows_with_its_exact_inputs(swept: SweepRecord):
    flushing = of(swept, spec("floor_libdevice", "fp32"))
    keeping = of(swept, spec("floor_libdevice", "fp32", flush=False))
    wrong = [one for one in flushing.deviations if one.kind in ("flushed", "subnormal_operand")]
    # floor of a negative subnormal is -1, and -0.0 where subnormals are flushed.
    assert sum(one.count for one in wrong) == (1 << 23) - 1 and flushing.wrong == (1 << 23) - 1
    boxes = tuple(box for one in wrong for box in one.boxes)
    assert contains(boxes, (0x8000_0001,)) and contains(boxes, (0x807F_FFFF,)) and not contains(boxes, (0x8080_0000,))
    assert keeping.verdict == "agree"


def test_saturation_shows_with_its_exact_inputs(swept: SweepRecord):
    (nan,) = of(swept, spec("to_fp8e4nv", "fp32", nearest=True)).deviations
    (inf,) = of(swept, spec("to_fp8e5", "fp32", nearest=True)).deviations
    # Above 464 and from 61440 on: halfway beyond the largest value, where one tie is even and the other is not.
    assert (nan.kind, nan.boxes) == ("nan_missing", (Box(((0x43E8_0001, 0x7F80_0000),)),
                                                     Box(((0xC3E8_0001, 0xFF80_0000),))))
    assert (inf.kind, inf.boxes) == ("inf", (Box(((0x4770_0000, 0x7F80_0000),)), Box(((0xC770_0000, 0xFF80_0000),))))


def test_lgamma_is_within_its_bound_everywhere(swept: SweepRecord):
    kinds = {one.kind for one in of(swept, spec("lgamma", "fp32")).deviations}
    assert kinds <= {"flushed", "subnormal_operand"}


def test_measured_errors_are_within_what_is_documented(swept: SweepRecord):
    for op in ("exp", "sin", "log"):
        found = of(swept, spec(op, "fp32"))
        assert found.max_ulps is not None and found.documented is not None
        assert 0.5 < found.max_ulps.ulps <= found.documented + 0.5


def test_ten_thousand_million_inputs_are_judged_per_second(swept: SweepRecord):
    for op in ("exp", "sin", "log"):
        found = of(swept, spec(op, "fp32"))
        assert found.inputs / found.seconds >= 1e10, (op, found.seconds)


def test_parts_add_up_on_several_devices(tmp_path: Path):
    """The same sweep by one worker per part; with one GPU both workers share it."""
    wanted = spec("exp_tl", "fp32")
    devices = tuple(range(gpu_count())) if gpu_count() > 1 else (0, 0)
    split = sweep((wanted,), tmp_path / "split", backend="cuda", devices=devices, helpers=1).results[0]
    whole = sweep((wanted,), tmp_path / "whole", backend="cuda", devices=(0,), helpers=1).results[0]
    assert split.max_ulps == whole.max_ulps and split.error_bins == whole.error_bins
    assert split.deviations == whole.deviations and split.judged == whole.judged
