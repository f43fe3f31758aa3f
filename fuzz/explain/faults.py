"""What ended an interpreted launch, with the way that leads there through the kernel and its helpers."""

import traceback

from tridiff.fuzz.backends.device_errors import chain
from tridiff.fuzz.explain.model import Fault, Frame, Function
from tridiff.fuzz.interpreter.faults import InterpreterFault
from tridiff.fuzz.interpreter.launch import fault_behind


def fault_of(error: BaseException | None, functions: tuple[Function, ...]) -> Fault | None:
    """None for a launch that ended as it should. Frames of Triton and of this project are left out."""
    if error is None:
        return None
    known = {(one.file, one.name) for one in functions}
    errors = chain(error)
    seen: dict[tuple[str, str, int], str] = {}
    for one in errors:
        for frame in traceback.extract_tb(one.__traceback__):
            if (frame.filename, frame.name) in known:
                seen.setdefault((frame.filename, frame.name, frame.lineno or 0), frame.line or "")
    order = {(one.file, one.name): place for place, one in enumerate(functions)}
    frames = tuple(Frame(function=name, file=file, line=line, text=text.strip()) for (file, name, line), text in sorted(
        seen.items(), key=lambda item: order[item[0][0], item[0][1]]))
    fault = error if isinstance(error, InterpreterFault) else fault_behind(error)
    if fault is not None:
        return Fault(kind=type(fault).__name__, problem=fault.problem, program=fault.program, frames=frames)
    innermost = errors[-1]
    return Fault(kind=type(innermost).__name__, problem=str(innermost)[:500], frames=frames)
