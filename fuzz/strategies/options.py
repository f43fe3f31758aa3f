"""How it is compiled: warps, stages, fp fusion; which warp is delayed."""

import random
from functools import cache

from hypothesis import strategies as st
from msgspec import UNSET

from tridiff.fuzz.records import Delay, LaunchOptions
from tridiff.fuzz.strategies.choice import weighted

_WARPS = (4, 1, 2, 8, 16)
_STAGES = (3, 1, 2, 4, 5, 6, 7)
_LIMITS = (64, 128, 255, 32)
_REGISTERS = 1 << 16
"""Registers that one block can have (CUDA programming guide, compute capabilities)."""
_RUNS = 24
"""Runs of accesses of one kind that a kernel's text has, at most, but for a few."""


@cache
def launch_options() -> st.SearchStrategy[LaunchOptions]:
    """Options of the main launch; shrinks towards Triton's defaults."""
    table = [LaunchOptions(num_warps=warps, num_stages=stages, enable_fp_fusion=fusion)
             for stages in (3, 1, 2) for fusion in (True, False) for warps in _WARPS]
    return st.sampled_from(table)


@cache
def compile_modes(*, clusters: bool = False) -> st.SearchStrategy[LaunchOptions]:
    """Every combination of options that a chip takes: warps up to a full block, stages, fusion, a limit of registers
    that a block of that size can have, and, where the kernel may, blocks in clusters. Shrinks towards Triton's
    defaults.

    clusters: whether programs of the kernel may be spread over several blocks."""
    return st.builds(
        _mode, warps=st.sampled_from((*_WARPS, 32)), stages=st.sampled_from(_STAGES),
        fusion=st.booleans().map(lambda drawn: not drawn),
        limit=weighted((5, st.just(0)), (1, st.sampled_from(_LIMITS))),
        ctas=weighted((5, st.just(1)), (1, st.sampled_from((2, 4)))) if clusters else st.just(1))


def _mode(*, warps: int, stages: int, fusion: bool, limit: int, ctas: int) -> LaunchOptions:
    """limit: registers of a thread, 0 for none; lowered to what the block has for each."""
    least = min(limit, _REGISTERS // (32 * warps)) if limit else 0
    return LaunchOptions(num_warps=warps, num_stages=stages, num_ctas=ctas, enable_fp_fusion=fusion,
                         maxnreg=least or UNSET)


_VARIANTS = [(LaunchOptions(num_warps=warps, num_stages=stages),) for warps in _WARPS for stages in (3, 1)]


@cache
def option_variants() -> st.SearchStrategy[tuple[LaunchOptions, ...]]:
    """None in half of the draws, else one other set of options that must give the same bits."""
    return st.sampled_from([*[()] * len(_VARIANTS), *_VARIANTS])


Mode = tuple[LaunchOptions, tuple[LaunchOptions, ...]]
"""Options of a main launch, and others that must give the same bits."""

VARIED = 0.25
"""Part of the modes with such others: each is another compilation of kernels that are compiled for few launches."""


def random_mode(chance: random.Random) -> Mode:
    """Options of many cases at once, as `compile_modes` and, less often, `option_variants` draw them."""
    limit = chance.choice(_LIMITS) if chance.randrange(6) == 5 else 0
    options = _mode(warps=chance.choice((*_WARPS, 32)), stages=chance.choice(_STAGES), fusion=chance.random() < 0.5,
                    limit=limit, ctas=1)
    return options, chance.choice(_VARIANTS) if chance.random() < VARIED else ()


@cache
def delayed_warps() -> st.SearchStrategy[Delay | None]:
    """None, or in a third of the draws one warp delayed at some access to shared memory
    (`tridiff.fuzz.backends.delay`)."""
    delays: st.SearchStrategy[Delay | None] = st.builds(
        Delay, of=st.just("warp"), number=st.integers(0, max(_WARPS) - 1), access=st.integers(0, _RUNS - 1))
    return weighted((2, st.none()), (1, delays))
