"""Single operations that torch.compile is asked for, as data. Imports neither torch nor Triton.

Each row says the same thing twice: as a torch expression, which is compiled, run eagerly as first reference, and
printed in reports; and as a numpy expression, the second reference. `{0}`, `{1}`, `{2}` are the operands. The contract
is that of torch.compile itself: the compiled function returns what the function returns, up to the tolerance of
oracles.md §3 and §4, whatever codegen.md says about what generated code should do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tridiff.fuzz.inductor.programs.expressible import TEMPLATES
from tridiff.fuzz.kinds.graphs.operations import COMPARISONS
from tridiff.kernels.codegen.constants import TORCH_NAMES
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.dtypes import FLOATS, FP8, INTEGERS, SIGNED, dtype as dtype_info

Signature = tuple[str, ...]
Judging = Literal["exact", "unsigned_zero", "real", "sum", "mean", "prefix_sum", "variance"]

FULL: Signature = ("fp32", "fp64")
BOOL: Signature = ("i1",)
COMPUTED: Signature = ("i8", "i16", "i32", "i64", "u8")
"""Integers on which torch computes; the others are little more than storage there."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One row.

    family: the target it belongs to. result: dtype name, or the number of the operand whose type the result has.
    judging: exact (bits of integers, numbers with the sign of zero), unsigned_zero (numbers), real (both references
    in float64; `tridiff.fuzz.inductor.references.bound` says how far off a result may be: the figure of `accuracy` in
    tridiff.oracles.pointwise, `ulps` instead if given, and what is flushed), or a bound of oracles.md §4.
    keeps: a row of results per row of operands and not one result. defined: torch expression, true where torch
    itself promises a result. alone: eager torch is asked for one element at a time, because its vector code is wrong
    for some values (oracles.md §6).
    """

    name: str
    family: str
    torch: str
    numpy: str
    signatures: tuple[Signature, ...]
    result: int | str = 0
    judging: Judging = "exact"
    accuracy: str = ""
    ulps: float = 0.0
    keeps: bool = True
    defined: str = ""
    alone: bool = False

    @property
    def arity(self) -> int:
        return len(self.signatures[0])

    def result_dtype(self, operands: Signature) -> str:
        """Type of the result, as eager torch has it."""
        return self.result if isinstance(self.result, str) else operands[self.result]


def _same(dtypes: Signature, arity: int) -> tuple[Signature, ...]:
    return tuple((name,) * arity for name in dtypes)


def _point(name: str, numpy: str, dtypes: Signature, *, torch: str = "", arity: int = 1, result: int | str = 0,
           judging: Judging = "exact", defined: str = "", family: str = "pointwise") -> Operation:
    return Operation(name=name, family=family, torch=torch or TEMPLATES[name], numpy=numpy,
                     signatures=_same(dtypes, arity), result=result, judging=judging, defined=defined,
                     alone=name in _ALONE)


def _real(name: str, numpy: str, *, torch: str = "", arity: int = 1, accuracy: str = "", ulps: float = 0.0,
          defined: str = "") -> Operation:
    return Operation(name=name, family="pointwise", torch=torch or TEMPLATES[name], numpy=numpy,
                     signatures=_same(FLOATS, arity), judging="real", accuracy="" if ulps else accuracy or name,
                     ulps=ulps, defined=defined)


_NUMBERS = COMPUTED + FLOATS
_EXP_ON_THE_WAY = "torch.exp(torch.abs({0}.double() if {0}.dtype == torch.float64 else {0}.float()))"
_ALONE = ("fmod", "remainder", "floor_divide")
_KEPT = "~(({0}.abs() < 2.0**-126) & ({0} != 0) & ({0}.dtype != torch.float64))"
"""Where libdevice's functions of fp32, in which halves are computed, flush nothing (oracles.md §3)."""
_DIVISOR = "torch.where({1} == 0, 1, {1})"
_NUMPY_DIVISOR = "np.where({1} == 0, 1, {1}).astype({1}.dtype)"


def _exact() -> list[Operation]:
    floats = [("sign", "np.where(np.isnan({0}), 0, np.sign({0})).astype({0}.dtype)"), ("floor", "np.floor({0})"),
              ("ceil", "np.ceil({0})"), ("trunc", "np.trunc({0})"), ("round", "np.rint({0})")]
    return [
        *(_point(name, numpy, _NUMBERS)
          for name, numpy in (("neg", "-{0}"), ("abs", "np.abs({0})"), ("square", "{0} * {0}"))),
        *(_point(name, TEMPLATES[name], _NUMBERS, arity=2) for name in ("add", "sub", "mul")),
        *(_point(name, numpy, FLOATS) for name, numpy in floats),
        _point("relu", "np.where({0} <= 0, 0, {0}).astype({0}.dtype)", FLOATS, judging="unsigned_zero"),
        *(_point(name, f"np.{name}({{0}}, {{1}})", FLOATS, arity=2) for name in ("copysign", "nextafter")),
        _point("fmod", "np.fmod({0}, {1})", FLOATS, arity=2, defined=" & ".join(
            _KEPT.format(one) for one in ("{0}", "{1}", "torch.fmod({0}, {1})"))),
        # numpy's functions for bf16 mistake NaNs: through float64, which holds every half.
        *(_point(name, f"np.{name}({{0}}.astype(float), {{1}}.astype(float))", FLOATS, arity=2, judging="unsigned_zero")
          for name in ("minimum", "maximum", "fmin", "fmax")),
        *(_point(name, f"np.{name}({{0}})", FLOATS, result="i1") for name in ("isnan", "isinf", "isfinite", "signbit")),
        *(_point(name, TEMPLATES[name], _NUMBERS, arity=2, result="i1") for name in COMPARISONS),
        *(_point(name, f"np.{name}({{0}}, {{1}})", FULL, arity=2, judging="unsigned_zero")
          for name in ("remainder", "floor_divide")),
        _point("trunc_divide", "np.trunc({0} / {1})", FULL, arity=2),
        _point("frexp_mantissa", "np.frexp({0})[0]", FULL),
        _point("frexp_exponent", "np.frexp({0})[1]", FULL, result="i32"),
        Operation(name="ldexp", family="pointwise", torch="torch.ldexp({0}, {1})", numpy="np.ldexp({0}, {1})",
                  signatures=(("fp32", "i32"), ("fp64", "i32")), judging="real", ulps=1,
                  defined=f"(torch.abs({{1}}) < 100) & {_KEPT.format('{0}')}"),
        *(_point(f"{name}_integer", f"np.{name}({{0}}, {_NUMPY_DIVISOR})", COMPUTED, arity=2,
                 torch=f"torch.{name}({{0}}, {_DIVISOR})") for name in ("floor_divide", "fmod", "remainder")),
        *(_point(name, TEMPLATES[name], BOOL + COMPUTED, arity=2)
          for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
        _point("bitwise_not", "~{0}", BOOL + COMPUTED),
        *(_point(name, f"np.{name}({{0}}, {{1}})", BOOL + _NUMBERS, arity=2, result="i1")
          for name in ("logical_and", "logical_or", "logical_xor")),
        *(_point(name, f"np.{name}({{0}}, {{1}})", COMPUTED, arity=2, torch=f"{{0}} {sign} {{1}}",
                 defined="({1} >= 0) & ({1} < {0}.element_size() * 8)")
          for name, sign in (("left_shift", "<<"), ("right_shift", ">>"))),
        Operation(name="where", family="pointwise", torch=TEMPLATES["where"], numpy="np.where({0}, {1}, {2})", result=1,
                  signatures=tuple(("i1", kind, kind) for kind in BOOL + _NUMBERS)),
        _point("clamp", "np.minimum(np.maximum({0}, {1}), {2})", _NUMBERS, arity=3, judging="unsigned_zero"),
        # A quotient of integers is that of fp32 numbers, which Triton gives within 2 ulp (oracles.md §3).
        Operation(name="truediv_integer", family="pointwise", torch="{0} / {1}", signatures=_same(COMPUTED, 2),
                  numpy="np.float32({0}).astype(float) / np.float32({1})", result="fp32", judging="real",
                  accuracy="div", defined="{1} != 0"),
        _point("round_decimals", "np.round({0}, 2)", FULL, torch="torch.round({0}, decimals=2)",
               judging="unsigned_zero"),
    ]


def _transcendental() -> list[Operation]:
    # Both references have NaN at infinity and lose the sign of zero. Where exp overflows on the way torch promises
    # nothing: its series is multiplied by exp(|x|), so that eager i1(90.0) is inf and not 5.1e37.
    bessel = f"torch.isfinite({_EXP_ON_THE_WAY}) & ({{0}} != 0)"
    return [
        *(_real(op.name, op.texts.numpy, arity=op.arity, accuracy="div" if op.name == "truediv" else "",
                defined=bessel if op.name in ("i0", "i1") else "")
          for op in OPS.values() if op.texts.numpy and op.texts.torch),
        _real("xlogy", "special.xlogy({0}, {1})", arity=2, torch="torch.xlogy({0}, {1})", ulps=4),
    ]


def _folding() -> list[Operation]:
    """Idioms that an optimiser is tempted to simplify; floats only, and numbers that are not."""
    rows = [
        ("times_zero", "{0} * 0", "{0} * {0}.dtype.type(0)"),
        ("times_zero_point", "{0} * 0.0", "{0} * {0}.dtype.type(0)"),
        ("times_one", "{0} * 1", "{0}"), ("plus_zero", "{0} + 0", "{0} + {0}.dtype.type(0)"),
        ("minus_zero", "{0} - 0", "{0} - {0}.dtype.type(0)"), ("minus_itself", "{0} - {0}", "{0} - {0}"),
        ("by_itself", "{0} / {0}", "{0} / {0}"), ("zero_by", "0 / {0}", "np.reciprocal({0}) * {0}.dtype.type(0)"),
        ("by_one", "{0} / 1", "{0}"), ("to_the_zero", "{0} ** 0", "np.ones_like({0})"),
        ("to_the_one", "{0} ** 1", "{0}"), ("to_the_two", "{0} ** 2", "{0} * {0}"),
        ("twice_negated", "-(-{0})", "{0}"), ("zero_minus", "0 - {0}", "{0}.dtype.type(0) - {0}"),
        ("add_and_subtract", "({0} + 1) - 1", "({0} + {0}.dtype.type(1)) - {0}.dtype.type(1)"),
        ("equal_to_itself", "{0} == {0}", "{0} == {0}"), ("unequal_to_itself", "{0} != {0}", "{0} != {0}"),
        ("full_times", "torch.zeros_like({0}) * {0}", "np.zeros_like({0}) * {0}"),
        ("full_plus", "torch.zeros_like({0}) + {0}", "np.zeros_like({0}) + {0}"),
    ]
    made = [_point(name, numpy, FULL, torch=torch, family="folding", result="i1" if "equal" in name else 0)
            for name, torch, numpy in rows]
    chain = "{0} * {1} / {1}"
    return [*made, _point("multiply_divide", chain, ("fp16", "bf16"), torch=chain, arity=2, family="folding")]


def _conversions() -> list[Operation]:
    found = []
    everything = BOOL + INTEGERS + FLOATS
    for target in everything + FP8:
        info = dtype_info(target)
        # To integers fp8 never compiles: two of them are enough.
        others = FP8 if target in (*FLOATS, "i1", "i32") else ()
        sources = FLOATS if target in FP8 else tuple(name for name in everything + others if name != target)
        torch_name = f"torch.{TORCH_NAMES[target]}"
        floats = tuple(name for name in sources if dtype_info(name).is_float)
        whole = tuple(name for name in sources if not dtype_info(name).is_float)
        inside = f"({{0}}.double() > {float(info.min)} - 1) & ({{0}}.double() < {float(info.max)})"
        total = info.is_float or target == "i1"
        found += [_point(f"to_{target}{suffix}", f"convert({{0}}, {target!r})", dtypes, torch=f"{{0}}.to({torch_name})",
                         result=target, family="conversion", defined=defined)
                  for suffix, dtypes, defined in ([("", sources, "")] if total else [
                      ("", whole, ""), ("_of_float", floats, inside)])]
        if target not in FP8 and target != "i1":
            alike = tuple(name for name in (*SIGNED, "u8", *FLOATS) if name != target
                          and dtype_info(name).storage_bits == info.storage_bits)
            if alike and target in (*SIGNED, "u8", *FLOATS):
                # Of a value that is computed, because the view of an argument needs no kernel; never of a NaN.
                found.append(_point(f"view_{target}", f"np.where({{0}} > 0, {{0}}, {{0}}.dtype.type(1)).view("
                                    f"numpy_dtype({target!r}))", alike, result=target, family="conversion",
                                    torch=f"torch.where({{0}} > 0, {{0}}, 1).view({torch_name})"))
    return found


def _row(name: str, torch: str, numpy: str, dtypes: Signature, *, family: str = "reduction", keeps: bool = False,
         judging: Judging = "exact", result: int | str = 0, accuracy: str = "") -> Operation:
    return Operation(name=name, family=family, torch=torch, numpy=numpy, signatures=_same(dtypes, 1), keeps=keeps,
                     judging=judging, result=result, accuracy=accuracy)


def _reductions() -> list[Operation]:
    return [
        *(_row(f"{name}_integer", f"{{0}}.{name}(-1)", f"{{0}}.{name}(-1, dtype=np.int64)", BOOL + COMPUTED,
               result="i64") for name in ("sum", "prod")),
        _row("sum", "{0}.sum(-1)", "{0}.sum(-1)", FLOATS, judging="sum"),
        _row("mean", "{0}.mean(-1)", "{0}.mean(-1)", FLOATS, judging="mean"),
        _row("var_mean_mean", "torch.var_mean({0}, -1, correction=0)[1]", "welford_mean({0})", FULL, judging="mean"),
        _row("var", "torch.var({0}, -1, correction=0)", "{0}.var(-1)", FULL, judging="variance"),
        *(_row(f"a{name}", f"{{0}}.a{name}(-1)", f"{{0}}.{name}(-1)", BOOL + _NUMBERS, judging="unsigned_zero")
          for name in ("max", "min")),
        *(_row(name, f"{{0}}.{name}(-1)", f"{{0}}.{name}(-1)", _NUMBERS, result="i64")
          for name in ("argmax", "argmin")),
        *(_row(name, f"{{0}}.{name}(-1)", f"{{0}}.astype(bool).{name}(-1)",
               BOOL + tuple(kind for kind in _NUMBERS if kind != "u8"), result="i1") for name in ("any", "all")),
        # torch documents that these two keep uint8.
        *(_row(f"{name}_u8", f"{{0}}.{name}(-1)", f"{{0}}.astype(bool).{name}(-1)", ("u8",))
          for name in ("any", "all")),
    ]


def _scans() -> list[Operation]:
    return [
        *(_row(f"{name}_integer", f"torch.{name}({{0}}, -1)", f"np.{name}({{0}}, -1, dtype=np.int64)", BOOL + COMPUTED,
               family="scan", keeps=True, result="i64") for name in ("cumsum", "cumprod")),
        _row("cumsum", "torch.cumsum({0}, -1)", "np.cumsum({0}, -1)", FLOATS, family="scan", keeps=True,
             judging="prefix_sum"),
        *(_row(f"{name}_{part}", f"torch.{name}({{0}}, -1)[{index}]", f"{name}({{0}})[{index}]", _NUMBERS,
               family="scan", keeps=True, result=("i64" if index else 0), judging="exact" if index else "unsigned_zero")
          for name in ("cummax", "cummin") for index, part in enumerate(("values", "indices"))),
    ]


def _sorts() -> list[Operation]:
    return [
        _row(f"sort{'_descending' if down else ''}_{part}",
             f"torch.sort({{0}}, dim=-1, descending={down}, stable=True)[{index}]", f"sort({{0}}, {down})[{index}]",
             BOOL + _NUMBERS, family="sort", keeps=True, result=("i64" if index else 0),
             judging="exact" if index else "unsigned_zero")
        for down in (False, True) for index, part in enumerate(("values", "indices"))
    ]


def _searches() -> list[Operation]:
    return [
        Operation(name=f"bucketize_{'right' if right else 'left'}{'_i32' if narrow else ''}", family="bucketize",
                  torch=f"torch.bucketize({{0}}, {{1}}, right={right}, out_int32={narrow})",
                  numpy=f"bucketize({{0}}, {{1}}, {right})", signatures=_same(_NUMBERS, 2),
                  result="i32" if narrow else "i64")
        for right in (False, True) for narrow in (False, True)
    ]


_ROWS = (*_exact(), *_transcendental(), *_folding(), *_conversions(), *_reductions(), *_scans(), *_sorts(),
         *_searches())

OPERATIONS: Mapping[str, Operation] = MappingProxyType({one.name: one for one in _ROWS})
"""Every operation by name."""

assert len(OPERATIONS) == len(_ROWS), "two operations share a name"


def splits_scans(length: int) -> bool:
    """Whether Inductor may split a scan of rows of this length over programs, each of which adds up what it finds of
    those before it: another order of rounding each time. It does so for few rows of more than 128 elements that do not
    lie in a line, and of more than 8192 that do (torch 2.11 and 2.13)."""
    return length > 128


def program(operation: Operation) -> str:
    """The text of the function that is compiled."""
    names = ("a", "b", "c")[:operation.arity]
    return (f"import torch\n\n\ndef compute({', '.join(names)}):\n"
            f"    return {operation.torch.format(*names)}\n")


def of_family(family: str) -> tuple[str, ...]:
    """Names of the operations of one target, in the table's order."""
    return tuple(name for name, one in OPERATIONS.items() if one.family == family)
