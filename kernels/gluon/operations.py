"""Which operations of the compiler's IR a chain asks for."""

from collections.abc import Mapping

from kernels.gluon.chain import (
    Alloc,
    Atomic,
    Chain,
    Convert,
    Dealloc,
    Fp4,
    Gather,
    Index,
    Permute,
    Read,
    Reduce,
    Reinterpret,
    Reshape,
    Ring,
    Scan,
    Scatter,
    Step,
    Store,
    Subslice,
    Take,
)
from kernels.gluon.check import typed
from kernels.gluon.values import Tensor

_OPS: Mapping[type[Step], tuple[str, ...]] = {
    Fp4: ("ttg.fp4_to_fp",), Reduce: ("tt.reduce",), Scan: ("tt.scan",), Take: ("tt.gather",),
    Alloc: ("ttg.local_alloc",), Store: ("ttg.local_store",), Read: ("ttg.local_load",), Index: ("ttg.memdesc_index",),
    Subslice: ("ttg.memdesc_subslice",), Permute: ("ttg.memdesc_trans",), Reshape: ("ttg.memdesc_reshape",),
    Reinterpret: ("ttg.memdesc_reinterpret",), Gather: ("ttg.local_gather",), Scatter: ("ttg.local_scatter",),
    Atomic: ("ttg.local_atomic_scatter_rmw",), Dealloc: ("ttg.local_dealloc",),
    Ring: ("ttg.local_alloc", "ttg.memdesc_index", "ttg.local_store", "ttg.local_load"),
}
"""Operations that a step must leave in the compiler's IR."""


def expected_operations(chain: Chain) -> tuple[str, ...]:
    """Operations that the kernel's TTGIR must contain; a step that changes nothing may disappear."""
    found: dict[str, None] = {}
    types = typed(chain)
    turned = {step.view for step in chain.steps if isinstance(step, Permute)}
    for number, step in enumerate(chain.steps):
        match step:
            case Permute(order=order) if order == tuple(range(len(order))):
                continue
            case Permute(view=view) if number in turned or isinstance(chain.steps[view], Permute):
                continue  # the compiler merges them, at times into nothing
            case Convert(source=source, layout=layout):
                before = types[source]
                if isinstance(before, Tensor) and before.layout != layout:
                    found["ttg.convert_layout"] = None
            case _:
                found |= dict.fromkeys(_OPS.get(type(step), ()))
    return tuple(found)
