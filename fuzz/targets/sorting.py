"""Sorting rows with their indices."""

from collections.abc import Iterable
from functools import cache

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions, Layout
from tridiff.fuzz.strategies import (
    contents,
    crowded_contents,
    dtypes,
    lengths,
    nan_contents,
    pattern_contents,
    row_counts,
    strided_layouts,
    truth_contents,
    weighted,
)
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import DIMS, both, mutants, power_of_two, subjects, triton_type
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype as dtype_info
from tridiff.oracles.rules import BIT, Rule

DTYPES = ("i1", *INTEGERS, *FLOATS)
_BEYOND = {"float": ("0", "inf", "-inf", "nan"), "int": ("0", "1", "127", "-128"), "uint": ("0", "1", "255"),
           "bool": ("0", "1")}
"""What lanes beyond the row hold; an element of the row may be equal to it."""
_USUAL = ("fp64", "i64", "fp32")
_FEW_WARPS = (4, 4, 4, 4, 1, 2, 8)
_PLAIN, _DEFAULTS = Layout(), LaunchOptions()


def _cases(limits: Limits) -> st.SearchStrategy[Case]:
    return weighted((1, _any_cases(limits)), (1, _usual_cases(limits)))


@st.composite
def _any_cases(draw: st.DrawFn, limits: Limits) -> Case:
    """Every dtype, length, layout and option. Nearly each of these is a kernel of its own."""
    dtype = draw(st.one_of(dtypes(among=DTYPES), dtypes(among=FLOATS)))
    # The network's compile time grows faster than its length: 0.1 s for 4 elements, 2 s for 512.
    longest = min(draw(st.sampled_from((*[8] * 9, *[16] * 7, 32, 32, 64, 512))), limits.elements)
    cols = draw(st.one_of(st.integers(min(2, longest), longest), lengths(maximum=longest, empty=False)))
    options = LaunchOptions(num_warps=_enough_warps(draw(st.sampled_from(_FEW_WARPS)), cols))
    variants: tuple[LaunchOptions, ...] = ()
    if limits.variants and draw(st.integers(0, 5)) == 5:
        other = draw(st.sampled_from((1, 2, 4, 8, 16)))
        variants = (LaunchOptions(num_warps=_enough_warps(other, cols), enable_fp_fusion=False),)
    return _case(
        dtype=dtype, rows=draw(_batch(limits, cols)), cols=cols, content=draw(_keys(dtype)), stable=draw(st.booleans()),
        descending=draw(st.booleans()), index_dtype=draw(st.sampled_from(("i32", "i64", "i16"))),
        padding=draw(st.sampled_from((0, 0, 1, 2, 7))), validity=draw(st.booleans()),
        beyond=draw(st.sampled_from(_BEYOND[dtype_info(dtype).kind])), layout=draw(strided_layouts(dims=DIMS)),
        out=draw(strided_layouts(dims=DIMS, output=True)), facts=draw(st.integers(0, 3)) == 0, options=options,
        variants=variants)


@st.composite
def _usual_cases(draw: st.DrawFn, limits: Limits) -> Case:
    """Other keys for one of 12 kernels, each of which is compiled once: what the compiler is told stays the same."""
    cols = min(draw(st.integers(5, 7)), limits.elements)
    # A number of rows that is 1 or a multiple of 16 would be a kernel of its own.
    fit = [n for n in (2, 33, 100, 200, 333, 1001) if n <= limits.rows and n * cols <= limits.elements]
    rows = draw(st.sampled_from(fit or [1]))
    dtype = draw(st.sampled_from(_USUAL))
    return _case(dtype=dtype, rows=rows, cols=cols, content=draw(_keys(dtype)), stable=draw(st.booleans()),
                 descending=draw(st.booleans()), padding=draw(st.integers(0, 3)), validity=True)


def _case(*, dtype: str, rows: int, cols: int, content: Content, stable: bool, descending: bool, padding: int,
          validity: bool, index_dtype: str = "i32", beyond: str = "0", layout: Layout = _PLAIN,
          out: Layout = _PLAIN, facts: bool = False, options: LaunchOptions = _DEFAULTS,
          variants: tuple[LaunchOptions, ...] = ()) -> Case:
    """facts: also ask which types the helper returns, for which a second kernel is compiled."""
    arrays = [ArraySpec(name="a", dtype=dtype, dims=DIMS, layout=layout, content=content),
              ArraySpec(name="out", dtype=dtype, dims=DIMS, layout=out),
              ArraySpec(name="out_index", dtype=index_dtype, dims=DIMS)]
    if facts:
        arrays.append(ArraySpec(name="facts", dtype="i32", dims=("facts",)))
    return Case(
        target="helpers.sort_with_index", sizes={"rows": rows, "cols": cols} | ({"facts": 2} if facts else {}),
        params={"stable": stable, "descending": descending, "index_dtype": index_dtype, "padding": padding,
                "validity": validity, "beyond": beyond}, arrays=tuple(arrays), options=options, variants=variants)


@st.composite
def _batch(draw: st.DrawFn, limits: Limits, cols: int) -> int:
    """Compiling costs as much as a thousand rows: most batches are large."""
    most = max(min(limits.rows, limits.elements // cols), 1)
    return draw(st.one_of(row_counts(maximum=most), st.sampled_from((min(200, most), min(1000, most)))))


@cache
def _keys(dtype: str) -> st.SearchStrategy[Content]:
    """What a sort can get wrong: NaNs, ties, keys that differ in their last bit, the inputs of the 0/1 principle."""
    rest = st.one_of(contents(dtype=dtype), pattern_contents(dtype=dtype), truth_contents())
    if dtype == "i1":
        return rest
    some = st.one_of(rest, nan_contents(dtype=dtype)) if dtype in FLOATS else rest
    return weighted((1, some), (2, crowded_contents(dtype=dtype)))


def _enough_warps(warps: int, cols: int) -> int:
    """A network over many elements per thread compiles for longer than a hang limit."""
    return max(warps, 4 if cols > 64 else 1)


def _params(case: Case) -> Vocabulary:
    truth = (False, True)
    return {"stable": truth, "descending": truth, "validity": truth, "index_dtype": ("i32", "i64", "i16"),
            "padding": range(8), "beyond": _BEYOND[dtype_info(case.array("a").dtype).kind]}


def _valid(case: Case) -> bool:
    padding = case.params.get("padding")
    return case.sizes.get("facts") == (2 if _asks_types(case) else None) and isinstance(padding, int) and padding >= 0


def _launch(launch: Launch) -> None:
    params, cols = launch.case.params, launch.case.sizes["cols"]
    block = power_of_two(cols)
    flags = {"STABLE": params["stable"], "DESCENDING": params["descending"], "BOOL": launch.spec("a").dtype == "i1",
             "INDEX_DTYPE": triton_type(str(params["index_dtype"]))}
    kind = dtype_info(launch.spec("a").dtype).kind
    beyond = float(str(params["beyond"])) if kind == "float" else int(str(params["beyond"]))
    padding = int(params["padding"])
    tile = 1024 if launch.backend == "interpreter" else 64 * launch.options.num_warps
    # Without an index limit every lane takes part, so the row must fill its block.
    launch.drive("tridiff.kernels.drivers.sort_rows:sort_rows", **flags, rnumel=max(cols - padding, 1), PADDING=beyond,
                 VALIDITY=bool(params["validity"]) or padding > 0 or block != cols,
                 ROW_BLOCK=max(min(tile // block, 32), 1), COL_BLOCK=block)
    if _asks_types(launch.case):
        launch.drive("tridiff.kernels.drivers.sort_rows:sort_types", **flags)


def _asks_types(case: Case) -> bool:
    return any(spec.name == "facts" for spec in case.arrays)


def _rules(case: Case) -> dict[str, Rule]:
    return {"out": BIT, "out_index": BIT} | ({"facts": BIT} if _asks_types(case) else {})


def _oracles(case: Case) -> tuple[Reference, ...]:
    rows = both("sorting:sort_rows", "a", "padding=padding", "descending=descending", "index_dtype=index_dtype",
                outputs=("out", "out_index"))
    return (*rows, *both("sorting:types_kept", "a", outputs=("facts",))) if _asks_types(case) else rows


def _reductions(case: Case) -> Iterable[Case]:
    """The same sort without the question for types."""
    if _asks_types(case):
        yield replace(case, sizes={name: n for name, n in case.sizes.items() if name != "facts"},
                      arrays=tuple(spec for spec in case.arrays if spec.name != "facts"))


def _canonical(case: Case) -> Reference | None:
    if case.params["stable"]:
        return None
    return Reference(source="torch", function="tridiff.oracles.by_torch.sorting:canonical_rows", outputs=("out",
                                                                                                          "out_index"),
                     arguments=("out", "out_index", "a", "padding=padding", "descending=descending"))


TARGET = Target(
    name="helpers.sort_with_index", contract="helpers.md §13", dtypes=DTYPES,
    summary="each row sorted, indices carried along; NaN counts as the largest",
    subjects=subjects("sorting", "sort_with_index"),
    draw=Draw(cases=_cases, params=_params, valid=_valid, interpreter_elements=1 << 10),
    run=Run(launch=_launch),
    judge=Judge(
        rules=_rules, oracles=_oracles, canonical=_canonical,
        defined=lambda case: ("tridiff.oracles.by_torch.sorting:sort_rows_defined",
                              ("a", "padding=padding", "index_dtype=index_dtype")),
        label=lambda case: ("i16 index" if case.params["index_dtype"] == "i16"
                            else dtype_info(case.array("a").dtype).kind)),
    shrink=Shrink(
        steps=_reductions,
        simplest={"stable": (True, False), "descending": (False, True), "index_dtype": ("i32", "i64", "i16"),
                  "padding": (0, 1, 2, 7), "validity": (False, True), "beyond": ("0", "1", "inf", "nan")}),
    faults=Faults(planted=mutants("sorting", "sort_with_index")))
