"""Faults of the extremum helpers.

A fault of the operation on two is one of the reduction too. Where it says so, the smaller case stands first.
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table


def _faults_of_two(op: str, reverse: str) -> dict[str, Fault]:
    """Faults of the helper that keeps a where `x op y`: of `minimum` for "<", of `maximum` for ">"."""
    rule = f"(x {op} y) | is_nan(x)"
    result = f"return tl.where({rule}, a, b)"
    return {
        "nan_in_a_dropped": Fault("No rule for NaN: (NaN, 1.0) gives 1.0.", (rule, f"x {op} y")),
        "nan_in_b_dropped": Fault("Keeps a unless b is strictly better: (1.0, NaN) gives 1.0.",
                                  (result, f"return tl.where(y {op} x, b, a)")),
        "unsigned_compare": Fault(
            "Compares bit patterns: the minimum of (-1, 1) gives 1, the maximum -1.",
            (result, "width: tl.constexpr = x.dtype.primitive_bitwidth\n"
             "    bits: tl.constexpr = tl.int1 if width == 1 else tl.core.get_int_dtype(width, signed=False)\n"
             f"    return tl.where((x.to(bits, bitcast=True) {op} y.to(bits, bitcast=True)) | is_nan(x), a, b)")),
        "compared_in_fp32": Fault(
            "Rounds before it compares: the minimum of (2**24, 2**24 + 1) and the maximum of (2**24 + 1, 2**24) give "
            "b.", (rule, f"(x.to(tl.float32) {op} y.to(tl.float32)) | is_nan(x)")),
        "direction_reversed": Fault("The other extremum: the minimum of (0, 1) gives 1, the maximum 0.",
                                    (rule, f"(x {reverse} y) | is_nan(x)"))}


_MINIMUM, _MAXIMUM = _faults_of_two("<", ">"), _faults_of_two(">", "<")
_TIE = "equal & (a_index < b_index)"
# In the order of pairs, which both directions share, or in both of them.
_WITH_INDEX = {
    "tie_to_larger_index": Fault("Among equals the larger index: (1, index 0), (1, index 1) gives index 1.",
                                 (_TIE, "equal & (a_index > b_index)")),
    "tie_to_first": Fault(
        "Among equals the first argument, whatever its index: (1, index 1), (1, index 0) gives index 1.",
        (_TIE, "equal")),
    "nans_not_equal": Fault("No tie between NaNs: (NaN, index 0), (NaN, index 1) gives index 1.",
                            (" | (is_nan(a_value) & is_nan(b_value))", "")),
    "nan_in_first_lost": Fault(
        "A NaN in the first argument loses to a number: (NaN, index 0), (1.0, index 1) gives (1.0, 1).",
        (" | (is_nan(x) & is_number(y))", "", 2)),
    "index_of_loser": Fault(
        "The right value with the other's index: (0, index 0), (1, index 1) gives the index that does not belong.",
        ("tl.where(a_wins, a_index, b_index)", "tl.where(a_wins, b_index, a_index)", 2))}

MUTANTS = mutant_table("extrema", {
    "minimum": _MINIMUM, "min2": _MINIMUM, "maximum": _MAXIMUM, "max2": _MAXIMUM,
    "minimum_with_index": _WITH_INDEX, "min_with_index": _WITH_INDEX,
    "maximum_with_index": _WITH_INDEX, "max_with_index": _WITH_INDEX})
