"""Records for tests, built by hand."""

from tridiff.fuzz.records import Environment
from tridiff.fuzz.sweep.records import Box, Deviation, Example, SweepRecord, SweepResult, SweepSpec

EXAMPLE = Example(operands=("0x1",), values=("5.96e-08",), actual="0.0", expected="5.96e-08", ulps=1.0)


def box(*ranges: tuple[int, int]) -> Box:
    return Box(tuple(ranges))


def deviation(kind: str, *boxes: Box, count: int | None = None, complete: bool = True, known: str = "",
              digest: str = "") -> Deviation:
    total = sum(last - first + 1 for one in boxes for first, last in one.ranges[-1:]) if count is None else count
    return Deviation(kind=kind, count=total, boxes=boxes, complete=complete, digest=digest or str(boxes), worst=EXAMPLE,
                     known=known)


def result(op: str, *deviations: Deviation, dtype: str = "fp16", ulps: float = 0.0, verdict: str = "") -> SweepResult:
    peak = Example(operands=("0x3c00",), values=("1.0",), actual="2.72", expected="2.718", ulps=ulps) if ulps else None
    return SweepResult(
        spec=SweepSpec(op=op, dtypes=(dtype,), bits=16), verdict=verdict or ("disagree" if deviations else "agree"),
        space="all 2^16", inputs=1 << 16, judged=1 << 16, deviations=deviations, max_ulps=peak, documented=2.0,
        profile=(0.4, ulps), seconds=0.5)


def record(*results: SweepResult, triton: str = "3.6.0") -> SweepRecord:
    return SweepRecord(environment=Environment(triton=triton, device="NVIDIA H200"), results=results, seconds=1.0)
