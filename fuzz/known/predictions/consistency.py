"""A defect of compiled code shows wherever its pattern is, not in one place by chance."""

import torch


def where_it_shows(predicted: torch.Tensor, would: torch.Tensor) -> torch.Tensor:
    """`predicted`, or nothing if less than half of the elements that the defect would change hold what it would put
    there. Both bool, of one shape."""
    seen, possible = (predicted & would).sum(), would.sum()
    return predicted & would & (2 * seen >= possible)
