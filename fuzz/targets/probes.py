"""Type probes: their answers are types as much as values."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import contents, dtypes, lengths, strided_layouts
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import DIMS, both, compiled, mutants, power_of_two, subjects
from tridiff.oracles.dtypes import FP8, NAMES, dtype as dtype_info
from tridiff.oracles.rules import BIT, NUM, Rule


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes())
    scalar = draw(st.booleans())
    rows, cols = (1, 1) if scalar else (draw(lengths(maximum=16, empty=False)), draw(lengths(maximum=32, empty=False)))
    arrays = [ArraySpec(name="a", dtype=dtype, dims=DIMS, content=draw(contents(dtype=dtype)),
                        layout=draw(strided_layouts(dims=DIMS)))]
    sizes = {"rows": rows, "cols": cols}
    if helper == "promote_to_tensor":
        arrays += [ArraySpec(name="out", dtype=dtype, dims=DIMS),
                   ArraySpec(name="facts", dtype="i32", dims=("facts",))]
        sizes["facts"] = 3
    else:
        arrays.append(ArraySpec(name="out", dtype="i8", dims=("answer",)))
        sizes["answer"] = 1
    return Case(target=f"helpers.{helper}", sizes=sizes, params={"scalar": scalar}, arrays=tuple(arrays),
                **compiled(draw))


def _params(case: Case) -> Vocabulary:
    return {"scalar": (False, True)}


def _valid(case: Case) -> bool:
    alone = case.sizes.get("rows") == case.sizes.get("cols") == 1
    return case.sizes.get("facts", 3) == 3 and case.sizes.get("answer", 1) == 1 and (
        alone or not case.params.get("scalar"))


def _launch(launch: Launch) -> None:
    driver = "promote" if launch.case.target == "helpers.promote_to_tensor" else "classify"
    given: dict[str, object] = {"facts_stride_row": 1} if driver == "promote" else {}
    launch.drive(f"tridiff.kernels.drivers.probes:{driver}", SCALAR=launch.case.params["scalar"],
                 ROW_BLOCK=power_of_two(launch.case.sizes["rows"]), COL_BLOCK=power_of_two(launch.case.sizes["cols"]),
                 BOOL=launch.spec("a").dtype == "i1", **given)


def _rules(case: Case) -> dict[str, Rule]:
    # The same values, which is not a promise about the payload of a NaN.
    return {"out": BIT if case.target == "helpers.is_floating" else NUM, "facts": BIT}


def _label(case: Case) -> str:
    """The kind of type; bf16 and fp8 apart, which have paths of their own."""
    dtype = case.array("a").dtype
    return "fp8" if dtype in FP8 else dtype if dtype == "bf16" else dtype_info(dtype).kind


def _promote(case: Case) -> tuple[Reference, ...]:
    return (*both("probes:promote_to_tensor", "a"), *both("probes:promote_facts", "a", "scalar=scalar",
                                                          outputs=("facts",)))


TARGETS = (
    Target(
        name="helpers.promote_to_tensor", contract="helpers.md §3", dtypes=NAMES,
        summary="a block of rank 1 or more with the same values and type",
        subjects=subjects("probes", "promote_to_tensor"),
        draw=Draw(cases=lambda limits: _cases("promote_to_tensor", limits), params=_params, valid=_valid),
        run=Run(launch=_launch),
        judge=Judge(rules=_rules, oracles=_promote, label=_label),
        shrink=Shrink(simplest={"scalar": (True, False)}),
        faults=Faults(planted=mutants("probes", "promote_to_tensor"))),
    Target(
        name="helpers.is_floating", contract="helpers.md §3", dtypes=NAMES,
        summary="whether a type is a float type, at compile time", subjects=subjects("probes", "is_floating"),
        draw=Draw(cases=lambda limits: _cases("is_floating", limits), params=_params, valid=_valid),
        run=Run(launch=_launch),
        judge=Judge(rules=_rules, oracles=lambda case: both("probes:is_floating", "a"), label=_label),
        shrink=Shrink(simplest={"scalar": (True, False)}),
        faults=Faults(planted=mutants("probes", "is_floating"))),
)
