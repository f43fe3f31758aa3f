"""A product whose bits are taken and put back is that product to a compiler, and enters a sum unrounded."""

import numpy as np

from tests.unit.graphs.graphs import X, cast, constant, load, op, store
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.kernels.codegen.graph import Buffer, Graph, Node
from tridiff.oracles.by_numpy.bounded import Real

ROOT = 1.0 + 2.0**-12


def difference(number: float, *between: Node) -> Real:
    """a * a - 1, with nodes between the product and the sum."""
    last = 1 + len(between)
    graph = Graph(outer=(1,), buffers=(Buffer(name="in0", dtype="fp32", length=1),
                                       Buffer(name="out0", dtype="fp32", length=1, role="out")),
                  nodes=(load("in0"), op("mul", 0, 0), *between, constant("-1.0", "fp32"),
                         op("add", last, last + 1), store("out0", X, last + 2)))
    found = Interpreter(graph, {"in0": np.array([number], np.float32)}).run()["out0"]
    assert isinstance(found, Real)
    return found


def test_bits_that_are_put_back_leave_a_product_one():
    fused = float(np.float32(ROOT**2 - 1))
    there, back = cast(1, "i32", bitcast=True), cast(2, "fp32", bitcast=True)
    for found in (difference(ROOT), difference(ROOT, there, back)):
        assert not found.exact.all() and (np.abs(found.value - fused) <= found.error).all()
    assert difference(3.0, there, back).exact.all()
