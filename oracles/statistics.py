"""Distribution tests at a fixed seed (class STAT of oracles.md §2). No scipy: normal and series
approximations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tridiff.oracles.errors import OracleError


@dataclass(frozen=True, slots=True)
class Fit:
    """Outcome of a distribution test: the statistic and the probability of one at least as large by
    chance.
    """

    statistic: float
    probability: float

    def survives(self, level: float = 1e-9) -> bool:
        """True unless the sample is rejected at `level` (small, because a nightly run asks many times)."""
        return self.probability >= level


def chi_square(
    counts: Sequence[int] | npt.NDArray[np.int64], expected: Sequence[float] | npt.NDArray[np.float64]
) -> Fit:
    """Pearson's test of bucket counts; Wilson-Hilferty approximation of the tail, both tails (too even is
    wrong too).

    Needs at least 2 buckets and an expected count of 5 or more in each.
    """
    observed, wanted = np.asarray(counts, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if observed.shape != wanted.shape or observed.ndim != 1 or len(observed) < 2:
        raise OracleError("chi_square needs two equally long vectors of at least 2 buckets")
    if wanted.min() < 5:
        raise OracleError("chi_square needs an expected count of 5 or more per bucket; merge buckets or draw more")
    statistic = float(((observed - wanted) ** 2 / wanted).sum())
    freedom = len(observed) - 1
    spread = 2.0 / (9.0 * freedom)
    normal = ((statistic / freedom) ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(spread)
    return Fit(statistic, math.erfc(abs(normal) / math.sqrt(2.0)))


def kolmogorov_smirnov_uniform(sample: npt.NDArray[np.floating]) -> Fit:
    """Largest distance between the sample's distribution and the uniform one on [0, 1); asymptotic tail."""
    values = np.sort(np.asarray(sample, dtype=np.float64).reshape(-1))
    count = len(values)
    if count < 50:
        raise OracleError("kolmogorov_smirnov_uniform needs at least 50 values")
    grid = np.arange(count + 1) / count
    distance = float(max(np.abs(grid[1:] - values).max(), np.abs(grid[:-1] - values).max()))
    scaled = (math.sqrt(count) + 0.12 + 0.11 / math.sqrt(count)) * distance
    terms = (2.0 * (-1.0) ** (k - 1) * math.exp(-2.0 * (k * scaled) ** 2) for k in range(1, 101))
    return Fit(distance, min(1.0, max(0.0, sum(terms))) if scaled > 0.2 else 1.0)
