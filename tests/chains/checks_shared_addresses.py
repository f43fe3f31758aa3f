"""What PTX computes, executed on the CPU, against what `misread` and `adds_mixed_offsets` say of Triton 3.6.0."""

import random

import numpy as np
import pytest
import torch
import triton

from tests.chains.drawn import numbered
from tests.chains.lost_transpositions import CHAINS
from tests.kernels.ptx_block import OutsideShared, launch_block
from tests.support.repository import CORPUS
from tridiff.fuzz.backends.compile import CompileRunner, Pointer
from tridiff.fuzz.content.place import place
from tridiff.fuzz.corpus.store import parse
from tridiff.fuzz.kinds.chains.cases import valid
from tridiff.fuzz.kinds.chains.evaluate import by_numpy
from tridiff.fuzz.known.chains.added import adds_mixed_offsets
from tridiff.fuzz.known.chains.features import feature
from tridiff.fuzz.records import Case
from tridiff.kernels.generated import load
from tridiff.kernels.gluon.chain import Alloc, Chain, Global, Load, Out, Read, Store
from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.gluon.emit import emit, scalars
from tridiff.kernels.gluon.layouts import Linear, SharedLinear
from tridiff.oracles.arrays import to_numpy

RELEASE = tuple(map(int, triton.__version__.split(".")[:2]))


def allowed(outs: set[str]) -> list[set[str]]:
    """What this Triton may get wrong of what 3.6.0 does; 3.9.0 nothing, in between it is not known."""
    return ([outs] if RELEASE < (3, 9) else []) + ([set()] if RELEASE > (3, 6) else [])


def wrong_outputs(case: Case) -> set[str]:
    """The outputs that the compiled chain gets wrong."""
    chain = case.program
    assert isinstance(chain, Chain) and valid(case)
    values = scalars(chain)
    pointers = {f"{array.name}_ptr": Pointer(array.dtype, aligned=True) for array in chain.arrays}
    kernel = load(emit(chain, installed()), name="chain").chain
    report = CompileRunner("sm_90").run(kernel, (1, 1, 1), {**pointers, **values}, case.options)
    buffers = [place(spec, case.sizes, device=torch.device("cpu")) for spec in case.arrays]
    memory = [buffer.logical.contiguous().numpy().copy() for buffer in buffers]
    launch_block(report.ptx, [*memory, *values.values()], warps=chain.warps)
    expected = iter(by_numpy(case, *(to_numpy(one.values) for one in buffers if one.values is not None)))
    return {array.name for array, found in zip(chain.arrays, memory, strict=True)
            if array.output and not np.array_equal(found, np.asarray(next(expected)).view(found.dtype))}


def check_compiled_chains_are_wrong_where_the_rule_says():
    for name, (chain, reads) in CHAINS.items():
        outs = {chain.arrays[step.array].name for step in chain.steps if isinstance(step, Out) and step.source in reads}
        assert wrong_outputs(numbered(chain)) in allowed(outs), name


def scattered(chance: random.Random) -> Chain:
    """64 elements through a buffer whose offsets mix bits, stored by threads that hold 4 or 8 of them in any order,
    read by threads that hold 2: with one bit of registers nothing can go wrong."""

    def threads(held: int) -> Linear:
        own: list[tuple[int, ...]] = [(1 << bit,) for bit in chance.sample(range(6), 6)]
        lanes = (*own[held:], *[(0,)] * 5)[:5]
        return Linear((*own[:held], *own[held + 5:]), lanes, (), (64,))

    offsets = [1 << bit for bit in chance.sample(range(6), 6)]
    for _ in range(chance.randrange(4)):
        first, second = chance.sample(range(6), 2)
        offsets[first] ^= offsets[second]
    layout = SharedLinear(tuple((one,) for one in offsets))
    arrays = (Global("in0", "i32", (64,)), Global("out0", "i32", (64,), output=True))
    return Chain(1, arrays, (Load(0, threads(chance.choice((2, 3)))), Alloc("i32", (64,), layout), Store(1, 0),
                             Read(1, threads(1)), Out(3, 1)))


def check_offsets_are_added_where_the_rule_says():
    chance, said = random.Random(5), {True: 0, False: 0}
    while min(said.values()) < 6:
        chain = scattered(chance)
        adds = adds_mixed_offsets(chain)
        said[adds] += 1
        if said[adds] <= 6:
            assert wrong_outputs(numbered(chain)) in allowed({"out0"} if adds else set()), chain


def check_entries_are_such_chains():
    words = {"value-5d31aec4cf": "transposition lost", "value-775a143076": "mixed offsets"}
    for name, word in words.items():
        path = CORPUS / "gluon.view_chain" / f"{name}.json"
        case = parse(path.read_bytes(), source=path.name).case
        assert isinstance(case.program, Chain) and feature(case) == word
        outs = {array.name for array in case.program.arrays if array.output}
        assert wrong_outputs(case) in allowed(outs)


def check_shared_memory_ends():
    text = ".visible .entry chain()\n{\n\tmov.b32 \t%r1, global_smem;\n\tst.shared.b32 \t[%r1+AT], %r1;\n\tret;\n}\n"
    launch_block(text.replace("AT", "16"), [], warps=1)
    with pytest.raises(OutsideShared):
        launch_block(text.replace("AT", str(1 << 20)), [], warps=1)
