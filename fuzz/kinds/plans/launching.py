"""From a case with a plan to launches: text, arguments, and the schedules that judge synchronisation.

Schedule 0 is the plain launch. Schedule 1 launches while other work keeps the multiprocessors and the caches busy, so
that copies are late. Schedule 2, for cases with the parameter `sanitize`, runs under Triton's concurrency sanitizer
(contract: ttg_ops.md §6b), or is one more plain launch where the installed sanitizer does not know the plan's
operations or takes minutes to compile it. In cases with a delay, one warp is slow in schedules 0 and 1.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.delay import built_in, named, of_launch
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.backends.sanitizer import under_sanitizer
from tridiff.fuzz.kinds.plans.cases import plan_of
from tridiff.fuzz.kinds.plans.expected_ir import check_registers
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.kernels import generated
from tridiff.kernels.gluon import dialect
from tridiff.kernels.pipelines.build import build
from tridiff.kernels.pipelines.copy_lines import copy_lines
from tridiff.kernels.pipelines.emit import Emitted, emit
from tridiff.kernels.pipelines.faults import NotApplicable
from tridiff.kernels.pipelines.plan import Dot, Plan, TmaStore, total_warps
from tridiff.kernels.pipelines.steps import Kernel

BUSY, SANITIZED = 1, 2
_COLD_BYTES = 256 << 20
"""More than the level-2 cache of any GPU that these kernels run on."""


def hopper_only(launch: Launch, *also: str) -> None:
    """Decline to compile for a chip that lacks the operations: what it says then is no finding."""
    chip = launch.backend.partition(":")[2]
    if chip and chip not in ("sm_90", *also):
        raise Declined(f"the kernel is made for sm_90, not {chip}")


def run(launch: Launch) -> None:
    """Launch the case's plan; the target's `launch` function."""
    hopper_only(launch, *(("sm_80", "sm_100") if launch.case.target == "async.copy_ring" else ()))
    schedule = launch.schedule if launch.backend == "cuda" else 0  # where nothing waits, there is nothing to disturb
    if launch.schedule and kind(launch.backend) == "compile":
        return
    plan, delay = plan_of(launch.case), of_launch(launch, warps=total_warps(plan_of(launch.case)))
    kernel = _planted(launch)
    sanitized = schedule == SANITIZED and (
        not dialect.installed_text().local_barrier or old_sanitizer_judges(plan))
    try:
        emitted = emit(kernel, dialect.installed(), name="sanitized" if sanitized else named("pipeline", delay))
    except NotImplementedError as lacking:
        raise Declined(str(lacking)) from None
    module = generated.load(_with_hook(emitted, launch.fault), name="pipeline")
    programs = launch.case.sizes["rows"]
    arguments = {name: _argument(launch, name) for name in emitted.parameters}
    sink = plan.sink
    if isinstance(sink, TmaStore) and sink.reduce:
        _initialise(launch, module)
    work: Callable[[], None] = lambda: launch.run(  # noqa: E731
        getattr(module, emitted.name), (programs, 1, 1), arguments)
    if schedule == BUSY:
        _keep_busy()
    if sanitized:
        under_sanitizer(launch, work)
        _read_back(launch)
        return
    with built_in(delay):
        work()
    _read_back(launch)
    if not launch.planted or launch.planted == "register_request_ignored":
        check_registers(plan, launch.reports[-1].ttgir)


def old_sanitizer_judges(plan: Plan) -> bool:
    """Whether the sanitizer of 3.6.0 judges a plan. It does not follow an mbarrier on which copies arrive (it reports
    a deadlock or a race in correct kernels), and takes minutes to instrument partitions and multiplications."""
    arriving = any(source.copy.startswith("cp_arrive") for source in plan.sources)
    return not (plan.workers or arriving or isinstance(plan.sink, Dot))


def _read_back(launch: Launch) -> None:
    """The number of warps that the compiled kernel reports counts those of all partitions."""
    found, wanted = reported_warps(launch), total_warps(plan_of(launch.case))
    # Partitions without a tile to load have nothing in them, and the compiler may take them away.
    if found is not None and found != wanted and plan_of(launch.case).tiles:
        raise Refuted("total_warps", "metadata", f"{wanted} warps in all partitions, the compiled kernel has {found}")


def reported_warps(launch: Launch) -> int | None:
    """The warps of all partitions that the last compiled kernel reports, taken out of what is held against the options;
    None without a report."""
    given = dict(launch.reports[-1].readback or {})
    found = given.pop("num_warps", None)
    launch.reports[-1] = dataclasses.replace(launch.reports[-1], readback=given)
    return found


def copy_initial(launch: Launch, lines: int, length: int) -> None:
    """out = initial, by a kernel of its own; both dense, `lines` of `length` elements."""
    launch.run(copy_lines, (lines, 1, 1), {
        "from_ptr": launch.pointer("initial"), "to_ptr": launch.pointer("out"), "length": length,
        "BLOCK": 1 << (length - 1).bit_length()})


def _planted(launch: Launch) -> Kernel:
    """The kernel, with the subject's fault if it has one."""
    kernel = build(plan_of(launch.case))
    if launch.planted and not launch.fault:
        try:
            kernel = launch.helper(kernel) if launch.helper is not build else kernel
        except NotApplicable as reason:
            raise Declined(str(reason)) from None
    return kernel


def _with_hook(emitted: Emitted, fault: str) -> str:
    """The text, with one of the faults that every kernel can plant in itself."""
    if not fault:
        return emitted.source
    line = {"compile_error": "planted_undefined_name(program)",
            "runtime_error": 'gl.device_assert(program < 0, "planted runtime error")',
            "wrong_value": ""}[fault]
    if not line:
        raise Declined("a plan's kernel has no one place for a wrong value; its own faults give many")
    first = "    program = gl.program_id(0)\n"
    return emitted.source.replace(first, f"{first}    {line}\n", 1)


def _argument(launch: Launch, name: str) -> Any:
    case = launch.case
    if name.endswith("_ptr"):
        return launch.pointer(name.removesuffix("_ptr"))
    if name == "programs":
        return case.sizes["rows"]
    if name == "width":
        return case.sizes["w"]
    if name == "tiles":
        return plan_of(case).tiles
    array = "out" if name == "out_pitch" else name.replace("pitch", "x")
    return case.array(array).strides(case.sizes)[-2]


def _initialise(launch: Launch, module: Any) -> None:
    """As `copy_initial`, of padded lines."""
    sizes = launch.case.sizes
    block = 1 << (sizes["w"] - 1).bit_length()
    launch.run(module.prepare, (sizes["r"], 1, 1), {
        "initial_ptr": launch.pointer("initial"), "out_ptr": launch.pointer("out"),
        "width": sizes["w"], "pitch": launch.spec("out").strides(sizes)[0], "BLOCK": block})


def _keep_busy() -> None:
    """Empty the caches, and start work on another stream that lasts longer than the launch."""
    import torch

    torch.empty(_COLD_BYTES, dtype=torch.uint8, device="cuda").zero_()
    torch.cuda.synchronize()
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        block = torch.ones((2048, 2048), device="cuda")
        for _ in range(6):
            block = block @ block * 0
