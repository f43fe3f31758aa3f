"""How a run of `tridiff` ends: its exit status, and one line for every mistake and every defect of tridiff's own.

A status of 1 says "new findings" and nothing else, so that whoever acts on it at night acts on findings: a mistake of
the user is 2, and whatever tridiff did not expect is 3, with the traceback in a file.
"""

import contextlib
import errno
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import typer

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.codec import printable

NOTHING_NEW, NEW_FINDINGS, COULD_NOT_CHECK, INTERNAL_ERROR = 0, 1, 2, 3
INTERRUPTED = 130

_USAGE_ERROR: type[Exception] = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")
"""What the reader of the command line raises; the package it comes from differs between releases of typer."""

_LONGEST = 1000
"""Characters of an error that are shown."""


def ending(run: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run the program and return its exit status; every exception becomes a line on stderr.

    `--traceback` anywhere in `arguments`, or the variable TRIDIFF_TRACEBACK, shows tracebacks of internal errors
    instead of keeping them in a file. With `--json` an error is also one JSON object on stdout:
    {"error": what is wrong, "fix": what to do, "exit_status": 2 or 3}.
    """
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is no reason to lose a campaign's last words.
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    show = "--traceback" in arguments or os.environ.get("TRIDIFF_TRACEBACK", "") not in ("", "0")
    arguments = [one for one in arguments if one != "--traceback"]
    as_json = "--json" in arguments
    try:
        status = run(arguments)
        sys.stdout.flush()
        return status
    except TridiffError as error:
        return _told(error.problem, error.fix, COULD_NOT_CHECK, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        print("tridiff: interrupted", file=sys.stderr)
        return INTERRUPTED
    except _USAGE_ERROR as error:
        context, message = getattr(error, "ctx", None), getattr(error, "message", "") or str(error)
        if hasattr(error, "format_message"):
            message = error.format_message()
        where = context.command_path if context is not None else "tridiff"
        return _told(message.rstrip("."), f"see `{where} --help`", COULD_NOT_CHECK, as_json=as_json)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package and package != __package__.partition(".")[0] and package not in ("kernels", "oracles"):
            return _told(f"the package {package} is not installed", f"pip install {package}, then `tridiff doctor`",
                         COULD_NOT_CHECK, as_json=as_json)
        return _internal(error, arguments, show=show, as_json=as_json)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _nobody_reads()
        return _internal(error, arguments, show=show, as_json=as_json)
    except SystemExit as error:
        # The only one that is not a status of ours: typer's, when nobody reads the output any more.
        if isinstance(error.__context__, BrokenPipeError):
            return _nobody_reads()
        return error.code if isinstance(error.code, int) else INTERNAL_ERROR if error.code else NOTHING_NEW
    except BaseException as error:
        return _internal(error, arguments, show=show, as_json=as_json)


def _nobody_reads() -> int:
    """What was to be said did not arrive; the interpreter's own attempt to flush it at exit would fail again."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return COULD_NOT_CHECK


def _told(problem: str, fix: str, status: int, *, as_json: bool) -> int:
    problem, fix = printable(problem, limit=_LONGEST), printable(fix, limit=_LONGEST)
    with contextlib.suppress(OSError):
        print(f"tridiff: {problem}; {fix}", file=sys.stderr, flush=True)
    if as_json:
        with contextlib.suppress(OSError):
            print(json.dumps({"error": problem, "fix": fix, "exit_status": status}), flush=True)
    return status


def _internal(error: BaseException, arguments: list[str], *, show: bool, as_json: bool) -> int:
    """One line for an exception that nobody expected; its traceback on stderr or in a file."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({Path(last[0].filename).name}:{last[0].lineno})" if last else ""
    message = " ".join(str(error).split())
    what = f"internal error: {type(error).__name__}{f': {message[:300]}' if message else ''}{place}"
    text = "".join(traceback.format_exception(error))
    if show:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr)
        fix = "please report it with the traceback above"
    else:
        kept = _keep(text, arguments)
        fix = (f"please report it with {kept}" if kept else
               "run it again with --traceback, and please report what it shows")
    return _told(what, fix, INTERNAL_ERROR, as_json=as_json)


def _keep(text: str, arguments: list[str]) -> str:
    """Write a traceback to a file under .tridiff/errors, or in the folder for temporary files where that cannot be
    written; its path, or "" if it could be written nowhere."""
    head = f"tridiff {' '.join(map(repr, arguments))}\nPython {platform.python_version()}, {platform.platform()}\n\n"
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for folder in (Path(".tridiff") / "errors", Path(tempfile.gettempdir()) / "tridiff-errors"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(head + text, encoding="utf-8", errors="backslashreplace")
        except OSError:
            continue
        return str(folder / name)
    return ""
