"""Sweeps over stratified sets that the host judges: 64-bit operands, for which the device has no wider type.

Every value is held against numpy and torch, and where both disagree with it, or have no answer, against mpmath.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tridiff.fuzz.sweep.boxes import Runs, as_records, boxes
from tridiff.fuzz.sweep.check import accuracy_has_regions
from tridiff.fuzz.sweep.deviations import explained
from tridiff.fuzz.sweep.patterns import operand, text_of
from tridiff.fuzz.sweep.records import CLASSES, Crosscheck, Deviation, Example, SweepResult, SweepSpec
from tridiff.fuzz.sweep.source import IN_INTERPRETER, Kernels, build, documented
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.bits import is_subnormal, is_zero, ulp_distance
from tridiff.oracles.by_exact import functions as by_exact
from tridiff.oracles.by_numpy import conversions, pointwise as by_numpy
from tridiff.oracles.by_torch import pointwise as by_torch
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import Array, dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.pointwise import accuracy, row_of, rule_of
from tridiff.oracles.rules import MISMATCH_CLASSES, Rule
from tridiff.oracles.tolerances import lgamma_bound

Mask = npt.NDArray[np.bool_]

BY_MPMATH = 4096
"""Inputs for which mpmath is asked where no library can judge fp64."""
_MISMATCH = {"value": 1, "nan_missing": 2, "nan_unexpected": 3, "inf": 4, "zero_sign": 5, "nan_payload": 1}


@dataclass(frozen=True)
class _Verdicts:
    """codes: 0 right, else a class; -1 where nobody answered. expected: an answer to show. source: who judged."""

    codes: npt.NDArray[np.int8]
    expected: Array
    source: str
    asked: int


def judge_on_host(spec: SweepSpec, patterns: npt.NDArray[np.int64], *, seconds: float) -> SweepResult:
    """The result of a spec from the result patterns of all its inputs, in order."""
    kernels = build(spec, shape=IN_INTERPRETER)
    space = kernels.space
    index = np.arange(space.size)
    inputs = tuple(operand(name, p) for name, p in zip(spec.dtypes, space.patterns(index), strict=True))
    actual = operand(kernels.result, patterns.view(np.uint64))
    defined = by_numpy.defined(spec.op, *inputs)
    found = _verdicts(spec, kernels, inputs, actual)
    codes = np.where(defined, found.codes, 8)
    codes = _subnormal(spec, inputs, actual, found.expected, codes)
    unanswered = int((codes == -1).sum())
    wrong = (codes > 0) & (codes < 8)
    deviations = []
    for code in sorted(set(codes[wrong].tolist())):
        here = np.flatnonzero(codes == code)
        columns, digest = boxes(Runs(here, here, codes[here].astype(np.int8)), space)
        at = int(here[np.argmax(_steps(actual[here], found.expected[here]))])
        deviations.append(explained(spec, Deviation(
            kind=CLASSES[code], count=len(here), boxes=as_records(columns[:64], space), complete=len(columns) <= 64,
            digest=digest, worst=_example(inputs, actual, found.expected, at))))
    peak = _peak(spec, kernels, inputs, actual, found, codes)
    judged = int(((codes != 8) & (codes != -1)).sum())
    return SweepResult(
        spec=spec, verdict="disagree" if deviations else "agree" if judged else "not_checked",
        reason="" if judged else "no oracle answers any of these inputs",
        space=space.describe() + (f", of which {judged} have an independent answer" if unanswered else ""),
        inputs=space.size, judged=judged, undefined=int((codes == 8).sum()), deviations=tuple(deviations),
        max_ulps=peak, tolerance=_rule_text(kernels.rule), documented=documented(spec),
        crosscheck=Crosscheck(source=found.source, sampled=judged, near=found.asked, near_total=found.asked),
        seconds=seconds)


def _rule_text(rule: Rule) -> str:
    return f"{rule.k:g} ulp" if rule.kind == "ULP" else rule.kind.lower()


def _verdicts(spec: SweepSpec, kernels: Kernels, inputs: tuple[Array, ...], actual: Array) -> _Verdicts:
    rule = rule_of(spec.op, spec.dtypes, kernels.result)
    count = len(actual)
    codes = np.full(count, -1, np.int8)
    expected: Array | None = None
    sources: list[str] = []
    for name, evaluate in (("numpy", by_numpy.evaluate), ("torch", _by_torch)):
        try:
            answer = evaluate(spec.op, *inputs)
        except OracleError:
            continue
        mine = _codes(spec, actual, answer, rule, inputs)
        # Right by either is right: a library of fp64 is off by an ulp here and there itself.
        codes = mine if not sources else np.where((codes == 0) | (mine == 0), 0, codes).astype(np.int8)
        shown = answer[0] if rule.kind == "SET" else answer
        expected = shown if expected is None else expected
        sources.append(name)
    asked = 0
    if _has_mpmath(spec, rule):
        chosen = _evenly(np.flatnonzero(codes != 0), BY_MPMATH)
        precise, answered = _mpmath(spec, tuple(x[chosen] for x in inputs))
        asked = int(answered.sum())
        if asked:
            sources.append("mpmath")
            part = tuple(x[chosen][answered] for x in inputs)
            codes[chosen[answered]] = _codes(spec, actual[chosen][answered], precise[answered], rule, part)
            expected = np.full(count, np.nan) if expected is None else expected.copy()
            expected[chosen[answered]] = precise[answered]
    if expected is None:
        expected = np.zeros(count, actual.dtype)
    return _Verdicts(codes, expected, " and ".join(sources), asked)


def _evenly(listed: npt.NDArray[np.int64], limit: int) -> npt.NDArray[np.int64]:
    """At most `limit` of the entries, evenly spaced."""
    if len(listed) <= limit:
        return listed
    return listed[np.linspace(0, len(listed) - 1, limit).astype(np.int64)]


def _has_mpmath(spec: SweepSpec, rule: Rule) -> bool:
    if rule.kind not in ("ULP", "ABS") or not all(dtype(name).is_float for name in spec.dtypes):
        return False
    return row_of(spec.op, spec.dtypes[0]) in by_exact.FUNCTIONS


def _mpmath(spec: SweepSpec, inputs: tuple[Array, ...]) -> tuple[Array, Mask]:
    row = row_of(spec.op, spec.dtypes[0])
    slow = row in ("lgamma", "i0", "i1", "j0", "j1", "y0", "y1", "erfinv", "erfcx")
    limit = 600 if slow else BY_MPMATH
    with np.errstate(all="ignore"):
        size = np.max([np.abs(x.astype(np.float64)) for x in inputs], axis=0)
    easy = (size < 1e3) if slow else np.ones(len(inputs[0]), bool)
    value, answered = np.zeros(len(easy)), np.zeros(len(easy), bool)
    chosen = _evenly(np.flatnonzero(easy), limit)
    if len(chosen):
        with np.errstate(all="ignore"):
            value[chosen], answered[chosen] = by_exact.evaluate(row, *(x[chosen] for x in inputs))
    return value, answered


def _by_torch(op: str, *inputs: Array) -> Array:
    return to_numpy(by_torch.evaluate(op, *(to_torch(x) for x in inputs)))


def _codes(
    spec: SweepSpec, actual: Array, answer: Array, rule: Rule, inputs: tuple[Array, ...]
) -> npt.NDArray[np.int8]:
    got, want = to_torch(actual), to_torch(answer)
    if rule.kind == "ABS" or accuracy_has_regions(spec):
        # Between the roots an absolute error counts, elsewhere the ulps of the region around zero.
        near_zero = accuracy(row_of(spec.op, spec.dtypes[0]))
        ulps = near_zero.fp64_regions[0].rule if rule.kind == "ABS" else rule
        bad = compare(got, want, ulps).codes
        bound = lgamma_bound(want, acc="fp64") if rule.kind != "ABS" else torch.full_like(want, rule.k)
        off = (got - want).abs() > bound
        codes = torch.zeros(len(actual), dtype=torch.uint8) if bad is None else torch.where(off, bad, 0)
    else:
        result = compare(got, want, rule, x=to_torch(inputs[0]) if rule.plus_per_abs_x else None)
        codes = torch.zeros(len(actual), dtype=torch.uint8) if result.codes is None else result.codes
    names = ["agree", *MISMATCH_CLASSES]
    table = np.array([0 if name == "agree" else _MISMATCH.get(name, 1) for name in names], dtype=np.int8)
    return np.asarray(table[codes.numpy()])


def _subnormal(
    spec: SweepSpec, inputs: tuple[Array, ...], actual: Array, expected: Array, codes: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    wrong = (codes > 0) & (codes < 8)
    if not wrong.any() or expected.dtype != actual.dtype:
        return codes
    if dtype_is_float(actual):
        tiny = is_subnormal(to_torch(expected)) & is_zero(to_torch(actual))
        codes = np.where(wrong & tiny.numpy(), 6, codes)
    operands = [is_subnormal(to_torch(x)).numpy() for x in inputs if dtype_is_float(x)]
    if operands:
        codes = np.where((codes > 0) & (codes < 6) & np.any(operands, axis=0), 7, codes)
    return codes


def dtype_is_float(array: Array) -> bool:
    """Whether an array holds floats, ml_dtypes ones included."""
    return array.dtype.kind not in "iub"


def _steps(actual: Array, expected: Array) -> npt.NDArray[np.float64]:
    if expected.dtype != actual.dtype:
        expected = conversions.convert(expected.astype(np.float64), to="fp32")
        if expected.dtype != actual.dtype:
            return np.zeros(len(actual))
    steps = ulp_distance(to_torch(actual), to_torch(expected)).to(torch.float64).numpy()
    return np.asarray(np.where(steps > 2.0**62, 0.0, steps))


def _peak(spec: SweepSpec, kernels: Kernels, inputs: tuple[Array, ...], actual: Array, found: _Verdicts,
          codes: npt.NDArray[Any]) -> Example | None:
    if kernels.rule.kind not in ("ULP", "ABS") or not dtype_is_float(actual):
        return None
    steps = np.where((codes == 0) | (codes == 1), _steps(actual, found.expected), 0.0)
    if accuracy_has_regions(spec) or not steps.any():
        return None
    return _example(inputs, actual, found.expected, int(np.argmax(steps)))


def _example(inputs: tuple[Array, ...], actual: Array, expected: Array, at: int) -> Example:
    steps = float(_steps(actual[at : at + 1], expected[at : at + 1])[0])
    return Example(
        operands=tuple(f"{int(x[at : at + 1].view(f'uint{8 * x.dtype.itemsize}')[0]):#x}" for x in inputs),
        values=tuple(text_of(x[at : at + 1]) for x in inputs), actual=text_of(actual[at : at + 1]),
        expected=text_of(expected[at : at + 1]), ulps=steps)
