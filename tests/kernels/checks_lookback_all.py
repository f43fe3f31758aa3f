"""Interpreted runs of the look-back scans: more programs, more random orders."""

import torch

from tests.kernels import checks_lookback as by_day
from tests.kernels.interleavings import POLICIES


def check_sums_of_hundreds_of_programs():
    by_day.sums({torch.int32: (65, 300), torch.int64: (65,)})


def check_the_kernels_in_more_orders():
    by_day.kernels_are_protocols(POLICIES)


def check_the_broken_kernels_in_more_orders():
    by_day.broken_kernels_are_protocols(POLICIES)
