"""Triton's interpreter, repaired and observed, for tridiff's own runs.

    from tridiff.fuzz.interpreter import ProgramOrder, Repairs, active, install
    install(Repairs(), order=ProgramOrder("shuffled", seed=7))

Repairs are for the whole process: a worker is dedicated to one mode and installs them once, right after importing
Triton under TRITON_INTERPRET=1. Each is a small module with one idea and a switch in `Repairs`; `active()` says
which are in force and belongs into every outcome. `tridiff.fuzz.interpreter.trace` observes memory on top of them.

What stays as Triton has it, and must be kept in mind when a result of the interpreter is judged:

* `tl.maximum`/`tl.minimum` without NaN propagation keep a NaN on 3.6.0 and drop it on 3.9.0, as compiled code does;
  `tl.max`/`tl.min` drop it on both. `tl.argmax` with NaN: index of the NaN on 3.6.0, NaN ignored on 3.9.0.
* `tl.full(shape, -0.0, dtype)` loses the sign on 3.6.0, compiled and interpreted alike.
* sums of fp16, bf16 and fp8 are accumulated by numpy, not step by step in the narrow type.
* dot products are exact in fp32: no tf32 rounding of the operands.
* programs run one after the other: no deadlock, no race has consequences (the trace detects races).

Contract: jit.md §3, oracles.md §7.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.faults import (
    AssumptionViolated,
    BlockTruthValue,
    DeviceAssertFailed,
    InterpreterFault,
    Location,
    NeverEndingWait,
    NoStandIn,
    OutOfBounds,
)
from tridiff.fuzz.interpreter.order import ProgramOrder
from tridiff.fuzz.interpreter.patching import Patches

__all__ = [
    "AssumptionViolated", "BlockTruthValue", "DeviceAssertFailed", "InterpreterFault", "Location", "NeverEndingWait",
    "NoStandIn", "OutOfBounds", "ProgramOrder", "Repairs", "active", "active_order", "install", "missing", "repaired",
]


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """Which repairs of the interpreter are in force; all by default.

    libdevice: stand-ins for the libdevice functions, which otherwise return None; a refusal where there is none.
    conversions: correctly rounded, saturating conversions to and from bf16 and fp8.
    narrow_arithmetic: bf16 and fp8 arithmetic, comparisons, reductions and dots on values instead of bit patterns.
    fma: `tl.fma` in fp32 rounds once (3.6.0 only).
    int1_arithmetic: + - * on int1 wrap modulo 2 (3.6.0 only).
    shift_operands: `>>` on unsigned blocks leaves its operands alone (3.6.0 only).
    all_ones: `~` on unsigned blocks of 8 and 16 bits (3.6.0 with numpy 2 only, where it is refused).
    loop_bounds: scalar tensors as loop bounds (3.6.0 with numpy 2.4 or later only).
    block_truth: `and`, `or`, `not` and chained comparisons on blocks are refused instead of misread.
    assertions: device assertions are checked; integer overflow is not.
    poison_loads: masked-off lanes of loads without `other` hold a marker instead of 0.
    poison_arithmetic: integer x / 0 and oversized shifts give a marker instead of 0.
    undefined_lanes: undefined values are followed lane by lane to where they are used.
    patch_once: device function calls do not patch the language modules again (speed only).
    """

    libdevice: bool = True
    conversions: bool = True
    narrow_arithmetic: bool = True
    fma: bool = True
    int1_arithmetic: bool = True
    shift_operands: bool = True
    all_ones: bool = True
    loop_bounds: bool = True
    block_truth: bool = True
    assertions: bool = True
    poison_loads: bool = True
    poison_arithmetic: bool = True
    undefined_lanes: bool = True
    patch_once: bool = True

    @classmethod
    def none(cls) -> Repairs:
        """No repair at all: Triton's interpreter as it is."""
        return cls(**{field.name: False for field in dataclasses.fields(cls)})

    @classmethod
    def of(cls, subject: str) -> Repairs:
        """Those for a subject's kernels, by its name. tridiff's own must not use `and`, `or`, `not` on blocks and are
        refused if they do; upstream ones may, and what comes out wrong is the finding, so Python's truth value stands.
        """
        return cls(block_truth=subject.startswith("own"))

    def but(self, **switches: bool) -> Repairs:
        """A copy with some switches set otherwise."""
        return dataclasses.replace(self, **switches)


@dataclass(frozen=True)
class _Installed:
    repairs: Repairs
    order: ProgramOrder | None
    patches: Patches


_installed: _Installed | None = None


def active() -> Repairs:
    """The repairs in force in this process."""
    return _installed.repairs if _installed else Repairs.none()


def missing() -> tuple[str, ...]:
    """What the repairs in force, and the trace on top of them, were to replace in this Triton and did not find, as
    "repair: owner.name"; empty for every release that tridiff knows, and where nothing is installed."""
    if _installed is None:
        return ()
    from tridiff.fuzz.interpreter import memory_operations

    return (*_installed.patches.missing, *memory_operations.missing())


def active_order() -> ProgramOrder | None:
    """The program order in force; None is Triton's own."""
    return _installed.order if _installed else None


def install(repairs: Repairs | None = None, *, order: ProgramOrder | None = None) -> None:
    """Put `repairs` (all when None) and `order` in force for this process, replacing what was installed before.

    Idempotent. Raises TridiffError unless Triton was imported under TRITON_INTERPRET=1.
    """
    global _installed
    wanted = Repairs() if repairs is None else repairs
    if _installed and (_installed.repairs, _installed.order) == (wanted, order):
        return
    _require_interpreter()
    _remove()
    patches = Patches()
    _installed = _Installed(wanted, order, patches)
    try:
        _apply(patches, wanted, order)
    except BaseException:
        _remove()
        raise


@contextmanager
def repaired(repairs: Repairs | None = None, *, order: ProgramOrder | None = None) -> Iterator[Repairs]:
    """`install` for the length of a `with` block; afterwards what was in force before is again. For tests."""
    before = _installed
    install(repairs, order=order)
    try:
        yield active()
    finally:
        if before is None:
            _remove()
        else:
            install(before.repairs, order=before.order)


def _remove() -> None:
    global _installed
    if _installed:
        _installed.patches.undo()
    _installed = None


def _require_interpreter() -> None:
    from tridiff.fuzz.versions import interpreting

    if not interpreting():
        raise TridiffError("Triton was imported for compiled kernels, there is no interpreter to repair",
                           fix="set TRITON_INTERPRET=1 before anything imports triton")


def _apply(patches: Patches, repairs: Repairs, order: ProgramOrder | None) -> None:
    from tridiff.fuzz.interpreter import (
        assertions,
        backports,
        block_truth,
        conversions,
        launch,
        libdevice,
        loop_bounds,
        narrow_arithmetic,
        order as program_order,
        patch_once,
        poison,
        presence,
        undefined,
    )
    from tridiff.fuzz.versions import interpreter_features

    features = interpreter_features()
    # Replacements of single operations first, then what wraps operations, from the inside out.
    steps: tuple[tuple[str, bool, Callable[[Patches], None]], ...] = (
        ("conversions", True, conversions.apply),
        ("int1_arithmetic", not features.int1_wraps, backports.apply_int1_arithmetic),
        ("shift_operands", not features.ashr_keeps_operands, backports.apply_shift_operands),
        ("all_ones", not features.unsigned_all_ones, backports.apply_all_ones),
        ("fma", not features.fma_rounds_once, backports.apply_fma),
        ("narrow_arithmetic", True, narrow_arithmetic.apply),
        ("libdevice", True, libdevice.apply),
        ("assertions", True, assertions.apply),
        ("loop_bounds", True, loop_bounds.apply),
        ("block_truth", True, block_truth.apply),
        ("poison_arithmetic", True, poison.apply_to_arithmetic),
        ("poison_loads", True, poison.apply_to_loads),
        ("undefined_lanes", True, undefined.apply),
    )
    for name, needed, apply in steps:
        if needed and getattr(repairs, name):
            with patches.purpose(name):
                apply(patches)
    if order is not None:
        with patches.purpose("program order"):
            program_order.apply(patches, order)
    with patches.purpose("presence"):
        presence.apply(patches)
    if repairs.patch_once:
        with patches.purpose("patch_once"):
            patch_once.apply(patches)
    with patches.purpose("launch"):
        launch.apply(patches)
