"""Taking a floating-point number apart."""

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import (
    compile_modes,
    contents,
    dtypes,
    exponent_contents,
    lengths,
    option_variants,
    row_counts,
    strided_layouts,
)
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import elementwise_blocks, mutants, subjects

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule

DTYPES = ("fp32", "fp64")
_DIMS = ("rows", "cols")
_OUTPUTS = ("mantissa", "exponent")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    cols = draw(lengths(maximum=min(64, limits.elements)))
    rows = draw(row_counts(maximum=min(limits.rows, limits.elements // max(cols, 1))))
    output = strided_layouts(dims=_DIMS, output=True)
    return Case(
        target="helpers.frexp", sizes={"rows": rows, "cols": cols},
        arrays=(ArraySpec(name="a", dtype=dtype, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS)),
                          content=draw(st.one_of(contents(dtype=dtype), exponent_contents(dtype=dtype)))),
                ArraySpec(name="mantissa", dtype=dtype, dims=_DIMS, layout=draw(output)),
                ArraySpec(name="exponent", dtype="i32", dims=_DIMS, layout=draw(output))),
        options=draw(compile_modes()), variants=draw(option_variants()))


def _launch(launch: "Launch") -> None:
    launch.drive("tridiff.kernels.drivers.frexp:frexp", **elementwise_blocks(launch))


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT, NUM

    return {"mantissa": NUM, "exponent": BIT}


TARGET = Target(
    name="helpers.frexp", family="helpers", contract="helpers.md §12", dtypes=DTYPES,
    summary="mantissa in [0.5, 1) and exponent of a float", subjects=subjects("bits", "frexp"),
    draw=Draw(cases=_cases),
    run=Run(launch=_launch),
    judge=Judge(
        rules=_rules,
        oracles=lambda case: (
            Reference(source="torch", function="tridiff.oracles.by_torch.floats:frexp", arguments=("a",),
                      outputs=_OUTPUTS),
            Reference(source="numpy", function="tridiff.oracles.by_numpy.floats:frexp", arguments=("a",),
                      outputs=_OUTPUTS),
        ),
        label=lambda case: case.arrays[0].dtype),
    faults=Faults(planted=mutants("bits", "frexp")))
