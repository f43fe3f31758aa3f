"""What Triton is known to compile wrong of generated kernels, so that other findings are told from it."""

from __future__ import annotations

from kernels.codegen.constants import integer_limits
from kernels.codegen.graph import Constant, Graph, Load, Pointwise

_NARROW = ("i8", "u8", "i16", "u16")


def miscompiled(graph: Graph) -> str:
    """The last node of the graph that a version of Triton is known to compile wrong, or "".

    3.6.0 repeats the sign-extended `other` of a masked load of several integers of 8 or 16 bits: all but the first read
    -1 if its highest bit is set. Libdevice as 3.9.0 ships it leaves ldexp with the constant exponent -2^31 undefined.
    """
    dtypes = {buffer.name: buffer.dtype for buffer in graph.buffers}
    for node in reversed(graph.nodes):
        if isinstance(node, Load) and node.mask is not None and dtypes[node.buffer] in _NARROW:
            low, high = integer_limits(dtypes[node.buffer])
            other = int(node.other)
            if (other < 0 or other > (high - low) // 2) and other not in (-1, high):
                return "negative other of 8 or 16 bits"
        if isinstance(node, Pointwise) and node.op == "ldexp":
            exponent = graph.nodes[node.args[1]]
            if isinstance(exponent, Constant) and exponent.value == str(-(2**31)):
                return "ldexp by -2^31"
    return ""
