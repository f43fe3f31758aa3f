"""Yardsticks, printed as ratios to bare loops measured in the same run."""

from tridiff.fuzz.bench.measure import Measurement, run_bench

__all__ = ["Measurement", "run_bench"]
