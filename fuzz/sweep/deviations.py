"""Deviations that have an explanation, as data: which operations, types and classes, and why.

An explained deviation is still a deviation: it is listed with its exact inputs, and the next version may change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from fuzz.sweep.records import SweepSpec
from kernels.pointwise.table import OPS


@dataclass(frozen=True)
class Known:
    """ops, dtypes: globs over the operation's name and the first operand's type. kinds: classes of records.CLASSES.

    flushing: only where the subject was compiled to flush subnormals.
    """

    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    kinds: tuple[str, ...]
    why: str
    flushing: bool = False


_GROUPS = ("exponential", "trigonometric", "hyperbolic", "special")
_LIBDEVICE = (*(op.name for op in OPS.values() if op.group in _GROUPS), "*_libdevice")

KNOWN: tuple[Known, ...] = (
    Known(("neg_operator",), ("*",), ("zero_sign",), "Triton 3.6.0: `-x` is 0 - x, so +0.0 stays +0.0"),
    Known(("sigmoid",), ("*",), ("flushed",), "exp(-x) overflows from x = -88.7 on, its reciprocal is 0"),
    Known(("mod_operator",), ("*",), ("nan_unexpected",), "a - b * trunc(a / b) with an infinite b is NaN"),
    Known(("mod_operator",), ("bf16", "fp16", "fp32"), ("zero_sign", "value", "subnormal_operand", "flushed"),
          "a - b * trunc(a / b) in fp32 is not exact"),
    Known(_LIBDEVICE, ("fp32", "bf16"), ("flushed", "subnormal_operand"),
          "libdevice and the approximate instructions flush fp32 subnormals to zero", flushing=True),
)


def known_as(spec: SweepSpec, kind: str) -> str:
    """The explanation of a class of deviations of a spec; empty when there is none."""
    for one in KNOWN:
        if (kind in one.kinds and (spec.options.flush or not one.flushing)
                and any(fnmatchcase(spec.op, glob) for glob in one.ops)
                and any(fnmatchcase(spec.dtypes[0], glob) for glob in one.dtypes)):
            return one.why
    return ""
