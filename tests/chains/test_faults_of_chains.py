"""Planted defects change what a chain computes; shrinking keeps the failure and arrives at few steps."""

import itertools
import math
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from msgspec import UNSET

from tests.chains.drawn import CHAIN_TARGETS, cases
from tridiff.fuzz.content.place import place
from tridiff.fuzz.kinds.chains.cases import chain_of, valid, with_chain
from tridiff.fuzz.kinds.chains.evaluate import by_numpy, by_torch, explained, settle
from tridiff.fuzz.kinds.chains.steps import size, steps
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.kernels.gluon.chain import (
    Alloc,
    Atomic,
    Chain,
    Gather,
    Load,
    Out,
    Permute,
    Ramp,
    Read,
    Reshape,
    Scatter,
    Subslice,
)
from tridiff.kernels.gluon.dialect import Dialect
from tridiff.kernels.gluon.emit import Unsupported, emit
from tridiff.kernels.gluon.faults import CHAINS, FAULTS, WRITTEN, broken
from tridiff.oracles.arrays import bits_of_array, to_numpy

each = pytest.mark.parametrize
NEW = Dialect(barrier="gl.barrier()", cluster_barrier="", reinterpret="reinterpret", keep_alive="_keep_alive",
              gathers=True, atomics=True, async_load="", tma_load="", tma_store="", tma_atomics=True, async_store="",
              register_requests_optional=True)
OLD = Dialect(barrier="gl.thread_barrier()", cluster_barrier="", reinterpret="_reinterpret", keep_alive="_keep_alive",
              gathers=False, atomics=False, async_load="", tma_load="", tma_store="", tma_atomics=False, async_store="",
              register_requests_optional=False)

PAIRS = [(target, fault) for target in CHAIN_TARGETS for fault in find(target).faults.planted]


def inputs(case: Case) -> list[torch.Tensor]:
    found = []
    for spec in case.arrays:
        if spec.content is not None:
            values = place(spec, case.sizes, device=torch.device("cpu")).values
            assert values is not None
            found.append(values)
    return found


def outputs(case: Case, chain: Chain) -> list[Any]:
    """Bits of what `chain` gives on the case's inputs."""
    changed = msgspec.structs.replace(case, program=chain)
    return [bits_of_array(np.ascontiguousarray(one)) for one in by_numpy(changed, *map(to_numpy, inputs(case)))]


def shows(case: Case, fault: str) -> bool:
    """Whether the planted defect changes an output of the case; for those of the writer, whether it has a place."""
    chain = chain_of(case)
    if fault in WRITTEN:
        return emit(chain, NEW, planted=fault) != emit(chain, NEW)
    spoilt = broken(chain, fault)
    if spoilt == chain:
        return False
    return any(not np.array_equal(a, b) for a, b in zip(outputs(case, chain), outputs(case, spoilt), strict=True))


@each("target, fault", PAIRS)
def test_every_fault_shows_in_drawn_cases(target: str, fault: str):
    showing = (case for start in (1, 2, 3) for case in cases(target, 40, start) if shows(case, fault))
    assert len(list(itertools.islice(showing, 2))) == 2, f"{fault} does not show in two of 120 cases of {target}"


def test_every_fault_belongs_to_a_target_and_has_a_writer():
    planted = {fault for _, fault in PAIRS}
    assert planted == {*CHAINS, *WRITTEN} == set(FAULTS)
    assert len(planted) >= 12


@each("target", CHAIN_TARGETS)
def test_both_references_agree_on_drawn_cases(target: str):
    for case in cases(target, 40):
        given = inputs(case)
        first = by_numpy(case, *map(to_numpy, given))
        second = by_torch(case, *given)
        for one, other in zip(first, second, strict=True):
            assert np.array_equal(bits_of_array(np.ascontiguousarray(one)), bits_of_array(to_numpy(other)))


@each("target", CHAIN_TARGETS)
def test_the_text_is_python_in_both_dialects(target: str):
    for case in cases(target, 40):
        for dialect in (NEW, OLD):
            try:
                text = emit(chain_of(case), dialect)
            except Unsupported:
                assert dialect is OLD
                continue
            compile(text, "chain", "exec")
            assert dialect.barrier not in text or "gl." in text
            assert all(len(line) < 1500 for line in text.splitlines())


# -- shrinking


def shrunk(case: Case, fault: str) -> Case:
    """Greedily, as the engine does: the first simpler case that still shows the fault."""
    progress = True
    while progress:
        progress = False
        for candidate in steps(case):
            if size(candidate) < size(case) and shows(candidate, fault):
                case, progress = candidate, True
                break
    return case


@each("target, fault, most", [
    ("gluon.view_chain", "subslice_shifted", 9), ("gluon.view_chain", "swizzle_mismatch", 7),
    ("gluon.convert_layout", "load_mask_dropped", 3), ("gluon.reduce_scan_layouts", "scan_reversed", 3),
    ("gluon.gather_scatter", "indices_shifted", 7), ("gluon.local_memory", "ring_slot_off_by_one", 1),
])
def test_a_failing_chain_shrinks_to_few_steps(target: str, fault: str, most: int):
    failing = [case for case in cases(target, 60) if shows(case, fault)]
    # Of indices_shifted seven: what is in memory, what is scattered there by which index, and how it is read again.
    largest = max(failing, key=lambda case: len(chain_of(case).steps))
    found = shrunk(largest, fault)
    assert len(chain_of(found).steps) <= most, chain_of(found).steps
    assert valid(found) and shows(found, fault)


@each("target", CHAIN_TARGETS)
def test_every_reduction_is_valid_and_keeps_array_names(target: str):
    for case in cases(target, 6):
        names = {array.name for array in chain_of(case).arrays}
        tried = list(steps(case))
        assert tried, "nothing simpler to try"
        for candidate in tried:
            assert valid(candidate)
            assert {array.name for array in chain_of(candidate).arrays} <= names


def test_an_illegal_chain_makes_no_case():
    case = next(case for case in cases("gluon.view_chain", 60)
                if any(isinstance(step, Subslice) for step in chain_of(case).steps))
    chain = chain_of(case)
    steps = tuple(Out(0, 0) if isinstance(step, Load) else step for step in chain.steps)
    assert with_chain(case, Chain(chain.warps, chain.arrays, steps)) is None


# -- what atomics return


@each("old, values, before, op, possible", [
    ([0, 1, 2], [1, 1, 1], 0, "add", True), ([2, 0, 1], [1, 1, 1], 0, "add", True),
    ([0, 0, 1], [1, 1, 1], 0, "add", False), ([0, 1], [1, 2], 0, "add", True), ([2, 0], [1, 2], 0, "add", True),
    ([0, 2], [1, 2], 0, "add", False), ([5, 7], [7, 9], 5, "max", True), ([9, 5], [7, 9], 5, "max", True),
    ([9, 9], [7, 9], 5, "max", False), ([5, 1, 2], [1, 2, 3], 5, "xchg", True),
    ([5, 5, 2], [1, 2, 3], 5, "xchg", False),
    ([0, 4], [4, 4], 0, "xor", True), ([4, 0], [4, 4], 0, "xor", True), ([0, 0], [4, 4], 0, "xor", False),
    ([3], [1], 4, "add", False),
])
def test_returned_values_must_be_explained_by_an_order(old: list[int], values: list[int], before: int, op: str,
                                                       possible: bool):
    assert explained(np.array(old, np.int32), np.array(values, np.int32), np.array([before], np.int32)[0],
                     op) is possible


def test_a_permuted_arrival_settles_and_a_wrong_value_does_not():
    settled = wrong = 0
    for case in cases("gluon.atomics", 40):
        reference = find("gluon.atomics").judge.canonical(case)
        if reference is None:
            continue
        chain = chain_of(case)
        holder = reference.outputs[0]
        names = [array.name for array in chain.arrays if array.output]
        given = inputs(case)
        expected = dict(zip(names, by_torch(case, *given), strict=True))
        if any(isinstance(step, Atomic) and step.mask is not UNSET for step in chain.steps):
            continue
        same = settle(case, *(expected[name] for name in reference.outputs), *given)
        assert all(torch.equal(a.view(torch.uint8), expected[n].contiguous().view(torch.uint8))
                   for a, n in zip(same, reference.outputs, strict=True))
        settled += 1
        spoilt = expected[holder].clone()
        spoilt.view(torch.uint8).reshape(-1)[0] ^= 0x55
        after = settle(case, spoilt, *(expected[name] for name in reference.outputs[1:]), *given)
        wrong += not torch.equal(after[0].view(torch.uint8), expected[holder].contiguous().view(torch.uint8))
    assert settled >= 5 and wrong == settled


def test_views_on_the_way_to_a_scatter_shrink_to_a_buffer_of_their_own():
    found = 0
    for case in cases("gluon.gather_scatter", 60):
        ways = [step for step in chain_of(case).steps if isinstance(step, Reshape | Permute)]
        if ways and shows(case, "indices_shifted"):
            smaller = chain_of(shrunk(case, "indices_shifted"))
            assert len(smaller.steps) <= 7, smaller
            assert {type(step) for step in smaller.steps} <= {Load, Alloc, Ramp, Gather, Scatter, Read, Out}, smaller
            assert sum(math.prod(array.shape) for array in smaller.arrays) <= 256
            found += 1
    assert found > 2
