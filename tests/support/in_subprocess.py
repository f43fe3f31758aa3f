"""Run Python that needs a process of its own, above all interpreter runs of Triton kernels.

Triton decides at import whether kernels are interpreted or compiled, so one pytest process can hold only one
of the two modes. Tests of the other mode run their bodies in a child process. Importing torch and Triton costs
a few seconds, hence two entry points:

* `run_script(source)` runs a piece of source text once and hands back what it printed;
* `Checks(path)` runs every `check_*` function of a file in one child process and lets each appear as a pytest
  case of its own:

      CHECKS = Checks(Path(__file__).with_name("checks_rounding.py"))

      @each("name", CHECKS.names)
      def test_rounding(name: str):
          CHECKS.require(name)

A kernel needs a source file on disk (Triton reads its text), which both entry points provide.
"""

import ast
import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.nights import by_day

each = pytest.mark.parametrize
REPOSITORY = Path(__file__).resolve().parents[2]
EVERY_CHECK = "*"


@dataclass(frozen=True)
class ScriptRun:
    """What a child process left: exit status (negative: killed by that signal), standard output and error."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def status(self) -> str:
        """The exit status in words, for assertion messages."""
        if self.returncode < 0:
            return f"killed by {signal.Signals(-self.returncode).name}"
        return f"exit status {self.returncode}"


def run_script(
    source: str, *, interpret: bool = True, env: Mapping[str, str] | None = None, timeout_seconds: float = 300.0,
    expect_returncode: int | None = 0,
) -> ScriptRun:
    """Run `source` as a file in a child process whose working directory is the repository root.

    interpret: set TRITON_INTERPRET=1 for the child; False removes the variable.
    env: further environment variables; they win over everything else.
    expect_returncode: assert this exit status (the message shows both streams); None accepts any.
    Raises AssertionError for another exit status and subprocess.TimeoutExpired after `timeout_seconds`.
    """
    with tempfile.TemporaryDirectory(prefix="script-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(source, encoding="utf-8")
        run = _run([str(path)], interpret=interpret, env=env, folder=folder, timeout_seconds=timeout_seconds)
    if expect_returncode is not None and run.returncode != expect_returncode:
        raise AssertionError(
            f"script ended with {run.status}, expected {expect_returncode}\n"
            f"--- stdout ---\n{run.stdout}\n--- stderr ---\n{run.stderr}"
        )
    return run


class Checks:
    """The `check_*` functions of one file, all run in one child process at the first question about any of them.

    A check passes by returning and fails by raising. When the child dies, the check that was running carries the
    blame and those behind it are reported as not run.
    """

    def __init__(self, path: Path, *, interpret: bool = True, quick: bool = False,
                 timeout_seconds: float = 600.0) -> None:
        """path: a Python file, importable on its own; it is read here but imported only in the child. quick: Triton's
        interpreter with the repair of its speed (`tridiff.fuzz.interpreter.patch_once`), and no other."""
        self.path = path
        self._interpret, self._quick = interpret, quick
        self._timeout_seconds = timeout_seconds
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        self.names: tuple[str, ...] = tuple(
            node.name for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
        )
        if not self.names:
            raise ValueError(f"{path} defines no function named check_*")

    def tests(self) -> Callable[[str], None]:
        """A test function of pytest for all of them, each a test of its own."""
        @each("name", self.names)
        def test(name: str) -> None:
            self.require(name)

        return test

    def require(self, name: str) -> None:
        """Raise AssertionError with the child's traceback unless the check called `name` passed."""
        failures = _run_checks(self.path, self._interpret, self._quick, self._timeout_seconds)
        failure = failures.get(name) or failures.get(EVERY_CHECK)
        if failure:
            raise AssertionError(f"{self.path.name}::{name}\n{failure}")


def every_check(files: Mapping[str, Checks]) -> Callable[[str, str], None]:
    """A test function of pytest for all checks of several files; those of files called checks_NAME_all.py, which ask
    the same as checks_NAME.py of more, wait for the night."""
    cases = [(file, name) for file, checks in files.items() for name in checks.names]

    @each(("file", "name"), by_day(
        cases, only=[one for one in cases if not files[one[0]].path.stem.endswith("_all")]))
    def test(file: str, name: str) -> None:
        files[file].require(name)

    return test


class _Preloaded:
    """A running `tests.support.preloaded`, which ends with this process."""

    def __init__(self, *, interpret: bool) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.preloaded"], cwd=REPOSITORY, env=_environment(interpret=interpret),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.close)

    def run(self, **request: object) -> int:
        """The exit status of the child for one request."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process that forks children for checks has ended ({self._process.wait()})"
        return int(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@functools.cache
def _preloaded(interpret: bool) -> _Preloaded:
    """The one of this process and mode, started at the first question."""
    return _Preloaded(interpret=interpret)


def run_forked(module: str, *arguments: Path, interpret: bool, log: Path, cache: Path, seconds: float) -> int:
    """Call a module's `main` in a child of a process that has torch and Triton imported; its exit status, negative for
    the signal that ended it. cache: folder for compiled kernels. seconds: after which SIGALRM ends it."""
    return _preloaded(interpret).run(module=module, arguments=[str(one) for one in arguments], log=str(log),
                                     cache=str(cache), seconds=seconds)


@functools.cache
def _run_checks(path: Path, interpret: bool, quick: bool, timeout_seconds: float) -> Mapping[str, str]:
    """Name -> traceback of each check that did not pass."""
    with tempfile.TemporaryDirectory(prefix="checks-") as folder:
        report = Path(folder) / "report.jsonl"
        log = Path(folder) / "log"
        status = run_forked(f"tests.support.{'run_quick_checks' if quick else 'run_checks'}", path, report,
                            interpret=interpret, log=log, seconds=timeout_seconds, cache=Path(folder) / "triton-cache")
        end = f"stopped after {timeout_seconds} s" if status == -signal.SIGALRM else ScriptRun(status, "", "").status
        streams = log.read_text(encoding="utf-8", errors="replace")[-12000:] if log.exists() else ""
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    failures: dict[str, str] = {}
    open_checks: list[str] = []
    for line in lines:
        record = json.loads(line)
        if record["state"] == "planned":
            open_checks.append(record["check"])
        elif record["state"] == "passed":
            open_checks.remove(record["check"])
        elif record["state"] == "failed":
            open_checks.remove(record["check"])
            failures[record["check"]] = record["traceback"]
    for position, name in enumerate(open_checks):
        blame = f"the child process ended during this check ({end})" if position == 0 else (
            f"not run: the child process ended during {open_checks[0]} ({end})")
        failures[name] = f"{blame}\n{streams}"
    if not lines:
        failures[EVERY_CHECK] = f"the file could not be loaded in the child process ({end})\n{streams}"
    return failures


def _environment(*, interpret: bool) -> dict[str, str]:
    """The variables of a child in one of Triton's modes that imports from the repository."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    if interpret:
        environment["TRITON_INTERPRET"] = "1"
    python_path = [str(REPOSITORY), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(part for part in python_path if part)
    return environment


def _run(
    arguments: list[str], *, interpret: bool, env: Mapping[str, str] | None, folder: str, timeout_seconds: float,
) -> ScriptRun:
    environment = _environment(interpret=interpret)
    environment.setdefault("TRITON_CACHE_DIR", str(Path(folder) / "triton-cache"))
    environment.update(env or {})
    done = subprocess.run(
        [sys.executable, *arguments], cwd=REPOSITORY, env=environment, capture_output=True, text=True,
        timeout=timeout_seconds, check=False,
    )
    return ScriptRun(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)
