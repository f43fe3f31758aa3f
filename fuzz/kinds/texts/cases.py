"""Cases of kernels written as TTGIR text: what is drawn, launched and expected per form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tridiff.fuzz.kinds.plans.cases import contents_of, oracle, unplaced
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, LaunchOptions
from tridiff.fuzz.strategies import contents
from tridiff.fuzz.target import Limits
from tridiff.kernels.ttgir.forms import MASKED

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch

FORMS = ("barrier", "mailbox", "warp_id", "warp_specialize", "tokens", "mask", "predicate_stage")
_LINES = ("warp_specialize", "tokens", "predicate_stage")
"""Those of which a program has several lines."""
SPACES = ("all", "global_read|global_write", "local|global_read|global_write", "gpu")
"""Spellings of a barrier that orders global memory; a version without `ttg.barrier` has `gpu.barrier` for each."""
_ELEMENTS = (1024, 128, 256, 512, 2048)
_MOST_PROGRAMS = 264
_MOST_GROUPS = 24
"""Groups of copies under way, each with a buffer of its own: 192 KiB of shared memory at most."""
_MOST = 1 << 18
"""Elements of one array, so that judging stays quick."""

Params = dict[str, bool | int | str]


def _x(lines: tuple[str, ...], content: Content | None) -> ArraySpec:
    return ArraySpec(name="x" if content else "out", dtype="i32", dims=("rows", *lines), content=content)


def arrays_of(form: str, given: dict[str, Content]) -> tuple[ArraySpec, ...]:
    """Inputs with their contents and the output of a form."""
    several = ("lines", "n") if form in _LINES else ("n",)
    found = [_x(("n",) if form == "warp_specialize" else several, given["x"])]
    if form == "barrier":
        found.append(ArraySpec(name="scratch", dtype="i32", dims=("rows", "n"), content=Content(base=Constant())))
    if form == "mask":
        found.append(ArraySpec(name="initial", dtype="i32", dims=("rows", "n"), content=given["initial"]))
    return (*found, _x(several, None))


@st.composite
def text_cases(draw: st.DrawFn, *, target: str, forms: tuple[str, ...], limits: Limits) -> Case:
    """One form with its parameters; rows are programs."""
    form = draw(st.sampled_from(forms))
    warps = draw(st.sampled_from((4, 8) if form == "warp_specialize" else (4, 1, 2, 8)))
    region = draw(st.sampled_from(("block", "partition"))) if form == "warp_id" else "block"
    if region == "partition":
        warps = 4
    elements = draw(st.sampled_from(_ELEMENTS))
    params: Params = {"form": form, "each": draw(st.sampled_from((1, 2, 4))), **draw(_parameters(form))}
    lines = 1
    if form == "warp_id":
        params["region"] = region
    if form == "warp_specialize":
        lines = 1 + int(params["workers"])
    if form == "tokens":
        lines = int(params["groups"])
    if form == "predicate_stage":
        lines = draw(st.integers(1, 2 * int(params["stages"])))
    most = min(4 * limits.elements, _MOST) // (lines * elements)
    programs = draw(st.sampled_from([p for p in (1, 2, 7, 64, 264) if p == 1 or p <= min(most, limits.rows)]))
    given = {"x": draw(contents(dtype="i32")), "initial": draw(contents(dtype="i32"))}
    sizes = {"rows": programs, "n": elements}
    if form in _LINES:
        sizes["lines"] = lines
    return Case(target=target, sizes=sizes, arrays=arrays_of(form, given), params=params,
                options=LaunchOptions(num_warps=warps, num_ctas=2 if form == "cluster" else 1),
                repeats=draw(st.integers(0, 2)))


def _parameters(form: str) -> st.SearchStrategy[Params]:
    """Parameters of a form besides `each`."""
    drawn: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "barrier": {"spaces": st.sampled_from(SPACES)},
        "mailbox": {"alignment": st.sampled_from((128, 16, 4, 1024)), "decoys": st.integers(0, 3)},
        "warp_id": {"hint": st.booleans()},
        "warp_specialize": {"workers": st.integers(1, 3), "requested": st.booleans()},
        "tokens": {"groups": st.integers(1, 5) | st.integers(6, _MOST_GROUPS),
                   "pending": st.integers(0, 4) | st.integers(5, _MOST_GROUPS - 1)},
        "mask": {"wrapped": st.sampled_from(MASKED), "flag": st.booleans(), "stages": st.integers(1, 4)},
        "predicate_stage": {"stages": st.integers(2, 5)},
        "cluster": {"relaxed": st.booleans(), "fence": st.booleans()},
    }
    fixed = st.fixed_dictionaries(drawn[form])
    if form == "tokens":
        return fixed.map(lambda p: {**p, "pending": min(int(p["pending"]), int(p["groups"]) - 1)})
    return fixed


def valid(case: Case) -> bool:
    """Whether the parameters are a form's, the arrays belong to it, and all sizes fit."""
    form, sizes = str(case.params.get("form")), case.sizes
    names = {"barrier": {"spaces"}, "mailbox": {"alignment", "decoys"}, "warp_id": {"hint", "region"},
             "warp_specialize": {"workers", "requested"}, "tokens": {"groups", "pending"},
             "mask": {"wrapped", "flag", "stages"}, "predicate_stage": {"stages"}, "cluster": {"relaxed", "fence"}}
    if form not in names or set(case.params) != {"form", "each", *names[form]}:
        return False
    p, elements, lines = case.params, sizes.get("n", 0), sizes.get("lines", 1)
    wanted = {"warp_specialize": int(p.get("workers", 0)) + 1, "tokens": int(p.get("groups", 1))}.get(form, lines)
    inside = (elements in _ELEMENTS and p["each"] in (1, 2, 4) and 1 <= sizes.get("rows", 0) <= _MOST_PROGRAMS
              and lines == wanted and 1 <= lines <= _MOST_GROUPS and case.options.num_warps in (1, 2, 4, 8)
              and case.options.num_ctas == (2 if form == "cluster" else 1) and not case.variants)
    ranges = (p.get("spaces", "all") in SPACES and p.get("alignment", 128) in (4, 16, 128, 1024)
              and 0 <= int(p.get("decoys", 0)) <= 3 and 0 <= int(p.get("workers", 0)) <= 3
              and p.get("wrapped", "load") in MASKED and 1 <= int(p.get("stages", 2)) <= 5
              and 0 <= int(p.get("pending", 0)) < int(p.get("groups", 8)) and p.get("region", "block") in (
                  "block", "partition"))
    fits = (form != "warp_specialize" and p.get("region") != "partition") or case.options.num_warps in (4, 8)
    given = contents_of(case)
    if not (inside and ranges and fits and "x" in given and ("initial" in given) == (form == "mask")):
        return False
    return unplaced(case) == arrays_of(form, given) and (form != "predicate_stage" or int(p["stages"]) >= 2)


def launch_text(launch: Launch) -> None:
    """Write the form in the installed version's dialect and run it."""
    from tridiff.fuzz.kinds.plans.launching import copy_initial, hopper_only, reported_warps
    from tridiff.fuzz.verdicts import Declined, Refuted
    from tridiff.kernels.ttgir import forms

    hopper_only(launch)
    case, p = launch.case, launch.case.params
    form, sizes = str(p["form"]), case.sizes
    shape = forms.Shape(elements=sizes["n"], each=int(p["each"]), warps=case.options.num_warps,
                        blocks=case.options.num_ctas)
    arguments = {spec.name: launch.pointer(spec.name) for spec in case.arrays if spec.name != "initial"}
    try:
        text, names = _text(launch, form, shape)
    except LookupError as lacking:
        raise Declined(str(lacking.args[0])) from None
    if form == "mask":
        copy_initial(launch, sizes["rows"], sizes["n"])
        arguments["flag"] = int(bool(p["flag"]))
    if form == "predicate_stage":
        arguments |= {"trips": sizes["lines"], "most": sizes["lines"]}
    launch.run_ir(text, (sizes["rows"], 1, 1), arguments)
    workers = {"warp_specialize": 2 * int(p.get("workers", 0)), "warp_id": 2 * (p.get("region") == "partition")}
    total = shape.warps + (workers.get(form, 0) + 3 & ~3)
    found = reported_warps(launch)
    if found not in (None, total):
        raise Refuted("total_warps", "metadata", f"not {total} warps in all partitions: {found}")
    if launch.reports[-1].ttgir and any(name not in text for name in names):
        raise Refuted("missing_operation", form, f"the text lacks one of {names}")


def _text(launch: Launch, form: str, shape: Any) -> tuple[str, tuple[str, ...]]:
    """The kernel's text, and operations that its input must name. LookupError where the version has no such op."""
    from tridiff.kernels.gluon.dialect import installed_text
    from tridiff.kernels.ttgir import forms

    p, dialect = launch.case.params, installed_text()
    match form:
        case "barrier":
            old = dialect.local_barrier or p["spaces"] == "gpu"
            statement = "gpu.barrier" if old else f"ttg.barrier {p['spaces']}"
            return forms.barrier(shape, statement=statement), (statement,)
        case "mailbox":
            return forms.mailbox(shape, statement=dialect.barrier, alignment=int(p["alignment"]),
                                 decoys=int(p["decoys"])), ("ttg.global_scratch_alloc",)
        case "warp_id":
            statement = dialect.warp_id
            if p["hint"] and not dialect.local_barrier:
                statement += " {omitUniformHint}"
            return forms.warp_numbers(shape, statement=statement, region=str(p["region"])), ("warp_id",)
        case "warp_specialize":
            return forms.partitions(shape, workers=int(p["workers"]), requested=bool(p["requested"])), (
                "ttg.warp_specialize", "ttg.warp_yield", "ttg.warp_return")
        case "tokens":
            # An even number of groups leaves the barrier before the reads to the compiler.
            local = "ttg.local_barrier" if dialect.local_barrier else "ttg.barrier local"
            statement = local if int(p["groups"]) % 2 else ""
            return forms.tokens(shape, groups=int(p["groups"]), pending=int(p["pending"]), statement=statement), (
                "ttg.async_wait", statement)
        case "mask" | "predicate_stage":
            return _through_pass(launch, form, shape)
        case _:
            return forms.cluster(shape, statements=_cluster_statements(launch)), ("ttng.cluster",)


def _cluster_statements(launch: Launch) -> tuple[str, ...]:
    from tridiff.kernels.gluon.dialect import installed_text

    relaxed = "true" if launch.case.params["relaxed"] else "false"
    if installed_text().local_barrier:
        return (f"ttng.cluster_arrive {{relaxed = {relaxed}}}", "ttng.cluster_wait")
    fence = ("ttng.fence_mbarrier_init_release_cluster",) if launch.case.params["fence"] else ()
    return (f"ttng.cluster_barrier {{relaxed = {relaxed}}}", *fence)


def _through_pass(launch: Launch, form: str, shape: Any) -> tuple[str, tuple[str, ...]]:
    """Text after the pass in which these operations live."""
    from triton.backends.compiler import GPUTarget

    from tridiff.fuzz.verdicts import Refuted
    from tridiff.kernels.ttgir import forms, passes

    target, stages = GPUTarget("cuda", 90, 32), int(launch.case.params["stages"])
    if form == "mask":
        source = forms.masked(shape, wrapped=str(launch.case.params["wrapped"]))
        after = passes.pipelined(source, target, stages=stages)
        if '"ttg.mask' in after:
            raise Refuted("missing_operation", "ttg.mask", "the pass left ttg.mask in the IR")
        return after, ()
    after = passes.pipelined(forms.scheduled(shape, stages=stages), target, stages=stages)
    if not passes.predicates(after):
        raise Refuted("missing_operation", "ttg.predicate_stage", "the pass made no ttg.predicate_stage")
    return passes.with_predicates_defined(after), ()


def answer(case: Case, x: Any, *more: Any) -> Any:
    """The output of a form, in the library of the inputs."""
    p, lines = case.params, oracle("lines", x)
    match p["form"]:
        case "barrier" | "mailbox":
            return lines.backwards(x)
        case "warp_id":
            warps = 2 if p["region"] == "partition" else case.options.num_warps
            return lines.warp_numbers(x, each=int(p["each"]), warps=warps)
        case "warp_specialize":
            return lines.with_multiples(x, workers=int(p["workers"]))
        case "mask":
            return lines.under_mask(x, more[0], wrapped=str(p["wrapped"]), flag=bool(p["flag"]))
        case "predicate_stage" | "cluster":
            return lines.plus_one(x)
    return x
