"""Cases at the ends of integer types: what just fits, and with it, at one place of one program, what just does not."""

import math
from itertools import product
from random import Random

from hypothesis import strategies as st

from tridiff.fuzz.language import cases
from tridiff.fuzz.language.checked import single, watched, wrapped
from tridiff.fuzz.language.draw import chosen
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.rows.overflow import lines
from tridiff.fuzz.records import Case, Content, Explicit, LaunchOptions
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.oracles.dtypes import dtype

_PROGRAMS = (1, 2, 3, 5)
_NEAR = 24
"""Of the combinations of values, so many are near the ends of what they give."""
_OPTIONS = ((True, True), (True, True), (True, True), (True, False), (False, True))
"""`debug` and `sanitize_overflow`."""

Combination = tuple[int, ...]


@st.composite
def boundary_cases(draw: st.DrawFn, *, target: str, limits: Limits) -> Case:
    """A call whose arithmetic may be checked, on a few programs; half of the time one of them leaves its type."""
    call = chosen(draw, "overflow", limits)
    row = rows()[call.row]
    elements = max(math.prod(one.shape) for one in call.operands)
    programs = draw(st.sampled_from([n for n in _PROGRAMS if n == 1 or n * elements <= min(limits.elements, 256)]))
    leaving, random = draw(st.booleans()), Random(draw(st.integers(0, 2**32 - 1)))
    (word,) = row.contents(call) or ("",)
    values = (_lines(call, word, programs, random, leaving=leaving) if word else
              _elements(call, programs, random, leaving=leaving))
    given = {f"x{number}": Content(base=Explicit(values=tuple(map(str, one)))) for number, one in values.items()}
    debug, checked = draw(st.sampled_from(_OPTIONS))
    options = LaunchOptions(debug=debug, sanitize_overflow=checked, num_warps=draw(st.sampled_from((4, 1, 8))))
    return Case(target=target, sizes=cases.sizes_of(call, programs), program=call,
                arrays=cases.arrays_of(call, given), options=options)


def ends(name: str) -> tuple[int, ...]:
    """Values of a type whose sums, differences and products lie at the ends of it, and small ones."""
    info = dtype(name)
    low, high = int(info.min), int(info.max)
    root = math.isqrt(high)
    found = (0, 1, -1, 2, -2, 3, high, high - 1, high - 2, low, low + 1, low + 2, high // 2, high // 2 + 1, low // 2,
             low // 2 - 1, low // 2 + 1, root, root + 1, -root, -root - 1, high // 3, 1 << info.bits // 2)
    return tuple(dict.fromkeys(one for one in found if low <= one <= high))


def _elements(call: Call, programs: int, random: Random, *, leaving: bool) -> dict[int, list[int]]:
    """Values of each operand for calls that compute element by element."""
    alone = single(call)
    options = [ends(one.dtype) if one.given else (int(one.value),) for one in call.operands]
    within: list[tuple[int, Combination]] = []
    beyond: list[tuple[int, Combination]] = []
    for values in product(*options):
        watch = watched(None, alone, tuple([one] if operand.kind == "block" else one
                                           for one, operand in zip(values, call.operands, strict=True)))
        (beyond if watch.due else within).append((watch.gap or 0, values))
    quiet, due = ([one for _, one in sorted(found, key=lambda pair: pair[0])] for found in (within, beyond))
    size = math.prod(together(call))
    chosen = random.randrange(programs) if leaving and due else -1
    found: dict[int, list[int]] = {number: [] for number, one in enumerate(call.operands) if one.given}
    for program in range(programs):
        special = _near(due, random) if program == chosen else None
        first = special or (_near(quiet, random) if quiet else _near(due, random))
        # What is the same for all elements of a program: scalars, and what is broadcast.
        fixed = {number for number, one in enumerate(call.operands) if not one.given or _size(one) < size}
        fitting = [one for one in quiet if all(one[number] == first[number] for number in fixed)] or [first]
        line = [_near(fitting, random) for _ in range(size)]
        line[random.randrange(size)] = first
        for number in found:
            operand = call.operands[number]
            found[number] += [first[number]] * _size(operand) if number in fixed else [one[number] for one in line]
    return found


def _size(operand: Operand) -> int:
    return Result(dtype=operand.dtype, shape=operand.shape).elements


def _near(found: list[Combination], random: Random) -> Combination:
    """One of the combinations, mostly one of the first."""
    return random.choice(found[:_NEAR] if random.randrange(4) else found)


def _lines(call: Call, op: str, programs: int, random: Random, *, leaving: bool) -> dict[int, list[int]]:
    """Values for calls that fold lines of elements, all of one sign, so that no order of it leaves the type earlier."""
    (operand,) = call.operands
    name = call.stored[0]
    size = _size(operand)
    count, length = len(lines(call, list(range(size)))), operand.shape[call.number("axis")]
    chosen = random.randrange(programs * count) if leaving else -1
    found: list[int] = []
    for program in range(programs):
        values = [0] * size
        for number, places in enumerate(lines(call, list(range(size)))):
            leaves = program * count + number == chosen
            made = _sum(name, length, random, leaves) if op == "add" else _product(name, length, random, leaves)
            for place, value in zip(places, made, strict=True):
                values[place] = value
        found += values
    return {0: found}


def _sum(name: str, length: int, random: Random, leaves: bool) -> list[int]:
    low, high = int(dtype(name).min), int(dtype(name).max)
    to = random.choice((high + 1, high + 2) if low == 0 or random.randrange(2) else (low - 1, low - 2)) if leaves else (
        random.choice((high, high - 1, low, low + (low < 0), high // 2, 5)))
    sign = -1 if to < 0 else 1
    small = random.randrange(2) * sign
    if random.randrange(2) and low <= to - small * (length - 1) <= high and abs(to) >= length:
        line = [to - small * (length - 1), *[small] * (length - 1)]
    else:
        share, rest = divmod(abs(to), length)
        line = [sign * (share + (place < rest)) for place in range(length)]
    random.shuffle(line)
    return [wrapped(one, name) for one in line]


def _product(name: str, length: int, random: Random, leaves: bool) -> list[int]:
    info = dtype(name)
    high = int(info.max)
    root = math.isqrt(high)
    fits = ([high], [root, root], [high // 2, 2], [2] * min(length, info.bits - 2), [-high if info.min else high], [0])
    not_fits = ([root + 1, root + 1], [high // 2 + 1, 2], [high // 3 + 1, 3])
    line = list(random.choice(not_fits if leaves else [one for one in fits if len(one) <= length]))
    line += [1] * (length - len(line))
    random.shuffle(line)
    return line
