"""Product and bitwise OR along an axis."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import contents, dtypes, lengths, row_lengths, strided_layouts, truth_contents
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import DIMS, both, compiled, mutants, reduction_blocks, result, rows_of, subjects
from tridiff.oracles.bounded import RULES
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype as dtype_info
from tridiff.oracles.rules import BIT, Rule

_DTYPES = {"prod": (*INTEGERS, *FLOATS), "any": ("i1", *INTEGERS)}
_NEUTRAL = {"prod": 1, "any": 0}


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=_DTYPES[helper]))
    cols = draw(lengths(maximum=min(draw(row_lengths()), limits.elements), empty=False))
    rows = draw(rows_of(cols, limits))
    values = contents(dtype=dtype)
    content = draw(values if helper == "prod" else st.one_of(values, truth_contents()))
    return Case(
        target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, params={"axis": draw(st.sampled_from((1, 0)))},
        arrays=(ArraySpec(name="a", dtype=dtype, dims=DIMS, layout=draw(strided_layouts(dims=DIMS)), content=content),
                result(draw, "out", dtype, dims=("rows",))), **compiled(draw))


def _launch(launch: Launch) -> None:
    helper = launch.case.target.partition(".")[2]
    launch.drive("tridiff.kernels.drivers.reduce_rows:reduce_rows", PADDING=_NEUTRAL[helper],
                 BOOL=launch.spec("a").dtype == "i1", **reduction_blocks(launch))


def _rules(case: Case) -> dict[str, Rule]:
    return {"out": RULES["prod_bound"] if dtype_info(case.array("a").dtype).is_float else BIT}


def _bounds(case: Case) -> tuple[Reference, ...]:
    if not dtype_info(case.array("a").dtype).is_float:
        return ()
    return (Reference(source="torch", function="tridiff.oracles.by_torch.bounds:prod", arguments=("a",)),)


def _target(helper: str, summary: str) -> Target:
    return Target(
        name=f"helpers.{helper}", summary=summary, contract="helpers.md §6",
        subjects=subjects("reductions", helper), dtypes=_DTYPES[helper],
        draw=Draw(
            cases=lambda limits: _cases(helper, limits), params=lambda case: {"axis": (0, 1)},
            interpreter_elements=1 << 8),
        run=Run(launch=_launch),
        judge=Judge(
            rules=_rules, bounds=_bounds,
            oracles=lambda case: both(f"reductions:{helper}", "a"),
            label=lambda case: dtype_info(case.array("a").dtype).kind),
        shrink=Shrink(simplest={"axis": (1, 0)}),
        faults=Faults(planted=mutants("reductions", helper)))


TARGETS = (
    _target("prod", "product along an axis in the input's own type"),
    _target("any", "bitwise OR along an axis: any, for Booleans"),
)
