"""The same case with another dtype: to simplify a setting that goes with one, and to ask whether a dtype matters."""

from collections.abc import Callable, Collection, Iterator

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.content.text import from_bits, to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Constant, Explicit, Iota, Outcome
from tridiff.oracles.dtypes import dtype as dtype_info

Run = Callable[[Case], Outcome]

_ASKED = ("i1", "i8", "u8", "i32", "u32", "i64", "u64", "fp8e5", "fp16", "bf16", "fp32", "fp64")
"""One dtype of each class, and the unsigned ones."""
_PLAIN = ("i32", "i64", "i16", "i8", "u32", "u64", "u16", "u8", "i1", "fp32", "fp64", "fp16", "bf16")
"""The plainest first."""
_LOWEST = 4
"""Bits of the lowest subnormals, and of zero."""


def class_of_dtype(name: str) -> str:
    """What a defect of one dtype is mostly a defect of: "fp8", "narrow int", "wide int", or the dtype."""
    info = dtype_info(name)
    if info.is_integer:
        return "narrow int" if info.bits < 32 else "wide int" if info.bits > 32 else "int"
    return "fp8" if info.is_float and info.bits == 8 else name


def with_setting(case: Case, name: str, value: object) -> Case:
    """The case with another value of a setting; where it names a dtype, outputs of the old one get the new one."""
    now = case.params[name]
    arrays = tuple(replace(spec, dtype=str(value)) if spec.content is None and spec.dtype == now else spec
                   for spec in case.arrays)
    return replace(case, params={**case.params, name: value}, arrays=arrays)


def alone(case: Case, run: Run, valid: Callable[[Case], bool], *, exhausted: Callable[[], bool]) -> str:
    """The class of dtypes to which a failing case owes that it fails: of the same values, all other dtypes that can be
    asked for are right. "" where another one fails too, where none could be asked, and for programs, whose dtypes are
    shrunk like all that they consist of."""
    dtypes = {spec.dtype for spec in case.arrays if spec.content is not None}
    if not isinstance(case.program, msgspec.UnsetType) or len(dtypes) != 1:
        return ""
    now, = dtypes
    asked = 0
    for name in _ASKED:
        if class_of_dtype(name) == class_of_dtype(now):
            continue
        other = retyped(case, now, name)
        if other is None or not valid(other):
            continue
        if exhausted():
            return ""
        try:
            outcome = run(other)
        except TridiffError:
            continue
        if outcome.verdict.failed:
            return ""
        asked += 1
    return class_of_dtype(now) if asked else ""


def plainness(case: Case) -> tuple[int, ...]:
    """Of two cases that differ in nothing but dtypes, the smaller has the plainer ones."""
    return tuple(_PLAIN.index(spec.dtype) if spec.dtype in _PLAIN else len(_PLAIN)
                 for spec in case.arrays if spec.content is not None)


def plainer(case: Case, among: Collection[str]) -> Iterator[Case]:
    """The same values in plainer dtypes, the plainest first. A lowest subnormal has no value in another float, and a
    large unsigned number none with a sign: there it is what has the same bits."""
    for old in sorted({spec.dtype for spec in case.arrays if spec.content is not None} & set(among)):
        for new in _PLAIN[:_PLAIN.index(old) if old in _PLAIN else None]:
            found = [retyped(case, old, new, bits=bits) for bits in (False, True) if new in among]
            yield from (one for place, one in enumerate(found) if one is not None and one not in found[:place])


def retyped(case: Case, old: str, new: str, *, bits: bool = False) -> Case | None:
    """The case with another dtype in the place of one; None where a value has none there, or is not listed. bits:
    whether what has the same bits will do."""
    arrays = []
    for spec in case.arrays:
        if spec.dtype != old:
            arrays.append(spec)
            continue
        made = _with_dtype(spec, new, bits=bits)
        if made is None:
            return None
        arrays.append(made)
    params = {name: new if value == old else value for name, value in case.params.items()}
    return replace(case, arrays=tuple(arrays), params=params)


def _with_dtype(spec: ArraySpec, dtype: str, *, bits: bool) -> ArraySpec | None:
    """None where a value of the array is none of the dtype, or is described and not listed."""
    if spec.content is None:
        return replace(spec, dtype=dtype)
    base = spec.content.base
    if isinstance(base, Iota) and not spec.content.overrides:
        return replace(spec, dtype=dtype) if dtype_info(dtype).is_integer else None
    values = base.values if isinstance(base, Explicit) else (base.value,) if isinstance(base, Constant) else None
    if values is None or spec.content.overrides:
        return None
    texts = tuple(_text(one, spec.dtype, dtype, bits=bits) for one in values)
    if not all(texts):
        return None
    content = replace(spec.content, base=Explicit(values=texts) if isinstance(base, Explicit)
                      else Constant(value=texts[0]))
    return replace(spec, dtype=dtype, content=content)


def _text(value: str, old: str, new: str, *, bits: bool) -> str:
    """The same value as text of another dtype; "" if it has none."""
    one, other = dtype_info(old), dtype_info(new)
    if bits and one.is_float and other.is_float and (lowest := to_bits(value, old) & ~(1 << one.bits - 1)) < _LOWEST:
        return from_bits(lowest | (value.startswith("-") << other.bits - 1), new)
    if bits and one.kind == "uint" and other.is_integer and one.bits == other.bits:
        return from_bits(to_bits(value, old), new)
    if not other.is_float:
        if "nan" in value or "inf" in value or value == "-0.0" or float(value) != int(float(value)):
            return ""
        number = int(float(value)) if one.is_float else int(value)
        return str(number) if other.min <= number <= other.max else ""
    try:
        text = from_bits(to_bits("nan" if "nan" in value else value, new), new)
    except TridiffError:
        return ""
    return text if "nan" in value or "inf" in value or float(text) == (float if one.is_float else int)(value) else ""
