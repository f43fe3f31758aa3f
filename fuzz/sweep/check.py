"""The judge kernel's reference is judged itself: against mpmath, exact integers, numpy and torch, on the host.

Sampled inputs and those where subject and reference are far apart are looked at again with sources that share
nothing with the device: a verdict of the sweep stands only where they confirm the reference. Runs in a process of its
own; needs no GPU.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.fuzz.sweep.patterns import operand
from tridiff.fuzz.sweep.records import Crosscheck, SweepSpec
from tridiff.fuzz.sweep.source import IN_INTERPRETER, Kernels, build
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.by_exact import functions as by_exact
from tridiff.oracles.by_numpy import conversions, pointwise as by_numpy
from tridiff.oracles.by_torch import pointwise as by_torch
from tridiff.oracles.compare import ulp_at
from tridiff.oracles.dtypes import Array, bits_dtype, dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.pointwise import accuracy, row_of
from tridiff.oracles.tolerances import lgamma_bound

Mask = npt.NDArray[np.bool_]

TOLERABLE = 2.0**-6
"""Ulps of the result's type by which the fp64 reference may be off without a consequence for any verdict."""
SLOW = {"lgamma", "i0", "i1", "j0", "j1", "y0", "y1", "erfinv", "erfcx"}
BY_MPMATH, BY_MPMATH_SLOW = 1500, 250
"""Inputs per sweep that mpmath looks at: it takes from 20 microseconds to milliseconds each."""


@dataclass(frozen=True)
class Sample:
    """Inputs to look at again: index, what the kernel had as reference (bits), and how many came by which road."""

    index: npt.NDArray[np.int64]
    reference: npt.NDArray[np.int64]
    sampled: int
    near: int
    near_total: int


def crosscheck(spec: SweepSpec, sample: Sample) -> Crosscheck:
    """Compare the kernel's references with independent ones."""
    kernels = build(spec, shape=IN_INTERPRETER)
    assert kernels.reference is not None
    patterns = kernels.space.patterns(sample.index)
    inputs = tuple(operand(name, p) for name, p in zip(spec.dtypes, patterns, strict=True))
    defined = by_numpy.defined(spec.op, *inputs)
    off, source = _distance(spec, kernels, inputs, sample.reference)
    off = np.where(defined, off, 0.0)
    bad = off > TOLERABLE
    finite = off[np.isfinite(off)]
    example = ""
    if bad.any():
        at = int(np.argmax(bad))
        example = (f"{spec.op}({', '.join(str(x[at]) for x in inputs)}): the kernel's reference has bits "
                   f"{int(sample.reference[at]) & (2**64 - 1):#x}, {source} says otherwise")
    return Crosscheck(source=source, sampled=sample.sampled, near=sample.near, near_total=sample.near_total,
                      worst=float(finite.max()) if len(finite) else 0.0, refuted=int(bad.sum()), example=example)


def _distance(
    spec: SweepSpec, kernels: Kernels, inputs: tuple[Array, ...], reference: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], str]:
    """How far the kernel's reference is from the nearest of the independent ones, and their names.

    In ulps of the result; 0 for the same bits and infinite for other ones where bits count.
    """
    assert kernels.reference is not None
    answers = {}
    for name, evaluate in (("numpy", by_numpy.evaluate), ("torch", _by_torch)):
        try:
            answers[name] = evaluate(spec.op, *inputs)
        except OracleError:
            continue
    if kernels.reference.kind == "bits":
        width = dtype(kernels.result).bits
        mask = np.uint64((1 << width) - 1)
        wanted = {name: _bits(value, kernels.result) for name, value in answers.items()}
        got = reference.view(np.uint64) & mask
        # Both libraries must confirm: bits leave no room.
        wrong = np.zeros(len(got), dtype=bool)
        for value in wanted.values():
            wrong |= (got != (value & mask)) & ~(_is_nan(value, kernels.result) & _is_nan(got, kernels.result))
        return np.where(wrong, np.inf, 0.0), " and ".join(wanted)
    value = reference.view(np.float64)
    allowed = TOLERABLE * _absolute(spec, inputs[0], value)
    off = np.full(len(value), np.inf)
    for answer in answers.values():
        for candidate in answer if kernels.rule.kind == "SET" else [answer]:
            if spec.nearest and kernels.result == "fp8e4nv":  # the libraries saturate; see references.unsaturated
                candidate = np.where(np.abs(inputs[0].astype(np.float64)) > 464.0, np.nan, candidate.astype(np.float64))
                candidate = conversions.convert(candidate, to="fp8e4nv")
            off = np.minimum(off, _apart(value, candidate, kernels.result, allowed))
    precise, answered = _by_mpmath(spec, kernels, inputs)
    if answered.any():
        off = np.where(answered, _apart(value, precise, kernels.result, allowed), off)
    names = [*answers, *(["mpmath"] if answered.any() else [])]
    return off, " and ".join(names)


def _by_torch(op: str, *inputs: Array) -> Array:
    return to_numpy(by_torch.evaluate(op, *(to_torch(x) for x in inputs)))


def _by_mpmath(spec: SweepSpec, kernels: Kernels, inputs: tuple[Array, ...]) -> tuple[Array, Mask]:
    """High-precision values at as many inputs as time allows, spread evenly; which were answered."""
    count = len(inputs[0])
    value, answered = np.zeros(count), np.zeros(count, dtype=bool)
    if kernels.rule.kind != "ULP" or not all(dtype(name).is_float for name in spec.dtypes):
        return value, answered
    row = row_of(spec.op, spec.dtypes[0])
    if row not in by_exact.FUNCTIONS:
        return value, answered
    limit = BY_MPMATH_SLOW if row in SLOW else BY_MPMATH
    chosen = np.unique(np.linspace(0, count - 1, min(limit, count)).astype(np.int64))
    for part in chosen:
        # mpmath sums series whose length grows with the argument; beyond this the libraries decide.
        if row in SLOW and not all(abs(float(x[part])) < 1e4 for x in inputs):
            continue
        here = slice(part, part + 1)
        with np.errstate(all="ignore"):
            value[here], answered[here] = by_exact.evaluate(row, *(x[here] for x in inputs))
    return value, answered


def _bits(value: Array, name: str) -> npt.NDArray[np.uint64]:
    if name == "i1":
        return value.astype(np.uint64)
    return np.ascontiguousarray(value).view(bits_dtype(name)).astype(np.uint64)


def _is_nan(bits: npt.NDArray[np.uint64], name: str) -> Mask:
    kind = dtype(name)
    if not kind.is_float:
        return np.zeros(bits.shape, dtype=bool)
    return np.asarray((bits & np.uint64((1 << (kind.bits - 1)) - 1)) > kind.infinity_bits)


def _absolute(spec: SweepSpec, x: Array, reference: Array) -> npt.NDArray[np.float64]:
    """The absolute error that the rule allows instead of ulps: lgamma and the Bessel functions have one, by region.

    fp64's own Bessel functions are only good to 5e-12 beyond 8, which is ulps of fp32 near a root.
    """
    found = np.zeros(len(reference))
    if not dtype(spec.dtypes[0]).is_float or not accuracy_has_regions(spec):
        return found
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        row = accuracy(row_of(spec.op, spec.dtypes[0]))
        bounds = [(-np.inf, np.inf, row.fp32), *((one.low, one.high, one.rule) for one in row.fp32_regions)]
        for low, high, rule in bounds:
            size = rule.k if rule.kind == "ABS" else 0.0
            error = to_float_array(lgamma_bound(to_torch(reference))) if rule.kind == "SUM" else np.full(len(x), size)
            found = np.where((wide > low) & (wide < high), error, found)
    return found


def accuracy_has_regions(spec: SweepSpec) -> bool:
    """Whether the tolerance differs between regions of the input (lgamma, Bessel functions)."""
    try:
        return bool(accuracy(row_of(spec.op, spec.dtypes[0])).fp64_regions)
    except OracleError:
        return False


def _apart(reference: Array, answer: Array, name: str, allowed: Array | float = 0.0) -> npt.NDArray[np.float64]:
    """Distance in ulps of type `name`; an answer in that type is compared with the rounded reference.

    allowed: absolute distances that count as none.
    """
    with np.errstate(all="ignore"):
        if answer.dtype != np.float64 or name == "fp64":
            rounded = conversions.convert(reference, to=name).astype(np.float64)
            saturates = name in ("fp8e4nv", "fp8e5")
            wide = answer.astype(np.float64)
            same = (rounded == wide) | (np.isnan(rounded) & np.isnan(wide)) | (saturates & np.isinf(rounded - wide))
            # The reference is fp64 itself and may have been rounded before: a neighbour is no contradiction.
            step = to_float_array(ulp_at(to_torch(rounded), dtype(name)))
            return np.where(same, 0.0, np.where(np.abs(rounded - wide) <= step, TOLERABLE, np.inf))
        limit = float(dtype(name).max) * 2
        here, there = np.clip(reference, -limit, limit), np.clip(answer, -limit, limit)
        step = to_float_array(ulp_at(to_torch(there), dtype(name)))
        off = np.abs(here - there) / step
        same = (np.abs(here - there) <= allowed) | (np.isnan(here) & np.isnan(there))
        return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def to_float_array(tensor: Any) -> npt.NDArray[np.float64]:
    """A float64 tensor as an array."""
    return np.asarray(tensor.numpy(), dtype=np.float64)
