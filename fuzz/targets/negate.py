"""Triton's bare minus sign: the sign of every operand changes, that of zero as well."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case
from tridiff.fuzz.strategies import dtypes, lengths
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import compiled, elementwise_blocks, mutants, operand, result, rows_of
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import NUM

DTYPES = ("i8", "i16", "i32", "i64", "bf16", "fp16", "fp32", "fp64")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype, cols = draw(dtypes(among=DTYPES)), draw(lengths(maximum=64))
    rows = draw(rows_of(cols, limits))
    a = operand(draw, "a", dtype)
    out = result(draw, "out", dtype)
    return Case(target="triton.negate", sizes={"rows": rows, "cols": cols}, arrays=(a, out),
                **compiled(draw, clusters=True))


def _launch(launch: Launch) -> None:
    launch.drive("tridiff.kernels.drivers.elementwise:elementwise_unary", BOOL=False, **elementwise_blocks(launch))


TARGET = Target(
    name="triton.negate", contract="codegen.md §3 (neg)", dtypes=DTYPES,
    summary="-x as Triton compiles it, signed zeros included",
    subjects={"own": "tridiff.kernels.helpers.operators:operator_negate"},
    draw=Draw(cases=_cases),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"out": NUM},
        oracles=lambda case: (Reference(source="torch", function="torch:neg", arguments=("a",)),
                              Reference(source="numpy", function="numpy:negative", arguments=("a",))),
        label=lambda case: dtype_info(case.arrays[0].dtype).kind),
    faults=Faults(planted=mutants("operators", "operator_negate")))
