"""The arrays that belong to a call, which cases are valid, and how calls become simpler."""

import math
import re
from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.content.retyped import retyped
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.row import Row
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Layout, Mixture
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.kernels.language.emit import FUNCTIONS

NEWEST = "99.0.0"
"""A version newer than all: the results that arrays are made for."""
MOST_ROWS = 1 << 13
_WORD = re.compile(r"^[A-Za-z0-9_:]{0,40}\Z")

WAYS = frozenset((
    "arguments", "attribute", "branch", "cast", "difference", "f", "function", "helper", "in_place", "list", "m",
    "math", "method", "noinline", "plain", "product", "range", "ravel", "repeated", "reshape", "static_range", "sum",
    "to", "transposed", "tuple", "unchecked", "view"))
"""How a call may be written: an option of many rows, whose texts look for the one or two that they know."""


def call_of(case: Case) -> Call:
    """The case's call; ValueError for a case without one."""
    if not isinstance(case.program, Call):
        raise ValueError(f"{case.target} needs a call")
    return case.program


def row_of(case: Case) -> Row:
    return rows()[call_of(case).row]


def results_of(call: Call) -> tuple[Result, ...]:
    return rows()[call.row].results(call, NEWEST)


def sizes_of(call: Call, programs: int) -> dict[str, int]:
    """Axis lengths: `rows` programs, of operand k n<k> elements each, of result k m<k>."""
    sizes = {"rows": programs}
    for number, operand in enumerate(call.operands):
        if operand.kind == "block":
            sizes[f"n{number}"] = Result(dtype=operand.dtype, shape=operand.shape).elements
    for number, result in enumerate(results_of(call)):
        if result.shape:
            sizes[f"m{number}"] = result.elements
    return sizes


def arrays_of(call: Call, given: dict[str, Content], offsets: dict[str, int] | None = None) -> tuple[ArraySpec, ...]:
    """Inputs with their contents, and outputs in the types in which they are stored."""
    layouts = {name: Layout(offset=offset) for name, offset in (offsets or {}).items() if offset}
    found = []
    for number, operand in enumerate(call.operands):
        if operand.given:
            name = f"x{number}"
            dims = ("rows", f"n{number}") if operand.kind == "block" else ("rows",)
            found.append(ArraySpec(name=name, dtype=operand.dtype, dims=dims, content=given[name],
                                   layout=layouts.get(name, Layout())))
    for number, result in enumerate(results_of(call)):
        dims = ("rows", f"m{number}") if result.shape else ("rows",)
        name = f"out{number}"
        found.append(ArraySpec(name=name, dtype=call.stored[number], dims=dims, layout=layouts.get(name, Layout())))
    return tuple(found)


def offsets_of(case: Case) -> dict[str, int]:
    return {spec.name: spec.layout.offset for spec in case.arrays}


def given_of(case: Case) -> dict[str, Content]:
    return {spec.name: spec.content for spec in case.arrays if spec.content is not None}


def legal(call: Call) -> bool:
    """Whether a call has a row, and its text can be written. Words that stand in the text may come from a stranger's
    file: they are names, and of functions only those of the kernel's own module."""
    row = rows().get(call.row)
    if row is None or not all(_WORD.match(one) for one in call.options.values() if isinstance(one, str)):
        return False
    if call.options.get("way", "function") not in WAYS:
        return False
    if "function" in call.options and call.options["function"] not in FUNCTIONS:
        return False
    try:
        results = row.results(call, NEWEST)
        text = row.text(call)
        row.rules(call)
    except (KeyError, ValueError, IndexError, TypeError, ArithmeticError, AttributeError):
        return False
    return bool(text) and len(results) == len(call.stored) and all(
        one.number or one.given for one in call.operands)


def valid(case: Case) -> bool:
    """Whether a kernel can be made of the call and everything else in the case follows from it."""
    call = case.program
    if not isinstance(call, Call) or not legal(call) or case.params:
        return False
    programs, given = case.sizes.get("rows", 0), given_of(case)
    needed = {f"x{number}" for number, one in enumerate(call.operands) if one.given}
    if not 1 <= programs <= MOST_ROWS or set(given) != needed or case.sizes != sizes_of(call, programs):
        return False
    return tuple(replace(spec, first_row=0) for spec in case.arrays) == arrays_of(call, given, offsets_of(case))


def label(case: Case) -> str:
    """What tells findings apart: the row."""
    return call_of(case).row


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts: the row with each aspect of its call."""
    return tuple(f"call={call_of(case).row} {one}" for one in aspects(call_of(case)))


def aspects(call: Call) -> tuple[str, ...]:
    """What a call is beside its row: each operand's type, all operands' kinds, each option, the axes of its largest
    block, and whether all blocks have one element."""
    types = (f"dtype={one.dtype}" for one in call.operands if one.given)
    kinds = (f"operands={','.join(one.kind for one in call.operands)}",)
    options = (f"{name}={value}" for name, value in call.options.items()
               if isinstance(value, bool | str) or abs(value) < 8)
    blocks = [one.shape for one in call.operands if one.kind == "block"]
    axes = (f"rank={max(map(len, blocks))}",) if blocks else ()
    single = ("elements=1",) if blocks and all(math.prod(shape) == 1 for shape in blocks) else ()
    return *types, *kinds, *options, *axes, *single


def size(case: Case) -> tuple[int, ...]:
    """Elements of all operands, options, operands that are numbers."""
    call = call_of(case)
    elements = sum(Result(dtype=one.dtype, shape=one.shape).elements for one in call.operands)
    return elements, len(call.options), sum(len(one.number) for one in call.operands)


def steps(case: Case) -> Iterable[Case]:
    """Cases whose call lacks an option, or is half as long along one axis."""
    call = call_of(case)
    found = [replace(call, options={key: one for key, one in call.options.items() if key != name})
             for name in call.options]
    if not any("x" in str(one) for name, one in call.options.items() if name in ("shape", "order")):
        rank = max((len(one.shape) for one in call.operands), default=0)
        for axis in range(1, rank + 1):
            for shorter in (1, 2):
                found.append(replace(call, operands=tuple(_shorter(one, axis, shorter) for one in call.operands)))
    yield from (one for simpler in found if simpler != call and (one := with_call(case, simpler)) is not None)


def _shorter(operand: Operand, axis: int, divisor: int) -> Operand:
    """axis: counted from the last one, which is 1. divisor: 1 for length 1."""
    if len(operand.shape) < axis:
        return operand
    shape = list(operand.shape)
    shape[-axis] = 1 if divisor == 1 else max(shape[-axis] // 2, 1)
    return replace(operand, shape=tuple(shape))


def with_call(case: Case, call: Call) -> Case | None:
    """The case with another call; None if it is not legal. Contents stay, unless they list values for another length
    or type or name one that the new type lacks; what was a number before has any."""
    if not legal(call):
        return None
    sizes, given = sizes_of(call, case.sizes["rows"]), given_of(case)
    kept: dict[str, Content] = {}
    for number, operand in enumerate(call.operands):
        name, length = f"x{number}", f"n{number}"
        if operand.given and name not in given:
            kept[name] = Content(base=Mixture())  # a number before
        elif operand.given:
            same = sizes.get(length) == case.sizes.get(length) and case.array(name).dtype == operand.dtype
            if same:
                kept[name] = given[name]
            elif isinstance(given[name].base, Explicit):
                kept[name] = Content(base=Mixture())
            else:
                kept[name] = retyped(given[name], operand.dtype)
    return replace(case, program=call, sizes=sizes, arrays=arrays_of(call, kept, offsets_of(case)))
