"""Faults of clamp."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

MUTANTS = mutant_table("clamp", {
    "clamp": {
        "nan_dropped": Fault(
            "No rule for NaN: NaN in [0, 1] gives 0.",
            ("return minimum(maximum(x, low), high)",
             "above = tl.where(x > low, x, low)\n    return tl.where(above < high, above, high)")),
        "upper_first": Fault("Limits from above first: 0 in [2, 1] gives 2 instead of 1.",
                             ("minimum(maximum(x, low), high)", "maximum(minimum(x, high), low)"))}})
