"""Value and flag in one word, and back: what the look-back scan publishes."""

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import (
    compile_modes,
    contents,
    dtypes,
    lengths,
    option_variants,
    row_counts,
    strided_layouts,
)
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import elementwise_blocks, mutants, subjects, triton_type
from tridiff.oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule

DTYPES = ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32")
_DIMS = ("rows", "cols")


def _unsigned(dtype: str, factor: int = 1) -> str:
    return f"u{dtype_info(dtype).bits * factor}"


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    cols = draw(lengths(maximum=min(256, limits.elements)))
    rows = draw(row_counts(maximum=min(limits.rows, limits.elements // max(cols, 1))))
    inputs = {"pack": _unsigned(dtype, 2)}
    if helper == "pack_value_flag":
        inputs = {"value": dtype, "flag": _unsigned(dtype)}
    out = {"pack_value_flag": _unsigned(dtype, 2), "unpack_value": dtype, "unpack_flag": _unsigned(dtype)}[helper]
    arrays = [ArraySpec(name=name, dtype=of, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS)),
                        content=draw(contents(dtype=of))) for name, of in inputs.items()]
    arrays.append(ArraySpec(name="out", dtype=out, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS, output=True))))
    return Case(target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, arrays=tuple(arrays),
                params={"value": dtype}, options=draw(compile_modes()), variants=draw(option_variants()))


def _launch(launch: "Launch") -> None:
    value, helper = str(launch.case.params["value"]), launch.case.target.partition(".")[2]
    given: dict[str, dict[str, object]] = {
        "pack_value_flag": {"VALUE_AS_UINT": triton_type(_unsigned(value)), "PACK": triton_type(_unsigned(value, 2))},
        "unpack_value": {"VALUE": triton_type(value), "VALUE_AS_UINT": triton_type(_unsigned(value))},
        "unpack_flag": {"FLAG": triton_type(_unsigned(value))},
    }
    driver = "pack_words" if helper == "pack_value_flag" else helper
    launch.drive(f"tridiff.kernels.drivers.pack_words:{driver}", **given[helper], **elementwise_blocks(launch))


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT

    return {"out": BIT}


def _target(helper: str, summary: str, *faults: str) -> Target:
    arguments = {"pack_value_flag": ("value", "flag"), "unpack_value": ("pack", "name=value"),
                 "unpack_flag": ("pack",)}[helper]
    return Target(
        name=f"helpers.{helper}", family="helpers", summary=summary, contract="helpers.md §11", dtypes=DTYPES,
        subjects=subjects("lookback", helper),
        draw=Draw(cases=lambda limits: _cases(helper, limits), params=lambda case: {"value": DTYPES}),
        run=Run(launch=_launch),
        judge=Judge(
            rules=_rules,
            oracles=lambda case: tuple(
                Reference(source=source, function=f"tridiff.oracles.by_{source}.scan:{helper}", arguments=arguments)
                for source in ("torch", "numpy")),
            label=lambda case: str(case.params["value"])),
        faults=Faults(planted=mutants("pack", helper, *faults)))


TARGETS = (
    _target("pack_value_flag", "value and flag in one word of twice the width",
            "halves_swapped", "shifted_short", "value_converted", "sign_extended", "flag_dropped"),
    _target("unpack_value", "the value of a packed word, bit for bit", "low_half", "shifted_short", "value_converted"),
    _target("unpack_flag", "the flag of a packed word", "high_half", "two_bits"),
)
