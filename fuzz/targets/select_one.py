"""Picking the one marked element of every slice."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import dtypes, lengths, one_hot_contents, row_lengths, strided_layouts
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import (
    DIMS,
    both,
    compiled,
    mutants,
    operand,
    reduction_blocks,
    result,
    rows_of,
    subjects,
)
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info
from tridiff.oracles.rules import BIT


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes())
    cols = draw(lengths(maximum=min(draw(row_lengths()), limits.elements), empty=False))
    rows = draw(rows_of(cols, limits))
    return Case(
        target="helpers.select_one", sizes={"rows": rows, "cols": cols},
        params={"axis": draw(st.sampled_from((1, 0))), "keep_dims": draw(st.booleans())},
        arrays=(
            operand(draw, "a", dtype),
            ArraySpec(name="mask", dtype="i1", dims=DIMS, content=draw(one_hot_contents()),
                      layout=draw(strided_layouts(dims=DIMS, broadcast=("rows",)))),
            result(draw, "out", dtype, dims=("rows",)),
        ), **compiled(draw))


def _launch(launch: Launch) -> None:
    launch.drive("tridiff.kernels.drivers.select_rows:select_rows", KEEP_DIMS=launch.case.params["keep_dims"],
                 BOOL=launch.spec("a").dtype == "i1", **reduction_blocks(launch))


TARGET = Target(
    name="helpers.select_one", contract="helpers.md §13 (select_one)", dtypes=NAMES,
    summary="the element under the only True of each slice, bit for bit", subjects=subjects("select", "select_one"),
    draw=Draw(
        cases=_cases, params=lambda case: {"axis": (0, 1), "keep_dims": (False, True)}, interpreter_elements=1 << 8),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"out": BIT},
        oracles=lambda case: both("sorting:select_one", "a", "mask"),
        defined=lambda case: ("tridiff.oracles.by_torch.sorting:select_one_defined", ("mask",)),
        label=lambda case: dtype_info(case.array("a").dtype).kind),
    shrink=Shrink(simplest={"axis": (1, 0), "keep_dims": (False, True)}),
    faults=Faults(planted=mutants("select", "select_one")))
