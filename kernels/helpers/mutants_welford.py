"""Faults of Welford's algorithm. States are written (mean, m2, weight).

A fault of the union of two is one of the union along an axis too.
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_MEAN = "mean = mean_1 + delta * ratio"
_UNION = {
    "zero_weight_unguarded": Fault(
        "Guards the division only: (1, 0, 1) with (inf, 0, 0) gives NaN, NaN instead of 1, 0.",
        ("ratio = weight_2 / weight", "ratio = tl.where(weight == 0, 0.0, weight_2 / weight)"),
        ("empty_1 = weight_1 == 0", "empty_1 = weight_1 < 0"), ("empty_2 = weight_2 == 0", "empty_2 = weight_2 < 0")),
    "cross_term_missing": Fault(
        "Forgets the distance between the means: (0, 0, 1) with (2, 0, 1) gives m2 0 instead of 2.",
        (" + delta * delta * weight_1 * ratio", "")),
    "cross_term_sign": Fault("Subtracts the cross term: (0, 0, 1) with (2, 0, 1) gives m2 -2 instead of 2.",
                             ("m2_2 + delta * delta", "m2_2 - delta * delta")),
    "mean_unweighted": Fault(
        "The mean of the means: (0, 0, 1) with (4, 0, 3) gives mean 2 instead of 3. Right for equal weights.",
        (_MEAN, "mean = mean_1 + delta * 0.5")),
    "weights_swapped": Fault(
        "Weighs each mean with the other's weight: (0, 0, 1) with (4, 0, 3) gives mean 1 instead of 3.",
        (_MEAN, "mean = mean_1 + delta * (weight_1 / weight)")),
    "weight_not_added": Fault("Keeps the first weight: (0, 0, 1) with (4, 0, 3) gives weight 1 instead of 4.",
                              ("tl.where(both_empty, 0.0, m2), weight", "tl.where(both_empty, 0.0, m2), weight_1")),
    "equal_infinities": Fault(
        "Takes equal means to be no distance apart: (inf, 0, 1) twice gives m2 0 instead of NaN.",
        ("delta = mean_2 - mean_1", "delta = tl.where(mean_1 == mean_2, 0.0, mean_2 - mean_1)"),
        ("nan_unless_finite(mean_1) + nan_unless_finite(mean_2)", "nan_unless_finite(delta)"),
        ("m2 + nan_unless_finite(mean)", "m2"))}

MUTANTS = mutant_table("welford", {
    "welford_reduce": {
        "weight_not_reset": Fault("The first iteration counts on: 5 onto (9, 9, 3) gives weight 4 instead of 1.",
                                  ("tl.where(first_iteration, 1.0, weight + 1)", "(weight + 1)")),
        "m2_not_reset": Fault("The first iteration keeps the old m2: 5 onto (9, 9, 3) gives m2 9 instead of 0.",
                              ("tl.where(first_iteration, 0.0, m2", "tl.where(first_iteration, m2, m2")),
        "m2_with_old_mean": Fault("Squares the distance to the old mean: 3 onto (1, 0, 1) gives m2 4 instead of 2.",
                                  ("delta * (value - new_mean)", "delta * delta")),
        "m2_sign": Fault("Subtracts where it should add: 3 onto (1, 0, 1) gives m2 -2 instead of 2.",
                         ("m2 + delta * (", "m2 - delta * (")),
        "mean_over_old_weight": Fault("Divides by the weight before: 3 onto (1, 0, 1) gives mean 3 instead of 2.",
                                      ("delta / new_weight", "delta / weight"))},
    "welford_combine": _UNION, "welford": _UNION})
