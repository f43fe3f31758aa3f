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


def last_line(path: Path) -> str:
    """What the script printed last, or the exception that ended it."""
    printed = io.StringIO()
    sys.argv = [str(path)]
    hook = sys.excepthook
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
    except SystemExit:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    finally:
        sys.excepthook = hook
    return (printed.getvalue().strip().splitlines() or ["printed nothing"])[-1]


answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    folder = Path(line.rstrip("\n"))
    os.chdir(folder)
    answers.write(json.dumps({script.stem: last_line(script) for script in sorted(folder.glob("*.py"))}) + "\n")
    answers.flush()
