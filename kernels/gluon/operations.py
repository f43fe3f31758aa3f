"""Which operations of the compiler's IR a chain asks for."""

from collections.abc import Mapping

from tridiff.kernels.gluon import chain as c
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.values import Tensor

_OPS: Mapping[type[c.Step], tuple[str, ...]] = {
    c.Fp4: ("ttg.fp4_to_fp",), c.Reduce: ("tt.reduce",), c.Scan: ("tt.scan",), c.Take: ("tt.gather",),
    c.Alloc: ("ttg.local_alloc",), c.Store: ("ttg.local_store",), c.Read: ("ttg.local_load",),
    c.Index: ("ttg.memdesc_index",), c.Subslice: ("ttg.memdesc_subslice",), c.Permute: ("ttg.memdesc_trans",),
    c.Reshape: ("ttg.memdesc_reshape",), c.Reinterpret: ("ttg.memdesc_reinterpret",), c.Gather: ("ttg.local_gather",),
    c.Scatter: ("ttg.local_scatter",), c.Atomic: ("ttg.local_atomic_scatter_rmw",), c.Dealloc: ("ttg.local_dealloc",),
    c.Ring: ("ttg.local_alloc", "ttg.memdesc_index", "ttg.local_store", "ttg.local_load"),
}
"""Operations that a step must leave in the compiler's IR."""


def _unseen(chain: c.Chain) -> set[int]:
    """Views through which nothing is read or written."""
    used: set[int] = set()
    for number, step in reversed(tuple(enumerate(chain.steps))):
        if number in used or not isinstance(step, c.VIEWS_OF_VIEWS):
            used |= set(c.operands(step))
    return {number for number, step in enumerate(chain.steps) if isinstance(step, c.VIEWS_OF_VIEWS)} - used


def expected_operations(chain: c.Chain) -> tuple[str, ...]:
    """Operations that the kernel's TTGIR must contain; a step that changes nothing may disappear."""
    found: dict[str, None] = {}
    unseen = _unseen(chain)
    types = typed(chain)
    turned = {step.view for step in chain.steps if isinstance(step, c.Permute)}
    for number, step in enumerate(chain.steps):
        if number in unseen:
            continue
        match step:
            case c.Permute(order=order) if order == tuple(range(len(order))):
                continue
            case c.Permute(view=view) if number in turned or isinstance(chain.steps[view], c.Permute):
                continue  # the compiler merges them, at times into nothing
            case c.Convert(source=source, layout=layout):
                before = types[source]
                if isinstance(before, Tensor) and before.layout != layout:
                    found["ttg.convert_layout"] = None
            case _:
                found |= dict.fromkeys(_OPS.get(type(step), ()))
    return tuple(found)
