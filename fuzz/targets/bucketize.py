"""Binary search of values in rows of boundaries.

Forms. `row`: every row of values has its own sorted boundaries (stride 0 shares one row). `sorter`: the
boundaries lie in any order, and a permutation sorts them. `unsorted`: nothing but the range of the answer is
promised. `copies`: up to 2^31 - 1 equal boundaries, of which memory holds one, by stride 0.
"""

from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Permutation, Scalar, Scattered
from tridiff.fuzz.strategies import contents, dtypes, lengths, sorted_contents, strided_layouts
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import (
    both,
    compiled,
    elementwise_blocks,
    mutants,
    operand,
    result,
    rows_of,
    subjects,
    triton_type,
)
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype as dtype_info
from tridiff.oracles.rules import BIT

DTYPES = (*INTEGERS, *FLOATS)
_FORMS = ("row", "copies", "sorter", "copies", "unsorted", "copies", "row")
_COPIES = (2**31 - 1, 2**30 + 1, 3, 2**31 - 1, 2**30, 2**31 - 1, 2**30 - 1, 2**31 - 2, 1, 2)
"""The middle of an i32 search overflows beyond 2^30, if the value lies behind the copies."""
_EDGES = ("rows", "edges")


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    form = draw(st.sampled_from(_FORMS))
    dtype = draw(st.one_of(dtypes(among=DTYPES), dtypes(among=FLOATS)))
    cols = draw(lengths(maximum=min(64, limits.elements)))
    edges = 1 if form == "copies" else draw(st.one_of(lengths(maximum=min(130, limits.elements)), st.just(0)))
    rows = draw(rows_of(max(cols, edges), limits))
    params: dict[str, Scalar] = {"form": form, "right": draw(st.booleans()),
                                 "index_dtype": draw(st.sampled_from(("i32", "i64", "i32", "i32") if form == "copies"
                                                                 else ("i64", "i32")))}
    seed = draw(st.integers(0, 2**32 - 1)) if form == "sorter" else None
    boundaries = contents(dtype=dtype) if form == "unsorted" else sorted_contents(dtype=dtype, scattered=seed)
    arrays = [
        operand(draw, "values", dtype),
        ArraySpec(name="boundaries", dtype=dtype, dims=_EDGES, content=draw(boundaries),
                  layout=draw(strided_layouts(dims=_EDGES, broadcast=("rows",)))),
    ]
    if form == "copies":
        params["copies"] = draw(st.sampled_from(_COPIES))
    if seed is not None:
        arrays.append(ArraySpec(name="sorter", dtype=draw(st.sampled_from(("i64", "i32"))), dims=_EDGES,
                                content=Content(base=Permutation(seed=seed)),
                                layout=draw(strided_layouts(dims=_EDGES, broadcast=()))))
    arrays.append(result(draw, "out", str(params["index_dtype"])))
    return Case(target="helpers.bucketize_binary_search", sizes={"rows": rows, "cols": cols, "edges": edges},
                arrays=tuple(arrays), params=params, **compiled(draw))


def _params(case: Case) -> Vocabulary:
    copies = {"copies": range(1, 2**31)} if case.params.get("form") == "copies" else {}
    return {"form": _FORMS, "right": (False, True), "index_dtype": ("i32", "i64"), **copies}


def _valid(case: Case) -> bool:
    """One edge stands for all copies; a sorter holds a permutation per row (and its boundaries with it)."""
    names = {spec.name: spec for spec in case.arrays}
    form, edges = case.params.get("form"), case.sizes.get("edges", 0)
    if form == "copies":
        copies = case.params.get("copies")
        return edges == 1 and isinstance(copies, int) and 0 < copies < 2**31
    if form != "sorter" or "sorter" not in names:
        return form != "sorter" and "sorter" not in names
    sorter, boundaries = names["sorter"].content, names["boundaries"].content
    if sorter is None or boundaries is None:
        return False
    if isinstance(sorter.base, Explicit):
        order = [int(value) for value in sorter.base.values]
        return len(order) % max(edges, 1) == 0 and not sorter.overrides and all(
            sorted(order[i:i + edges]) == list(range(edges)) for i in range(0, len(order), max(edges, 1)))
    scattered = [o for o in boundaries.overrides if isinstance(o, Scattered)]
    return isinstance(sorter.base, Permutation) and not sorter.overrides and (
        isinstance(boundaries.base, Explicit) or any(o.seed == sorter.base.seed for o in scattered))


def _rows(case: Case) -> Iterator[Case]:
    """The same search in rows that are sorted as they are, and of what stands for many copies once."""
    if case.params["form"] in ("sorter", "copies"):
        yield replace(case, arrays=tuple(spec for spec in case.arrays if spec.name != "sorter"),
                      params={**{name: value for name, value in case.params.items() if name != "copies"},
                              "form": "row"})


def _launch(launch: Launch) -> None:
    case, params = launch.case, launch.case.params
    given: dict[str, object] = {}
    for spec in case.arrays:
        strides = spec.strides(case.sizes)
        if spec.dims == _EDGES:
            given |= {f"{spec.name}_stride_row": strides[0], f"{spec.name}_stride_col": strides[1]}
    given["boundaries_size"] = case.sizes["edges"]
    if params["form"] == "copies":
        given |= {"boundaries_size": params["copies"], "boundaries_stride_col": 0}
    launch.drive("tridiff.kernels.drivers.bucketize:bucketize", RIGHT=params["right"],
                 boundaries_numel=launch.spec("boundaries").span(case.sizes),
                 INDEX_DTYPE=triton_type(str(params["index_dtype"])), **elementwise_blocks(launch), **given)


def _oracles(case: Case) -> tuple[Reference, ...]:
    function, arguments = {
        "unsorted": ("any_bucket", ("values",)),
        "copies": ("bucketize_copies", ("values", "boundaries", "copies=copies", "right=right")),
        "sorter": ("bucketize", ("values", "boundaries", "sorter", "right=right")),
        "row": ("bucketize", ("values", "boundaries", "right=right")),
    }[str(case.params["form"])]
    return both(f"search:{function}", *arguments, "index_dtype=index_dtype")


def _defined(case: Case) -> tuple[str, tuple[str, ...]] | None:
    form = case.params["form"]
    if form == "unsorted" or case.sizes["edges"] == 0:
        return None
    sorter = ("sorter",) if form == "sorter" else ()
    return "tridiff.oracles.by_torch.search:bucketize_defined", ("values", "boundaries", *sorter, "right=right")


def _canonical(case: Case) -> Reference | None:
    if case.params["form"] != "unsorted":
        return None
    return Reference(source="torch", function="tridiff.oracles.by_torch.search:bucketize_in_range",
                     arguments=("out", "size=edges"))


TARGET = Target(
    name="helpers.bucketize_binary_search", contract="helpers.md §10", dtypes=DTYPES,
    summary="how many sorted boundaries are below each value",
    subjects=subjects("bucketize", "bucketize_binary_search"),
    draw=Draw(cases=_cases, params=_params, valid=_valid),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"out": BIT}, oracles=_oracles, defined=_defined, canonical=_canonical,
        label=lambda case: f"{dtype_info(case.array('values').dtype).kind} {case.params['form']}"),
    shrink=Shrink(
        forms=_rows,
        simplest={"right": (False, True), "index_dtype": ("i64", "i32"), "copies": tuple(sorted(set(_COPIES)))}),
    faults=Faults(planted=mutants("bucketize", "bucketize_binary_search")))
