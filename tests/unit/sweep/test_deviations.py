"""Explanations cover exactly the inputs they speak of, and the committed records need all of them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.sweep.records import EXAMPLE, box
from tridiff.fuzz.cli.sweep import exit_status
from tridiff.fuzz.sweep.deviations import KNOWN, explained, explained_record, explanation
from tridiff.fuzz.sweep.files import read
from tridiff.fuzz.sweep.records import Box, Deviation, SweepOptions, SweepRecord, SweepSpec

_REPORTS = Path(__file__).parents[3] / "reports"
REPORTS = sorted(path.parent for path in _REPORTS.glob("*/sweep.json"))


def of(kind: str, *boxes: Box, at: str) -> Deviation:
    return Deviation(kind=kind, count=1, boxes=boxes, complete=True, digest="",
                     worst=replace(EXAMPLE, operands=tuple(at.split())))


@pytest.mark.parametrize("op, dtypes, deviation, covered", [
    ("neg_operator", "fp16", of("zero_sign", box((0, 0)), at="0x0"), True),
    ("neg_operator", "fp16", of("zero_sign", box((0, 0)), box((0x8000, 0x8000)), at="0x0"), False),
    ("neg_operator", "fp16", of("value", box((0, 0)), at="0x0"), False),
    ("signbit_libdevice", "fp16", of("value", box((0xFC01, 0xFFFF)), at="0xfc01"), True),
    ("signbit_libdevice", "fp16", of("value", box((0xFC00, 0xFFFF)), at="0xfc01"), False),
    ("signbit_libdevice", "fp16", of("value", at="0x8000"), False),
    ("sigmoid", "fp32", of("flushed", box((0xC2B17218, 0xC2C6D89C)), at="0xc2b17218"), True),
    ("sigmoid", "fp32", of("flushed", box((0xC2B07218, 0xC2C6D89C)), at="0xc2b17218"), False),
    # 2^-126 ** 1 is the smallest normal, 2.0 ** 1 is not near it.
    ("pow", "bf16 bf16", of("value", box((0x80, 0x80), (0x3F80, 0x3F80)), at="0x80 0x3f80"), True),
    ("pow", "bf16 bf16", of("value", box((0x80, 0x80), (0x3F80, 0x3F81)), at="0x80 0x3f80"), False),
    # 0x81 % 0x80 is subnormal, 0x100 % 0x80 is 0.
    ("remainder", "bf16 bf16", of("value", box((0x81, 0x81), (0x8080, 0x8080)), at="0x81 0x8080"), True),
    ("remainder", "bf16 bf16", of("value", box((0x100, 0x100), (0x8080, 0x8080)), at="0x81 0x8080"), False),
    # 244.5 / 0.00769 is 5e-4 below 31777, 5 / 3 is nowhere near 2; -6 / 3 leaves -0.0 and 6 / 3 leaves 0.0.
    ("mod_operator", "fp16 fp16", of("value", at="0x5ba4 0x1fe1"), True),
    ("mod_operator", "fp16 fp16", of("value", at="0x4500 0x4200"), False),
    ("mod_operator", "fp16 fp16", of("value", at="0x4600 0x4200"), False),
    ("mod_operator", "fp16 fp16", of("zero_sign", at="0xc600 0x4200"), True),
    ("mod_operator", "fp16 fp16", of("zero_sign", at="0x4600 0x4200"), False),
    ("mod_operator", "fp16 fp16", of("nan_missing", at="0xfc00 0x7c00"), True),
    ("mod_operator", "fp16 fp16", of("nan_missing", at="0xfc00 0x0000"), False),
    ("lgamma", "fp32", of("value", box((0xC10FFFFB, 0xC10FFFFB)), at="0xc10ffffb"), True),
    ("lgamma", "fp32", of("value", box((0xC10FFFFB, 0xC10FFFFC)), at="0xc10ffffb"), False),
    ("to_fp8e5", "fp64", of("value", at="0xbef8000000000001"), True),
    ("to_fp8e5", "fp64", of("value", at="0xbef8000000000000"), False),
    ("sin", "fp32", of("value", at="0x1"), False), ("exp", "fp16", of("flushed", at="0x1"), False),
])
def test_an_explanation_holds_at_every_corner_or_not_at_all(
    op: str, dtypes: str, deviation: Deviation, covered: bool
):
    assert bool(explained(SweepSpec(op=op, dtypes=tuple(dtypes.split())), deviation).known) == covered


def test_flushing_explains_nothing_where_nothing_is_flushed():
    flushed = of("flushed", box((1, 0x7FFFFF)), at="0x1")
    assert explained(SweepSpec(op="sin", dtypes=("fp32",)), flushed).known
    kept = SweepSpec(op="sin", dtypes=("fp32",), options=SweepOptions(flush=False))
    assert not explained(kept, flushed).known
    # Another input of the set, given beside the boxes, counts as well.
    spec = SweepSpec(op="neg_operator", dtypes=("fp32",))
    assert not explained(spec, of("zero_sign", box((0, 0)), at="0x0"), [(1.0,)]).known


@pytest.fixture(scope="module")
def records() -> list[SweepRecord]:
    return [read(path) for path in REPORTS]


def test_every_explanation_is_needed_by_a_record(records: list[SweepRecord]):
    """By the record itself, or by the report of one that made room."""
    used = {id(explanation(one.spec, d)) for record in records for one in record.results for d in one.deviations}
    told = "".join(path.read_text(encoding="utf-8") for path in _REPORTS.glob("h200-sweep-*/report.md"))
    # What only shows with --nearest or in stratified sets is not in every record.
    assert [one.why for one in KNOWN
            if id(one) not in used and one.why not in told and not (one.nearest or one.predicted)] == []


def test_the_records_say_what_is_explained_today(records: list[SweepRecord]):
    assert records
    for path, record in zip(REPORTS, records, strict=True):
        assert explained_record(record) == record, f"tridiff sweep --render {path}"


def test_the_records_leave_nothing_open(records: list[SweepRecord]):
    assert {path.name: exit_status(record, None) for path, record in zip(REPORTS, records, strict=True)} == {
        path.name: 0 for path in REPORTS}
