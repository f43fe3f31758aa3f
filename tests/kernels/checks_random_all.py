"""Interpreted runs of the random helpers: thousands of offsets."""

from tests.kernels import checks_random as by_day


def check_rand_of_many_offsets():
    by_day.rand_equals_the_definition(2000)


def check_randn_of_many_offsets():
    by_day.randn_equals_box_muller(4000)
