"""Run every script of a folder in this one process and print its last line: importing torch takes seconds.

Usage: python run_scripts.py FOLDER, with an empty PYTHONPATH, under TRITON_INTERPRET=1.
"""

import contextlib
import io
import runpy
import sys
from pathlib import Path


def last_line(path: Path) -> str:
    """What the script printed last, or the exception that ended it."""
    printed = io.StringIO()
    sys.argv = [str(path)]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
    except SystemExit:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return (printed.getvalue().strip().splitlines() or ["printed nothing"])[-1]


folder = Path(sys.argv[1])
for script in sorted(folder.glob("*.py")):
    print(script.stem, last_line(script), sep="\t", flush=True)
