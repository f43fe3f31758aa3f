"""The backend `compile`: run in one process of its own (see test_compile_backend.py)."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import triton.compiler
from triton.runtime.jit import JITFunction

import tridiff.fuzz.backends.compile as module
from tests.support.cases import addition, division, ramp
from tests.support.refusals import refused
from tridiff.fuzz.backends import ARCHITECTURES
from tridiff.fuzz.backends.compile import CompileRunner, Pointer
from tridiff.fuzz.backends.cuda import CudaRunner
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.artefacts import Artefacts
from tridiff.fuzz.workers.execute import Executor
from tridiff.kernels.drivers.vector_add import vector_add


class Specialised:
    """Stands in for `ASTSource`: keeps what a launch would be specialised on."""

    last: Specialised

    def __init__(self, fn: Any, signature: dict[str, str], constexprs: dict[str, Any], attrs: dict[Any, Any]) -> None:
        names = [parameter.name for parameter in fn.params]
        self.signature, self.constants = signature, constexprs
        self.hinted = {names[place[0]] for place in attrs}
        Specialised.last = self


class Metadata:
    num_warps, num_stages, num_ctas, enable_fp_fusion, debug = 4, 3, 1, True, False
    launch_cooperative_grid, name = False, "kernel"


class Compiled:
    metadata, asm = Metadata(), {"ttgir": "module {}"}


def pointer(dtype: str = "fp32", *, aligned: bool = True) -> Pointer:
    return Pointer(dtype=dtype, aligned=aligned)


def arguments(**changed: Any) -> dict[str, Any]:
    """What vector_add is launched with."""
    return {"a_ptr": pointer(), "b_ptr": pointer(), "out_ptr": pointer(), "a_stride_col": 1, "b_stride_col": 1,
            "out_stride_col": 1, "a_offset": 0, "b_offset": 0, "out_offset": 0, "cols": 100, "BLOCK": 64, "FAULT": "",
            **changed}


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Compilations end where the source is specialised, which `Specialised.last` keeps."""
    source, compile_ = module.ASTSource, triton.compile
    try:
        module.ASTSource = Specialised
        triton.compile = lambda *args, **options: Compiled()
        yield
    finally:
        module.ASTSource, triton.compile = source, compile_


def specialised(**changed: Any) -> Specialised:
    """What vector_add is specialised on for these arguments."""
    strides = {"a_stride_col": 2, "b_stride_col": 2, "out_stride_col": 2}
    with nothing_compiled():
        CompileRunner("sm_90").run(vector_add.kernel, (1, 1, 1), arguments(**strides | changed), LaunchOptions())
    return Specialised.last


def executed(case: Case, subject: str = "own", *, backend: str = "compile:sm_90") -> Outcome:
    return Executor(backend=backend).execute(case, subject, backend=backend)[0]


def check_pointers_carry_alignment():
    one = specialised(b_ptr=pointer("bf16", aligned=False))
    assert one.signature["a_ptr"] == "*fp32" and one.signature["b_ptr"] == "*bf16"
    assert "a_ptr" in one.hinted and "b_ptr" not in one.hinted


def check_one_becomes_a_constant():
    one = specialised(a_stride_col=1)
    assert one.signature["a_stride_col"] == "constexpr" and one.constants["a_stride_col"] == 1
    assert one.signature["b_stride_col"] == "i32"


def check_multiples_of_16_carry_the_hint():
    for value, hinted in ((16, True), (0, True), (-32, True), (48, True), (17, False), (8, False), (100, False)):
        assert ("cols" in specialised(cols=value).hinted) == hinted, value


def check_width_of_integers():
    for value, kind in ((2**31 - 1, "i32"), (-(2**31), "i32"), (2**31, "i64"), (-(2**31) - 1, "i64"),
                        (2**63 - 1, "i64"), (2**63, "u64")):
        one = specialised(cols=value)
        assert one.signature["cols"] == kind, (value, one.signature["cols"])
        assert ("cols" in one.hinted) == (value % 16 == 0)


def check_none_booleans_and_floats():
    one = specialised(a_stride_col=None, b_stride_col=True, out_stride_col=0.5)
    assert one.signature["a_stride_col"] == "constexpr" and one.constants["a_stride_col"] is None
    assert (one.signature["b_stride_col"], one.signature["out_stride_col"]) == ("u1", "fp32")
    assert not one.hinted & {"a_stride_col", "b_stride_col", "out_stride_col"}


def check_constexprs_are_constants_whatever_their_value():
    one = specialised(BLOCK=16, FAULT="wrong_value")
    assert one.constants["BLOCK"] == 16 and one.constants["FAULT"] == "wrong_value"
    assert not one.hinted & {"BLOCK", "FAULT"}


def check_parameters_that_refuse_specialisation():
    """The unspecialised ramp: a divisor of 16 or 1 stays a plain integer."""
    seen = []
    with nothing_compiled():
        for divisor_kind in ("run_time", "unspecialised"):
            for divisor in (16, 1):
                executed(ramp(start=-64, divisor=divisor, rows=64, block=64, divisor_kind=divisor_kind))
                seen.append((Specialised.last.signature["divisor"], "divisor" in Specialised.last.hinted))
    assert seen == [("i32", True), ("constexpr", False), ("i32", False), ("i32", False)], seen


def check_every_architecture_compiles():
    for arch in ARCHITECTURES:
        backend = f"compile:{arch}"
        outcome, spent = Executor(backend=backend).execute(addition(rows=100, block=64), "own", backend=backend)
        assert outcome.verdict is Verdict.AGREE, (arch, outcome.reason)
        assert outcome.reason == "compiled only; no value was checked"
        assert (outcome.compiled_kernels, outcome.launches, outcome.rows.judged, spent) == (1, 0, 0, False)


def check_a_misaligned_array_compiles_to_another_kernel():
    """Otherwise alignment would be asserted in signatures only."""
    texts = [CompileRunner("sm_90").run(vector_add.kernel, (1, 1, 1), arguments(
        a_ptr=pointer(aligned=aligned), cols=1024, BLOCK=1024), LaunchOptions()).ttgir for aligned in (True, False)]
    assert all("tt.load" in text for text in texts)
    assert texts[0] != texts[1]


def check_options_are_read_back():
    options = LaunchOptions(num_warps=8, num_stages=2, enable_fp_fusion=False, debug=True)
    report = CompileRunner("sm_90").run(vector_add.kernel, (1, 1, 1), arguments(cols=9), options)
    assert {name: report.readback[name] for name in ("num_warps", "num_stages", "enable_fp_fusion", "debug")} == {
        "num_warps": 8, "num_stages": 2, "enable_fp_fusion": False, "debug": True}


def check_a_mismatch_of_options_is_not_checked():
    executor = Executor(backend="compile:sm_90")
    runner = executor._runner("compile:sm_90")
    run = runner.run

    class Other:
        backend = "compile:sm_90"

        def run(self, kernel: Any, grid: Any, arguments: Any, options: LaunchOptions) -> Any:
            report = run(kernel, grid, arguments, options)
            return dataclasses.replace(report, readback={**(report.readback or {}), "num_warps": 32})

        def synchronise(self) -> None:
            return None

    executor._runners["compile:sm_90"] = Other()
    outcome, _ = executor.execute(addition(), "own", backend="compile:sm_90")
    assert outcome.verdict is Verdict.NOT_CHECKED
    assert outcome.reason == "asked for num_warps=4, the compiled kernel has num_warps=32"


def check_division_compiles_in_both_forms():
    for case in (division((-7,), (2,)), ramp(start=-8, divisor=4, rows=16, block=16)):
        outcome = executed(case, backend="compile:sm_80")
        assert (outcome.verdict, outcome.compiled_kernels) == (Verdict.AGREE, 1), outcome.reason


def check_artefacts_are_swept():
    """A night's compilations would fill the disk."""
    cache = Path(os.environ["TRITON_CACHE_DIR"])
    before = set(cache.rglob("*.cubin"))
    assert executed(addition(rows=77, block=128)).compiled_kernels == 1
    assert set(cache.rglob("*.cubin")) == before


def check_a_runner_on_the_gpu_leaves_the_sweep_in_place():
    """Both listen to Triton's compilations; a campaign's files lie in memory and would fill it."""
    listener, compile_now = triton.knobs.compilation.listener, JITFunction._do_compile
    try:
        artefacts, stages = Artefacts(kept=1), []
        runner = CudaRunner(stages.append)
        folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
        for folder in folders:
            triton.knobs.compilation.listener(
                src=None, metadata={}, metadata_group={"kernel.ptx": str(folder / "kernel.ptx")}, times=None,
                cache_hit=False)
        artefacts.sweep()
        assert [folder.exists() for folder in folders] == [False, True]
        assert (runner._built, stages) == (2, [])
    finally:
        triton.knobs.compilation.listener, JITFunction._do_compile = listener, compile_now


def check_a_compiler_above_triton_has_its_limit_until_it_says_that_it_is_done():
    """torch.compile builds one kernel after another, in this process: its first one was taken for the end of compiling,
    and a sort that took Inductor more than ten seconds for a hang of the launch."""
    listener, compile_now = triton.knobs.compilation.listener, JITFunction._do_compile

    def built(*arguments: object, **options: object) -> None:
        triton.knobs.compilation.listener(src=None, metadata={}, metadata_group={}, times=None, cache_hit=False)

    try:
        JITFunction._do_compile = built
        stages: list[str] = []
        CudaRunner(stages.append)
        built()  # a kernel of Inductor, which calls triton.compile itself
        assert stages == []
        JITFunction._do_compile(vector_add.kernel)
        assert stages == ["compile", "launch"]
        built()
        assert stages == ["compile", "launch"]
    finally:
        triton.knobs.compilation.listener, JITFunction._do_compile = listener, compile_now


def check_oversized_cases_are_refused_here_too():
    with refused("would take 40,000,000,000,000 bytes"):
        executed(addition(rows=10**13))


def check_a_type_that_an_architecture_lacks_is_not_checked_there():
    case = next(one for one in draw_cases("helpers.is_floating", Limits(elements=64, rows=2), 300, seed=1)
                if one.array("a").dtype == "fp8e4nv")
    outcome = executed(case, "own", backend="compile:sm_80")
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_CHECKED, "sm_80 has no fp8e4nv")
    assert executed(case, "own", backend="compile:sm_90").verdict is Verdict.AGREE


def check_memory_orders_are_read_from_the_compiled_code():
    """What shows on no GPU at hand is still a finding; what cannot be read is none."""
    def judged(target: str, subject: str, backend: str, drawn: Case | None = None) -> tuple[Verdict, str]:
        case = drawn or draw_cases(target, Limits(elements=64, rows=2), 1, seed=3)[0]
        outcome = executed(case, subject, backend=backend)
        return outcome.verdict, outcome.signature.kind if outcome.signature else ""

    barrier, scan = "helpers.x_grid_barrier", "helpers.exclusive_scan_decoupled_lookback_64"
    for target, faults in ((barrier, ("arrival_without_release", "poll_without_acquire")),
                           (scan, ("flag_without_release", "poll_without_acquire"))):
        assert judged(target, "own", "compile:sm_90") == (Verdict.AGREE, "")
        for fault in faults:
            assert judged(target, f"own+fault:{fault}", "compile:sm_90") == (Verdict.DISAGREE, "memory_order"), fault
    assert judged(barrier, "own", "compile:sm_80") == (Verdict.AGREE, "")
    assert judged(barrier, "own+fault:arrival_without_release", "compile:gfx942") == (Verdict.AGREE, "")
    boxes = next(case for case in draw_cases("tma.boxes", Limits(elements=1 << 14, rows=4), 150, seed=5)
                 if case.program.to and case.program.tiles == 2)
    assert judged("tma.boxes", "own", "compile:sm_90", boxes) == (Verdict.AGREE, "")
    assert judged("tma.boxes", "own+fault:store_wait_missing", "compile:sm_90", boxes) == (
        Verdict.DISAGREE, "memory_order")
    ring = "warp_specialize.ring"
    asked = find(ring).run.memory_orders
    drawn = draw_cases(ring, Limits(elements=1 << 12, rows=4), 200, seed=5)
    # Where slots go back before anything else is done, nothing but the planted fence stands behind the reads.
    for fault, order in (("missing_proxy_fence", "fence of reads"), ("store_wait_missing", "completion")):
        passed_on = next(case for case in drawn if order in asked(case) and case.program.release == "early")
        assert judged(ring, "own", "compile:sm_90", passed_on) == (Verdict.AGREE, "")
        assert judged(ring, f"own+fault:{fault}", "compile:sm_90", passed_on) == (Verdict.DISAGREE, "memory_order")
