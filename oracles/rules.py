"""Comparison classes as data (contract: oracles.md §2). Imports neither torch nor Triton.

A rule says how an actual value is held against an expected one. `origin` says where a tolerance comes from; a
rule with a tolerance and no origin is refused, so that nobody can loosen a comparison without giving a
reason.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Literal

from tridiff.oracles.errors import OracleError

RuleClass = Literal["BIT", "NUM", "NUM0", "ULP", "ABS", "REL", "SUM", "SET", "STAT", "META"]
RULE_CLASSES: tuple[RuleClass, ...] = ("BIT", "NUM", "NUM0", "ULP", "ABS", "REL", "SUM", "SET", "STAT", "META")
_TOLERANT: tuple[RuleClass, ...] = ("ULP", "ABS", "REL", "SUM", "STAT")

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
        if self.member is not None and self.member.kind in ("SET", "STAT", "META"):
            raise OracleError(f"members of a SET cannot be compared with {self.member.kind}; use NUM, ULP, ...")
        if (self.kind == "SUM") != bool(self.bound):
            raise OracleError("SUM rules, and only they, name their bound formula: SUM('sum_bound', origin=...)")

    def to_json(self) -> str:
        """One line of JSON that `from_json` turns back into an equal rule."""
        return json.dumps(self._fields(), sort_keys=True)

    def _fields(self) -> dict[str, object]:
        fields: dict[str, object] = {"kind": self.kind}
        for name in ("k", "plus_per_abs_x", "bound", "origin"):
            if getattr(self, name):
                fields[name] = getattr(self, name)
        if self.member is not None:
            fields["member"] = self.member._fields()
        return fields

    @staticmethod
    def from_json(text: str) -> Rule:
        """The rule written by `to_json`; OracleError for anything else."""
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise OracleError(f"not a rule: {error}; write rules with Rule.to_json") from None
        return _from_fields(fields)

    def __str__(self) -> str:
        if self.kind == "ULP":
            slope = f"+{self.plus_per_abs_x:g}|x|" if self.plus_per_abs_x else ""
            return f"ULP({self.k:g}{slope})"
        if self.kind in ("ABS", "REL"):
            return f"{self.kind}({self.k:g})"
        if self.kind == "SUM":
            return f"SUM({self.bound})"
        return f"SET({self.member})" if self.member is not None else self.kind


def _from_fields(fields: object) -> Rule:
    known = {"kind", "k", "plus_per_abs_x", "bound", "member", "origin"}
    if not isinstance(fields, dict) or not set(fields) <= known:
        raise OracleError("not a rule: expected an object with kind, k, plus_per_abs_x, bound, member, origin")
    numbers = {name: fields.get(name, 0.0) for name in ("k", "plus_per_abs_x")}
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in numbers.values()):
        raise OracleError("not a rule: k and plus_per_abs_x must be numbers")
    if any(not isinstance(fields.get(name, ""), str) for name in ("kind", "bound", "origin")):
        raise OracleError("not a rule: kind, bound and origin must be strings")
    member = fields.get("member")
    return Rule(
        kind=fields.get("kind", ""), k=float(numbers["k"]), plus_per_abs_x=float(numbers["plus_per_abs_x"]),
        bound=fields.get("bound", ""), member=None if member is None else _from_fields(member),
        origin=fields.get("origin", ""),
    )


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


def STAT(*, origin: str) -> Rule:
    """A distribution test at a fixed seed; see `tridiff.oracles.statistics`."""
    return Rule("STAT", origin=origin)
