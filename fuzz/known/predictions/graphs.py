"""What comes out of generated programs that are compiled wrong: what the reference says of another program.

A `Form` of `tridiff.fuzz.known.graphs.forms` says which programs may come out instead; they are interpreted like the
program itself, and an element is predicted if it is what one of them allows there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names
from tridiff.fuzz.kinds.graphs.by_numpy import Answer, confirmed, evaluate
from tridiff.fuzz.known.graphs import forms
from tridiff.fuzz.known.graphs.form import Form
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.codegen.legality import IllegalGraph
from tridiff.oracles.arrays import to_numpy, to_torch

Masks = dict[str, torch.Tensor]
_MOST = 16
"""Programs that are interpreted for one failure."""


def other_repeated(seen: Wrong) -> Masks:
    """-1 for what a masked load of narrow integers gives where it is masked."""
    return _computed(seen, forms.OTHER)


def lop3_fused(seen: Wrong) -> Masks:
    """The logic behind a lop3 of one register twice, with zero for that register."""
    return _computed(seen, forms.LOP3)


def choice_of_zero(seen: Wrong) -> Masks:
    """+0.0 for -0.0 where 1.0 was the other choice."""
    return _computed(seen, forms.CHOICE)


def truth_converted(seen: Wrong) -> Masks:
    """1.0 for the bf16 whose bits are 1."""
    return _computed(seen, forms.TRUTH_AS_HALF)


def fp16_converted(seen: Wrong) -> Masks:
    """1.0 for the fp16 whose bits are 1."""
    return _computed(seen, forms.TRUTH_AS_FP16)


def negation_lost(seen: Wrong) -> Masks:
    """The extremum of three whose operand is not negated."""
    return _computed(seen, forms.EXTREMUM_OF_THREE)


def relu_left_out(seen: Wrong) -> Masks:
    """The extremum that relu was not taken of."""
    return _computed(seen, forms.RELU)


def _computed(seen: Wrong, form: Form) -> Masks:
    """Where an element is what one of the programs gives that may come out of the form."""
    found = {name: torch.zeros_like(mask) for name, mask in seen.wrong.items()}
    inputs = {name: to_numpy(seen.inputs[name]) for name in input_names(seen.case)}
    for number, graph in enumerate(_distinct(form.defective(graph_of(seen.case)))):
        if number == _MOST:
            break
        try:
            answers = evaluate(replace(seen.case, program=graph), inputs)
        except (Declined, IllegalGraph, ValueError, KeyError, AssertionError):
            continue  # no such program
        for name, mask in found.items():
            mask |= _holds(answers[name], seen.actual[name], seen.case.array(name).dtype)
    return found


def _distinct(graphs: Iterator[Graph]) -> Iterator[Graph]:
    return iter(dict.fromkeys(graphs))


def _holds(answer: Answer, actual: torch.Tensor, dtype: str) -> torch.Tensor:
    """Where the answer defines an element, and allows the one that is there."""
    if answer.bound is None:
        same = to_numpy(actual) == answer.values
    else:
        same = confirmed(answer, actual.to(torch.float64).cpu().numpy(), dtype)
    return to_torch(np.ascontiguousarray(same & answer.defined), device=actual.device)
