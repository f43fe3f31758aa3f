"""Hypothesis strategies of calls and of the cases around them."""

import bisect
import itertools
from functools import lru_cache

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.language import cases
from tridiff.fuzz.language.aims import has, parts, type_in
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.index import of_topic, rows
from tridiff.fuzz.language.left_out import left_out
from tridiff.fuzz.language.row import Topic
from tridiff.fuzz.records import Case, Content, Finite, LaunchOptions, Small, Sprinkle
from tridiff.fuzz.strategies import compile_modes, contents, int_divisors, nan_contents, option_variants
from tridiff.fuzz.strategies.choice import even
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import dtype

_ROWS = (1, 2, 3, 7, 16, 33, 64, 128, 256, 512)
AIMED = 8
"""Of so many draws one is drawn from everything where the others are aimed."""
SLOW_ROWS = 256
"""Backends that take no more rows run one program after another, in Python, ..."""
FEW, MANY = 16, 8
"""... where most cases have so few programs, and one of so many has as many as fit: each has other values, and costs as
much as the first."""
FREE = 32
"""Of so many draws one has options of its own where the others share theirs."""
AIMED_TRIES = 8
"""Calls that are drawn, at most, for one with the aspect at which it is aimed."""
_SEEDS = st.integers(0, 2**32 - 1)


def chosen(draw: st.DrawFn, topic: Topic, limits: Limits) -> Call:
    """A call of a topic: of any row, and mostly, where draws are aimed, of a row and with an aspect (an element type, a
    value of an option) that a campaign has reached too seldom; the rest of the call is as free as ever."""
    named = {row.name: row for row in of_topic(topic)}
    there = limits.among({name: (row.since, row.until) for name, row in named.items()})
    if limits.backend:
        releases = limits.releases or ("",)
        there = [name for name in there if not any(left_out(name, one, limits.backend) for one in releases)] or there
    row, wanted = named[draw(st.sampled_from(there))], ""
    if limits.aims:
        cells, ends = _aims(limits.aims)
        aimed, place = draw(st.integers(0, AIMED - 1)), even(draw, ends[-1])
        if aimed:
            name, wanted = cells[bisect.bisect_right(ends, place)]
            row = named[name]
    choices = Choices(draw, limits, wanted=type_in(wanted))
    call = row.draw(choices)
    for _ in range(AIMED_TRIES - 1):
        if not wanted or has(call, wanted):
            break
        call = row.draw(choices)
    return call


@lru_cache(maxsize=2)
def _aims(aims: tuple[tuple[str, int], ...]) -> tuple[list[tuple[str, str]], list[int]]:
    """Row and aspect of each cell, and the sums of the weights up to it."""
    return [parts(cell) for cell, _ in aims], list(itertools.accumulate(weight for _, weight in aims))


@st.composite
def call_cases(draw: st.DrawFn, *, target: str, topic: Topic, limits: Limits) -> Case:
    """One call of a topic on a batch of independent rows."""
    call = chosen(draw, topic, limits)
    row = rows()[call.row]
    sizes = cases.sizes_of(call, 1)
    most = max(min(limits.elements, row.budget or limits.elements) // max(sizes.values()), 1)
    if FEW < limits.rows <= SLOW_ROWS and draw(st.integers(0, MANY - 1)):
        most = min(most, FEW)
    programs = draw(st.sampled_from([n for n in _ROWS if n == 1 or n <= min(most, limits.rows)]))
    given = _given(draw, call)
    shared = limits.mode if limits.mode and draw(st.integers(0, FREE - 1)) else None
    options = shared[0] if shared else draw(compile_modes())
    if row.gluon:
        # Layouts of one block, for as many warps.
        options = LaunchOptions(num_warps=min(options.num_warps, 8) if shared else draw(st.sampled_from((1, 2, 4, 8))))
    exact = all((rule.member or rule).kind in ("BIT", "NUM", "NUM0") for rule in row.rules(call))
    # Other options with the same bits: of exact results, and under the same licence to fuse.
    variants = () if not (exact and limits.variants) else shared[1] if shared else draw(option_variants())
    names = (*given, *(f"out{number}" for number in range(len(call.stored))))
    offsets = {name: draw(st.sampled_from((1, 3, 8))) for name in names} if (
        draw(st.integers(0, 3)) == 3 and not row.aligned) else {}
    return Case(target=target, sizes=cases.sizes_of(call, programs), program=call,
                arrays=cases.arrays_of(call, given, offsets),
                options=options, variants=tuple(replace(one, enable_fp_fusion=options.enable_fp_fusion)
                                                for one in variants))


@st.composite
def again(draw: st.DrawFn, case: Case) -> Case:
    """The same call with other values, as `Draw.again` says."""
    call = cases.call_of(case)
    given = _given(draw, call)
    return replace(case, arrays=cases.arrays_of(call, given, cases.offsets_of(case))) if given else case


def _given(draw: st.DrawFn, call: Call) -> dict[str, Content]:
    """What the arrays of a call hold, by name."""
    words = rows()[call.row].contents(call)
    return {f"x{number}": draw(_content(call, number, words[number] if number < len(words) else ""))
            for number, one in enumerate(call.operands) if one.given}


def _content(call: Call, number: int, word: str) -> st.SearchStrategy[Content]:
    """What an operand may hold."""
    operand: Operand = call.operands[number]
    info = dtype(operand.dtype)
    if word == "shift":
        return st.builds(lambda seed: Content(base=Small(seed=seed, low=0, high=info.bits - 1)), _SEEDS)
    if word == "count":
        return st.builds(lambda seed, high: Content(base=Small(seed=seed, low=0, high=high)), _SEEDS,
                         st.sampled_from((3, 100, 256)))
    if word == "exponent":
        powers = st.builds(lambda seed, size: Content(base=Small(seed=seed, low=-size, high=size)), _SEEDS,
                           st.sampled_from((5, 150, 256)))
        return st.one_of(powers, powers, contents(dtype=operand.dtype))
    if word == "scale":
        return st.builds(lambda seed, reach: Content(base=Small(seed=seed, low=127 - reach, high=127 + reach)), _SEEDS,
                         st.sampled_from((1, 4, 8)))
    if word == "order":
        return st.builds(lambda seed: Content(base=Small(seed=seed, low=0, high=12)), _SEEDS)
    if word == "probability":
        small = st.builds(lambda seed: Content(base=Finite(seed=seed, low=-30, high=0)), _SEEDS)
        return st.one_of(small, contents(dtype=operand.dtype))
    if word == "factors":
        small = st.builds(lambda seed: Content(base=Small(seed=seed, low=-2, high=2)), _SEEDS)
        near = st.builds(lambda seed: Content(base=Finite(seed=seed, low=-1, high=0)), _SEEDS)
        return st.one_of(small, near, contents(dtype=operand.dtype))
    if word == "moderate":
        return st.one_of(st.builds(lambda seed: Content(base=Finite(seed=seed, low=-4, high=3)), _SEEDS),
                         contents(dtype=operand.dtype))
    if word.startswith("halves") and info.is_float:
        return st.one_of(_halves(int(word.removeprefix("halves"))), contents(dtype=operand.dtype))
    if word == "divisor" and info.is_integer:
        return st.one_of(int_divisors(dtype=operand.dtype), contents(dtype=operand.dtype))
    if info.is_float:
        return st.one_of(contents(dtype=operand.dtype), contents(dtype=operand.dtype, nan=False),
                         nan_contents(dtype=operand.dtype))
    return contents(dtype=operand.dtype)




def _halves(bits: int) -> st.SearchStrategy[Content]:
    """Numbers around the range of an integer type, its ends and halfway cases among them."""
    ends = [float(sign * (1 << power) + part) for power in (bits - 1, bits) for sign in (1, -1) for part in (-1, 0, 1)]
    values = ("0.5", "-0.5", "1.5", "-1.5", "2.5", "-2.5", "0.49999997", "-0.99999994", *dict.fromkeys(map(repr, ends)))
    return st.builds(lambda seed, share: Content(
        base=Finite(seed=seed, low=-3, high=bits + 1),
        overrides=(Sprinkle(values=values, seed=seed, per_mille=share),)), _SEEDS, st.sampled_from((200, 700)))
