"""Faults of select_one. They take a mask with one True per slice, like the
helper.
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_LANE = "tl.expand_dims(tl.arange(0, x.shape[dim]), 1 - dim)"
_BITS = "x.to(bits_type, bitcast=True), 0)"

MUTANTS = mutant_table("select", {
    "select_one": {
        "first_lane": Fault("Always the first lane: [1, 2] with [False, True] gives 1.",
                            ("mask != 0", f"(mask == mask) & ({_LANE} == 0)", 2)),
        "mask_inverted": Fault("Takes the lanes that are not meant: [1, 2] with [False, True] gives 1.",
                               ("mask != 0", "mask == 0", 2)),
        "last_lane_ignored": Fault("Never the last lane: [1, 2] with [False, True] gives 0.",
                                   ("mask != 0", f"(mask != 0) & ({_LANE} != x.shape[dim] - 1)", 2)),
        "sum_of_floats": Fault(
            "Adds values instead of joining bits: [-0.0, 1.0] with [True, False] gives 0.0. Right for integers.",
            ("return a | b", "return a + b if a.dtype.is_floating() else a | b"),
            ("tl.reduce(bits, dim, _or_bits, keep_dims=keep_dims).to(x.dtype, bitcast=True)",
             "tl.reduce(bits.to(x.dtype, bitcast=True), dim, _or_bits, keep_dims=keep_dims)")),
        "top_bit_lost": Fault(
            "Drops the highest bit: -1.0 gives 1.0, and a Boolean True gives False.",
            ("(mask != 0) & x", "(mask != 0) & x & False"),
            # Shifting out and back avoids a mask literal that 64-bit signed arithmetic could not hold.
            (_BITS, "(x.to(bits_type, bitcast=True) << 1).to(bits_type) >> 1, 0)")),
        "low_half_only": Fault(
            "Moves only the lower half of the bits: 1.0 gives 0.0. Right for Booleans.",
            (_BITS, "x.to(bits_type, bitcast=True) & ((1 << (x.dtype.primitive_bitwidth // 2)) - 1), 0)"))}})
