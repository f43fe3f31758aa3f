"""What programs of statements store under known defects of the front end, in torch."""

from types import ModuleType

import torch

from tridiff.fuzz.known.carried import as_compiled
from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.fuzz.statements.answers import outputs_of
from tridiff.fuzz.statements.cases import arrays_in, script_of
from tridiff.fuzz.statements.meaning.values import Illegal
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch import language as in_torch


def lost_in_loops(seen: Wrong) -> Masks:
    """What is stored if some variables have their values from before a loop in every trip and behind it."""
    text = as_compiled(script_of(seen.case))
    return stored_by(seen, text) if text else {}


def stored_by(seen: Wrong, text: str, *, lib: ModuleType = in_torch) -> dict[str, torch.Tensor]:
    """Where the outputs hold what another kernel stores, or the same over other operations; nothing of one of which
    most is not so, nor of a kernel that the language refuses. text, lib: as for `outputs_of`."""
    inputs = tuple(seen.inputs[name] for name in arrays_in(script_of(seen.case)) if name.startswith("x"))
    try:
        outputs, known = outputs_of(seen.case, text, *inputs, lib=lib)
    except Illegal:
        return {}
    found: dict[str, torch.Tensor] = {}
    for name in seen.wrong:
        if name in seen.expected:
            predicted, actual = to_bits(outputs[int(name[3:])]), to_bits(seen.actual[name])
            would = predicted != to_bits(seen.expected[name])
            would &= known.reshape(known.shape + (1,) * (would.dim() - 1))
            found[name] = where_it_shows(predicted == actual, would)
    return found
