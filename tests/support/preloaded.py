"""A process that has torch and Triton imported, in one of Triton's two modes; it forks a child for each file of checks,
and for other work that has to be done in such a process.

Importing takes three seconds of a core, which every file would pay again. `tests.support.in_subprocess` starts it:

    python -m tests.support.preloaded

Standard input has a request a line, in JSON: "module" and "arguments" (paths) of a function `main` to call, "log" (a
file to write), "cache" (the folder for compiled kernels) and "seconds" (after which SIGALRM ends the child). The
answer, a line on standard output, is the child's exit status, negative for a signal.
"""

import gc
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

IMPORTED = ("numpy", "torch", "triton", "triton.language", "scipy.special", "hypothesis", "pytest",
            "tridiff.fuzz.workers.execute", "tests.support.run_checks")


def main() -> None:
    """Serve until standard input closes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for module in IMPORTED:
        importlib.import_module(module)
    # A child's collections need not go through, and copy, what all of them share.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        _, status = os.waitpid(_fork(json.loads(line)), 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def _fork(request: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ["TRITON_CACHE_DIR"] = request["cache"]
        signal.alarm(int(request["seconds"]))
        importlib.import_module(request["module"]).main(*map(Path, request["arguments"]))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Without the end of the interpreter: what was imported before the fork is not this process's to take down.
        os._exit(code)


if __name__ == "__main__":
    main()
