"""Deliberately broken variants of the packed words; see `mutants_integer.py` for what the table is for."""

import triton
import triton.language as tl

from tridiff.kernels.helpers.mutant_table import mutant_table


@triton.jit
def pack_halves_swapped(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """The value below, the flag above: value 1 with flag 0 gives 1."""
    bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    return bits | (tl.cast(flag, PACK) << VALUE_AS_UINT.primitive_bitwidth)


@triton.jit
def pack_shifted_short(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """Shifts one bit short: value 1 with flag 0 gives half of what it should."""
    bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    return tl.cast(flag, PACK) | (bits << (VALUE_AS_UINT.primitive_bitwidth - 1))


@triton.jit
def pack_value_converted(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """Converts the number instead of moving its bits: 1.0 becomes 1. Right for integers."""
    if value.dtype.is_floating():
        bits = value.to(tl.float32).to(tl.int32).to(VALUE_AS_UINT).to(PACK)
    else:
        bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    return tl.cast(flag, PACK) | (bits << VALUE_AS_UINT.primitive_bitwidth)


@triton.jit
def pack_sign_extended(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """Joins the flag as a signed number: flags with the top bit set spill into the value."""
    SIGNED: tl.constexpr = tl.core.get_int_dtype(VALUE_AS_UINT.primitive_bitwidth, signed=True)
    WIDE: tl.constexpr = tl.core.get_int_dtype(PACK.primitive_bitwidth, signed=True)
    bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    spread = tl.cast(flag, VALUE_AS_UINT).to(SIGNED, bitcast=True).to(WIDE).to(PACK, bitcast=True)
    return spread | (bits << VALUE_AS_UINT.primitive_bitwidth)


@triton.jit
def pack_flag_dropped(value, flag, VALUE_AS_UINT: tl.constexpr, PACK: tl.constexpr):
    """The value alone: flag 1 gives flag 0."""
    bits = value.to(VALUE_AS_UINT, bitcast=True).to(PACK)
    return bits << VALUE_AS_UINT.primitive_bitwidth


@triton.jit
def unpack_low_half(pack, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr):
    """The flag's bits for the value's: the word 1 gives the bits 1 instead of 0."""
    return pack.to(VALUE_AS_UINT).to(VALUE, bitcast=True)


@triton.jit
def unpack_shifted_short(pack, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr):
    """Shifts one bit short: every value but 0 is wrong."""
    return (pack >> (VALUE_AS_UINT.primitive_bitwidth - 1)).to(VALUE_AS_UINT).to(VALUE, bitcast=True)


@triton.jit
def unpack_value_converted(pack, VALUE: tl.constexpr, VALUE_AS_UINT: tl.constexpr):
    """Converts the bits as a number: the bits of 1.0 give 1065353216.0. Right for integers."""
    bits = (pack >> VALUE_AS_UINT.primitive_bitwidth).to(VALUE_AS_UINT)
    if VALUE.is_floating():
        return bits.to(tl.float32).to(VALUE)
    else:
        return bits.to(VALUE, bitcast=True)


@triton.jit
def unpack_flag_high_half(pack, FLAG: tl.constexpr):
    """The value's bits for the flag's: the word 1 gives 0."""
    return (pack >> FLAG.primitive_bitwidth).to(FLAG)


@triton.jit
def unpack_flag_two_bits(pack, FLAG: tl.constexpr):
    """Only the flags of the look-back: 4 gives 0. Right for 0, 1, 2, 3."""
    return (pack & 3).to(FLAG)


MUTANTS = mutant_table(
    {
        "pack_value_flag": {
            "halves_swapped": pack_halves_swapped, "shifted_short": pack_shifted_short,
            "value_converted": pack_value_converted, "sign_extended": pack_sign_extended,
            "flag_dropped": pack_flag_dropped,
        },
        "unpack_value": {
            "low_half": unpack_low_half, "shifted_short": unpack_shifted_short,
            "value_converted": unpack_value_converted,
        },
        "unpack_flag": {"high_half": unpack_flag_high_half, "two_bits": unpack_flag_two_bits},
    }
)
