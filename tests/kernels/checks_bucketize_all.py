"""Interpreted runs of bucketize_binary_search: more sizes of every type, from either side."""

import torch

from tests.kernels.checks_bucketize import ALL_SIZES, equals_torch


def check_more_sizes_of_every_dtype():
    equals_torch({torch.float32: ALL_SIZES, torch.int32: ALL_SIZES}, others=(0, 1, 7, 8, 33), both=True)
