"""Repair: device assertions are checked, and a violated one has a type of its own.

Unrepaired, `tl.device_assert` does nothing. Triton's switch for it also turns on checks for integer overflow, which
are left off but for launches that ask for them (`checking`): wrapping arithmetic is part of the contract (helpers.md
§8).
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from msgspec import UNSET

from tridiff.fuzz.interpreter.faults import AssumptionViolated, DeviceAssertFailed
from tridiff.fuzz.interpreter.patching import Patches
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.versions import interpreter_module


@contextmanager
def checking(options: LaunchOptions) -> Iterator[None]:
    """Assertions as a launch asks for them, where it says whether they watch integer arithmetic."""
    if options.sanitize_overflow is UNSET:
        yield
        return
    builder = interpreter_module().interpreter_builder
    before = builder.options
    builder.options = dataclasses.replace(before, debug=options.debug, sanitize_overflow=options.sanitize_overflow)
    try:
        yield
    finally:
        builder.options = before


def apply(patches: Patches) -> None:
    """Set the builder's options and replace what it does for assertions."""
    module = interpreter_module()

    def false_lanes(condition: Any) -> str:
        data = np.asarray(condition.data)
        lanes = np.flatnonzero(~data.ravel().astype(bool))
        shown = ", ".join(map(str, lanes[:8])) + (", ..." if lanes.size > 8 else "")
        return f"false in {lanes.size} of {data.size} lanes ({shown})" if lanes.size else ""

    def create_assert(self: Any, condition: Any, message: Any) -> None:
        lanes = false_lanes(condition)
        if lanes:
            raise DeviceAssertFailed(f"device assertion {message!s}: {lanes}")

    def create_assume(self: Any, condition: Any) -> None:
        lanes = false_lanes(condition)
        if lanes:
            raise AssumptionViolated(f"tl.assume: {lanes}")

    options = dataclasses.replace(module.interpreter_builder.options, debug=True, sanitize_overflow=False)
    patches.set(module.interpreter_builder, "options", options)
    patches.set(module.InterpreterBuilder, "create_assert", create_assert)
    patches.set(module.InterpreterBuilder, "create_assume", create_assume)
