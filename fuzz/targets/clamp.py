"""Limiting values to a range."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case
from tridiff.fuzz.strategies import dtypes, lengths
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import compiled, elementwise_blocks, mutants, operand, result, rows_of
from tridiff.oracles.rules import NUM0

DTYPES = ("i8", "i16", "i32", "i64", "u8", "fp16", "fp32", "fp64")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype, cols = draw(dtypes(among=DTYPES)), draw(lengths(maximum=64))
    rows = draw(rows_of(cols, limits))
    arrays = [operand(draw, name, dtype) for name in ("a", "b", "c")]
    out = result(draw, "out", dtype)
    return Case(target="helpers.clamp", sizes={"rows": rows, "cols": cols}, arrays=(*arrays, out), **compiled(draw))


def _launch(launch: Launch) -> None:
    launch.drive("tridiff.kernels.drivers.elementwise:elementwise_ternary", BOOL=False, **elementwise_blocks(launch))


TARGET = Target(
    name="helpers.clamp", contract="torch.clamp", summary="x within [low, high]", dtypes=DTYPES,
    subjects={"own": "tridiff.kernels.helpers.clamp:clamp"},
    draw=Draw(cases=_cases),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"out": NUM0},
        oracles=lambda case: (Reference(source="torch", function="torch:clamp", arguments=("a", "b", "c")),
                              Reference(source="numpy", function="numpy:clip", arguments=("a", "b", "c"))),
        label=lambda case: case.arrays[0].dtype),
    faults=Faults(planted=mutants("clamp", "clamp")))
