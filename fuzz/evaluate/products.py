"""Matrix products. Products and sums are taken in fp64 (int64 for integers) and rounded once; what an input precision
or a tensor core leaves out of fp32 is not modelled."""

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.conversions import rounded_once
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives


def multiplied(a: Any, b: Any, c: Any, kind: np.dtype) -> Array:
    """a * b + c."""
    wide = np.int64 if kind.kind == "i" else np.float64
    found = np.matmul(np.asarray(a).astype(wide), np.asarray(b).astype(wide)) + np.asarray(c).astype(wide)
    return rounded_once(found, kind)


@gives("tt.dot", "ttng.warp_group_dot")
def product(operation: Operation, a: Array, b: Array, c: Array, *_: Array) -> Any:
    return multiplied(a, b, c, operation.type.dtype)
