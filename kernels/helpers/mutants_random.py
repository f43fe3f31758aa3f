"""Faults of the random helpers.

r0, r1, ... are the words of the Philox block.
"""

from tridiff.kernels.helpers.mutant_table import Edit, Fault, mutant_table

_WORDS = "tl.randint4x(seed, tl.cast(offset, tl.uint32))"
_DRAWN = "first, second, _, _ = _philox_words(seed, offset)"
_SPAN = "tl.where(span == 0, tl.full([], 1, tl.uint64), span)"
_UNIFORM = "return tl.rand(seed, tl.cast(offset, tl.uint32))"
_NORMAL = "return tl.randn(seed, tl.cast(offset, tl.uint32))"
_FIRST_WORD = "return tl.randint(seed, tl.cast(offset, tl.uint32))"


def _box_muller(wave: str) -> Edit:
    """The normal number written out: the helper's radius of u1 by a wave of u1 or u2 that is not the helper's."""
    return (_NORMAL, "u1, u2, _, _ = tl.rand4x(seed, tl.cast(offset, tl.uint32))\n"
            f"    return tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u1))) * {wave}")


MUTANTS = mutant_table("random", {
    "randint64": {
        "high_included": Fault("Range [low, high]: for (0, 1), half of the values are 1 instead of none.",
                               ("tl.cast(high, tl.int64)", "(tl.cast(high, tl.int64) + 1)")),
        "low_ignored": Fault("Range [0, high - low): for (-5, 5) no value is negative.",
                             ("tl.add(start, remainder, sanitize_overflow=False)", "remainder")),
        "halves_reduced_apart": Fault(
            "Reduces each word before joining them: for (0, 10) nearly all values exceed 2^32.",
            (f"remainder = drawn % {_SPAN}",
             f"span = {_SPAN}\n    remainder = (first.to(tl.uint64) % span) | ((second.to(tl.uint64) % span) << 32)")),
        "halves_swapped": Fault("r1 + 2^32 r0: other values for any range that is no divisor of 2^32 - 1.",
                                (_DRAWN, "second, first, _, _ = _philox_words(seed, offset)")),
        "upper_half_dropped": Fault("r0 alone: for (0, 2^62) no value reaches 2^32.",
                                    (" | (second.to(tl.uint64) << 32)", "")),
        "seed_and_offset_swapped": Fault(
            "Philox of (offset, seed): other values wherever seed and offset differ.",
            (_WORDS, "tl.randint4x(tl.cast(offset, tl.uint32), "
             "tl.cast(offset, tl.uint32) * 0 + tl.cast(seed, tl.uint32))")),
        "seven_rounds": Fault("Philox4x32-7: other values everywhere.",
                              (_WORDS, "tl.randint4x(seed, tl.cast(offset, tl.uint32), 7)")),
        "wide_offset_kept": Fault(
            "A 64-bit offset feeds two counter words: offset 2^32 gives another value than offset 0.",
            (_WORDS, "tl.randint4x(seed, offset)")),
        "signed_remainder": Fault(
            "Takes the remainder of signed numbers: for (0, 10) half of the values are negative.",
            (f"drawn % {_SPAN}", f"(drawn.to(tl.int64, bitcast=True) % {_SPAN}.to(tl.int64, bitcast=True))"
             ".to(tl.uint64, bitcast=True)"))},
    "rand": {
        "second_word": Fault(
            "Made of r1 instead of r0: other values everywhere.",
            (_UNIFORM, "_, second, _, _ = tl.rand4x(seed, tl.cast(offset, tl.uint32))\n    return second")),
        "signed": Fault("r0 taken as signed: values in [-1, 1).",
                        (_UNIFORM, f"{_FIRST_WORD}.to(tl.int32, bitcast=True).to(tl.float32) * 4.6566127342e-10")),
        "reaches_one": Fault(
            "r0 / 2^32 rounded to nearest: r0 >= 2^32 - 128 gives 1.0, and other values than the helper's everywhere.",
            (_UNIFORM, f"{_FIRST_WORD}.to(tl.float32) * 2.3283064365386963e-10")),
        "seven_rounds": Fault("Philox4x32-7: other values everywhere.",
                              (_UNIFORM, "return tl.rand(seed, tl.cast(offset, tl.uint32), 7)")),
        "seed_truncated": Fault("Drops the upper half of the seed: seed 2^32 gives the values of seed 0.",
                                (_UNIFORM, "return tl.rand(tl.cast(seed, tl.uint32), tl.cast(offset, tl.uint32))"))},
    "randn": {
        "one_uniform": Fault("One uniform for radius and angle: other values everywhere, and not normal.",
                             _box_muller("tl.cos(6.283185307179586 * u1)")),
        "sine": Fault("The other half of the Box-Muller pair: other values almost everywhere.",
                      _box_muller("tl.sin(6.283185307179586 * u2)")),
        "half_circle": Fault("Angle in [0, pi): other values almost everywhere.",
                             _box_muller("tl.cos(3.141592653589793 * u2)")),
        "half_variance": Fault("sqrt(-log u) for the radius: every value is smaller by sqrt(2).",
                               (_NORMAL, f"{_NORMAL} * 0.7071067811865476")),
        "seed_ignored": Fault("Every seed gives the values of seed 0.",
                              (_NORMAL, "return tl.randn(seed * 0, tl.cast(offset, tl.uint32))"))}})
