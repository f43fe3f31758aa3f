"""libdevice in interpreted kernels: stand-ins are planted everywhere, the rest is refused."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from triton.language.extra import libdevice

from tridiff.fuzz.interpreter import NoStandIn, Repairs, repaired
from tridiff.fuzz.interpreter.libdevice import STAND_INS, stand_ins
from tridiff.fuzz.interpreter.trace import Buffer, recording
from tridiff.fuzz.versions import libdevice_modules


@triton.jit
def generic(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, libdevice.hypot(tl.load(src + i, mask=i < n), 4.0))


@triton.jit
def unused(src, dst, n, N: tl.constexpr):
    libdevice.hypot(tl.load(src + tl.arange(0, N)), 4.0)
    tl.store(dst + tl.arange(0, N), 1.0)


def hypot(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    """A stand-in for a stand-in: what the kernel stack's module is expected to look like."""
    return x * x + y * y


@contextmanager
def stand_in_module(**contents: FunctionType) -> Iterator[None]:
    """A module of stand-ins in place of the kernel stack's."""
    before, module = sys.modules.get(STAND_INS), ModuleType(STAND_INS)
    for name, function in contents.items():
        function.__module__ = STAND_INS
        setattr(module, name, function)
    sys.modules[STAND_INS] = module
    try:
        yield
    finally:
        sys.modules.pop(STAND_INS)
        if before is not None:
            sys.modules[STAND_INS] = before


def raised(kernel: object) -> Exception | None:
    try:
        kernel[(1,)](torch.ones(4), torch.zeros(4), 4, N=4)
    except Exception as error:
        return error
    return None


def check_function_without_stand_in_is_refused():
    with stand_in_module():
        with repaired(Repairs().but(libdevice=False)):
            assert raised(unused) is None, "the stub passes silently when its result is not used"
        with repaired():
            for kernel in (generic, unused):
                fault = raised(kernel)
                assert isinstance(fault, NoStandIn) and "libdevice.hypot" in str(fault), repr(fault)
                assert fault.location.function == kernel.fn.__name__


def check_stand_ins_are_planted_and_removed():
    stub = libdevice.hypot
    with stand_in_module(hypot=hypot):
        assert list(stand_ins()) == ["hypot"]
        source, result = torch.ones(4), torch.zeros(4)
        with repaired():
            assert all(module.hypot is not stub for module in libdevice_modules())
            assert triton_helpers.libdevice.hypot is libdevice.hypot
            buffers = [Buffer.of_tensor("src", source), Buffer.of_tensor("dst", result)]
            with recording(buffers) as trace:
                generic[(1,)](source, result, 3, N=4)
        assert result[:3].tolist() == [17] * 3
        assert [(use.use, use.element) for use in trace.undefined_uses] == [("store", 3)]
        assert libdevice.hypot is stub
