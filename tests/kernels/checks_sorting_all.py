"""Interpreted runs of sort_with_index: types, lengths and directions in all combinations."""

from tests.kernels import checks_sorting as by_day


def check_stable_sorts_in_both_directions():
    by_day.stable_sorts(both=True)


def check_unstable_sorts_in_both_directions():
    by_day.unstable_sorts(both=True)


def check_longer_rows():
    by_day.long_rows(100, 256, 511, 512)


def check_every_padding_in_both_directions():
    by_day.padded_rows(both=True)


def check_long_networks():
    by_day.sorts_zeros_and_ones(16)
