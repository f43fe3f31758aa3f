"""An assertion that can stand inside an expression (contract: helpers.md §8)."""

import triton
import triton.language as tl


@triton.jit
def device_assert_then(cond, msg, r):
    """r, bit for bit, having asserted cond (contract: helpers.md §8).

    cond: an i1 scalar or block. msg: a string literal. If any lane of cond is False, the launch fails with msg;
    lanes that do not count are the caller's to set True. Without debug=True (in the interpreter: without the
    interpreter's debug option) the assertion does not exist.
    """
    tl.device_assert(cond, msg)
    return r
