"""The type that operands are computed in (contract: language.md §1; source: triton-lang.org, "Triton Semantics")."""

from tridiff.fuzz.errors import TridiffError
from tridiff.kernels.language.call import Operand
from tridiff.oracles.dtypes import FP8, dtype

_KINDS = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def of_number(value: float) -> str:
    """The type of a Python number that takes part in the promotion."""
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        for name in ("i32", "u32", "i64", "u64"):
            if dtype(name).min <= value <= dtype(name).max:
                return name
        raise TridiffError(f"{value} fits no integer type", fix="draw another number")
    size = abs(value)
    normal = size in (0.0, float("inf")) or value != value or 2.0**-126 <= size <= float(dtype("fp32").max)
    return "fp32" if normal else "fp64"


def of_argument(value: float) -> str:
    """The type of a Python number that is passed at launch (source: Triton's mangling of arguments). The number 1 is
    none of these: the compiler makes a constant of it."""
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return next(name for name in ("i32", "i64", "u64") if dtype(name).min <= value <= dtype(name).max)
    return "fp32"


def promoted(a: Operand, b: Operand, *, division: bool = False) -> str:
    """The type of a binary operation. division: for / and %, which halves are widened for."""
    first, second = a.dtype, b.dtype
    numbers = (a.constant, b.constant)
    if numbers[0] != numbers[1]:
        scalar, tensor = (first, second) if numbers[0] else (second, first)
        if _KINDS[dtype(scalar).kind] <= _KINDS[dtype(tensor).kind]:
            first = second = tensor
    return of_types(first, second, division=division)


def of_types(first: str, second: str, *, division: bool = False) -> str:
    """The type of a binary operation on tensors of two types."""
    pair = {first, second}
    if "fp64" in pair:
        return "fp64"
    if division and any(dtype(one).is_float for one in pair):
        return "fp32"
    if "fp32" in pair:
        return "fp32"
    if "fp16" in pair:
        return "fp16"
    if pair == {"bf16"}:
        return "bf16"
    if "bf16" in pair:
        return "fp32"
    if pair <= set(FP8):
        return first if first == second else "fp16"
    return _integers(first, second)


def _integers(first: str, second: str) -> str:
    a, b = dtype(first), dtype(second)
    # i1 counts as unsigned, of one bit.
    unsigned = (a.kind in ("uint", "bool"), b.kind in ("uint", "bool"))
    if unsigned[0] == unsigned[1]:
        return first if a.bits > b.bits else second
    if unsigned[0]:
        return first if a.bits >= b.bits else second
    return second if b.bits >= a.bits else first


def same_signedness(a: Operand, b: Operand) -> bool:
    """Whether `//`, `/` and `%` accept a pair of operands: integers of unlike signedness are refused, and so are
    negative numbers beside unsigned tensors, by every operation."""
    numbers = [one for one in (a, b) if one.constant]
    kinds = [dtype(one.dtype).kind for one in (a, b)]
    if len(numbers) == 1:
        return True
    return "float" in kinds or ("int" in kinds) != ("uint" in kinds or "bool" in kinds)
