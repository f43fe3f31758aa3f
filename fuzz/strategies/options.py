"""How it is compiled: warps, stages, fp fusion; which warp is delayed."""

from functools import cache

from hypothesis import strategies as st

from tridiff.fuzz.records import Delay, LaunchOptions
from tridiff.fuzz.strategies.choice import weighted

_WARPS = (4, 1, 2, 8, 16)
_RUNS = 24
"""Runs of accesses of one kind that a kernel's text has, at most, but for a few."""


@cache
def launch_options() -> st.SearchStrategy[LaunchOptions]:
    """Options of the main launch; shrinks towards Triton's defaults."""
    table = [LaunchOptions(num_warps=warps, num_stages=stages, enable_fp_fusion=fusion)
             for stages in (3, 1, 2) for fusion in (True, False) for warps in _WARPS]
    return st.sampled_from(table)


@cache
def option_variants() -> st.SearchStrategy[tuple[LaunchOptions, ...]]:
    """None in half of the draws, else one other set of options that must give the same bits."""
    table = [(LaunchOptions(num_warps=warps, num_stages=stages),) for warps in _WARPS for stages in (3, 1)]
    return st.sampled_from([*[()] * len(table), *table])


@cache
def delayed_warps() -> st.SearchStrategy[Delay | None]:
    """None, or in a third of the draws one warp delayed at some access to shared memory
    (`tridiff.fuzz.backends.delay`)."""
    delays: st.SearchStrategy[Delay | None] = st.builds(
        Delay, of=st.just("warp"), number=st.integers(0, max(_WARPS) - 1), access=st.integers(0, _RUNS - 1))
    return weighted((2, st.none()), (1, delays))
