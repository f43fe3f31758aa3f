"""Picking the one marked element of every slice."""

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import (
    compile_modes,
    contents,
    dtypes,
    lengths,
    one_hot_contents,
    option_variants,
    row_counts,
    row_lengths,
    strided_layouts,
)
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import mutants, reduction_blocks, subjects
from tridiff.oracles.dtypes import NAMES
from tridiff.oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule

_DIMS = ("rows", "cols")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes())
    cols = draw(lengths(maximum=min(draw(row_lengths()), limits.elements), empty=False))
    rows = draw(row_counts(maximum=min(limits.rows, limits.elements // cols)))
    return Case(
        target="helpers.select_one", sizes={"rows": rows, "cols": cols},
        params={"axis": draw(st.sampled_from((1, 0))), "keep_dims": draw(st.booleans())},
        arrays=(
            ArraySpec(name="a", dtype=dtype, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS)),
                      content=draw(contents(dtype=dtype))),
            ArraySpec(name="mask", dtype="i1", dims=_DIMS, content=draw(one_hot_contents()),
                      layout=draw(strided_layouts(dims=_DIMS, broadcast=("rows",)))),
            ArraySpec(name="out", dtype=dtype, dims=("rows",),
                      layout=draw(strided_layouts(dims=("rows",), output=True))),
        ), options=draw(compile_modes()), variants=draw(option_variants()))


def _launch(launch: "Launch") -> None:
    launch.drive("tridiff.kernels.drivers.select_rows:select_rows", KEEP_DIMS=launch.case.params["keep_dims"],
                 BOOL=launch.spec("a").dtype == "i1", **reduction_blocks(launch))


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT

    return {"out": BIT}


TARGET = Target(
    name="helpers.select_one", family="helpers", contract="helpers.md §13 (select_one)", dtypes=NAMES,
    summary="the element under the only True of each slice, bit for bit", subjects=subjects("select", "select_one"),
    draw=Draw(
        cases=_cases, params=lambda case: {"axis": (0, 1), "keep_dims": (False, True)}, interpreter_elements=1 << 8),
    run=Run(launch=_launch),
    judge=Judge(
        rules=_rules,
        oracles=lambda case: (
            Reference(source="torch", function="tridiff.oracles.by_torch.sorting:select_one", arguments=("a", "mask")),
            Reference(source="numpy", function="tridiff.oracles.by_numpy.sorting:select_one", arguments=("a", "mask")),
        ),
        defined=lambda case: ("tridiff.oracles.by_torch.sorting:select_one_defined", ("mask",)),
        label=lambda case: dtype_info(case.array("a").dtype).kind),
    shrink=Shrink(simplest={"axis": (1, 0), "keep_dims": (False, True)}),
    faults=Faults(planted=mutants("select", "select_one")))
