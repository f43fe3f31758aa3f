"""Checked scans, of which the lowering combines more than it keeps: the first thread along the axis adds the total of
its elements to those of its first ones, drops what comes of it, and asserts that it has stayed within the type."""

from collections.abc import Iterator
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
    return any(map(_doubled_leaves, _programs(case)))


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


def _programs(case: Case) -> Iterator[tuple[Call, list[int]]]:
    """The values of every program of a scan that is checked; none where it gives what leaves the type."""
    if not isinstance(case.program, Call) or case.program.row != "overflow.scan" or not enabled(case):
        return
    call, numbers = call_of(case), _numbers(case)
    size = prod(call.operands[0].shape)
    if size <= 32 * case.options.num_warps:  # a thread has one element, and combines none of its own
        return
    programs = [numbers[start:start + size] for start in range(0, len(numbers), size)]
    if not any(watched(case, call, (one,)).due for one in programs):
        yield from ((call, one) for one in programs)


def _doubled_leaves(program: tuple[Call, list[int]]) -> bool:
    call, values = program
    info = dtype(call.stored[0])
    for line in lines(call, values):
        totals: list[int] = []
        for one in reversed(line) if call.option("reverse") else line:
            last = totals[-1] if totals else None
            totals.append(one if last is None else last + one if _op(call) == "add" else last * one)
            both = [totals[-1] + first if _op(call) == "add" else totals[-1] * first for first in totals[:-1]]
            if not all(int(info.min) <= number <= int(info.max) for number in both):
                return True
    return False
