"""What a transfer's kernel must give, with the functions of the oracles."""

from typing import Any

from tridiff.fuzz.kinds.plans.cases import oracle
from tridiff.fuzz.kinds.transfers.cases import transfer_of
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.boxes import Boxes


def answer(case: Case, x: Any, *initial: Any) -> Any:
    """The output, in the library of the inputs: boxes of the input, or all of it."""
    transfer = transfer_of(case)
    return oracle("boxes", x).moved(x, *initial, record=transfer) if isinstance(transfer, Boxes) else x
