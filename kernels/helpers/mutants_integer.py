"""Faults of the integer helpers."""

from tridiff.kernels.helpers.mutant_table import Edit, Fault, mutant_table

_BELOW_ZERO = "below_zero = (a != 0) & ((a < 0) ^ (safe_b < 0))"
_OPPOSITE = "opposite = (a != 0) & ((a < 0) ^ (safe_b < 0))"
_SIGNED_REMAINDER = "tl.where(safe_b < 0, -size, size)"
# Operands of 64 bits keep their type and the value of their low 32 bits, in both helpers.
_IN_32_BITS: Edit = (
    "return x.to(promoted), y.to(promoted)",
    "width: tl.constexpr = 32 if promoted.primitive_bitwidth == 64 else promoted.primitive_bitwidth\n"
    "    narrow: tl.constexpr = tl.core.get_int_dtype(width, signed=promoted.is_int_signed())\n"
    "    return x.to(narrow).to(promoted), y.to(narrow).to(promoted)")

MUTANTS = mutant_table("integer", {
    "div_floor_integer": {
        "trunc_for_floor": Fault(
            "Rounds toward zero: -7 // 2 gives -3 instead of -4.",
            ("(dividend - below_zero.to(dividend.dtype))", "dividend"), ("~signed_quotient,", "-signed_quotient,")),
        "ceil_for_floor": Fault(
            "Rounds up: 7 // 2 gives 4 instead of 3.",
            ("    result = a // safe_b\n",
             "    result = a // safe_b\n    result += (a != result * safe_b).to(a.dtype)\n")),
        "exact_multiple_decremented": Fault(
            "Subtracts 1 whenever the signs differ, exact or not: -6 // 2 gives -4 instead of -3.",
            ("(dividend - below_zero.to(dividend.dtype))", "dividend")),
        "divisor_sign_ignored": Fault(
            "Looks at the dividend's sign only: 7 // -2 gives -3 instead of -4.",
            ("below_zero.to(dividend.dtype)", "(below_zero & (a < 0)).to(dividend.dtype)"),
            ("~signed_quotient,", "tl.where(a < 0, ~signed_quotient, -signed_quotient),")),
        "unsigned_operands": Fault(
            "Divides the bit patterns: -4 // 2 gives 2**(width-1) - 2 instead of -2.",
            ("return tl.where(negative, ~x, x).to(unsigned, bitcast=True) + negative.to(unsigned)",
             "return x.to(unsigned, bitcast=True)"),
            (_BELOW_ZERO, "below_zero = a != a")),
        "int_min_saturated": Fault(
            "Takes |INT_MIN| for INT_MAX: INT_MIN // 1 gives INT_MIN + 1.",
            # Only |INT_MIN| has its top bit set: take 1 off it.
            ("dividend = magnitude(a)\n        quotient",
             "dividend = magnitude(a)\n        dividend -= dividend >> (a.dtype.primitive_bitwidth - 1)\n"
             "        quotient")),
        "in_32_bits": Fault("Divides the low 32 bits of 64-bit operands: 2**32 // 1 gives 0.", _IN_32_BITS)},
    "remainder_integer": {
        "trunc_for_floor": Fault(
            "Takes the dividend's sign: -7 rem 2 gives -1 instead of 1.",
            (_OPPOSITE, "opposite = a != a"), (_SIGNED_REMAINDER, "tl.where(a < 0, -size, size)")),
        "exact_multiple_gives_divisor": Fault(
            "Adds the divisor whenever the signs differ: 6 rem -3 gives -3 instead of 0.",
            (_OPPOSITE, "opposite = (a < 0) ^ (safe_b < 0)"),
            ("(dividend - opposite.to(dividend.dtype))", "dividend"),
            ("divisor - 1 - remaining", "divisor - remaining")),
        "never_negative": Fault("The Euclidean remainder: 7 rem -4 gives 3 instead of -1.",
                                (_OPPOSITE, "opposite = a < 0"), (_SIGNED_REMAINDER, "size")),
        "of_magnitudes": Fault("|a| mod |b| with b's sign: -7 rem 4 gives 3 instead of 1.",
                               (_OPPOSITE, "opposite = a != a")),
        "through_fp32": Fault(
            "a - b * floor(a / b) with an fp32 quotient: 2**31 - 1 rem 2 gives -1 instead of 1.",
            ("    result = a % safe_b\n",
             "    result = a % safe_b\n"
             "    result = a - safe_b * tl.floor(a.to(tl.float32) / safe_b.to(tl.float32)).to(a.dtype)\n")),
        "in_32_bits": Fault("The remainder of the low 32 bits of 64-bit operands: 2**32 rem 3 gives 0 instead of 1.",
                            _IN_32_BITS)}})
