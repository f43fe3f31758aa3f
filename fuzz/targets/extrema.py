"""Minimum and maximum: of two blocks, of pairs with an index, along an axis, along an axis with its index."""

from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Explicit, Iota, Permutation
from tridiff.fuzz.strategies import contents, dtypes, index_contents, lengths
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import DIMS, both, compiled, mutants, operand, power_of_two, result, rows_of, subjects
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import BIT, NUM0

DTYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bf16", "fp16", "fp32", "fp64")
_PAIRS = ("minimum", "maximum")
_REDUCTIONS = ("min2", "max2")
_INDEXED_PAIRS = ("minimum_with_index", "maximum_with_index")
_INDEXED_REDUCTIONS = ("min_with_index", "max_with_index")


@cache
def _values(dtype: str, *, whole_rows: bool) -> st.SearchStrategy[Content]:
    """Any content; for reductions with an index a quarter of it rows of one value, NaN and infinities among them: the
    whole row is then a tie."""
    if not whole_rows:
        return contents(dtype=dtype)
    info = dtype_info(dtype)
    values = ("0.0", "nan", "inf", "-inf") if info.is_float else (str(int(info.max)), str(int(info.min)))
    tied = st.builds(Content, base=st.builds(Constant, value=st.sampled_from(values)))
    return st.one_of(contents(dtype=dtype), contents(dtype=dtype), contents(dtype=dtype), tied)


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    reduces, indexed = helper in _REDUCTIONS + _INDEXED_REDUCTIONS, "index" in helper
    cols = draw(lengths(maximum=min(512 if reduces else 64, limits.elements), empty=not reduces))
    rows = draw(rows_of(cols, limits))
    values = ("a",) if reduces else ("a", "b")
    index_dtype = draw(st.sampled_from(("i64", "i32"))) if indexed else "i32"
    arrays: list[ArraySpec] = []
    for name in values:
        arrays.append(operand(draw, name, dtype, _values(dtype, whole_rows=reduces and indexed)))
        if indexed:
            label = "index" if reduces else f"{name}_index"
            content = draw(index_contents(distinct=reduces))
            arrays.append(ArraySpec(name=label, dtype=index_dtype, dims=DIMS, content=content))
    out_dims = ("rows",) if reduces else DIMS
    arrays.append(result(draw, "out", dtype, dims=out_dims))
    if indexed:
        arrays.append(ArraySpec(name="out_index", dtype=index_dtype, dims=out_dims))
    params: dict[str, bool | int | str] = {"axis": draw(st.sampled_from((1, 0)))} if reduces else {}
    return Case(target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, arrays=tuple(arrays), params=params,
                **compiled(draw))


def _launch(launch: Launch) -> None:
    rows, cols = launch.case.sizes["rows"], launch.case.sizes["cols"]
    boolean = launch.spec("a").dtype == "i1"
    indexed = any(spec.name == "out_index" for spec in launch.case.arrays)
    block = power_of_two(cols)
    # Small tiles: a fold over a large one takes the compiler half a second.
    row_block = max(min(512 // block, 16, power_of_two(rows)), 1)
    if "axis" not in launch.case.params:
        driver = "elementwise_pair_with_index" if indexed else "elementwise_binary"
        launch.drive(f"tridiff.kernels.drivers.elementwise:{driver}", ROW_BLOCK=row_block, COL_BLOCK=block,
                     BOOL=boolean)
        return
    given: dict[str, object] = {"AXIS": launch.case.params["axis"], "PADDING": _padding(launch.case), "BOOL": boolean}
    driver = "reduce_rows_with_index" if indexed else "reduce_rows"
    if indexed:
        given["INDEX_PADDING"] = 2**31 - 1
    if launch.case.params["axis"] == 1:
        given.update(ROW_BLOCK=row_block, COL_BLOCK=block)
    else:
        # The reduced axis comes first in the tile: what the case calls rows is the driver's column axis.
        given.update(ROW_BLOCK=block, COL_BLOCK=row_block, rows=cols, cols=rows)
        for spec in launch.case.arrays:
            strides = dict(zip(spec.dims, spec.strides(launch.case.sizes), strict=True))
            given[f"{spec.name}_stride_row"] = strides.get("cols", 0)
            given[f"{spec.name}_stride_col"] = strides["rows"]
    launch.drive(f"tridiff.kernels.drivers.reduce_rows:{driver}", **given)


def _padding(case: Case) -> int | float:
    """The value that loses against every element: the neutral element of the reduction."""
    info, smallest = dtype_info(case.array("a").dtype), "min" in case.target.partition(".")[2]
    if info.kind == "float":
        return float("inf") if smallest else float("-inf")
    return int(info.max) if smallest else int(info.min)


def _valid(case: Case) -> bool:
    """A reduction needs indices that are distinct within a row, or the winner of a tie is open."""
    if "axis" not in case.params or "index" not in case.target:
        return True
    content, width = case.array("index").content, case.sizes["cols"]
    if content is None or content.overrides or not isinstance(content.base, Explicit):
        return content is not None and not content.overrides and isinstance(content.base, Iota | Permutation)
    values = content.base.values
    rows = [values[start:start + width] for start in range(0, len(values), max(width, 1))]
    return len(values) == case.sizes["rows"] * width and all(len(set(row)) == len(row) for row in rows)


def _oracles(helper: str) -> Callable[[Case], tuple[Reference, ...]]:
    indexed = "index" in helper
    if helper in _REDUCTIONS:
        arguments: tuple[str, ...] = ("a",)
    elif helper in _INDEXED_REDUCTIONS:
        arguments = ("a", "index")
    else:
        arguments = ("a", "a_index", "b", "b_index") if indexed else ("a", "b")
    outputs = ("out", "out_index") if indexed else ("out",)
    return lambda case: both(f"extrema:{helper}", *arguments, outputs=outputs)


_SUMMARIES = {
    "minimum": "the smaller of two, NaN if either is NaN", "maximum": "the larger of two, NaN if either is NaN",
    "min2": "smallest along an axis, NaN if any is NaN", "max2": "largest along an axis, NaN if any is NaN",
    "minimum_with_index": "the smaller of two pairs; NaN wins, ties go to the smaller index",
    "maximum_with_index": "the larger of two pairs; NaN wins, ties go to the smaller index",
    "min_with_index": "minimum and its index along an axis; first NaN wins, ties go to the smaller index",
    "max_with_index": "maximum and its index along an axis; first NaN wins, ties go to the smaller index",
}


def _target(helper: str) -> Target:
    return Target(
        name=f"helpers.{helper}", summary=_SUMMARIES[helper], contract="helpers.md §5",
        subjects=subjects("extrema", helper), dtypes=DTYPES,
        draw=Draw(
            cases=lambda limits: _cases(helper, limits), valid=_valid,
            params=lambda case: {"axis": (0, 1)} if helper in _REDUCTIONS + _INDEXED_REDUCTIONS else {},
            interpreter_elements=1 << 8 if helper in _REDUCTIONS + _INDEXED_REDUCTIONS else 1 << 12),
        run=Run(launch=_launch),
        judge=Judge(
            rules=lambda case: {"out": NUM0, "out_index": BIT}, oracles=_oracles(helper),
            label=lambda case: dtype_info(case.array("a").dtype).kind),
        shrink=Shrink(simplest={"axis": (1, 0)}),
        faults=Faults(planted=mutants("extrema", helper)))


TARGETS = tuple(_target(helper) for helper in (*_PAIRS, *_REDUCTIONS, *_INDEXED_PAIRS, *_INDEXED_REDUCTIONS))
