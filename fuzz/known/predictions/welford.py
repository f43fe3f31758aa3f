"""Where Inductor's Welford states come out as the contract does not want them."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.oracles.bits import is_nan

_OPERANDS = ("a", "a_mean", "a_m2", "b_mean", "b_m2")
_CLOSE = {torch.float32: 1e-4, torch.float64: 1e-12}
"""What rounding may put between the helper's text and its compiled form, of the largest term."""


def _along(seen: Wrong, mask: torch.Tensor, output: str) -> torch.Tensor:
    """A mask of lanes as one of the output's elements: rows are reduced."""
    wrong = seen.wrong[output]
    if mask.dim() > wrong.dim():
        mask = mask.any(-1)
    return mask.expand(wrong.shape)


def _combined(seen: Wrong, *, equal_means: bool) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """(value, largest term) of each output of the helper's text for two states."""
    one = {name: seen.inputs[f"a_{name}"].double() for name in ("mean", "m2", "weight")}
    two = {name: seen.inputs[f"b_{name}"].double() for name in ("mean", "m2", "weight")}
    kind = seen.inputs["a_mean"].dtype
    delta = (two["mean"] - one["mean"]).to(kind).double()
    if equal_means:
        delta = torch.where(one["mean"] == two["mean"], 0.0, delta)
    weight = one["weight"] + two["weight"]
    share = torch.where(weight == 0, 0.0, two["weight"] / weight)
    square = (delta * delta).to(kind).double()
    cross = ((square * one["weight"]).to(kind).double() * share).to(kind).double()
    mean = one["mean"] + delta * share
    m2 = one["m2"] + two["m2"] + cross
    largest = one["mean"].abs().maximum(delta.abs())
    return {"mean": (mean.to(kind).double(), largest), "weight": (weight, weight),
            "m2": (m2.to(kind).double(), one["m2"].abs().maximum(two["m2"].abs()).maximum(cross.abs()))}


def _as_the_helper(seen: Wrong) -> Masks:
    """Elements of combined pairs that are what the helper's text gives, in the form of torch 2.13 or an older one."""
    found: Masks = {}
    for equal_means in (True, False):
        for name, (value, largest) in _combined(seen, equal_means=equal_means).items():
            actual = seen.actual[name]
            close = _CLOSE[actual.dtype]
            alike = (actual.double() == value) | (is_nan(actual) & torch.isnan(value)) | (
                (actual.double() - value).abs() <= close * largest)
            found[name] = alike | found[name] if name in found else alike
    return found


def _explained(seen: Wrong, lanes: torch.Tensor) -> Masks:
    alike = _as_the_helper(seen) if seen.case.params["form"] == "pairs" else {}
    return {name: mask & _along(seen, lanes, name) & alike.get(name, mask) for name, mask in seen.wrong.items()}


def beside_weight_zero(seen: Wrong) -> Masks:
    """Of pairs, what the helper's text gives where a weight is 0; of rows, those with such a state."""
    return _explained(seen, _without_weight(seen))


def _without_weight(seen: Wrong) -> torch.Tensor:
    """Lanes with a state of weight 0; where rows are reduced, all lanes of a row with one."""
    weights = [seen.inputs[name] == 0 for name in ("a_weight", "b_weight") if name in seen.inputs]
    if not weights:
        return torch.zeros_like(seen.inputs["a"], dtype=torch.bool)
    found = torch.stack(weights).any(0)
    return found if seen.case.params["form"] == "pairs" else found.any(-1, keepdim=True).expand(found.shape)


def of_infinities(seen: Wrong) -> Masks:
    """Of pairs with weight, what the helper's text gives of operands that are not finite, or whose squares are not; of
    rows, those with such an operand and with weights only."""
    extreme = torch.zeros_like(next(iter(seen.inputs.values())), dtype=torch.bool)
    for name in _OPERANDS:
        if name in seen.inputs:
            operand = seen.inputs[name]
            limit = torch.finfo(seen.actual["mean"].dtype).max ** 0.5 / 2
            extreme = extreme | ~(operand.double().abs() < limit)
    return _explained(seen, extreme & ~_without_weight(seen))
