"""Which element type."""

from functools import cache

from hypothesis import strategies as st

from tridiff.oracles.dtypes import NAMES

_SIMPLEST_FIRST = ("i32", "fp32", "i64", "fp64", "i16", "i8", "u32", "u8", "u16", "u64", "fp16", "bf16", "i1",
                   "fp8e5", "fp8e4nv")


@cache
def dtypes(*, among: tuple[str, ...] = NAMES) -> st.SearchStrategy[str]:
    """One dtype name of `among`; shrinks towards i32, then fp32."""
    return st.sampled_from([name for name in _SIMPLEST_FIRST if name in among])
