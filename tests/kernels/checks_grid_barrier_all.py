"""Interpreted runs of x_grid_barrier: in more random orders."""

from tests.kernels.checks_grid_barrier import compare_with_protocol
from tests.kernels.interleavings import POLICIES
from tridiff.kernels.helpers.grid_barrier import x_grid_barrier


def check_the_kernel_in_more_orders():
    compare_with_protocol(x_grid_barrier, policies=POLICIES)
