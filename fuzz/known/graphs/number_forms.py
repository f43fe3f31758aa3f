"""Forms of conversions and of 16-bit integers: each as those of `tridiff.fuzz.known.graphs.forms`, which lists them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.nodes import equal
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Cast, Pointwise

_BITS = {f"{kind}{bits}": bits for kind in "iu" for bits in (8, 16, 32, 64)}


def _widened_sign(analysis: Analysis, node: Cast) -> Result:
    """LLVM's SLP vectoriser (3.8.0 on) makes a vector of neighbours' conversions of an unsigned number to a float, and
    narrows it to what a signed number needs that had been made unsigned: i8 by way of u64 is taken from u32."""
    source = analysis.dtype(node.arg)
    widened = source in ("i8", "i16", "i32") and node.dtype in ("u16", "u32", "u64") and not node.bitcast
    return replace(node, dtype=f"i{node.dtype[1:]}") if widened and _BITS[source] < _BITS[node.dtype] else None


def _narrowed(analysis: Analysis, node: Cast) -> Iterator[Changes]:
    """The number modulo a smaller power of two."""
    for narrower in ("u8", "u16", "u32"):
        if _BITS[analysis.dtype(node.arg)] <= _BITS[narrower] < _BITS[node.dtype]:
            yield dict.fromkeys(equal(analysis, node), (replace(node, dtype=narrower), node))


def _specials_as_bf16(analysis: Analysis, node: Cast) -> Result:
    """The conversion of fp8e5 to bf16 knows no infinity and no NaN: numbers from 65536 on come out."""
    wrong = node.dtype == "bf16" and analysis.dtype(node.arg) == "fp8e5" and not node.bitcast
    return replace(node, dtype="fp16") if wrong else None


def _power_of_halfwords(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 move four 16-bit integers that all threads of a block load alike to uniform registers where
    the kernel loops, and read the fourth from one behind them, which nothing writes. Only integer powers loop."""
    return replace(node, op="mul") if analysis.dtype(node.args[0]) in ("i16", "u16") else None


WIDENED_SIGN = Form(label="signed number made unsigned and wider", kinds=(Cast,), rewritten=_widened_sign,
                    computed=_narrowed)
SPECIALS_AS_BF16 = Form(label="fp8e5 to bf16", kinds=(Cast,), rewritten=_specials_as_bf16)
POWER_OF_HALFWORDS = Form(label="power of 16-bit integers", ops=("pow",), rewritten=_power_of_halfwords)
