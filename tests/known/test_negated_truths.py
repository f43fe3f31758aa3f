"""Negated truth values as numbers: +0.0 for -0.0 is known where they are made so, and everything else is new."""

import pytest
import torch

from tests.known.test_graphs import case_of, of_entry, taken
from tests.unit.graphs.graphs import X, cast, constant, load, op, store, vector
from tridiff.fuzz.known.graphs import label
from tridiff.fuzz.known.graphs.number_forms import NEGATED_TRUTH
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.kernels.codegen.graph import Graph, Node

each = pytest.mark.parametrize
KNOWN = ("negated-truth-is-plus-zero",)
_TRUTH = (load("in0"), load("in1"), op("logical_not", 0), op("logical_and", 2, 2))
_MINUS, _ALWAYS = constant("-1.0", "fp32"), constant("1", "i1")


def _stored(*nodes: Node, out: str = "fp32") -> Graph:
    """The last of some nodes behind a truth value, which is the fourth."""
    return vector(*_TRUTH, *nodes, store("out0", X, 3 + len(nodes)), in0="i32", in1="i32", out0=out)


@each("nodes", [
    (cast(3, "fp32"), op("neg", 4)), (cast(3, "fp64"), op("neg", 4), cast(5, "fp32")),
    (cast(3, "fp32"), _MINUS, op("mul", 4, 5)), (cast(3, "fp32"), _MINUS, op("truediv", 4, 5)),
    (cast(3, "fp32"), constant("-0.0", "fp32"), op("sub", 5, 4)), (cast(3, "i32"), cast(4, "fp32"), op("neg", 5)),
    (cast(3, "fp32"), op("abs", 4), op("neg", 5)), (_ALWAYS, op("truediv", 3, 4), op("neg", 5))])
def test_plus_zero_for_a_negated_truth_is_known_and_another_number_is_new(nodes: tuple[Node, ...]):
    graph = _stored(*nodes)
    case = case_of(graph)
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert right.tolist() == [0.0, 0.0, 0.0, -1.0] and right.signbit().all()
    assert label(case) == "negated truth as a number"
    assert taken(rehearsal, out0=right + 0.0) == KNOWN
    some = right.clone()
    some[1] = 0.0
    assert taken(rehearsal, out0=some) == KNOWN
    assert taken(rehearsal, out0=right.abs()) == taken(rehearsal, out0=right * 2 + 0.0) == ()
    assert taken(rehearsal, out0=(right + 0.0).roll(1)) == ()
    relative = NEGATED_TRUTH.without(case)
    assert relative is not None and not NEGATED_TRUTH.has(relative)


@each("nodes, out", [
    ((cast(3, "fp16"), op("neg", 4)), "fp16"), ((cast(3, "bf16"), op("neg", 4)), "bf16"),  # these are right
    ((cast(3, "fp32"), op("sqrt", 4), op("neg", 5)), "fp32"), ((cast(1, "fp32"), op("neg", 4)), "fp32"),
    ((cast(3, "fp32"), constant("2.0", "fp32"), op("truediv", 4, 5), op("neg", 6)), "fp32"),
    ((cast(3, "fp32"), constant("-2.0", "fp32"), op("mul", 4, 5)), "fp32"), ((cast(3, "fp32"),), "fp32"),
    ((constant("1.0", "fp32"), constant("0.0", "fp32"), op("where", 3, 4, 5), op("neg", 6)), "fp32"),
    ((op("truediv", 3, 2), op("neg", 4)), "fp32")])
def test_what_is_compiled_right_has_not_the_form(nodes: tuple[Node, ...], out: str):
    assert not NEGATED_TRUTH.has(case_of(_stored(*nodes, out=out)))


def test_the_case_that_was_found_is_predicted_and_another_output_is_new():
    rehearsal, right = of_entry("memory/zero-sign-3e8fe9f02b")
    assert right["out0"].signbit().all() and taken(rehearsal, out0=torch.zeros_like(right["out0"])) == KNOWN
    assert taken(rehearsal, out0=torch.ones_like(right["out0"])) == ()
    both = rehearse(case_of(vector(*_TRUTH, cast(3, "fp32"), op("neg", 4), store("out0", X, 5), store("out1", X, 0),
                                   in0="i32", in1="i32", out0="fp32", out1="i32")))
    plus, other = both.outputs()["out0"] + 0.0, both.outputs()["out1"].clone()
    assert taken(both, out0=plus) == KNOWN
    other[2] += 1
    assert taken(both, out0=plus, out1=other) == ()


@each("bound, has", [(op("clamp", 5, 4, 5), True), (op("maximum", 5, 4), False)])
def test_a_divisor_that_may_be_false_or_another_number_is_no_one(bound: Node, has: bool):
    """LLVM knows of clamp(2, x, 2) that it is not 0."""
    graph = vector(*_TRUTH, load("in2"), constant("2", "i64"), bound, cast(6, "u64", bitcast=True),
                   constant("18446744073709551615", "u64"), op("logical_and", 7, 8), op("truediv", 3, 9), op("neg", 10),
                   store("out0", X, 11), in0="i32", in1="i32", in2="i64", out0="fp32")
    assert NEGATED_TRUTH.has(case_of(graph)) is has
