"""Run every script of each folder named on standard input, all in this one process: importing torch takes seconds.

Usage: python run_scripts.py, with an empty PYTHONPATH, under TRITON_INTERPRET=1. The answer to a folder is one line,
a JSON object: the last line that each script printed, by the script's name.
"""

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path

STATUS = {"BUG": 1, "OK": 0, "SKIP": 2}


def last_line(path: Path) -> str:
    """What the script printed last, with its exit status if that is another than the answer's, or the exception that
    ended it."""
    printed = io.StringIO()
    status = 0
    sys.argv = [str(path)]
    hook = sys.excepthook
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        status = end.code  # None for 0, a truth value for what it counts as
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    finally:
        sys.excepthook = hook
    last = (printed.getvalue().strip().splitlines() or ["printed nothing"])[-1]
    return last if (status or 0) == STATUS.get(last.partition(": ")[0]) else f"{last}, exit status {status}"


answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    folder = Path(line.rstrip("\n"))
    os.chdir(folder)
    answers.write(json.dumps({script.stem: last_line(script) for script in sorted(folder.glob("*.py"))}) + "\n")
    answers.flush()
