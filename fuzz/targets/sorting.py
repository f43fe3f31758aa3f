"""Sorting rows with their indices."""

from typing import TYPE_CHECKING, Literal

from hypothesis import strategies as st
from msgspec.structs import replace

from fuzz.records import ArraySpec, Case, Content, LaunchOptions
from fuzz.strategies import (
    close_contents,
    contents,
    dtypes,
    launch_options,
    lengths,
    nan_contents,
    option_variants,
    pattern_contents,
    row_counts,
    row_lengths,
    strided_layouts,
    truth_contents,
)
from fuzz.target import Limits, Reference, Target
from fuzz.targets.tiles import mutants, power_of_two, subjects, triton_type
from oracles.dtypes import FLOATS, INTEGERS
from oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from fuzz.backends.launch import Launch
    from oracles.rules import Rule

DTYPES = ("i1", *INTEGERS, *FLOATS)
_DIMS = ("rows", "cols")
_BEYOND = {"float": ("0", "inf", "-inf", "nan"), "int": ("0", "1", "127", "-128"), "uint": ("0", "1", "255"),
           "bool": ("0", "1")}
"""What lanes beyond the row hold; an element of the row may be equal to it."""


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(st.one_of(dtypes(among=DTYPES), dtypes(among=FLOATS)))
    # The network's compile time grows faster than its length.
    longest = draw(st.one_of(row_lengths(maximum=16), row_lengths(maximum=64), row_lengths(maximum=64), row_lengths()))
    # Half of the rows have something to sort.
    cols = draw(st.one_of(lengths(maximum=min(longest, limits.elements), empty=False),
                          st.integers(min(2, longest), min(longest, limits.elements))))
    rows = draw(row_counts(maximum=min(limits.rows, limits.elements // cols)))
    index_dtype = draw(st.sampled_from(("i32", "i64", "i16")))
    content = draw(_keys(dtype))
    return Case(
        target="helpers.sort_with_index", sizes={"rows": rows, "cols": cols, "facts": 2},
        params={"stable": draw(st.booleans()), "descending": draw(st.booleans()), "index_dtype": index_dtype,
                "padding": draw(st.sampled_from((0, 0, 1, 2, 7))), "validity": draw(st.booleans()),
                "beyond": draw(st.sampled_from(_BEYOND[dtype_info(dtype).kind]))},
        arrays=(
            ArraySpec(name="a", dtype=dtype, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS)), content=content),
            ArraySpec(name="out", dtype=dtype, dims=_DIMS, layout=draw(strided_layouts(dims=_DIMS, output=True))),
            ArraySpec(name="out_index", dtype=index_dtype, dims=_DIMS),
            ArraySpec(name="facts", dtype="i32", dims=("facts",)),
        ),
        options=_enough_warps(draw(launch_options()), cols),
        variants=tuple(_enough_warps(options, cols) for options in draw(option_variants())))


def _keys(dtype: str) -> st.SearchStrategy[Content]:
    """What a sort can get wrong: NaNs, ties, keys that differ in their last bit, the inputs of the 0/1 principle."""
    kinds = [contents(dtype=dtype), pattern_contents(dtype=dtype), truth_contents()]
    if dtype in FLOATS:
        kinds += [nan_contents(dtype=dtype)] * 2
    if dtype_info(dtype).bits >= 32:
        kinds += [close_contents(dtype=dtype)] * 2
    return st.one_of(kinds)


def _enough_warps(options: LaunchOptions, cols: int) -> LaunchOptions:
    """A network over many elements per thread compiles for longer than a hang limit."""
    return replace(options, num_warps=max(options.num_warps, 4 if cols > 64 else 1))


def _valid(case: Case) -> bool:
    padding = case.params.get("padding")
    return case.sizes.get("facts") == 2 and isinstance(padding, int) and padding >= 0


def _launch(launch: "Launch") -> None:
    params, cols = launch.case.params, launch.case.sizes["cols"]
    block = power_of_two(cols)
    flags = {"STABLE": params["stable"], "DESCENDING": params["descending"], "BOOL": launch.spec("a").dtype == "i1",
             "INDEX_DTYPE": triton_type(str(params["index_dtype"]))}
    kind = dtype_info(launch.spec("a").dtype).kind
    beyond = float(str(params["beyond"])) if kind == "float" else int(str(params["beyond"]))
    padding = int(params["padding"])
    tile = 1024 if launch.backend == "interpreter" else 64 * launch.options.num_warps
    # Without an index limit every lane takes part, so the row must fill its block.
    launch.drive("kernels.drivers.sort_rows:sort_rows", **flags, rnumel=max(cols - padding, 1), PADDING=beyond,
                 VALIDITY=bool(params["validity"]) or padding > 0 or block != cols,
                 ROW_BLOCK=max(min(tile // block, 32), 1), COL_BLOCK=block)
    launch.drive("kernels.drivers.sort_rows:sort_types", **flags)


def _rules(case: Case) -> dict[str, "Rule"]:
    from oracles.rules import BIT

    return {"out": BIT, "out_index": BIT, "facts": BIT}


def _oracles(case: Case) -> tuple[Reference, ...]:
    sources: tuple[Literal["torch", "numpy"], ...] = ("torch", "numpy")
    keywords = ("padding=padding", "descending=descending", "index_dtype=index_dtype")
    return (*(Reference(source=source, function=f"oracles.by_{source}.sorting:sort_rows", arguments=("a", *keywords),
                        outputs=("out", "out_index")) for source in sources),
            *(Reference(source=source, function=f"oracles.by_{source}.sorting:types_kept", arguments=("a",),
                        outputs=("facts",)) for source in sources))


def _canonical(case: Case) -> Reference | None:
    if case.params["stable"]:
        return None
    return Reference(source="torch", function="oracles.by_torch.sorting:canonical_rows", outputs=("out", "out_index"),
                     arguments=("out", "out_index", "a", "padding=padding", "descending=descending"))


TARGET = Target(
    name="helpers.sort_with_index", family="helpers", contract="helpers.md §13", dtypes=DTYPES,
    summary="each row sorted, indices carried along; NaN counts as the largest",
    cases=_cases, valid=_valid, launch=_launch, rules=_rules, oracles=_oracles, canonical=_canonical,
    defined=lambda case: ("oracles.by_torch.sorting:sort_rows_defined",
                          ("a", "padding=padding", "index_dtype=index_dtype")),
    subjects=subjects("sorting", "sort_with_index"),
    faults=mutants("sorting", "sort_with_index", "nan_first", "nan_unordered", "nan_last_when_descending",
                   "ties_left_alone", "ties_reversed", "ties_reversed_when_descending", "padding_valid",
                   "padding_first_when_descending", "index_stays", "runs_not_alternating", "last_layer_missing",
                   "keys_rounded_to_fp32"),
    about=lambda case: "i16 index" if case.params["index_dtype"] == "i16" else dtype_info(case.array("a").dtype).kind,
    simplest={"stable": (True, False), "descending": (False, True), "index_dtype": ("i32", "i64", "i16"),
              "padding": (0, 1, 2, 7), "validity": (False, True), "beyond": ("0", "1", "inf", "nan")},
    interpreter_elements=1 << 10,
)
