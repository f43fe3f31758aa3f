"""Comparison classes as data (contract: oracles.md §2). Imports neither torch nor Triton.

A rule says how an actual value is held against an expected one. `origin` says where a tolerance comes from; a
rule with a tolerance and no origin is refused, so that nobody can loosen a comparison without giving a
reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tridiff.oracles.errors import OracleError

RuleClass = Literal["BIT", "NUM", "NUM0", "ULP", "ABS", "REL", "SUM", "SET", "META"]
RULE_CLASSES: tuple[RuleClass, ...] = ("BIT", "NUM", "NUM0", "ULP", "ABS", "REL", "SUM", "SET", "META")
_TOLERANT: tuple[RuleClass, ...] = ("ULP", "ABS", "REL", "SUM")

MismatchClass = Literal["value", "nan_missing", "nan_unexpected", "zero_sign", "inf", "nan_payload", "dtype", "shape"]
MISMATCH_CLASSES: tuple[MismatchClass, ...] = (
    "value", "nan_missing", "nan_unexpected", "zero_sign", "inf", "nan_payload", "dtype", "shape",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One comparison rule; build it with the constructors below.

    `k`: ulps (ULP), absolute (ABS) or relative (REL) tolerance. `plus_per_abs_x`: extra ulps per |x| (ULP
    only). `bound`: name of the formula in `tridiff.oracles.tolerances` that yields the bound tensor (SUM only).
    `member`: how each candidate of a SET is compared. `origin`: where the tolerance comes from.
    """

    kind: RuleClass
    k: float = 0.0
    plus_per_abs_x: float = 0.0
    bound: str = ""
    member: Rule | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        if self.kind not in RULE_CLASSES:
            raise OracleError(f"unknown rule class {self.kind!r}; use one of {' '.join(RULE_CLASSES)}")
        for label, number in (("k", self.k), ("plus_per_abs_x", self.plus_per_abs_x)):
            if not math.isfinite(number) or number < 0:
                raise OracleError(f"{self.kind} rule: {label} must be finite and >= 0, got {number}")
        if self.plus_per_abs_x and self.kind != "ULP":
            raise OracleError("plus_per_abs_x belongs to ULP rules; drop it or use ULP")
        if self.kind in _TOLERANT and not self.origin:
            raise OracleError(f"a {self.kind} rule needs origin=..., the source of its tolerance")
        if (self.kind == "SET") != (self.member is not None):
            raise OracleError("SET rules, and only they, need a member rule: SET(NUM)")
        if self.member is not None and self.member.kind in ("SET", "META"):
            raise OracleError(f"members of a SET cannot be compared with {self.member.kind}; use NUM, ULP, ...")
        if (self.kind == "SUM") != bool(self.bound):
            raise OracleError("SUM rules, and only they, name their bound formula: SUM('sum_bound', origin=...)")

    def __str__(self) -> str:
        if self.kind == "ULP":
            slope = f"+{self.plus_per_abs_x:g}|x|" if self.plus_per_abs_x else ""
            return f"ULP({self.k:g}{slope})"
        if self.kind in ("ABS", "REL"):
            return f"{self.kind}({self.k:g})"
        if self.kind == "SUM":
            return f"SUM({self.bound})"
        return f"SET({self.member})" if self.member is not None else self.kind


BIT = Rule("BIT")
"""Identical bits, NaN payload and sign of zero included."""
NUM = Rule("NUM")
"""Equal as numbers or both NaN; zeros compared with sign."""
NUM0 = Rule("NUM0")
"""As NUM, zeros compared without sign."""
META = Rule("META")
"""Shape and dtype only."""


def ULP(k: float, *, plus_per_abs_x: float = 0.0, origin: str) -> Rule:
    """Within k + plus_per_abs_x*|x| ulps of the output type, plus the half ulp of the final rounding."""
    return Rule("ULP", k=float(k), plus_per_abs_x=float(plus_per_abs_x), origin=origin)


def ABS(k: float, *, origin: str) -> Rule:
    """|actual - expected| <= k."""
    return Rule("ABS", k=float(k), origin=origin)


def REL(k: float, *, origin: str) -> Rule:
    """|actual - expected| <= k * |expected|."""
    return Rule("REL", k=float(k), origin=origin)


def SUM(bound: str, *, origin: str) -> Rule:
    """Within the bound tensor that the named formula of `tridiff.oracles.tolerances` derives from the inputs, + half
    an ulp.
    """
    return Rule("SUM", bound=bound, origin=origin)


def SET(member: Rule, *, origin: str = "") -> Rule:
    """Any one of several candidates, stacked along a new leading axis of expected, each judged by
    `member`.
    """
    return Rule("SET", member=member, origin=origin)
