"""The operands of a call that was seen to go wrong."""

import torch

from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.language.answers import operands_of
from tridiff.fuzz.language.cases import call_of, given_of
from tridiff.oracles.by_torch import language as by_torch


def operands(seen: Wrong) -> tuple[torch.Tensor, ...]:
    """In order: blocks with the rows in front, numbers as they are, or as they are passed."""
    return operands_of(call_of(seen.case), tuple(seen.inputs[name] for name in given_of(seen.case)), by_torch)
