"""Deliberately broken variants of device_assert_then; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.fault_hook import off_by_one
from tridiff.kernels.helpers.mutant_table import mutant_table, variants


@triton.jit
def assertion_dropped(cond, msg, r):
    """Asserts nothing: a False condition passes."""
    return r


@triton.jit
def condition_inverted(cond, msg, r):
    """Fails where the condition holds."""
    tl.device_assert(cond ^ True, msg)
    return r


@triton.jit
def all_lanes_must_fail(cond, msg, r):
    """Fails only if no lane of the 2-D condition is True: one False lane among True ones passes."""
    flags = cond.to(tl.int32)
    tl.device_assert(tl.max(tl.max(flags, axis=1), axis=0) > 0, msg)
    return r


@triton.jit
def result_off_by_one(cond, msg, r):
    """Returns r + 1."""
    tl.device_assert(cond, msg)
    return off_by_one(r)


@triton.jit
def result_replaced_where_false(cond, msg, r):
    """Returns 0 where the condition is False: seen only with assertions disabled."""
    tl.device_assert(cond, msg)
    return tl.where(cond, r, 0).to(r.dtype)


MUTANTS = mutant_table({
    "device_assert_then": variants(assertion_dropped, condition_inverted, all_lanes_must_fail, result_off_by_one,
        result_replaced_where_false)})
