"""Welford's mean and sum of squares: one more element, two states, whole rows of states or of elements."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case, Constant, Content, Explicit, Scalar
from tridiff.fuzz.strategies import (
    contents,
    dtypes,
    lengths,
    offset_contents,
    row_lengths,
    square_contents,
    weight_contents,
)
from tridiff.fuzz.target import POWERS_OF_TWO, Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import (
    DIMS,
    both,
    compiled,
    elementwise_blocks,
    mutants,
    operand,
    power_of_two,
    reduction_blocks,
    result,
    rows_of,
    subjects,
    triton_type,
)
from tridiff.oracles.bounded import RULES
from tridiff.oracles.rules import SET, Rule

DTYPES = ("fp32", "fp64")
_STATE = ("mean", "m2", "weight")
_MOST_LANES = 64
_FORMS = {"welford_reduce": ("step", "rows"), "welford_combine": ("pairs",), "welford": ("states", "rows")}
_ARGUMENTS = {"step": ("value", *_STATE), "rows": ("a",), "states": ("a_mean", "a_m2", "a_weight"),
              "pairs": ("a_mean", "a_m2", "a_weight", "b_mean", "b_m2", "b_weight")}
_OUTPUTS = {"step": ("out_mean", "out_m2", "out_weight"), "rows": _STATE, "states": _STATE, "pairs": _STATE}
_KEYWORDS = {"step": ("first=first",), "rows": ("accumulator=accumulator",)}


def _content(name: str, dtype: str) -> st.SearchStrategy[Content]:
    """Means and elements are anything; m2 is a sum of squares, weights are counts."""
    if name.endswith("weight"):
        return weight_contents()
    if name.endswith("m2"):
        return st.one_of(weight_contents(), square_contents())
    return st.one_of(contents(dtype=dtype), offset_contents())


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    form = draw(st.sampled_from(_FORMS[helper]))
    accumulator = draw(dtypes(among=DTYPES))
    dtype = draw(dtypes(among=("fp32", "fp16", "bf16"))) if form == "rows" and accumulator == "fp32" else accumulator
    longest = row_lengths() if form == "rows" else row_lengths(maximum=64)
    cols = draw(lengths(maximum=min(draw(longest), limits.elements), empty=False))
    rows = draw(rows_of(cols, limits))
    arrays = [operand(draw, name, dtype, _content(name, dtype)) for name in _ARGUMENTS[form]]
    out_dims = ("rows",) if form in ("rows", "states") else DIMS
    arrays += [result(draw, name, accumulator, dims=out_dims) for name in _OUTPUTS[form]]
    params: dict[str, Scalar] = {"form": form}
    if form == "step":
        params |= {"first": draw(st.booleans()), "first_kind": draw(st.sampled_from(("constexpr", "run_time")))}
    elif form == "states":
        params |= {"axis": draw(st.sampled_from((1, 0)))}
    elif form == "rows":
        params |= {"accumulator": accumulator, "peeled": draw(st.booleans()),
                   "lanes": draw(st.sampled_from((1, 2, 4, 16, _MOST_LANES)))}
    return Case(target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, arrays=tuple(arrays), params=params,
                **compiled(draw))


def _params(case: Case) -> Vocabulary:
    further: dict[str, Vocabulary] = {
        "step": {"first": (False, True), "first_kind": ("constexpr", "run_time")}, "states": {"axis": (0, 1)},
        "rows": {"accumulator": DTYPES, "peeled": (False, True), "lanes": POWERS_OF_TWO}}
    return {"form": _FORMS[case.target.partition(".")[2]], **further.get(str(case.params.get("form")), {})}


def _valid(case: Case) -> bool:
    """Lanes are a power of two; sums of squares and counts are not negative: no bound holds for such states."""
    lanes = case.params.get("lanes", 1)
    for spec in case.arrays:
        base = spec.content.base if spec.content is not None else None
        listed = base.values if isinstance(base, Explicit) else (base.value,) if isinstance(base, Constant) else ()
        if spec.name.endswith(("m2", "weight")) and any(value.startswith("-") for value in listed):
            return False
    return isinstance(lanes, int) and lanes == power_of_two(lanes)


def _launch(launch: Launch) -> None:
    params = launch.case.params
    match params["form"]:
        case "step":
            first = bool(params["first"])
            launch.drive("tridiff.kernels.drivers.welford:welford_step", first_iteration=int(first),
                         FIRST=first if params["first_kind"] == "constexpr" else None, **elementwise_blocks(launch))
        case "pairs":
            launch.drive("tridiff.kernels.drivers.welford:welford_pairs", **elementwise_blocks(launch))
        case "states":
            launch.drive("tridiff.kernels.drivers.welford:welford_states", **reduction_blocks(launch))
        case _:
            from tridiff.kernels.helpers import welford

            streams = launch.case.target == "helpers.welford_reduce"
            launch.drive("tridiff.kernels.drivers.welford:welford_rows",
                         ACCUMULATOR=triton_type(str(params["accumulator"])),
                         HELPER=launch.helper if streams else welford.welford_reduce,
                         MERGE=welford.welford if streams else launch.helper,
                         PEELED=params["peeled"], ROW_BLOCK=4, COL_BLOCK=params["lanes"])


def _rules(case: Case) -> dict[str, Rule]:
    mean, m2, weight = _OUTPUTS[str(case.params["form"])]
    return {mean: SET(RULES["welford_mean_bound"]), m2: SET(RULES["welford_m2_bound"]), weight: RULES["sum_bound"]}


def _references(case: Case, *, bounds: bool) -> tuple[Reference, ...]:
    form = str(case.params["form"])
    arguments = (*_ARGUMENTS[form], *_KEYWORDS.get(form, ()))
    if bounds:
        lanes = ("lanes=lanes",) if form == "rows" else ()
        return (Reference(source="torch", function=f"tridiff.oracles.by_torch.bounds:welford_{form}",
                          arguments=arguments + lanes, outputs=_OUTPUTS[form]),)
    return both(f"welford_answers:{form}", *arguments, outputs=_OUTPUTS[form])


def _defined(case: Case) -> tuple[str, tuple[str, ...]] | None:
    if case.params["form"] != "step":
        return None
    return "tridiff.oracles.by_torch.welford_answers:step_defined", ("weight", "first=first")


def _target(helper: str, summary: str) -> Target:
    return Target(
        name=f"helpers.{helper}", summary=summary, contract="helpers.md §7; oracles.md §4",
        dtypes=DTYPES, subjects=subjects("welford", helper),
        draw=Draw(
            cases=lambda limits: _cases(helper, limits), params=_params, valid=_valid, interpreter_elements=1 << 7),
        run=Run(launch=_launch),
        judge=Judge(
            rules=_rules, oracles=lambda case: _references(case, bounds=False),
            bounds=lambda case: _references(case, bounds=True), defined=_defined,
            label=lambda case: str(case.params["form"])),
        shrink=Shrink(
            simplest={"first_kind": ("constexpr", "run_time"), "axis": (1, 0), "peeled": (True, False),
                      "lanes": (1, 2, 4, 16, _MOST_LANES)}),
        faults=Faults(planted=mutants("welford", helper)))


TARGETS = (
    _target("welford_reduce", "the state after one more element"),
    _target("welford_combine", "the state of two sets together"),
    _target("welford", "the state of all sets along an axis"),
)
