"""Value and flag in one word, and back: what the look-back scan publishes."""

from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.content.text import from_bits, to_bits
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit
from tridiff.fuzz.strategies import dtypes, lengths
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import (
    both,
    compiled,
    elementwise_blocks,
    mutants,
    operand,
    result,
    rows_of,
    subjects,
    triton_type,
)
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import BIT

DTYPES = ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32")


def _unsigned(dtype: str, factor: int = 1) -> str:
    return f"u{dtype_info(dtype).bits * factor}"


def _dtypes(helper: str, dtype: str) -> dict[str, str]:
    """Of every array, by the value's."""
    if helper == "pack_value_flag":
        return {"value": dtype, "flag": _unsigned(dtype), "out": _unsigned(dtype, 2)}
    return {"pack": _unsigned(dtype, 2), "out": dtype if helper == "unpack_value" else _unsigned(dtype)}


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    cols = draw(lengths(maximum=min(256, limits.elements)))
    rows = draw(rows_of(cols, limits))
    inputs = _dtypes(helper, dtype)
    out = inputs.pop("out")
    arrays = [operand(draw, name, of) for name, of in inputs.items()]
    arrays.append(result(draw, "out", out))
    return Case(target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, arrays=tuple(arrays),
                params={"value": dtype}, **compiled(draw))


def _valid(case: Case) -> bool:
    return _dtypes(case.target.partition(".")[2], str(case.params["value"])) == {
        spec.name: spec.dtype for spec in case.arrays}


def _plain(case: Case) -> Iterator[Case]:
    """The same bits in words of the plainest width."""
    dtype, helper = str(case.params["value"]), case.target.partition(".")[2]
    for value in ("i32",) if dtype_info(dtype).bits == 32 else ("i32", "i16"):
        if value == dtype:
            return
        made = _dtypes(helper, value)
        arrays = tuple(_with_bits(spec, made[spec.name]) for spec in case.arrays)
        yield replace(case, params={"value": value}, arrays=arrays)


def _with_bits(spec: ArraySpec, dtype: str) -> ArraySpec:
    if spec.content is None or not isinstance(spec.content.base, Explicit):
        return replace(spec, dtype=dtype)
    most = (1 << dtype_info(dtype).bits) - 1
    values = tuple(from_bits(to_bits(text, spec.dtype) & most, dtype) for text in spec.content.base.values)
    return replace(spec, dtype=dtype, content=Content(base=Explicit(values=values)))


def _launch(launch: Launch) -> None:
    value, helper = str(launch.case.params["value"]), launch.case.target.partition(".")[2]
    given: dict[str, dict[str, object]] = {
        "pack_value_flag": {"VALUE_AS_UINT": triton_type(_unsigned(value)), "PACK": triton_type(_unsigned(value, 2))},
        "unpack_value": {"VALUE": triton_type(value), "VALUE_AS_UINT": triton_type(_unsigned(value))},
        "unpack_flag": {"FLAG": triton_type(_unsigned(value))},
    }
    driver = "pack_words" if helper == "pack_value_flag" else helper
    launch.drive(f"tridiff.kernels.drivers.pack_words:{driver}", **given[helper], **elementwise_blocks(launch))


def _target(helper: str, summary: str) -> Target:
    arguments = {"pack_value_flag": ("value", "flag"), "unpack_value": ("pack", "name=value"),
                 "unpack_flag": ("pack",)}[helper]
    return Target(
        name=f"helpers.{helper}", summary=summary, contract="helpers.md §11", dtypes=DTYPES,
        subjects=subjects("lookback", helper),
        draw=Draw(cases=lambda limits: _cases(helper, limits), params=lambda case: {"value": DTYPES},
                  valid=_valid),
        run=Run(launch=_launch),
        judge=Judge(
            rules=lambda case: {"out": BIT},
            oracles=lambda case: both(f"scan:{helper}", *arguments), label=lambda case: str(case.params["value"])),
        shrink=Shrink(forms=_plain),
        faults=Faults(planted=mutants("pack", helper)))


TARGETS = (
    _target("pack_value_flag", "value and flag in one word of twice the width"),
    _target("unpack_value", "the value of a packed word, bit for bit"),
    _target("unpack_flag", "the flag of a packed word"),
)
