"""Deviations that have an explanation, as data: which operations, types, classes and inputs, and why.

An explained deviation is still a deviation: it is listed with its exact inputs, and the next version may change it.
An explanation that names inputs covers a deviation only if it holds at every corner of the recorded boxes and, where a
sweep explains its own findings, at a few thousand inputs spread over the whole set.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from tridiff.fuzz.sweep.patterns import operand
from tridiff.fuzz.sweep.records import Deviation, SweepRecord, SweepSpec
from tridiff.kernels.pointwise.record import ELEMENTARY
from tridiff.kernels.pointwise.table import OPS

Values = tuple[float, ...]
SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Known:
    """ops, dtypes: globs over the operation's name and the first operand's type. kinds: classes of records.CLASSES.

    flushing: only where the subject was compiled to flush subnormals. inputs: holds for the operands of every input
    that the explanation covers. nearest: only where any but the nearest value counts as wrong. predicted: shows in
    stratified sweeps only, of which a record need not exist.
    """

    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    kinds: tuple[str, ...]
    why: str
    flushing: bool = False
    nearest: bool = False
    predicted: bool = False
    inputs: Callable[[Values], bool] = lambda values: True


def _rest_is_subnormal(values: Values) -> bool:
    a, b = values
    return b != 0 and math.isfinite(a) and 0 < abs(math.fmod(a, b)) < SMALLEST_NORMAL


def _quotient_may_round_up(values: Values) -> bool:
    """a / b is less than 2 ulps of fp32, what div.full may be off, below the next integer away from zero."""
    a, b = values
    if not (math.isfinite(a) and math.isfinite(b)) or b == 0:
        return False
    quotient = abs(Fraction(a) / Fraction(b))
    return 0 < math.ceil(quotient) - quotient <= quotient / 2**22


def _power_is_smallest_normal(values: Values) -> bool:
    """x ** y is at most 16 ulps of fp32 above it, so that a result within the tolerance may fall below."""
    power = abs(math.pow(*values))
    return SMALLEST_NORMAL <= power <= SMALLEST_NORMAL * (1 + 2.0**-19)


_FUNCTIONS = tuple(op.name for op in OPS.values() if op.group in ELEMENTARY and op.name != "sigmoid")
_LIBDEVICE = (*_FUNCTIONS, "*_libdevice", "floor_tl", "ceil_tl", "ilogb", "fmod", "remainder", "floor_divide")

KNOWN: tuple[Known, ...] = (
    Known(("neg_operator",), ("*",), ("zero_sign",),
          "`-x` is 0 - x, so +0.0 stays +0.0 (Triton pull request 10270 repairs it)",
          inputs=lambda x: x[0] == 0 and math.copysign(1.0, x[0]) > 0),
    Known(("sigmoid",), ("*",), ("flushed",), "exp(-x) overflows from x = -88.72 on, its reciprocal is 0",
          inputs=lambda x: x[0] < -88.7),
    Known(("signbit_libdevice",), ("fp16",), ("value",),
          "converting an fp16 NaN to fp32 gives the positive NaN, unless the compiler looks at the half's own sign",
          inputs=lambda x: math.isnan(x[0])),
    Known(("mod_operator",), ("*",), ("nan_missing",), "`%` gives a for every infinite b, also for an infinite a",
          inputs=lambda x: math.isinf(x[0]) and math.isinf(x[1])),
    Known(("mod_operator",), ("*",), ("zero_sign",),
          "`%` is a - b * trunc(a / b): where that is a zero it is +0.0, and the remainder of a negative a is -0.0",
          inputs=lambda x: x[1] != 0 and math.copysign(1.0, x[0]) < 0 and math.fmod(*x) == 0),
    Known(("mod_operator",), ("bf16", "fp16", "fp32"), ("value", "subnormal_operand"),
          "`%` is a - b * trunc(a / b), and the rounded quotient of an a just below a multiple of b is that multiple",
          inputs=_quotient_may_round_up),
    Known(("lgamma",), ("fp32",), ("value",),
          "2.2 steps of 2^-20, within the bound since it counts the roundings of Stirling's formula twice: 4 steps; "
          "these sweeps allowed 2", inputs=lambda x: x[0] == -8.999995231628418),
    Known(("remainder", "floor_divide"), ("bf16", "fp32"), ("value",),
          "libdevice's fmod flushes a subnormal remainder to zero: no remainder is left to tell the quotients apart",
          flushing=True, inputs=_rest_is_subnormal),
    Known(("pow",), ("bf16",), ("value",),
          "Triton 3.6.0: a result just below the smallest normal is flushed, the exact one is not below it",
          flushing=True, inputs=_power_is_smallest_normal),
    Known(_LIBDEVICE, ("fp32", "bf16"), ("flushed", "subnormal_operand"),
          "libdevice and the approximate instructions flush fp32 subnormals to zero unless `enable_reflect_ftz` is off "
          "(Triton pull request 8762)", flushing=True),
    Known(("truediv", "reciprocal"), ("*",), ("value", "flushed", "subnormal_operand"),
          "fp32 `/` is div.full.f32: within 2 ulp, not the nearest value", nearest=True),
    Known(("exp_tl", "sigmoid"), ("bf16", "fp16", "fp32"), ("value",),
          "ex2.approx of a rounded x * log2(e): off by up to 64 ulp near +-88", nearest=True),
    Known(("sqrt", "sqrt_tl"), ("bf16", "fp16", "fp32"), ("value",),
          "sqrt.approx.ftz: within 1 ulp, not the nearest value", nearest=True),
    Known(("to_fp8*",), ("fp64",), ("value", "flushed"), "by way of fp32, so rounded twice", predicted=True,
          inputs=lambda x: float(np.float32(x[0])) != x[0]),
    Known(("to_fp8*",), ("*",), ("inf", "nan_missing"), "conversions to fp8 saturate", nearest=True,
          inputs=lambda x: abs(x[0]) > 464.0),
)


def _covers(known: Known, spec: SweepSpec, kind: str) -> bool:
    return (kind in known.kinds and (spec.options.flush or not known.flushing)
            and (spec.nearest or not known.nearest)
            and any(fnmatchcase(spec.op, glob) for glob in known.ops)
            and any(fnmatchcase(spec.dtypes[0], glob) for glob in known.dtypes))


def explanation(spec: SweepSpec, deviation: Deviation, inputs: Iterable[Values] = ()) -> Known | None:
    """What explains a deviation of a spec. inputs: operands from its set, beside the corners of its boxes."""
    found = [one for one in KNOWN if _covers(one, spec, deviation.kind)]
    listed = [*corners(spec, deviation), *inputs] if found else []
    return next((one for one in found if all(one.inputs(values) for values in listed)), None)


def explained(spec: SweepSpec, deviation: Deviation, inputs: Iterable[Values] = ()) -> Deviation:
    """The deviation with its explanation, or with none."""
    found = explanation(spec, deviation, inputs)
    return replace(deviation, known=found.why if found else "")


def explained_record(record: SweepRecord) -> SweepRecord:
    """A record with today's explanations."""
    return replace(record, results=tuple(
        replace(one, deviations=tuple(explained(one.spec, d) for d in one.deviations))
        for one in record.results))


def corners(spec: SweepSpec, deviation: Deviation) -> list[Values]:
    """The operands at all corners of the recorded boxes, and those of the worst example."""
    listed = [place for box in deviation.boxes for place in itertools.product(*box.ranges)]
    listed.append(tuple(int(pattern, 16) for pattern in deviation.worst.operands))
    columns = np.array(listed, dtype=np.uint64).T
    return values_of(spec, tuple(columns))


def values_of(spec: SweepSpec, patterns: tuple[npt.NDArray[np.uint64], ...]) -> list[Values]:
    """Operands as Python floats, input by input."""
    decoded = [operand(name, p).astype(np.float64).tolist() for name, p in zip(spec.dtypes, patterns, strict=True)]
    return list(zip(*decoded, strict=True))
