"""From a case with a text to a launch: the form in the installed version's dialect, through a pass where it has to."""

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.kinds.plans.launching import copy_initial, hopper_only, reported_warps
from tridiff.fuzz.kinds.texts.cases import text_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.kernels.gluon.dialect import installed_text
from tridiff.kernels.pipelines.faults import NotApplicable
from tridiff.kernels.ttgir import forms
from tridiff.kernels.ttgir.faults import FAULTS
from tridiff.kernels.ttgir.text import (
    Barrier,
    ClusterBarrier,
    Mailbox,
    Masked,
    Partitions,
    PredicateStage,
    Text,
    Tokens,
    WarpNumbers,
)


def run(launch: Launch) -> None:
    """Launch the case's text; the target's `launch` function."""
    hopper_only(launch)
    case, text = launch.case, text_of(launch.case)
    form, programs = text.form, case.sizes["rows"]
    arguments = {spec.name: launch.pointer(spec.name) for spec in case.arrays if spec.name != "initial"}
    try:
        source = _source(text)
        if launch.planted in FAULTS:
            source = launch.helper(source)
    except (LookupError, NotApplicable) as lacking:
        raise Declined(str(lacking.args[0])) from None
    if isinstance(form, Masked):
        copy_initial(launch, programs, text.elements)
        arguments["flag"] = int(form.flag)
    if isinstance(form, PredicateStage):
        arguments |= {"trips": form.trips, "most": form.trips}
    launch.run_ir(source, (programs, 1, 1), arguments)
    found = reported_warps(launch)
    if found not in (None, text.total_warps):
        raise Refuted("total_warps", "metadata", f"not {text.total_warps} warps in all partitions: {found}")


def expected_ir(case: Case) -> tuple[str, ...]:
    """Operations that the compiler must leave in the kernel, as the installed version names them."""
    form, dialect = text_of(case).form, installed_text()
    match form:
        case Barrier():
            return (_name(_barrier_statement(form)),)
        case Mailbox():
            return ("ttg.global_scratch_alloc",)
        case WarpNumbers():
            return (_name(dialect.warp_id),)
        case Partitions():
            return "ttg.warp_specialize", "ttg.warp_yield", "ttg.warp_return"
        case Tokens():
            return "ttg.async_wait", *((_name(_local_barrier()),) if form.groups % 2 else ())
        case Masked() | PredicateStage():
            return ()  # A pass has resolved them.
        case ClusterBarrier():
            return tuple(_name(one) for one in _cluster_statements(form))


def _name(statement: str) -> str:
    """The operation of a statement: "ttg.barrier local" to "ttg.barrier"."""
    return statement.split()[0].partition("(")[0].strip('"')


def _source(text: Text) -> str:
    """The kernel's IR. LookupError where the version has no such operation."""
    form, dialect = text.form, installed_text()
    shape = forms.Shape(elements=text.elements, each=text.each, warps=text.warps, blocks=text.blocks)
    match form:
        case Barrier():
            return forms.barrier(shape, statement=_barrier_statement(form))
        case Mailbox():
            return forms.mailbox(shape, statement=dialect.barrier, alignment=form.alignment, decoys=form.decoys)
        case WarpNumbers():
            statement = dialect.warp_id
            if form.hint and not dialect.local_barrier:
                statement += " {omitUniformHint}"
            return forms.warp_numbers(shape, statement=statement, region=form.region)
        case Partitions():
            return forms.partitions(shape, workers=form.workers, requested=form.requested)
        case Tokens():
            # An even number of groups leaves the barrier before the reads to the compiler.
            statement = _local_barrier() if form.groups % 2 else ""
            return forms.tokens(shape, groups=form.groups, pending=form.pending, statement=statement)
        case Masked():
            return _resolved(forms.masked(shape, wrapped=form.wrapped), form.stages)
        case PredicateStage():
            return _predicated(forms.scheduled(shape, stages=form.stages), form.stages)
        case ClusterBarrier():
            return forms.cluster(shape, statements=_cluster_statements(form))


def _barrier_statement(form: Barrier) -> str:
    old = installed_text().local_barrier or form.spaces == "gpu"
    return "gpu.barrier" if old else f"ttg.barrier {form.spaces}"


def _local_barrier() -> str:
    return "ttg.local_barrier" if installed_text().local_barrier else "ttg.barrier local"


def _cluster_statements(form: ClusterBarrier) -> tuple[str, ...]:
    relaxed, dialect = "true" if form.relaxed else "false", installed_text()
    fence = ("ttng.fence_mbarrier_init_release_cluster",) if form.fence and not dialect.local_barrier else ()
    if not dialect.cluster_barrier:
        return (f"ttng.cluster_arrive {{relaxed = {relaxed}}}", "ttng.cluster_wait", *fence)
    return (f"ttng.cluster_barrier {{relaxed = {relaxed}}}", *fence)


def _pipelined(source: str, stages: int) -> str:
    """IR after the pass in which some operations live."""
    from triton.backends.compiler import GPUTarget

    from tridiff.kernels.ttgir import passes

    return passes.pipelined(source, GPUTarget("cuda", 90, 32), stages=stages)


def _resolved(source: str, stages: int) -> str:
    after = _pipelined(source, stages)
    if '"ttg.mask' in after:
        raise Refuted("missing_operation", "ttg.mask", "the pass left ttg.mask in the IR")
    return after


def _predicated(source: str, stages: int) -> str:
    from tridiff.kernels.ttgir import passes

    after = _pipelined(source, stages)
    if not passes.predicates(after):
        raise Refuted("missing_operation", "ttg.predicate_stage", "the pass made no ttg.predicate_stage")
    return passes.with_predicates_defined(after)
