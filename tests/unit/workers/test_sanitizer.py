"""The concurrency sanitizer is on for one launch and no longer, and what stops that launch is told apart."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton

from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.backends.sanitizer import under_sanitizer
from tridiff.fuzz.verdicts import Refuted
from tridiff.fuzz.workers.diagnostics import Diagnostics

KNOBS = triton.knobs.compilation


def _launch() -> Any:
    return SimpleNamespace(reports=[], synchronise=lambda: None)


def test_the_setting_ends_with_the_launch_and_debug_is_not_held_against_it():
    before = KNOBS.instrumentation_mode
    launch, modes = _launch(), []

    def work() -> None:
        modes.append(KNOBS.instrumentation_mode)
        launch.reports.append(LaunchReport(compiled=1, readback={"debug": True, "num_warps": 4}))

    launch.reports.append(LaunchReport(readback={"debug": False}))
    under_sanitizer(launch, work)
    assert modes == ["consan"] and KNOBS.instrumentation_mode == before
    assert [one.readback for one in launch.reports] == [{"debug": False}, {"num_warps": 4}]


@pytest.mark.parametrize("said, kind", [
    ("Triton Error [CUDA]: device-side assert triggered", Refuted),
    ("CUDA error: misaligned address\nCompile with TORCH_USE_CUDA_DSA to enable device-side assertions", RuntimeError),
])
def test_only_an_assertion_is_a_report_of_the_sanitizer(said: str, kind: type[Exception]):
    before = KNOBS.instrumentation_mode

    def work() -> None:
        raise RuntimeError(said)

    with pytest.raises(kind) as raised:
        under_sanitizer(_launch(), work)
    assert type(raised.value) is kind and KNOBS.instrumentation_mode == before


@pytest.fixture
def error_output(tmp_path: Path) -> Iterator[None]:
    """The error output is a file, as it is in a worker."""
    kept = os.dup(2)
    log = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    yield
    os.dup2(kept, 2)
    os.close(kept)
    os.close(log)


@pytest.mark.usefixtures("error_output")
def test_a_fatal_error_of_llvm_comes_before_the_account_of_the_pass_that_met_it():
    """Triton's account is the same for every defect; what LLVM said tells them apart."""
    diagnostics = Diagnostics()
    os.write(2, b"Unsupported conversion from f64 to f8E5M2 with rounding mode rtne\n"
                b"LLVM ERROR: Unsupported rounding mode for conversion.\nmodule attributes {}\n"
                b"k.py:5:0: error: Failures have been detected while processing an MLIR pass pipeline\n")
    assert diagnostics.first() == "Unsupported rounding mode for conversion."


@pytest.mark.usefixtures("error_output")
def test_the_text_of_a_failed_assertion_is_found_among_others():
    os.write(2, b"k.py:3: f: block: [0,0,0], thread: [1,0,0] Assertion `of an earlier case` failed.\n")
    said = Diagnostics()
    assert said.asserted() == ""
    os.write(2, b"k.py:9: f: block: [0,0,0], thread: [31,0,0] Assertion `Buffer being accessed has outstanding "
                b"writes.` failed.\n")
    assert said.asserted() == "Buffer being accessed has outstanding writes."
