"""What untouched memory holds before a launch."""

from tridiff.oracles.dtypes import dtype as dtype_info


def poison_pattern(dtype: str, *, second: bool = False) -> int:
    """The bit pattern of untouched memory: a quiet NaN with a marker payload for floats, 0xAB.. for ints.

    `second` gives another pattern, so that a repeat shows a lane whose right value looks like poison.
    """
    info = dtype_info(dtype)
    if info.kind == "float" and info.bits >= 16:
        exponent = ((1 << info.exponent_bits) - 1) << info.mantissa_bits
        return exponent | (1 << (info.mantissa_bits - 1)) | (0x2B if second else 0x15)
    byte = 0x54 if second else 0xAB
    return int.from_bytes(bytes([byte]) * (info.storage_bits // 8), "little")
