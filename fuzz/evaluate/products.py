"""Matrix products. Products and sums are taken in fp64 (int64 for integers) and rounded once; what an input precision
or a tensor core leaves out of fp32 is not modelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.table import means


@means("tt.dot", "ttng.warp_group_dot")
def product(machine: Any, operation: Operation, values: list[Any]) -> Any:
    a, b, c = values[:3]
    kind = operation.type.dtype
    wide = np.int64 if kind.kind == "i" else np.float64
    found = np.matmul(np.asarray(a).astype(wide), np.asarray(b).astype(wide)) + np.asarray(c).astype(wide)
    return found.astype(kind)
