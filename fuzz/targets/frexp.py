"""Taking a floating-point number apart."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case
from tridiff.fuzz.strategies import contents, dtypes, exponent_contents, lengths
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Run, Target
from tridiff.fuzz.targets.tiles import both, compiled, elementwise_blocks, mutants, operand, result, rows_of, subjects
from tridiff.oracles.rules import BIT, NUM

DTYPES = ("fp32", "fp64")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    cols = draw(lengths(maximum=min(64, limits.elements)))
    rows = draw(rows_of(cols, limits))
    return Case(
        target="helpers.frexp", sizes={"rows": rows, "cols": cols},
        arrays=(operand(draw, "a", dtype, st.one_of(contents(dtype=dtype), exponent_contents(dtype=dtype))),
                result(draw, "mantissa", dtype), result(draw, "exponent", "i32")), **compiled(draw))


def _launch(launch: Launch) -> None:
    launch.drive("tridiff.kernels.drivers.frexp:frexp", **elementwise_blocks(launch))


TARGET = Target(
    name="helpers.frexp", contract="helpers.md §12", dtypes=DTYPES,
    summary="mantissa in [0.5, 1) and exponent of a float", subjects=subjects("bits", "frexp"),
    draw=Draw(cases=_cases),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"mantissa": NUM, "exponent": BIT},
        oracles=lambda case: both("floats:frexp", "a", outputs=("mantissa", "exponent")),
        label=lambda case: case.arrays[0].dtype),
    faults=Faults(planted=mutants("bits", "frexp")))
