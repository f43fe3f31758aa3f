"""The three faults that every driver can plant in itself, to test the tester (contract: codegen.md §13).

FAULT is a constexpr string: "" plants nothing.
"compile_error"  the kernel is invalid source: building it fails (NameError).
"runtime_error"  a device assertion that holds only where every input is 0. It exists only in a launch with assertions
                 enabled (compile option debug=True, or the interpreter's equivalent).
"wrong_value"    the result plus one, or inverted if Boolean. Invisible where x + 1 == x: NaN, infinities, large floats.
"""

import triton
import triton.language as tl

FAULTS = ("compile_error", "runtime_error", "wrong_value")


@triton.jit
def off_by_one(x):
    """x + 1 in x's own type, wrapping; the inverse of a Boolean."""
    if x.dtype == tl.int1:
        return x ^ True
    elif x.dtype.is_floating() and x.dtype.primitive_bitwidth < 32:
        return (x.to(tl.float32) + 1).to(x.dtype)
    else:
        return (x + 1).to(x.dtype)


@triton.jit
def inject_fault(result, a, b, mask, FAULT: tl.constexpr):
    """The result, or what the planted fault makes of it. a, b: the inputs; mask: the lanes that count, of a's shape."""
    tl.static_assert(
        (FAULT == "") or (FAULT == "compile_error") or (FAULT == "runtime_error") or (FAULT == "wrong_value"),
        "FAULT is '', 'compile_error', 'runtime_error' or 'wrong_value'",
    )
    if FAULT == "compile_error":
        return planted_undefined_name(result)  # type: ignore[name-defined]  # noqa: F821  (the fault)
    elif FAULT == "runtime_error":
        tl.device_assert((mask ^ True) | ((a == 0) & (b == 0)), "planted runtime error: an input is not 0")
        return result
    elif FAULT == "wrong_value":
        return off_by_one(result)
    else:
        return result
