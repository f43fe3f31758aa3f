"""What the oracle tests share: special patterns crossed with themselves, seeded random ones, and what bounds hold."""

import numpy as np
import numpy.typing as npt

from tridiff.oracles.arrays import Array, array_of_bits
from tridiff.oracles.by_numpy.bounded import Real
from tridiff.oracles.dtypes import bits_dtype, dtype, numpy_dtype
from tridiff.oracles.special_values import special_bits

Bits = npt.NDArray[np.unsignedinteger]


def special_pairs(name: str) -> tuple[Array, Array]:
    """Every ordered pair of special values of a type, flat."""
    values = array_of_bits(special_bits(name), name)
    count = len(values)
    return np.repeat(values, count), np.tile(values, count)


def random_patterns(name: str, shape: tuple[int, ...], *, seed: int) -> Array:
    """Uniform random bit patterns (NaNs of any payload included); i1 is 0 or 1."""
    generator = np.random.default_rng(seed)
    kind = dtype(name)
    if kind.kind == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    raw = generator.integers(0, 1 << 63, shape, dtype=np.uint64) * np.uint64(2) + generator.integers(
        0, 2, shape, dtype=np.uint64)
    return np.asarray(raw).astype(bits_dtype(name)).view(numpy_dtype(name))


def mixed_patterns(name: str, shape: tuple[int, ...], *, seed: int, special_share: float = 0.3) -> Array:
    """Random patterns with a share of special values sprinkled in, so that ties and NaNs meet often."""
    generator = np.random.default_rng(seed + 1)
    special = array_of_bits(special_bits(name), name)
    chosen = special[generator.integers(0, len(special), shape)]
    return np.where(generator.random(shape) < special_share, chosen, random_patterns(name, shape, seed=seed))


def without_nan(array: Array) -> Array:
    """NaNs replaced by +0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(array), array.dtype.type(0), array)


def inside(found: Array, real: Real) -> Array:
    """Which numbers lie within the error of what is right."""
    with np.errstate(all="ignore"):
        near = np.abs(found.astype(np.longdouble) - real.value) <= real.error
    return near | (found == real.value) | np.isinf(real.error) | (np.isnan(found) & np.isnan(real.value))
