"""A vocabulary of Hypothesis strategies for kernel inputs.

Every strategy is a function with keyword-only options and yields frozen records. Everything legal is on by
default: NaN, signed zeros, empty axes, stride 0, negative ints, unaligned pointers, tails that are no power
of two. Each shrinks towards the plain case: one element, contiguous, zeros, default options.
"""

from tridiff.fuzz.strategies.choice import weighted
from tridiff.fuzz.strategies.contents import (
    contents,
    crowded_contents,
    exponent_contents,
    index_contents,
    int_divisors,
    nan_contents,
    nan_patterns,
    offset_contents,
    one_hot_contents,
    pattern_contents,
    range_limits,
    sorted_contents,
    square_contents,
    tie_patterns,
    true_contents,
    truth_contents,
    weight_contents,
)
from tridiff.fuzz.strategies.dtypes import dtypes
from tridiff.fuzz.strategies.layouts import strided_layouts
from tridiff.fuzz.strategies.options import compile_modes, delayed_warps, launch_options, option_variants
from tridiff.fuzz.strategies.ramps import Ramp, integer_ramps
from tridiff.fuzz.strategies.shapes import lengths, row_counts, row_lengths, shapes

__all__ = ["Ramp", "compile_modes", "contents", "crowded_contents", "delayed_warps", "dtypes", "exponent_contents",
           "index_contents", "int_divisors", "integer_ramps", "launch_options", "lengths", "nan_contents",
           "nan_patterns",
           "offset_contents", "one_hot_contents", "option_variants", "pattern_contents", "range_limits", "row_counts",
           "row_lengths", "shapes", "sorted_contents", "square_contents", "strided_layouts",
           "tie_patterns", "true_contents", "truth_contents", "weight_contents", "weighted"]
