"""The same case with another dtype: to simplify a setting that goes with one, and to ask whether a dtype matters."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.content.text import from_bits, to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Constant, Explicit, Iota, Outcome
from tridiff.oracles.dtypes import dtype as dtype_info

Run = Callable[[Case], Outcome]

_ASKED = ("i1", "i8", "u8", "i32", "u32", "i64", "u64", "fp8e5", "fp16", "bf16", "fp32", "fp64")
"""One dtype of each class, and the unsigned ones."""


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


def retyped(case: Case, old: str, new: str) -> Case | None:
    """The case with another dtype in the place of one; None where a value has none there, or is not listed."""
    arrays = []
    for spec in case.arrays:
        if spec.dtype != old:
            arrays.append(spec)
            continue
        made = _with_dtype(spec, new)
        if made is None:
            return None
        arrays.append(made)
    params = {name: new if value == old else value for name, value in case.params.items()}
    return replace(case, arrays=tuple(arrays), params=params)


def _with_dtype(spec: ArraySpec, dtype: str) -> ArraySpec | None:
    """None where a value of the array is none of the dtype, or is described and not listed."""
    if spec.content is None:
        return replace(spec, dtype=dtype)
    base = spec.content.base
    if isinstance(base, Iota) and not spec.content.overrides:
        return replace(spec, dtype=dtype) if dtype_info(dtype).is_integer else None
    values = base.values if isinstance(base, Explicit) else (base.value,) if isinstance(base, Constant) else None
    if values is None or spec.content.overrides:
        return None
    texts = tuple(_text(one, spec.dtype, dtype) for one in values)
    if not all(texts):
        return None
    content = replace(spec.content, base=Explicit(values=texts) if isinstance(base, Explicit)
                      else Constant(value=texts[0]))
    return replace(spec, dtype=dtype, content=content)


def _text(value: str, old: str, new: str) -> str:
    """The same value as text of another dtype; "" if it has none."""
    one, other = dtype_info(old), dtype_info(new)
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
