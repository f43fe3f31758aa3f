"""What programs of statements store under known defects of the front end, in torch."""

import torch

from tridiff.fuzz.known.carried import as_compiled
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.fuzz.statements.answers import outputs_of
from tridiff.fuzz.statements.cases import arrays_in, script_of
from tridiff.fuzz.statements.meaning.values import Illegal
from tridiff.oracles.bits import to_bits


def lost_in_loops(seen: Wrong) -> dict[str, torch.Tensor]:
    """What is stored if some variables have their values from before a loop in every trip and behind it."""
    script = script_of(seen.case)
    text = as_compiled(script)
    if not text:
        return {}
    inputs = tuple(seen.inputs[name] for name in arrays_in(script) if name.startswith("x"))
    try:
        outputs, known = outputs_of(seen.case, text, *inputs)
    except Illegal:
        return {}
    return as_stored(seen, outputs, known)


def as_stored(seen: Wrong, outputs: tuple[torch.Tensor, ...], known: torch.Tensor) -> dict[str, torch.Tensor]:
    """Where the outputs hold what another kernel stores; nothing of one of which most is not so. known: rows of which
    what that kernel stores is known, a bool tensor of them."""
    found: dict[str, torch.Tensor] = {}
    for name in seen.wrong:
        if name in seen.expected:
            predicted, actual = to_bits(outputs[int(name[3:])]), to_bits(seen.actual[name])
            would = predicted != to_bits(seen.expected[name])
            would &= known.reshape(known.shape + (1,) * (would.dim() - 1))
            found[name] = where_it_shows(predicted == actual, would)
    return found
