"""What torch.compile puts in place of right elements of generated programs. Outputs are flat."""

import torch

from tridiff.fuzz.known.coordinates import cell_of_a_sum
from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.floats import LARGEST_E5M2
from tridiff.kernels.codegen.graph import Graph, Store


def saturated(seen: Wrong) -> Masks:
    """The largest finite number of fp8e5 where an infinity of the same sign is right."""
    found: Masks = {}
    for name in seen.wrong:
        expected, actual = seen.expected.get(name), seen.actual[name]
        if expected is not None and expected.is_floating_point() and actual.is_floating_point():
            right, here = expected.double(), actual.float().double()
            found[name] = right.isinf() & (here == torch.copysign(torch.full_like(here, LARGEST_E5M2), right))
    return found


def in_one_cell(seen: Wrong) -> Masks:
    """Any value in the one element to which all lanes add; the value depends on what lanes beyond the row hold."""
    graph = seen.case.program
    assert isinstance(graph, Graph)
    found: Masks = {}
    for node in graph.nodes:
        cell = cell_of_a_sum(graph, node) if isinstance(node, Store) else None
        if isinstance(node, Store) and cell is not None:
            name = f"{node.buffer}_after"
            if name in seen.wrong:
                mask = found.setdefault(name, torch.zeros_like(seen.wrong[name]))
                mask[cell] = True
    return found
