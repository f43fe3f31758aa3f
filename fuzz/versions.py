"""What differs between the Triton versions that tridiff supports; every other module asks here.

Where Triton can be imported the answer is found by trying, once per process, and Triton is imported only when asked.
Records and the process that draws cases have nothing but the version's number: what follows from it stands in `SINCE`.
"""

import functools
import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

RELEASES = ((3, 6), (3, 7), (3, 8), (3, 9))
"""Major and minor numbers of the releases that tridiff knows; `tridiff doctor --new-triton` says what another needs."""

Feature = Literal["shared-memory gather and scatter", "shared-memory atomics", "Gluon functions for TMA reductions",
                  "stores into the shared memory of another block", "ttg.barrier",
                  "extrema and scans in the types of their operands", "proxy fences that a kernel lacks"]

SINCE: dict[Feature, tuple[int, int]] = {
    "shared-memory gather and scatter": (3, 7), "shared-memory atomics": (3, 8),
    "Gluon functions for TMA reductions": (3, 8), "stores into the shared memory of another block": (3, 8),
    "ttg.barrier": (3, 7),
    "extrema and scans in the types of their operands": (3, 9), "proxy fences that a kernel lacks": (3, 7),
}
"""The first release that offers each."""


@functools.lru_cache
def release(triton: str) -> tuple[int, ...]:
    """Major and minor number of a Triton version such as "3.9.0" or "3.10.1+git1", to compare; () if it has none."""
    numbers = triton.split(".")[:2]
    return tuple(map(int, numbers)) if len(numbers) == 2 and all(one.isdecimal() for one in numbers) else ()


def within(triton: str, *, since: str = "", until: str = "") -> bool:
    """Whether a Triton version is not older than the first release and not newer than the last one that has something;
    "" for none. Of a version without a number it is assumed."""
    number = release(triton)
    return not number or ((not since or number >= release(since)) and (not until or number <= release(until)))


def before(triton: str, other: str) -> bool:
    """Whether a Triton version is of an older release than another one; of a version without a number it is not
    known."""
    return not within(triton, since=other)


def offers(triton: str, feature: Feature) -> bool:
    """Whether a Triton version offers a feature; of a version without a number it is assumed."""
    number = release(triton)
    return not number or number >= SINCE[feature]


def same_release(torch: str, other: str) -> bool:
    """Whether two versions of torch are one release, whatever each was built for: `2.11.0` is what the metadata of
    `2.11.0+cu130` says."""
    return torch.partition("+")[0] == other.partition("+")[0]


@functools.cache
def interpreter_module() -> Any:
    """The module that holds Triton's interpreter: the builder class, the tensor handles, the grid executor."""
    return importlib.import_module("triton.runtime.interpreter")


def warn_again() -> None:
    """Warnings that a process is shown once are shown again, whatever ran in it before; before 3.9.0 there are none."""
    once = getattr(importlib.import_module("triton._utils"), "warn_once", None)
    if once is not None:
        once.cache_clear()


@functools.cache
def triton_language() -> Any:
    """`triton.language`."""
    return importlib.import_module("triton.language")


def libdevice_modules() -> tuple[ModuleType, ...]:
    """The modules through which kernels reach libdevice functions: the generic one and one per GPU vendor.

    Vendors whose module the installed Triton lacks are left out.
    """
    found = []
    for name in ("", "cuda.", "hip."):
        try:
            found.append(importlib.import_module(f"triton.language.extra.{name}libdevice"))
        except ModuleNotFoundError:
            continue
    return tuple(found)


def interpreting() -> bool:
    """Whether this process interprets kernels, that is, TRITON_INTERPRET was set before Triton was imported.

    Triton's own device functions (`tl.sum` and its like) are bound to one mode at import; they are the evidence.
    """
    return isinstance(triton_language().sum, interpreter_module().InterpretedFunction)


def interprets_scaled_products() -> bool:
    """Whether the interpreter knows `tl.dot_scaled`, which that of 3.8.0 was the first to learn."""
    return hasattr(interpreter_module().InterpreterBuilder, "create_dot_scaled")


def mask_lanes(mask: Any) -> Any:
    """bool array of a mask that the interpreter's builder was given.

    A tensor handle mostly; Triton 3.6.0 passes a bare array for block pointers and descriptors.
    """
    import numpy as np

    return np.asarray(mask.data)


@dataclass(frozen=True)
class InterpreterFeatures:
    """What the interpreter of the installed Triton gets right or has on its own (3.6.0 / 3.9.0 in brackets).

    block_pointers: block pointers exist (yes / no).
    atomic_poll: atomic load, store and poll exist (no / yes).
    chained_comparison: `a < b < c` on blocks is evaluated per lane (no / yes).
    bf16_constants: a non-zero bf16 constant can be built (no / yes).
    minnum_drops_nan: `tl.minimum`/`tl.maximum` drop a single NaN, as compiled code does (no / yes).
    int1_wraps: arithmetic on int1 wraps modulo 2 (no / yes).
    fma_rounds_once: fp32 `tl.fma` rounds once (no / yes).
    ashr_keeps_operands: `>>` on unsigned blocks leaves its operands alone (no / yes).
    unsigned_all_ones: `~` works on unsigned blocks (not with numpy 2 / yes).
    """

    block_pointers: bool
    atomic_poll: bool
    chained_comparison: bool
    bf16_constants: bool
    minnum_drops_nan: bool
    int1_wraps: bool
    fma_rounds_once: bool
    ashr_keeps_operands: bool
    unsigned_all_ones: bool


@functools.cache
def interpreter_features() -> InterpreterFeatures:
    """Try the unrepaired interpreter builder on single elements; ask before any repair is installed."""
    import numpy as np

    module, tl = interpreter_module(), triton_language()
    builder = module.InterpreterBuilder

    def handle(value: Any, numpy_type: Any, triton_type: Any) -> Any:
        return module.TensorHandle(np.array([value], dtype=numpy_type), triton_type)

    def probe(method: str, *operands: Any) -> Any:
        return getattr(builder(), method)(*operands).data.item()

    true = handle(True, np.bool_, tl.int1)
    one, nan = handle(1.0, np.float32, tl.float32), handle(np.nan, np.float32, tl.float32)
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; the last term survives only if the product is not rounded.
    near = handle(1.0 + 2.0**-12, np.float32, tl.float32)
    minus = handle(-(1.0 + 2.0**-11), np.float32, tl.float32)
    byte, shift = handle(0x80, np.uint8, tl.uint8), handle(1, np.uint8, tl.uint8)
    probe("create_ashr", byte, shift)
    try:
        ones = probe("get_all_ones_value", tl.uint8) == 0xFF
    except OverflowError:
        ones = False
    return InterpreterFeatures(
        block_pointers=hasattr(builder, "create_make_block_ptr"), atomic_poll=hasattr(builder, "create_atomic_poll"),
        chained_comparison=hasattr(module, "_InterpreterComparison"), bf16_constants=hasattr(builder, "get_bf16"),
        minnum_drops_nan=probe("create_minnumf", nan, one) == 1.0, int1_wraps=probe("create_add", true, true) is False,
        fma_rounds_once=probe("create_fma", near, near, minus) == 2.0**-24,
        ashr_keeps_operands=byte.data.dtype == np.uint8, unsigned_all_ones=ones,
    )
