"""Programs that are compiled and executed on the CPU, with a known defect, and with a second one planted beside it.

Triton 3.6.0 has two of the defects in its PTX. Where the installed version has not, a program that says what the defect
computes is compiled and executed in place of the other.
"""

import numpy as np
import torch
from msgspec.structs import replace

from tests.chains.drawn import numbered
from tests.chains.lost_transpositions import CHAINS, ROWS
from tests.kernels.ptx_block import launch_block
from tests.kernels.ptx_execution import launch
from tests.known.test_graphs import case_of
from tests.unit.graphs.graphs import X, apply, cast, constant, load, num, op, store, vector
from tridiff.fuzz.backends.compile import CompileRunner, Pointer
from tridiff.fuzz.content.place import place
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case, LaunchOptions, Verdict
from tridiff.kernels.codegen.graph import Graph, Index, Load, Schedule
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.generated import load as loaded
from tridiff.kernels.gluon.chain import Chain, Limit, Load as LoadTile, Permute, Reshape, with_step
from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.gluon.emit import emit, scalars

RIGHT: tuple[str, tuple[str, ...]] = ("agree", ())


def _memory(case: Case) -> dict[str, np.ndarray]:
    found = {}
    for spec in case.arrays:
        made = place(spec, case.sizes, device=torch.device("cpu"))
        found[spec.name] = made.logical.contiguous().numpy().copy()
    return found


def _judged(case: Case, memory: dict[str, np.ndarray]) -> tuple[str, tuple[str, ...]]:
    """What is said of outputs: the verdict, and the known issues that explain what is wrong."""
    rehearsal = rehearse(case)
    outputs = {name: torch.from_numpy(memory[name]).view(right.dtype).reshape(right.shape)
               for name, right in rehearsal.outputs().items()}
    judged, names = rehearsal.judged(outputs)
    assert judged.verdict in (Verdict.AGREE, Verdict.DISAGREE)
    return judged.verdict.value, names


def executed_graph(case: Case, instead: Graph) -> tuple[str, tuple[str, ...]]:
    """What is said of the case if the kernel of another graph over the same buffers ran for it."""
    kernel = plan(instead, instead.schedules[0], aligned=[one.name for one in instead.buffers])
    memory = _memory(case)
    dtypes = {one.name: one.dtype for one in instead.buffers}
    arguments = {one.name: Pointer(dtypes[str(one.value)], aligned=True) if one.kind == "buffer" else one.value
                 for one in kernel.arguments}
    module = loaded(kernel.source, name=kernel.name)
    report = CompileRunner("sm_90").run(getattr(module, kernel.name), kernel.grid, arguments,
                                        LaunchOptions(num_warps=1))
    values = [memory[str(one.value)] if one.kind == "buffer" else one.value for one in kernel.arguments]
    launch(report.ptx, values, threads=32, programs=kernel.grid[0])
    return _judged(case, memory)


def executed_chain(case: Case, instead: Chain) -> tuple[str, tuple[str, ...]]:
    """As `executed_graph`, of chains."""
    memory = _memory(case)
    values = scalars(instead)
    pointers = {f"{array.name}_ptr": Pointer(array.dtype, aligned=True) for array in instead.arrays}
    kernel = loaded(emit(instead, installed()), name="chain").chain
    report = CompileRunner("sm_90").run(kernel, (1, 1, 1), {**pointers, **values}, case.options)
    launch_block(report.ptx, [*(memory[array.name] for array in instead.arrays), *values.values()],
                 warps=instead.warps)
    return _judged(case, memory)


def _static(graph: Graph) -> Graph:
    return replace(graph, schedules=(Schedule(static=True, x_blocks=(64,)),))


def _masked(other: str, *, least: int = 8) -> Graph:
    """in0 where the place is at least `least`, else `other`; 16-bit integers, 64 of them."""
    return _static(vector(Index(expr=apply("ge", X, num(least)), dtype="i1"),
                          Load(buffer="in0", index=X, mask=0, other=other), store("out0", X, 1), length=64,
                          in0="i16", out0="i16"))


def check_masked_others_are_right_or_the_known_issue_and_a_lane_more_is_new():
    case = case_of(_masked("-5"))
    known = ("disagree", ("masked-narrow-negative-other",))
    assert executed_graph(case, _masked("-5")) in (RIGHT, known)
    assert executed_graph(case, _masked("-1")) == known
    # A second defect: a mask that is off by one, or another value for `other`.
    assert executed_graph(case, _masked("-5", least=9)) == ("disagree", ())
    assert executed_graph(case, _masked("-1", least=9)) in (("disagree", ()), known)
    assert executed_graph(case, _masked("3")) == ("disagree", ())


def _minimum(*, negated: str, last: str) -> Graph:
    """min(min(a, negated(b)), last(c)) of 32-bit integers."""
    return _static(vector(load("in0"), load("in1"), load("in2"), op(negated, 1), op("minimum", 0, 3),
                          op(last, 2), op("minimum", 4, 5), store("out0", X, 6), length=64,
                          in0="i32", in1="i32", in2="i32", out0="i32"))


def check_a_lost_negation_is_the_known_issue_and_a_wrong_sign_of_one_class_of_operands_beside_it_is_new():
    def same(graph: Graph, *places: int) -> Graph:
        nodes = list(graph.nodes)
        for place_ in places:
            operand = nodes[place_].args[0]
            nodes[place_] = op("bitwise_or", operand, operand)
        return replace(graph, nodes=tuple(nodes))

    asked = same(_minimum(negated="neg", last="neg"), 5)
    case = case_of(asked, mixed=True)
    assert executed_graph(case, asked) == RIGHT
    assert executed_graph(case, same(asked, 3)) == ("disagree", ("negation-lost-in-extremum-of-three",))
    # |c| for c: wrong where c is negative, in the same kernel.
    beside = replace(asked, nodes=(*asked.nodes[:5], op("abs", 2), *asked.nodes[6:]))
    assert executed_graph(case, same(beside, 3)) == ("disagree", ())
    assert executed_graph(case, beside) == ("disagree", ())


def check_an_integer_of_few_bits_as_a_half_is_right_or_the_known_issue_and_more_bits_are_new():
    def widened(mask: str) -> Graph:
        graph = vector(load("in0"), constant(mask, "i32"), op("bitwise_and", 0, 1), cast(2, "fp16"), cast(3, "fp32"),
                       store("out0", X, 4), in0="i32", out0="fp32")
        return replace(graph, schedules=(Schedule(upcast=False),))

    case = case_of(widened("-2147483648"))
    found = executed_graph(case, widened("-2147483648"))
    assert found in (RIGHT, ("disagree", ("half-of-few-bits-not-infinite",)))
    assert executed_graph(case, widened("-1073741824")) == (RIGHT if found == RIGHT else ("disagree", ()))


def check_a_lost_transposition_is_the_known_issue_and_a_lost_row_beside_it_is_new():
    chain, _ = CHAINS["whole"]
    case = numbered(chain)
    known = ("disagree", ("transposed-buffer-without-swizzle",))
    assert executed_chain(case, chain) in (RIGHT, known)
    number = next(k for k, step in enumerate(chain.steps) if isinstance(step, Permute))
    forgotten = with_step(chain, number, Reshape(2, (32, 16)))
    assert executed_chain(case, forgotten) == known
    # The last row is never stored.
    assert executed_chain(case, with_step(forgotten, 0, LoadTile(0, ROWS, mask=Limit(0, 15)))) == ("disagree", ())
    assert executed_chain(case, with_step(chain, 0, LoadTile(0, ROWS, mask=Limit(0, 15)))) == ("disagree", ())
