"""What a compiler knows of values of which each is made of the two before it."""

import pytest

from tests.unit.graphs.graphs import X, constant, load, op, store, vector
from tridiff.fuzz.known.graphs.form import analysis_of
from tridiff.fuzz.known.graphs.only_values import folded_early, only_value
from tridiff.kernels.codegen.graph import Node

LONG = 60


@pytest.mark.parametrize("first, known", [(constant("1.0", "fp32"), True), (load("in0"), False)])
def test_a_long_chain_is_followed_once(first: Node, known: bool):
    chain = (op("neg", 0), *(op("mul", place, place - 1) for place in range(1, LONG)))
    graph = vector(first, *chain, store("out0", X, LONG), out0="fp32", **{} if known else {"in0": "fp32"})
    analysis = analysis_of(graph)
    assert folded_early(analysis, LONG) is known and (only_value(analysis, LONG) is not None) is known
