"""Philox4x32-10 in Python ints, and what randint64 makes of it. Test support."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def philox(counter: int, seed: int) -> tuple[int, int, int, int]:
    """Philox4x32-10 in Python ints: counter words (counter, 0, 0, 0), key words of the 64-bit seed."""
    return philox_block((counter, 0, 0, 0), (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF))


def philox_block(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """One block (Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        low, high = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = high >> 32 ^ c1 ^ k0, high & 0xFFFFFFFF, low >> 32 ^ c3 ^ k1, low & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0, c1, c2, c3


def expected_integer(seed: int, offset: int, low: int, high: int) -> int:
    r0, r1, _, _ = philox(offset & 0xFFFFFFFF, seed)
    value = low + (r0 | r1 << 32) % ((high - low) % 2**64)
    return (value - INT64_MIN) % 2**64 + INT64_MIN
