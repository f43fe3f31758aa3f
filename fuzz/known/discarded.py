"""Checked scans, of which the lowering combines more than it keeps: the first thread along the axis adds the total of
its elements to those of its first ones, drops what comes of it, and asserts that it has stayed within the type."""

import itertools
import operator
from math import prod

from msgspec.structs import replace

from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.language.checked import enabled, watched
from tridiff.fuzz.language.rows.overflow import SCANS, lines
from tridiff.fuzz.records import Case, Content, Explicit
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def asserts_too_much(case: Case) -> bool:
    """Whether nothing that a scan of written values gives leaves its type, and two of its beginnings together do."""
    if not isinstance(case.program, Call) or case.program.row != "overflow.scan" or not enabled(case):
        return False
    call, numbers = call_of(case), _numbers(case)
    size = prod(call.operands[0].shape)
    if size <= 32 * case.options.num_warps:  # a thread has one element, and combines none of its own
        return False
    programs = [numbers[start:start + size] for start in range(0, len(numbers), size)]
    return not any(watched(case, call, (one,)).due for one in programs) and any(
        _two_leave(call, line) for one in programs for line in lines(call, one))


def of_smaller_numbers(case: Case) -> Case | None:
    """The scan of half of each number; of products, of their signs."""
    if not asserts_too_much(case):
        return None
    sums = _op(call_of(case)) == "add"
    values = tuple(str(int(one / 2) if sums else max(-1, min(one, 1))) for one in _numbers(case))
    given, *others = case.arrays
    return replace(case, arrays=(replace(given, content=Content(base=Explicit(values=values))), *others))


def _op(call: Call) -> str:
    return SCANS[str(call.options["by"])]


def _numbers(case: Case) -> list[int]:
    content = case.arrays[0].content
    if content is None or content.overrides or not isinstance(content.base, Explicit):
        return []
    return [int(one) for one in content.base.values]


def _two_leave(call: Call, line: list[int]) -> bool:
    """Whether two of the beginnings of a scan's line together leave its type."""
    info, combined = dtype(call.stored[0]), operator.add if _op(call) == "add" else operator.mul
    totals = itertools.accumulate(reversed(line) if call.option("reverse") else line, combined)
    return not all(int(info.min) <= combined(one, other) <= int(info.max)
                   for one, other in itertools.combinations(totals, 2))
