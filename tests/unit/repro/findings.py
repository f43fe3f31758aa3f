"""Small cases on which a planted fault shows, one per kind of kernel and of failure."""

from dataclasses import dataclass

from tests.support.cases import ramp
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Iota, LaunchOptions, Layout, Scalar, Verdict

DIMS = ("rows", "cols")
PLAIN = Layout()


@dataclass(frozen=True)
class Finding:
    """A case, the fault that it shows, and how."""

    fault: str
    case: Case
    kind: str = "value"
    verdict: Verdict = Verdict.DISAGREE

    @property
    def name(self) -> str:
        return f"{self.case.target}-{self.fault}-{self.kind}"


def values(name: str, dtype: str, *words: str, dims: tuple[str, ...] = DIMS, layout: Layout = PLAIN) -> ArraySpec:
    return ArraySpec(name=name, dtype=dtype, dims=dims, layout=layout, content=Content(base=Explicit(values=words)))


def output(name: str, dtype: str, *, dims: tuple[str, ...] = DIMS, layout: Layout = PLAIN) -> ArraySpec:
    return ArraySpec(name=name, dtype=dtype, dims=dims, layout=layout)


def case(target: str, sizes: dict[str, int], *arrays: ArraySpec, **params: Scalar) -> Case:
    return Case(target=target, sizes=sizes, arrays=arrays, params=params)


def _pair(target: str, dtype: str, a: str, b: str, **params: Scalar) -> Case:
    return case(target, {"rows": 1, "cols": 1}, values("a", dtype, a), values("b", dtype, b), output("out", dtype),
                **params)


def _vector(dtype: str, count: int, block: int, *, b_layout: Layout = PLAIN, out: Layout = PLAIN) -> Case:
    rows = ("rows",)
    numbers = [str(k + 1) for k in range(count)]
    return case("triton.vector_add", {"rows": count}, values("a", dtype, *numbers, dims=rows),
                values("b", dtype, *numbers, dims=rows, layout=b_layout), output("out", dtype, dims=rows, layout=out),
                block=block)


def _reduction(target: str, dtype: str, *words: str, axis: int = 1) -> Case:
    return case(target, {"rows": 1, "cols": len(words)}, values("a", dtype, *words),
                output("out", dtype, dims=("rows",)), axis=axis)


def _indexed(dtype: str, *words: str) -> Case:
    return case("helpers.max_with_index", {"rows": 1, "cols": len(words)}, values("a", dtype, *words),
                ArraySpec(name="index", dtype="i64", dims=DIMS, content=Content(base=Iota())),
                output("out", dtype, dims=("rows",)), output("out_index", "i64", dims=("rows",)), axis=1)


FLOOR = "helpers.div_floor_integer"
SEVEN = ramp(target="triton.floordiv", start=-4, rows=4, block=4, divisor=2)
"""Triton issue 7749 at its smallest."""

FINDINGS = (
    Finding("trunc_for_floor", _pair(FLOOR, "i32", "-1", "2", form="blocks")),
    Finding("int_min_saturated", _pair(FLOOR, "i64", str(-(2**63)), "1", form="blocks")),
    Finding("unsigned_operands", ramp(start=-2, rows=2, block=2, divisor=2, dtype="i8")),
    Finding("floor_for_trunc", ramp(target="triton.mod", start=-3, rows=3, block=4, divisor=2, dtype="i16",
                                    start_kind="run_time", divisor_kind="loaded")),
    Finding("floor_for_trunc", ramp(target="triton.floordiv", start=-3, rows=3, block=4, divisor=2,
                                    start_kind="run_time", divisor_kind="unspecialised")),
    Finding("nan_in_a_dropped", _pair("helpers.minimum", "fp32", "nan:0x1", "0.0"), kind="nan_missing"),
    Finding("direction_reversed", _pair("helpers.maximum", "bf16", "-0.1", "3.39e38")),
    Finding("unsigned_compare", _reduction("helpers.min2", "i32", "1", "-1")),
    Finding("direction_reversed", _reduction("helpers.max2", "i1", "1", "0", "1", axis=0)),
    Finding("tie_to_larger_index", _indexed("fp16", "2", "0", "2"), kind="value"),
    Finding("second_operand_dropped", _vector("u32", 3, 4)),
    Finding("tail_dropped", _vector("fp64", 3, 2), kind="unwritten"),
    Finding("stride_ignored", _vector("i32", 4, 4, b_layout=Layout(step=2, offset=1), out=Layout(step=3))),
    Finding("mask_off_by_one", _vector("fp32", 3, 4), kind="out_of_bounds"),
    Finding("wrong_value", _pair(FLOOR, "i32", "0", "1", form="blocks")),
    Finding("compile_error", _pair(FLOOR, "i32", "0", "1", form="blocks"), kind="NameError",
            verdict=Verdict.COMPILE_ERROR),
    Finding("runtime_error", _pair(FLOOR, "i32", "1", "1", form="blocks"), kind="device_assert", verdict=Verdict.CRASH),
)

OTHER_OPTIONS = LaunchOptions(num_warps=8, num_stages=1)
