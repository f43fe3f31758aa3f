"""Compiles a driver record ahead of time for a named architecture; no device needed. Test support only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels.drivers.record import Driver

SM_90 = GPUTarget("cuda", 90, 32)


def compile_driver(
    driver: Driver,
    dtypes: Mapping[str, str | None],
    *,
    constexprs: Mapping[str, Any],
    integer_dtypes: Mapping[str, str] | None = None,
    scalar_dtypes: Mapping[str, str] | None = None,
    target: GPUTarget = SM_90,
    options: Mapping[str, Any] | None = None,
) -> Mapping[str, str]:
    """The text of every stage, by its name ("ttir", "ptx", ...).

    dtypes: element dtype by array name; None passes no array. Strides and other ints are i32 unless `integer_dtypes`
    names another type. Nothing is specialised (no divisibility, no ones).
    """
    names = driver.arguments
    signature = dict.fromkeys(names, "i32")
    constants: dict[str, Any] = dict(constexprs)
    for array in (*driver.inputs, *driver.outputs):
        if dtypes[array.name] is None:
            constants[array.pointer] = None
        else:
            signature[array.pointer] = f"*{dtypes[array.name]}"
    signature.update(integer_dtypes or {})
    signature.update(scalar_dtypes or {})
    signature.update(dict.fromkeys(constants, "constexpr"))
    source = ASTSource(fn=driver.kernel, signature=signature, constexprs=constants)
    return triton.compile(source, target=target, options=dict(options or {})).asm
