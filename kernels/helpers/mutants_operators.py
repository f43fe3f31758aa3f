"""Faults of the bare operators."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

MUTANTS = mutant_table("operators", {
    "operator_negate": {
        "subtracted_from_zero": Fault("0 - x: +0.0 gives +0.0 instead of -0.0.",
                                      ("return -x", "return tl.zeros_like(x) - x")),
        "minus_magnitude": Fault("-|x|: what is negative stays negative.",
                                 ("return -x", "return tl.where(x < 0, x, -x)")),
        "lowest_decremented": Fault(
            "The lowest integer, which is its own negative, gives the largest one. Right for floats.",
            ("return -x", "return tl.where((x < 0) & (x == -x), x - 1, -x)"))}})
