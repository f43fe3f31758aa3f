"""The inputs of a sweep: every bit pattern, or a stated stratified set, addressed by one index.

An index is a string of bits, the first operand's in front. An operand either takes all patterns of its type (its bits
are the pattern) or a deck: a sorted list of 2**n patterns, of which its bits name one. So a sweep's inputs are the
same everywhere, an index says which input is meant, and consecutive indices are consecutive patterns.
Imports neither torch nor Triton.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.fuzz.sweep.records import SweepSpec
from tridiff.oracles.dtypes import DType, dtype
from tridiff.oracles.special_values import special_bits

Patterns = npt.NDArray[np.uint64]

STRATIFIED_BITS = 26
"""Size of a stratified set that the device judges, as a power of two."""
HOST_BITS = 16
"""Size of one that is judged on the host: 64-bit operands or results, where the device has no wider type."""


@dataclass(frozen=True)
class Operand:
    """bits: how many bits of the index it takes. deck: whether they name an entry of `deck(dtype, bits)`."""

    dtype: str
    bits: int
    deck: bool


@dataclass(frozen=True)
class Space:
    """The inputs of one sweep. on_host: judged on the host, because the device has no wider type to judge with."""

    operands: tuple[Operand, ...]
    on_host: bool

    @property
    def bits(self) -> int:
        """Bits of an index."""
        return sum(one.bits for one in self.operands)

    @property
    def size(self) -> int:
        """Number of inputs."""
        return 1 << self.bits

    @property
    def complete(self) -> bool:
        """Whether it is all inputs there are."""
        return not any(one.deck for one in self.operands)

    @property
    def shifts(self) -> tuple[int, ...]:
        """By how much an index is shifted down for each operand."""
        left = self.bits
        found = []
        for one in self.operands:
            left -= one.bits
            found.append(left)
        return tuple(found)

    def describe(self) -> str:
        """`all 2^16`, or what the strata are."""
        if self.complete:
            return f"all 2^{self.bits}"
        decks = " x ".join(f"2^{one.bits} of {one.dtype}" if one.deck else f"all 2^{one.bits} of {one.dtype}"
                           for one in self.operands)
        return f"stratified: {decks}"

    def patterns(self, index: npt.NDArray[Any]) -> tuple[Patterns, ...]:
        """The operands' patterns at these indices."""
        wide = np.asarray(index).astype(np.uint64)
        found = []
        for one, shift in zip(self.operands, self.shifts, strict=True):
            place = (wide >> np.uint64(shift)) & np.uint64((1 << one.bits) - 1)
            found.append(deck(one.dtype, one.bits)[place] if one.deck else place)
        return tuple(found)


def space_of(spec: SweepSpec, result: str) -> Space:
    """The space of a spec whose operation has a result of type `result`."""
    widths = [dtype(name).bits for name in spec.dtypes]
    on_host = max(widths) > 32 or (result == "fp64" and max(widths) > 32)
    if not on_host and sum(widths) <= spec.bits:
        return Space(tuple(Operand(name, width, False) for name, width in zip(spec.dtypes, widths, strict=True)), False)
    left = min(spec.bits, HOST_BITS if on_host else STRATIFIED_BITS)
    operands: dict[int, Operand] = {}
    # Narrow operands first: what they do not need goes to the others.
    for position, (index, width) in enumerate(sorted(enumerate(widths), key=lambda pair: pair[1])):
        share = min(width, left // (len(widths) - position))
        operands[index] = Operand(spec.dtypes[index], share, share < width)
        left -= share
    return Space(tuple(operands[index] for index in range(len(widths))), on_host)


@cache
def deck(name: str, bits: int) -> Patterns:
    """2**bits patterns of a type, ascending: special values, exponents with typical significands, random ones.

    Half of the places, where there are enough, go to random patterns of a fixed seed.
    """
    kind = dtype(name)
    size = 1 << bits
    listed = [np.array(list(special_bits(name)), dtype=np.uint64), _strata(kind)]
    generator = np.random.Generator(np.random.Philox(0x5EED))
    mask = np.uint64((1 << kind.bits) - 1)
    chosen = listed[0][: size // 2]
    strata = np.setdiff1d(listed[1], chosen)
    room = min(len(strata), max(size // 2 - len(chosen), 0))
    chosen = np.union1d(chosen, generator.permutation(strata)[:room])
    while len(chosen) < size:
        more = generator.integers(0, 1 << 63, size, dtype=np.uint64) << np.uint64(1)
        more = (more | generator.integers(0, 2, size, dtype=np.uint64)) & mask
        chosen = np.union1d(chosen, more[: size - len(chosen)])
    return chosen.astype(np.uint64)


def _strata(kind: DType) -> Patterns:
    """Every exponent (or every position of the top bit) with significands at the ends, in the middle and between."""
    if not kind.is_float:
        powers = [1 << k for k in range(kind.bits)]
        values = {value & ((1 << kind.bits) - 1) for power in powers
                  for base in (power, -power, 3 * power, 5 * power) for value in (base - 1, base, base + 1)}
        return np.array(sorted(values), dtype=np.uint64)
    top = 1 << kind.mantissa_bits
    thirds = {0, 1, 2, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1, top // 3, 2 * top // 3, top // 4,
              3 * top // 4, int(top * 0.4142135), int(top * 0.5707963), int(top * 0.7182818), int(top * 0.0986)}
    exponents = range(1 << kind.exponent_bits)
    values = {(exponent << kind.mantissa_bits) | (part % top) | sign for exponent in exponents for part in thirds
              for sign in (0, 1 << (kind.bits - 1))}
    return np.array(sorted(values), dtype=np.uint64)
