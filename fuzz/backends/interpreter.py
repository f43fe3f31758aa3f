"""Backend `interpreter`: Triton's own CPU interpreter, repaired (see fuzz/interpreter/)."""

from typing import Any

from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.assertions import checking
from tridiff.fuzz.records import LaunchOptions


class InterpreterRunner:
    """Runs kernels on CPU tensors in place. The process was started with TRITON_INTERPRET=1."""

    backend = "interpreter"

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        with checking(options):
            kernel[grid](**arguments)
        return LaunchReport()

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        raise TridiffError("the interpreter runs Python kernels only, not TTGIR text",
                           fix="choose the backend cuda or compile:sm_90")

    def synchronise(self) -> None:
        return None
