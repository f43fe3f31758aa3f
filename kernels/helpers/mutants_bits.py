"""Faults of frexp."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

MUTANTS = mutant_table("bits", {
    "frexp": {
        "minus_zero_lost": Fault(
            "-0.0 gives (0.0, 0) instead of (-0.0, 0).",
            ("tl.where(unchanged, x, mantissa)", "tl.where(unchanged, tl.where(x == 0, 0.0, x), mantissa)")),
        "subnormal_flushed": Fault(
            "Subnormals give (x, 0) as if they were 0: 2**-149 gives e = 0 instead of -148.",
            ("((exponent == 0) & (fraction == 0))", "(exponent == 0)")),
        "mantissa_from_one": Fault(
            "1 <= |m| < 2: 1.0 gives (1.0, 0) instead of (0.5, 1).",
            ("half_exponent: tl.constexpr = (exponent_mask >> 1) - 1",
             "half_exponent: tl.constexpr = exponent_mask >> 1"),
            ("(half_exponent + 1)", "half_exponent")),
        "powers_of_two_up": Fault(
            "0.5 < |m| <= 1: 1.0 gives (1.0, 0) instead of (0.5, 1). Right for all but powers of two.",
            ("half_bits | digits)", "(half_bits + ((digits == 0).to(bits_type) << fraction_width)) | digits)"),
            ("biased - half_exponent", "biased - half_exponent - (digits == 0).to(bits_type)")),
        "exponent_of_infinity": Fault(
            "Infinities get the exponent that their bits spell: inf gives e = 129 instead of 0 in fp32.",
            ("tl.where(unchanged, 0,", 'tl.where(unchanged & (tl.abs(x) != float("inf")), 0,')),
        "sign_lost": Fault(
            "The mantissa of |x|: -1.0 gives (0.5, 1) instead of (-0.5, 1).",
            ("tl.where(unchanged, x, mantissa)", "tl.abs(tl.where(unchanged, x, mantissa))"))}})
