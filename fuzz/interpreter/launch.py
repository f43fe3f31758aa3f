"""Around every interpreted launch: silence numpy, and let faults surface under their own type.

numpy warns about overflow, NaN and division by zero; in a kernel these are ordinary values, and a warning per
launch would drown the reports. This module is always installed: without it no other repair could report.
"""

from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.faults import InterpreterFault
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module


def fault_behind(error: BaseException) -> InterpreterFault | None:
    """The innermost fault in the chain of causes of `error`, None if there is none."""
    found: InterpreterFault | None = None
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, InterpreterFault):
            found = link
        link = link.__cause__
    return found


def apply(patches: Patches) -> None:
    """Wrap the grid executor."""
    module = interpreter_module()

    def __call__(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            try:
                return call(self, *args, **kwargs)
            except module.InterpreterError as error:
                fault = fault_behind(error)
                if fault is None:
                    raise
                # The chain that Triton built carries the kernel and helper lines; keep it, without a cycle.
                raise fault from _without(error, fault)

    patches.wrap(module.GridExecutor, "__call__", __call__)


def _without(error: BaseException, fault: InterpreterFault) -> BaseException:
    link = error
    while link.__cause__ is not None:
        if link.__cause__ is fault:
            link.__cause__ = None
            link.__context__ = None
            break
        link = link.__cause__
    return error
