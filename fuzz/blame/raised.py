"""Who in Triton's Python layer is behind an error: of the functions on its stack the innermost one that was in a line
which no right case runs. What raises is mostly a helper that every kernel goes through; who called it wrongly is not.
"""

import itertools
import linecache
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from tridiff.fuzz.backends.device_errors import chain
from tridiff.fuzz.blame.trial import Frame
from tridiff.fuzz.coverage.lines import read_by

MOST = 200
"""Frames of a stack."""

_ASSERTED = ("CompileTimeAssertionFailure",)
_RAISING = ("raise ", "assert ")
_KERNELS = Path(__file__).parents[2] / "kernels"
_ALWAYS = ("compiler/code_generator.py ast_to_ttir", "runtime/interpreter.py GridExecutor.__call__")
_STAGES = ("compiler/compiler.py", "backends/")
"""What every kernel goes through: there is said what the verifier of the IR and the passes find."""


def stack(error: BaseException, package: Path) -> tuple[Frame, ...]:
    """The frames of an error and of those that it came of, the innermost first; () for what a kernel asserts or raises
    itself. Where an error is handed on it was not made. package: folder of Triton."""
    inner = chain(error)[-1]
    raised = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(inner.__traceback__)]
    if type(inner).__name__ in _ASSERTED or any(Path(one).is_relative_to(_KERNELS) for one in raised[-1:]):
        return ()

    def before(one: Frame) -> bool:
        return not one.file.startswith(_STAGES) and f"{one.file} {one.function}" not in _ALWAYS

    return tuple(itertools.islice(itertools.takewhile(before, _frames(error, package)), MOST))


def _frames(error: BaseException, package: Path) -> Iterator[Frame]:
    root = f"{package}/"
    for number, one in enumerate(reversed(chain(error))):
        frames = list(traceback.walk_tb(one.__traceback__))
        for frame, line in reversed(frames[:-1] if number else frames):
            code = frame.f_code
            read = read_by(frame)
            if read is not None and read[0].startswith(root):
                yield Frame(file=read[0].removeprefix(root), line=read[1], function=read[2])
            if code.co_filename.startswith(root):
                raises = linecache.getline(code.co_filename, line).lstrip().startswith(_RAISING)
                yield Frame(file=code.co_filename.removeprefix(root), line=line,
                            function=code.co_qualname.partition(".<locals>.<")[0],
                            lines=tuple(sorted({at for _, _, at in code.co_lines() if at})) if raises else ())


def innermost(frames: Iterable[Frame], right: Mapping[str, Collection[int]]) -> str:
    """"FILE FUNCTION", the file below Triton's folder; "" where right cases run every line. A function that right cases
    go through and that raises on purpose is named where there is nobody else. right: lines by file."""
    other = [one for one in frames if one.line not in right.get(one.file, ())]
    found = min(other, key=lambda one: not set(one.lines).isdisjoint(right.get(one.file, ())), default=None)
    return f"{found.file} {found.function}" if found is not None else ""
