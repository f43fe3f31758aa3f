"""What comes out of chains of data movements that Triton compiles wrong: which element stands where."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace as with_fields

from tridiff.fuzz.kinds.chains.evaluate import astray, by_numpy
from tridiff.fuzz.known.chains.features import masks_narrow
from tridiff.fuzz.known.chains.forgotten import seen as lowered
from tridiff.fuzz.known.chains.misplaced import conversion_of, of_conversion
from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.kernels.gluon.chain import Chain, Convert, Load, Regroup, Transpose, with_step
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.ownership import Holding
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_numpy.movement import View


def _chain(seen: Wrong) -> Chain:
    assert isinstance(seen.case.program, Chain)
    return seen.case.program


def _inputs(seen: Wrong) -> list[Any]:
    return [to_numpy(seen.inputs[spec.name]) for spec in seen.case.arrays if spec.content is not None]


def _held(seen: Wrong, outputs: tuple[Any, ...]) -> Masks:
    """Where an output holds what `outputs` (in the order of the case's arrays) say, bit for bit."""
    names = [spec.name for spec in seen.case.arrays if spec.content is None]
    found: Masks = {}
    for name, values in zip(names, outputs, strict=True):
        if name in seen.wrong:
            actual = seen.actual[name]
            predicted = to_torch(np.ascontiguousarray(values), device=actual.device)
            if predicted.shape == actual.shape and predicted.dtype == actual.dtype:
                same = predicted == actual if actual.dtype == torch.bool else to_bits(predicted) == to_bits(actual)
                found[name] = same
    return found


def other_repeated(seen: Wrong) -> Masks:
    """-1 for what masked loads of 8- and 16-bit integers give where they are masked."""
    chain = _chain(seen)
    for number, step in enumerate(chain.steps):
        if isinstance(step, Load) and masks_narrow(step, chain.arrays[step.array].dtype):
            chain = with_step(chain, number, with_fields(step, other=-1))
    return _held(seen, by_numpy(with_fields(seen.case, program=chain), *_inputs(seen)))


def transposition_lost(seen: Wrong) -> Masks:
    """What stands at the bytes to which 3.6.0 lowers each view."""
    places = lowered(_chain(seen))

    def changed(number: int, value: Any) -> Any:
        if isinstance(value, View) and number in places and places[number].shape == value.places.shape:
            return replace(value, places=places[number])
        return value

    return _held(seen, astray(seen.case, _inputs(seen), changed))


def odd_halves_lost(seen: Wrong) -> Masks:
    """Every second element along the last axis of an output of 16 bits is the one in front of it; of an output that
    has most of its changed elements so."""
    found: Masks = {}
    for name, wrong in seen.wrong.items():
        expected = seen.expected.get(name)
        if expected is None or expected.element_size() != 2 or not expected.dim() or expected.shape[-1] % 2:
            continue
        right = to_bits(expected)
        lost = right[..., ::2].repeat_interleave(2, dim=-1)
        predicted = (to_bits(seen.actual[name]) == lost).reshape(*right.shape)
        found[name] = where_it_shows(predicted, lost != right).reshape(wrong.shape)
    return found


def swapped_twice(seen: Wrong) -> Masks:
    """Elements of a thread exchanged as the two lowest bits of the registers' numbers are."""
    chain = _chain(seen)
    types = typed(chain)
    ways: dict[int, Callable[[Any], Any]] = {}
    for number, step in enumerate(chain.steps):
        if isinstance(step, Convert | Transpose | Regroup) and of_conversion(step, types):
            _, after = conversion_of(step, types)
            assert after is not None
            ways[number] = exchanging(after)

    def changed(number: int, value: Any) -> Any:
        return ways[number](value) if number in ways else value

    return _held(seen, astray(seen.case, _inputs(seen), changed))


def exchanging(held: Holding) -> Callable[[Any], Any]:
    """Puts the element of register 2k + 1 of four in that of register 2k's place in the other pair: 0, 2, 1, 3."""

    def changed(value: Any) -> Any:
        found = value.copy()
        for register, lane, warp in product(*(range(1 << len(bits)) for bits in (held.register, held.lane, held.warp))):
            low, high = register & 1, register >> 1 & 1
            other = (register & ~3) | low << 1 | high
            found[held.coordinate(register, lane, warp)] = value[held.coordinate(other, lane, warp)]
        return found

    return changed
