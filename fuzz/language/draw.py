"""Hypothesis strategies of calls and of the cases around them."""

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.language import cases
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.index import of_topic
from tridiff.fuzz.language.row import Topic
from tridiff.fuzz.records import Case, Content, Finite, LaunchOptions, Small
from tridiff.fuzz.strategies import contents, int_divisors, launch_options, nan_contents, option_variants
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import dtype

_ROWS = (1, 2, 3, 7, 16, 33, 64, 128, 256, 512)
_SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def call_cases(draw: st.DrawFn, *, target: str, topic: Topic, limits: Limits) -> Case:
    """One call of a topic on a batch of independent rows."""
    row = draw(st.sampled_from(of_topic(topic)))
    call = row.draw(Choices(draw, limits))
    sizes = cases.sizes_of(call, 1)
    most = max(limits.elements // max(sizes.values()), 1)
    programs = draw(st.sampled_from([n for n in _ROWS if n == 1 or n <= min(most, limits.rows)]))
    words = row.contents(call)
    given = {f"x{number}": draw(_content(call, number, words[number] if number < len(words) else ""))
             for number, one in enumerate(call.operands) if one.given}
    options = draw(launch_options())
    exact = all(rule.kind in ("BIT", "NUM", "NUM0") for rule in row.rules(call))
    names = (*given, *(f"out{number}" for number in range(len(call.stored))))
    offsets = {name: draw(st.sampled_from((1, 3, 8))) for name in names} if draw(st.integers(0, 3)) == 3 else {}
    return Case(target=target, sizes=cases.sizes_of(call, programs), program=call,
                arrays=cases.arrays_of(call, given, offsets),
                options=options, variants=draw(_variants(options, exact)) if limits.variants else ())


def _variants(options: LaunchOptions, exact: bool) -> st.SearchStrategy[tuple[LaunchOptions, ...]]:
    """Other options with the same bits: of exact results, and under the same licence to fuse."""
    if not exact:
        return st.just(())
    fusion = options.enable_fp_fusion
    return option_variants().map(lambda found: tuple(replace(one, enable_fp_fusion=fusion) for one in found))


def _content(call: Call, number: int, word: str) -> st.SearchStrategy[Content]:
    """What an operand may hold."""
    operand: Operand = call.operands[number]
    info = dtype(operand.dtype)
    if word == "shift":
        return st.builds(lambda seed: Content(base=Small(seed=seed, low=0, high=info.bits - 1)), _SEEDS)
    if word == "count":
        return st.builds(lambda seed, high: Content(base=Small(seed=seed, low=0, high=high)), _SEEDS,
                         st.sampled_from((3, 100, 256)))
    if word == "factors":
        small = st.builds(lambda seed: Content(base=Small(seed=seed, low=-2, high=2)), _SEEDS)
        near = st.builds(lambda seed: Content(base=Finite(seed=seed, low=-1, high=0)), _SEEDS)
        return st.one_of(small, near, contents(dtype=operand.dtype))
    if word == "moderate":
        return st.one_of(st.builds(lambda seed: Content(base=Finite(seed=seed, low=-4, high=3)), _SEEDS),
                         contents(dtype=operand.dtype))
    if word == "divisor" and info.is_integer:
        return st.one_of(int_divisors(dtype=operand.dtype), contents(dtype=operand.dtype))
    if info.is_float:
        return st.one_of(contents(dtype=operand.dtype), contents(dtype=operand.dtype, nan=False),
                         nan_contents(dtype=operand.dtype))
    return contents(dtype=operand.dtype)


