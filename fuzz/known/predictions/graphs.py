"""What comes out of generated programs that are compiled wrong: what the reference says of another program.

A `Form` of `tridiff.fuzz.known.graphs.forms` says which programs may come out instead; they are interpreted like the
program itself, and an element is predicted if it is what one of them allows there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import numpy as np
import torch
from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.arrays import after, graph_of, input_names
from tridiff.fuzz.kinds.graphs.by_numpy import Answer, confirmed, evaluate
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.kinds.graphs.torch_contract import BESSEL, EagerInterpreter, bessel_at_infinity
from tridiff.fuzz.known.graphs import extremum_forms, forms, index_forms, number_forms
from tridiff.fuzz.known.graphs.form import Form, analysis_of
from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.floats import LARGEST_E5M2, library_result
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.graph import Cast, Graph, Load, Store
from tridiff.kernels.codegen.legality import IllegalGraph
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_numpy.bounded import TINY, Real, Value
from tridiff.oracles.dtypes import FP8

_MOST = 16
"""Programs that are interpreted for one failure."""


def _of(form: Form) -> Callable[[Wrong], Masks]:
    """The prediction of what comes out of a form."""
    return lambda seen: _computed(seen, form)


other_repeated = _of(forms.OTHER)
"""-1 for what a masked load of narrow integers gives where it is masked."""
lop3_fused = _of(forms.LOP3)
"""The logic behind a lop3 of one register twice, with zero for that register."""
sign_narrowed = _of(number_forms.WIDENED_SIGN)
"""What comes of the unsigned number modulo a smaller power of two."""
not_infinite = _of(number_forms.HALF_OF_FEW_BITS)
"""What comes of an integer beyond 65504 that a half holds as it is."""
conversion_left_out = _of(number_forms.JOINED_CONVERSIONS)
"""What comes of a value that is converted once, not twice."""
reciprocal_taken = _of(index_forms.QUOTIENT_BY_NUMBER)
"""What comes of a product with the reciprocal where an index expression is divided by a number."""
choice_of_zero = _of(forms.CHOICE)
"""+0.0 for -0.0 where 1.0 was the other choice."""
negated_truth = _of(number_forms.NEGATED_TRUTH)
"""+0.0 for the -0.0 that a negated truth value is as a number."""
truth_converted = _of(forms.TRUTH_AS_HALF)
"""1.0 for the bf16 whose bits are 1."""
fp16_converted = _of(forms.TRUTH_AS_FP16)
"""1.0 for the fp16 whose bits are 1."""
float_converted = _of(forms.TRUTH_AS_FLOAT)
"""What comes of 1 for the bits of 1.0 in double or single precision."""
negation_lost = _of(extremum_forms.EXTREMUM_OF_THREE)
"""The extremum of three whose operand is not negated."""
negation_lost_in_index = _of(index_forms.EXTREMUM_IN_INDEX)
"""What comes of an index expression without the negation."""
limit_taken = _of(forms.LIMIT)
"""The negative constant for the maximum of it and -|x|, -|x| for the minimum."""
limit_taken_in_index = _of(index_forms.LIMIT_IN_INDEX)
"""What comes of an index expression with such an extremum."""
abs_left_out = _of(forms.ABS_OF_PRODUCT)
"""What comes of a product in the place of its absolute value."""
constant_left_out = _of(forms.SUM_USED_TWICE)
"""What comes of a 16-bit integer to which no constant was added."""
constant_left_out_in_index = _of(index_forms.SUM_IN_INDEX)
"""The quotient of an index expression to which no constant was added."""
relu_left_out = _of(extremum_forms.RELU)
"""The extremum that relu was not taken of, or of what a relu in it was taken of."""


class _Library(EagerInterpreter):
    """torch.compile's answers, with `*_libdevice` of certain fp32 operands as libdevice's PTX has them."""

    def _applied(self, op: str, args: list[Value]) -> Value:
        found, ends = super()._applied(op, args), [one for one in args if isinstance(one, Real)]
        if op not in number_forms.LIBRARY.values() or len(ends) < len(args) or ends[0].dtype != "fp32":
            return found
        assert isinstance(found, Real)
        certain = np.logical_and.reduce([one.exact for one in ends])
        given = [torch.from_numpy(np.where(certain, one.value, 0.0).astype(np.float32)) for one in ends]
        value = library_result(op.removesuffix("_libdevice"), *given).double().numpy()
        return Real("fp32", np.where(certain, value, found.value), np.where(certain, 0.0, found.error))


def stepped_by_the_library(seen: Wrong) -> Masks:
    """What comes of nextafter, floor and ceil as libdevice has them."""
    return _computed(seen, number_forms.LIBRARY_STEP, _Library)


class _Decayed(EagerInterpreter):
    """torch.compile's answers, with the limit 0, of either sign, for Bessel functions of infinities."""

    _limit, _error = 0.0, TINY

    def _applied(self, op: str, args: list[Value]) -> Value:
        found = Interpreter._applied(self, op, args)
        return bessel_at_infinity(found, args[0], self._limit, self._error) if op in BESSEL else found


class _DecayedFromAbove(_Decayed):
    """The same with +0.0, of which more is certain: what divides by it, for one."""

    _error = 0.0


class _DecayedFromBelow(_DecayedFromAbove):
    """The same with -0.0."""

    _limit = -0.0


def bessel_function_decayed(seen: Wrong) -> Masks:
    """What comes of 0 for Bessel functions of infinities, of one sign or of either; whatever is there where either sign
    leaves the answer open, which a NaN does not: what is divided by a number near 0, for one."""
    either, above, below = ([*_answers(seen, iter((graph_of(seen.case),)), one)]
                            for one in (_Decayed, _DecayedFromAbove, _DecayedFromBelow))
    found = _held(seen, (*either, *above, *below))
    for one, other in zip(above, below, strict=False):
        for name, mask in found.items():
            left_open = ~(one[name].defined | other[name].defined)
            mask |= to_torch(np.ascontiguousarray(left_open), device=mask.device)
    return found


place_narrowed = _of(number_forms.NARROW_PLACE)
"""What comes of the place that argmin or argmax finds, in the type of what is searched."""


def behind_a_searched_truth(seen: Wrong) -> Masks:
    """Whatever is stored of the logic behind a searched place; the place itself is right."""
    return _behind(seen, forms.PLACE_AS_TRUTH)


def behind_a_cube_root(seen: Wrong) -> Masks:
    """NaN for a cube root, and whatever is stored of what is computed with one."""
    graph = graph_of(seen.case)
    roots = {position for position, _, _ in forms.CUBE_ROOT.found(graph)}
    alone = {node.buffer for node in graph.nodes if isinstance(node, Store) and node.value in roots}
    return {name: mask & seen.actual[name].isnan() if name in alone else mask
            for name, mask in _behind(seen, forms.CUBE_ROOT).items()}


def behind_a_folded_fp8(seen: Wrong) -> Masks:
    """What is stored of an fp8 that what folds comes into: as it is, the upper pair of a word whose lower one is right,
    and should be the same; whatever else comes of it, anything."""
    graph = graph_of(seen.case)
    buffers = {one.name: one.dtype for one in graph.buffers}
    folded = {position for form in (forms.FOLDED_FP8, forms.ALIKE_AS_FP8) for position, _, _ in form.found(graph)}
    converted = {place for place in _reached(graph, folded) if (
        buffers[node.buffer] if isinstance(node := graph.nodes[place], Store)
        else node.dtype if isinstance(node, Cast) and not node.bitcast else "") in FP8}
    words = {name for name, dtype in buffers.items() if dtype in FP8}
    return {name: mask & _upper_pairs(seen, name) if name.removesuffix(after("")) in words else mask
            for name, mask in _stored(seen, converted).items()}


def _upper_pairs(seen: Wrong, name: str) -> torch.Tensor:
    """Where, of four neighbours from a multiple of four on, the upper two are expected to be as the lower two, and
    those are right."""
    wrong = seen.wrong[name].reshape(-1)
    upper = torch.arange(len(wrong), device=wrong.device) % 4 >= 2
    if name in seen.expected and len(wrong) > 2:
        bits = to_bits(seen.expected[name]).reshape(-1)
        upper[2:] &= (bits[2:] == bits[:-2]) & ~wrong[:-2]
    return upper.reshape(seen.wrong[name].shape)


def _behind(seen: Wrong, form: Form) -> Masks:
    """All of the outputs that a node of the form comes into, and nothing of the others."""
    return _stored(seen, {position for position, _, _ in form.found(graph_of(seen.case))})


def _stored(seen: Wrong, places: set[int]) -> Masks:
    """All of the outputs that one of the nodes comes into, and nothing of the others."""
    graph = graph_of(seen.case)
    stored = {node.buffer for place in _reached(graph, places) if isinstance(node := graph.nodes[place], Store)}
    # What is written in place is judged as a copy.
    stored |= {after(name) for name in stored}
    return {name: mask if name in stored else torch.zeros_like(mask) for name, mask in seen.wrong.items()}


def _reached(graph: Graph, places: set[int]) -> set[int]:
    """The nodes, and all that they come into, also by way of memory."""
    users = analysis_of(graph).users
    reached, waiting = set[int](), list(places)
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting += users[place]
            if isinstance(stored := graph.nodes[place], Store):
                waiting += [at for at, node in enumerate(graph.nodes)
                            if isinstance(node, Load) and node.buffer == stored.buffer]
    return reached


def _computed(seen: Wrong, form: Form, kind: type[Interpreter] | None = None) -> Masks:
    """Where an element is what one of the programs gives that may come out of the form."""
    return _evaluated(seen, _distinct(form.defective(graph_of(seen.case))), kind)


def _evaluated(seen: Wrong, graphs: Iterator[Graph], kind: type[Interpreter] | None) -> Masks:
    """Where an element is what one of the first few programs gives. kind: as `evaluate` has it."""
    return _held(seen, _answers(seen, graphs, kind))


def _held(seen: Wrong, given: Iterable[Mapping[str, Answer]]) -> Masks:
    """Where an element is what one of the answers allows."""
    found = {name: torch.zeros_like(mask) for name, mask in seen.wrong.items()}
    for answers in given:
        for name, mask in found.items():
            mask |= _holds(answers[name], seen.actual[name], seen.case.array(name).dtype)
    return found


def _answers(seen: Wrong, graphs: Iterator[Graph],
             kind: type[Interpreter] | None) -> Iterator[Mapping[str, Answer]]:
    """What the first few programs give. kind: as `evaluate` has it."""
    inputs = {name: to_numpy(seen.inputs[name]) for name in input_names(seen.case)}
    for graph in islice(graphs, _MOST):
        try:
            answers = evaluate(replace(seen.case, program=graph), inputs, kind)
        except (Declined, IllegalGraph, ValueError, KeyError, AssertionError):
            continue  # no such program
        yield answers


def _distinct(graphs: Iterator[Graph]) -> Iterator[Graph]:
    return iter(dict.fromkeys(graphs))


def _holds(answer: Answer, actual: torch.Tensor, dtype: str) -> torch.Tensor:
    """Where the answer defines an element, and allows the one that is there; or leaves it open, as it does where fp8e5
    may saturate, and it is the largest number of that type or an infinity."""
    if answer.bound is None:
        same = to_numpy(actual) == answer.values
        return to_torch(np.ascontiguousarray(same & answer.defined), device=actual.device)
    there = actual.to(torch.float64).cpu().numpy()
    same = confirmed(answer, there, dtype) & answer.defined
    if dtype == "fp8e5":
        same |= ~answer.defined & ~answer.untouched & (np.abs(there) >= LARGEST_E5M2)
    return to_torch(np.ascontiguousarray(same), device=actual.device)
