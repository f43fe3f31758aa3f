"""torch.compile, one operation at a time: pointwise, idioms that fold, conversions, reductions, scans, sorts, searches.

Beside the generated programs, which mix everything, these reach a wrong operation within seconds, and what they find
is a one-line function already.
"""

from collections.abc import Callable

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.inductor.operations import FULL, OPERATIONS, Operation, of_family, splits_scans
from tridiff.fuzz.inductor.spoiled import FAULTS, spoiled
from tridiff.fuzz.records import ArraySpec, Case, Scalar
from tridiff.fuzz.strategies import contents, lengths, row_counts, row_lengths, sorted_contents, strided_layouts
from tridiff.fuzz.target import Coverage, Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import BIT, NUM, NUM0, SUM, ULP, Rule

FAMILIES = {
    "pointwise": "one elementwise operation", "folding": "an idiom that compilers like to simplify",
    "conversion": "from one type to another, or its bits read as another", "reduction": "along the rows of a matrix",
    "scan": "running results along the rows of a matrix", "sort": "rows sorted, with positions",
    "bucketize": "positions among sorted boundaries",
}
_BY_ROWS = ("reduction", "scan", "sort")
_DYNAMIC = st.sampled_from((False, False, False, True))
_OUTPUTS = ("out", "dtype")
_EAGER = "tridiff.fuzz.inductor.launch:eager"


def _case_of(family: str) -> Callable[[Limits], st.SearchStrategy[Case]]:
    names = of_family(family)

    @st.composite
    def cases(draw: st.DrawFn, limits: Limits) -> Case:
        operation = OPERATIONS[draw(st.sampled_from(names))]
        signature = draw(st.sampled_from(operation.signatures))
        sizes: dict[str, int] = {"one": 1}
        # Rows of unknown length are left to eager torch's sort.
        params: dict[str, Scalar] = {"op": operation.name, "dynamic": family != "sort" and draw(_DYNAMIC)}
        if family in _BY_ROWS:
            longest = draw(row_lengths(maximum=limits.elements))
            sizes["cols"] = draw(lengths(maximum=longest, empty=False))
            sizes["rows"] = draw(row_counts(maximum=min(limits.rows, 256, limits.elements // sizes["cols"])))
            # Sorts exist in persistent kernels only.
            params["persistent"] = family == "sort" or draw(st.sampled_from((True, True, False)))
        else:
            sizes["rows"] = draw(lengths(maximum=min(limits.elements, 1 << 14), empty=False))
        if family == "bucketize":
            sizes["edges"] = draw(lengths(maximum=64, empty=False))
        arrays = [ArraySpec(name=name, dtype=dtype, dims=dims, layout=draw(strided_layouts(dims=dims)),
                            content=draw(sorted_contents(dtype=dtype) if dims == ("edges",) else contents(dtype=dtype)))
                  for name, dtype, dims in zip("abc", signature, _axes(operation), strict=False)]
        arrays += [ArraySpec(name="out", dtype=operation.result_dtype(signature), dims=_result_axes(operation)),
                   ArraySpec(name="dtype", dtype="i32", dims=("one",))]
        return Case(target=f"inductor.{family}", sizes=sizes, arrays=tuple(arrays), params=params)

    return cases


def _params(case: Case) -> Vocabulary:
    family = case.target.partition(".")[2]
    by_rows: Vocabulary = {"persistent": (True,) if family == "sort" else (False, True)} if family in _BY_ROWS else {}
    return {"op": of_family(family), "dynamic": (False,) if family == "sort" else (False, True), **by_rows}


def _axes(operation: Operation) -> tuple[tuple[str, ...], ...]:
    if operation.family == "bucketize":
        return ("rows",), ("edges",)
    return ((("rows", "cols") if operation.family in _BY_ROWS else ("rows",)),) * operation.arity


def _result_axes(operation: Operation) -> tuple[str, ...]:
    return ("rows", "cols") if operation.family in _BY_ROWS and operation.keeps else ("rows",)


def _operation(case: Case) -> Operation:
    return OPERATIONS[str(case.params["op"])]


def _operands(case: Case) -> tuple[ArraySpec, ...]:
    return tuple(spec for spec in case.arrays if spec.content is not None)


def _valid(case: Case) -> bool:
    """An operation of this target on operands it takes, with the outputs it has."""
    operation = _operation(case)
    operands, outputs = _operands(case), case.arrays[operation.arity:]
    signature = tuple(spec.dtype for spec in operands)
    return (case.target == f"inductor.{operation.family}" and signature in operation.signatures
            and tuple(spec.name for spec in case.arrays) == ("a", "b", "c")[:operation.arity] + _OUTPUTS
            and tuple(spec.dims for spec in operands) == _axes(operation)
            and tuple(spec.dtype for spec in outputs) == (operation.result_dtype(signature), "i32")
            and outputs[1].dims == ("one",) and case.sizes["one"] == 1 and 0 not in case.sizes.values()
            and outputs[0].dims == _result_axes(operation))


def _launch(launch: Launch) -> None:
    launch.helper(launch)


def _rules(case: Case) -> dict[str, Rule]:
    return {"out": _rule(_operation(case), case.array("out").dtype), "dtype": _exact(whole=True)}


def _exact(*, whole: bool) -> Rule:
    return BIT if whole else NUM


def _rule(operation: Operation, dtype: str) -> Rule:
    from tridiff.oracles.pointwise import half_ulps, rule_for

    match operation.judging:
        case "exact":
            return _exact(whole=not dtype_info(dtype).is_float)
        case "unsigned_zero":
            return NUM0 if dtype_info(dtype).is_float else _exact(whole=True)
        case "real" if _derived(operation, dtype):
            return SUM("real_bound", origin="derived per element (oracles.by_numpy.bounded_functions), oracles.md §3")
        case "real" if operation.ulps:
            ulps = operation.ulps if dtype in FULL else half_ulps(operation.ulps, dtype)
            return ULP(ulps, origin="first-order error of the parts, oracles.md §3")
        case "real":
            return rule_for(operation.accuracy, dtype)
    return SUM(f"{operation.judging}_bound", origin="oracles.md §4")


def _derived(operation: Operation, dtype: str) -> bool:
    """Whether the errors of a real-valued operation are derived element by element: where library functions of fp32
    flush subnormal numbers to zero, where its own terms overflow, and where the references are no better."""
    if operation.name in ("ldexp", "truediv_integer"):
        return False
    return dtype != "fp64" or operation.name in ("sigmoid", "i0", "i1")


def _oracles(case: Case) -> tuple[Reference, ...]:
    names = tuple(spec.name for spec in _operands(case))
    return (Reference(source="torch", function="tridiff.fuzz.inductor.references:by_torch", arguments=("@case", *names),
                      outputs=_OUTPUTS),
            Reference(source="numpy", function="tridiff.fuzz.inductor.references:by_numpy", arguments=("@case", *names),
                      outputs=_OUTPUTS))


def _bounds(case: Case) -> tuple[Reference, ...]:
    operation = _operation(case)
    if operation.judging in ("exact", "unsigned_zero") or (
            operation.judging == "real" and not _derived(operation, case.array("out").dtype)):
        return ()
    names = (spec.name for spec in _operands(case))
    return (Reference(source="torch", function="tridiff.fuzz.inductor.references:bound", arguments=("@case", *names)),)


def _unordered(case: Case) -> tuple[str, ...]:
    summed = _operation(case).judging == "prefix_sum" and splits_scans(case.sizes["cols"])
    return ("out",) if summed else ()


def _defined(case: Case) -> tuple[str, tuple[str, ...]] | None:
    operation = _operation(case)
    if not operation.defined and operation.family != "bucketize":
        return None
    return ("tridiff.fuzz.inductor.references:defined", ("@case", *(spec.name for spec in _operands(case))))


def _cells(case: Case) -> tuple[str, ...]:
    return (f"op={case.params['op']} dtype={case.arrays[0].dtype}",)


TARGETS = tuple(
    Target(
        name=f"inductor.{family}", contract="codegen.md §3 to §8, §14", summary=summary,
        backends=("cuda", "interpreter"),
        subjects={"own": _EAGER, "inductor": "tridiff.fuzz.inductor.launch:compiled"},
        controls=("own",),
        dtypes=tuple(dict.fromkeys(dtype for name in of_family(family)
                                   for signature in OPERATIONS[name].signatures for dtype in signature)),
        draw=Draw(cases=_case_of(family), params=_params, valid=_valid),
        run=Run(launch=_launch, untraced=("own", "inductor"), writes_once=False),
        judge=Judge(
            rules=_rules, oracles=_oracles, bounds=_bounds, defined=_defined, unordered=_unordered,
            label=lambda case: f"{case.params['op']} {case.arrays[0].dtype}"),
        shrink=Shrink(simplest={"dynamic": (False, True), "persistent": (True, False)}),
        faults=Faults(planted=dict.fromkeys(FAULTS[family], _EAGER),
                      affects=lambda case, fault: spoiled(_operation(case), fault) != _operation(case)),
        coverage=Coverage(cells=_cells))
    for family, summary in FAMILIES.items()
)
