"""How it is compiled: warps, stages, fp fusion."""

from functools import cache

from hypothesis import strategies as st

from fuzz.records import LaunchOptions

_WARPS = (4, 1, 2, 8, 16)


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
