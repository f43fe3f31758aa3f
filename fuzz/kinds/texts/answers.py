"""What a text's kernel must give, with the functions of the oracles."""

from typing import Any

from tridiff.fuzz.kinds.plans.cases import oracle
from tridiff.fuzz.kinds.texts.cases import text_of
from tridiff.fuzz.records import Case
from tridiff.kernels.ttgir.text import (
    Barrier,
    ClusterBarrier,
    Mailbox,
    Masked,
    Partitions,
    PredicateStage,
    Tokens,
    WarpNumbers,
)


def answer(case: Case, x: Any, *more: Any) -> Any:
    """The output of a form, in the library of the inputs."""
    text, lines = text_of(case), oracle("lines", x)
    match text.form:
        case Barrier() | Mailbox():
            return lines.backwards(x)
        case WarpNumbers(region=region):
            return lines.warp_numbers(x, each=text.each, warps=2 if region == "partition" else text.warps)
        case Partitions(workers=workers):
            return lines.with_multiples(x, workers=workers)
        case Masked(wrapped=wrapped, flag=flag):
            return lines.under_mask(x, more[0], wrapped=wrapped, flag=flag)
        case PredicateStage() | ClusterBarrier():
            return lines.plus_one(x)
        case Tokens():
            return x
