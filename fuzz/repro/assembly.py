"""PTX of a launch's kernel and how Triton calls ptxas on it: what NVIDIA needs for a defect of ptxas."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import triton

from tridiff.fuzz.backends.compile import CompileRunner
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.repro.assembly_text import FILE
from tridiff.fuzz.repro.request import Assembly


class Call(Protocol):
    """A recorded launch."""

    @property
    def kernel(self) -> Any: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def options(self) -> LaunchOptions: ...
    @property
    def text(self) -> str: ...


def assembled(call: Call, arguments: Mapping[str, Any], architecture: str) -> Assembly | None:
    """The kernel compiled ahead of time; None where there is no PTX, as for AMD or where a pass fails.

    arguments: of the launch, arrays as `fuzz.backends.compile.Pointer`. Replaces `subprocess.run` meanwhile, to see
    the command.
    """
    seen: list[list[str]] = []
    run = subprocess.run

    def listening(command: Any, *more: Any, **options: Any) -> Any:
        if isinstance(command, list) and "ptxas" in Path(str(command[0])).name and "--version" not in command:
            seen.append([str(word) for word in command])
        return run(command, *more, **options)

    subprocess.run = listening  # type: ignore[assignment]
    try:
        runner = CompileRunner(architecture)
        with triton.knobs.compilation.scope():
            triton.knobs.compilation.always_compile = True
            if call.text:
                report = runner.run_ir(call.text, call.grid, dict(arguments), call.options)
            else:
                report = runner.run(call.kernel, call.grid, dict(arguments), call.options)
    except Exception:
        return None
    finally:
        subprocess.run = run
    if not report.ptx or not seen:
        return None
    versions = f"Triton {triton.__version__}, {_version(seen[-1][0])}"
    return Assembly(text=report.ptx, command=_shown(seen[-1]), versions=versions)


def _shown(command: list[str]) -> str:
    """The command for the file `bug.ptx`, with ptxas found on the PATH."""
    words = ["ptxas"]
    output = False
    for word in command[1:]:
        if output or (word.startswith("/") and word.endswith(".ptx")):
            word = "bug.cubin" if output else FILE
        output = word == "-o"
        words.append(word)
    return " ".join(words)


def _version(ptxas: str) -> str:
    try:
        said = subprocess.run([ptxas, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "ptxas"
    found = re.search(r"release ([\d.]+)", said)
    return f"ptxas {found[1]}" if found else "ptxas"
