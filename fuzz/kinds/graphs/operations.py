"""Which pointwise operations a value of each dtype may meet, and what guards them (contract: codegen.md §3).

Read from the operation table. Left out are conversions and bit casts (nodes of their own) and bare operators that are
undefined for some operands, where a guarded form means the same (`floordiv_operator` of signed numbers).
"""

from dataclasses import dataclass
from functools import cache, lru_cache

from tridiff.kernels.codegen.ranges import COMPARISONS as _COMPARISONS
from tridiff.kernels.pointwise.record import ELEMENTARY, Group
from tridiff.kernels.pointwise.table import HALVES, OPS, result_dtype
from tridiff.oracles.dtypes import dtype as dtype_info

DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod", "floordiv_operator", "mod_operator")
COMPARISONS = tuple(_COMPARISONS)
SHIFTS = ("left_shift", "right_shift", "left_shift_operator", "right_shift_operator")
_OWN_PRODUCTION = {*SHIFTS, *COMPARISONS, "where", "frexp_mantissa", "frexp_exponent", "llrint", "clamp"}
_GROUPS_LEFT_OUT: tuple[Group, ...] = ("conversion", "bit cast")
_OFTEN: tuple[Group, ...] = ("exact arithmetic", "min/max")
_BY_NUMPY = ("log_tl", "log2_tl", "sin_tl", "cos_tl")
"""What the interpreter computes with numpy's single precision functions, which are good to 4 ulps only; the rules of
`tridiff.oracles.pointwise` are those of the device. (exp_tl and exp2_tl have rules that are wide enough.)"""
_BY_SCIPY = ("j0", "j1", "y0", "y1", "i0", "i1", "erfcx")
"""What the interpreter computes of fp64 with scipy, which loses the digits that `oracles.by_numpy.special` keeps."""

_ASKED = 60


@dataclass(frozen=True, slots=True)
class Choice:
    """One operation for operands of one dtype. variant: another lowering of an operation that is listed too."""

    op: str
    group: Group
    arity: int
    result: str
    variant: bool


@cache
def choices(dtype: str) -> tuple[Choice, ...]:
    """Operations whose operands all have this dtype."""
    found = []
    for op in OPS.values():
        if op.group in _GROUPS_LEFT_OUT or op.name in _OWN_PRODUCTION:
            continue
        if dtype_info(dtype).is_integer and op.name in DIVISIONS:
            continue
        signature = (dtype,) * op.arity
        if signature in op.signatures:
            found.append(Choice(op.name, op.group, op.arity, result_dtype(op.name, signature), bool(op.variant_of)))
    return tuple(found)


@lru_cache(maxsize=64)  # the groups of a program are drawn: there are as many as programs
def table(dtype: str, groups: tuple[tuple[str, int], ...], *, compiled: bool,
          asked: frozenset[str] = frozenset()) -> tuple[tuple[int, Choice], ...]:
    """(weight, choice), the simple and frequent ones first. compiled: not for the interpreter. asked: operations that
    weigh more than all others together."""
    weights = dict(groups)
    found = []
    for one in choices(dtype):
        if not compiled and (one.op in _BY_NUMPY or (dtype == "fp64" and one.op in _BY_SCIPY)):
            continue
        base = 6 if one.group in _OFTEN else 2
        weight = base + 3 * weights.get(one.group, 0)
        if one.group in ELEMENTARY:
            weight = 3 + 2 * weights.get(one.group, 0)
        # Halves come up less often than other types: there other lowerings weigh as much as the usual ones.
        weight = max(weight // (3 if one.variant and dtype not in HALVES else 1), 1)
        found.append((weight * (_ASKED if one.op in asked else 1), one))
    return tuple(found)


@cache
def integer_divisions(dtype: str) -> tuple[str, ...]:
    """Integer divisions that are defined for every non-zero divisor."""
    signed = dtype_info(dtype).kind == "int"
    return tuple(name for name in DIVISIONS
                 if (dtype, dtype) in OPS[name].signatures and not (signed and name.endswith("_operator")))


def castable(source: str) -> tuple[str, ...]:
    """Dtypes a value may be converted to; from floats to integers behind a guard."""
    return tuple(name for name in _TARGETS if name != source)


_TARGETS = ("fp32", "i32", "i64", "fp64", "fp16", "bf16", "i8", "i16", "u8", "u16", "u32", "u64", "i1", "fp8e5",
            "fp8e4nv")


@cache
def same_width(source: str) -> tuple[str, ...]:
    """Dtypes of a value's bits read differently."""
    if source == "i1":
        return ()
    return tuple(name for name in _TARGETS if name not in (source, "i1")
                 and dtype_info(name).bits == dtype_info(source).bits)
