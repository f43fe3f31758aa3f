"""What is in an array: content terms."""

from functools import cache, lru_cache

from hypothesis import strategies as st

from tridiff.fuzz.records import (
    Bits,
    Constant,
    Content,
    Finite,
    Iota,
    Mixture,
    Override,
    Permutation,
    Pick,
    Put,
    Scattered,
    Small,
    Sorted,
    Special,
    Sprinkle,
    Tie,
    TieSprinkle,
)
from tridiff.fuzz.strategies.choice import weighted
from tridiff.oracles.dtypes import dtype as dtype_info

_SEEDS = st.integers(0, 2**32 - 1)
_COLUMNS = st.integers(0, 64)


def _nan_values(dtype: str) -> tuple[str, ...]:
    if dtype == "fp8e4nv":
        return ("nan", "-nan")
    top = dtype_info(dtype).mantissa_bits
    # Quiet and signalling, smallest and largest payload, both signs.
    return ("nan", "-nan", "nan:0x1", f"nan:{(1 << top) - 1:#x}", "-nan:0x1")


@cache
def nan_patterns(*, dtype: str) -> st.SearchStrategy[Override]:
    """NaNs at drawn or random positions, with drawn payload and sign. For float dtypes."""
    values = _nan_values(dtype)
    return st.one_of(
        st.builds(Put, value=st.sampled_from(values), column=_COLUMNS),
        st.builds(Sprinkle, values=st.just(values), seed=_SEEDS, per_mille=st.sampled_from((20, 200, 700, 1000))),
    )


@cache
def tie_patterns() -> st.SearchStrategy[Override]:
    """Equal elements: two drawn columns, or many random ones."""
    return st.one_of(
        st.builds(Tie, source=_COLUMNS, to=_COLUMNS),
        st.builds(TieSprinkle, seed=_SEEDS, per_mille=st.sampled_from((100, 500, 900))),
    )


def _edges(dtype: str) -> tuple[str, ...]:
    info = dtype_info(dtype)
    if info.kind == "bool":
        return ("0", "1")
    if info.kind != "float":
        values = (0, 1, int(info.max), int(info.min), int(info.min) + 1, int(info.max) - 1, -1)
        return tuple(dict.fromkeys(str(v) for v in values if info.min <= v <= info.max))
    zeros_and_infinities = ("0.0", "-0.0", "inf", "-inf") if dtype != "fp8e4nv" else ("0.0", "-0.0")
    tiny = repr(info.smallest_subnormal)
    return (*zeros_and_infinities, tiny, "-" + tiny, repr(info.smallest_normal), repr(float(info.max)))


@cache
def contents(*, dtype: str, nan: bool = True) -> st.SearchStrategy[Content]:
    """Any content of `dtype`: a base distribution and up to three overrides. nan: NaNs allowed where floats."""
    info = dtype_info(dtype)
    recipes: tuple[str, ...] = ("small", "special", "bits", "finite", "ramp", "constant", "ties")
    if not nan and info.is_float:
        recipes = ("small", "finite", "ramp")
    mixture = st.builds(Mixture, seed=_SEEDS, recipes=st.just(recipes))
    plain = _edges(dtype) if nan or not info.is_float else ("0.0", "-0.0")
    if nan and info.is_float:
        plain = (*plain, "nan")
    bases: list[tuple[int, st.SearchStrategy[object]]] = [
        (1, st.builds(Small, seed=_SEEDS)), (2, mixture), (1, st.builds(Constant, value=st.sampled_from(plain))),
        (1, st.builds(Iota, start=st.integers(-300, 300), step=st.sampled_from((1, -1, 0, 2)))),
        (1, st.builds(Finite, seed=_SEEDS, low=st.sampled_from((-2, -20, -120)), high=st.sampled_from((2, 20, 120)))),
    ]
    if nan or not info.is_float:
        bases += [(1, st.builds(Special, seed=_SEEDS)), (1, st.builds(Bits, seed=_SEEDS))]
    overrides: list[st.SearchStrategy[Override]] = [
        tie_patterns(),
        st.builds(Put, value=st.sampled_from(_edges(dtype)), column=_COLUMNS),
        st.builds(Sprinkle, values=st.just(_edges(dtype)), seed=_SEEDS, per_mille=st.sampled_from((20, 200, 700))),
    ]
    if nan and info.is_float:
        overrides.append(nan_patterns(dtype=dtype))
    return st.builds(Content, base=weighted(*bases), overrides=st.lists(st.one_of(*overrides), max_size=3).map(tuple))


@cache
def nan_contents(*, dtype: str) -> st.SearchStrategy[Content]:
    """Numbers among which NaNs of drawn payload and sign lie, for certain. For float dtypes."""
    plain = st.one_of(st.builds(Small, seed=_SEEDS), st.builds(Finite, seed=_SEEDS), st.builds(Mixture, seed=_SEEDS))
    return st.builds(lambda base, nan, tie: Content(base=base, overrides=(nan, *tie)), plain, nan_patterns(dtype=dtype),
                     st.lists(tie_patterns(), max_size=1))


def _neighbours(dtype: str) -> list[tuple[str, ...]]:
    """Numbers that a narrower type cannot tell apart: those around each power of two where one runs out of bits."""
    info = dtype_info(dtype)
    most = info.mantissa_bits if info.is_float else info.bits - 2
    powers = [p for p in (24, 25, 31, 52, 53, 60) if p <= most] or [p for p in (11, 8, 4, 1) if p <= most]
    return [tuple(str((1 << p) + d) for d in (0, 1, -1, 2, -2)) for p in powers]


@cache
def crowded_contents(*, dtype: str) -> st.SearchStrategy[Content]:
    """Batches in which every row has other neighbours, NaNs and ties among other numbers: what an order can get
    wrong, in as many ways as there are rows. For ints and floats."""
    crowds: list[st.SearchStrategy[Override]] = [st.builds(
        Sprinkle, values=st.sampled_from(_neighbours(dtype)), seed=_SEEDS, per_mille=st.sampled_from((300, 700, 1000)))]
    if dtype_info(dtype).is_float:
        crowds.append(st.builds(Sprinkle, values=st.just(_nan_values(dtype)), seed=_SEEDS,
                                per_mille=st.sampled_from((200, 50, 500))))
    ties = st.lists(st.builds(TieSprinkle, seed=_SEEDS, per_mille=st.sampled_from((100, 500))), max_size=1)
    return st.builds(lambda seed, crowd, tied: Content(base=Mixture(seed=seed), overrides=(*crowd, *tied)),
                     _SEEDS, st.tuples(*crowds), ties)


@cache
def index_contents(*, distinct: bool = True) -> st.SearchStrategy[Content]:
    """Indices that go with values: 0, 1, 2, ... or a permutation, distinct within a row; otherwise also small
    equal ones."""
    plain = [st.just(Content(base=Iota(step=1))), st.builds(Content, base=st.builds(Permutation, seed=_SEEDS))]
    if not distinct:
        plain.append(st.builds(Content, base=st.builds(Small, seed=_SEEDS, low=st.just(0), high=st.just(7))))
    return st.one_of(*plain)


@cache
def int_divisors(*, dtype: str) -> st.SearchStrategy[Content]:
    """Divisors: sign quadrants, +-1, powers of two and their neighbours, INT_MIN, INT_MAX,
    and isolated zeros (whose lanes the contract leaves open)."""
    info = dtype_info(dtype)
    powers = [1 << k for k in range(info.bits) if (1 << k) <= info.max]
    near = {p + d for p in powers for d in (-1, 0, 1)}
    if info.kind == "int":
        near |= {-n for n in near} | {int(info.min)}
    usable = tuple(str(n) for n in sorted(near, key=lambda n: (abs(n), n < 0)) if n != 0 and info.min <= n <= info.max)
    chosen = usable[:40] + usable[40:][-24:]
    bases = st.one_of(
        st.builds(lambda seed: Content(base=Small(seed=seed, low=-9, high=9)), _SEEDS),
        st.builds(lambda seed: Content(base=Constant(value="1"), overrides=(
            Sprinkle(values=chosen, seed=seed, per_mille=1000),)), _SEEDS),
        st.builds(lambda seed: Content(base=Mixture(seed=seed)), _SEEDS),
        st.builds(lambda value: Content(base=Constant(value=value)), st.sampled_from(usable)),
    )
    return bases


@cache
def truth_contents() -> st.SearchStrategy[Content]:
    """Zeros with few ones: none at all, a single one in a drawn column, or random ones. For any dtype."""
    return st.one_of(
        st.just(Content(base=Constant(value="0"))),
        st.builds(lambda column: Content(base=Constant(value="0"), overrides=(
            Put(value="1", column=column),)), _COLUMNS),
        st.builds(lambda seed, share: Content(base=Constant(value="0"), overrides=(
            Sprinkle(values=("1",), seed=seed, per_mille=share),)), _SEEDS, st.sampled_from((20, 200, 900, 1000))),
    )


@cache
def offset_contents() -> st.SearchStrategy[Content]:
    """Numbers whose spread is small beside their mean: constant rows, a large offset, one outlier. For floats."""
    spread = st.builds(Iota, start=st.sampled_from((0, 1000, 1_000_000, -1_000_000)), step=st.sampled_from((1, 0, -1)))
    outlier = st.builds(Put, value=st.sampled_from(("1e6", "-1e6", "3e19", "inf", "-inf", "nan")), column=_COLUMNS)
    constant = st.builds(Constant, value=st.sampled_from(("0.1", "1e6", "-3.0")))
    return st.builds(Content, base=st.one_of(spread, constant), overrides=st.lists(outlier, max_size=2).map(tuple))


@cache
def weight_contents() -> st.SearchStrategy[Content]:
    """Counts of elements, whole numbers as floats: small ones, empty sets, numbers near 2^24."""
    few = ("0", "1", "2", "16777215", "16777216", "16777217")
    return st.one_of(
        st.builds(lambda seed: Content(base=Small(seed=seed, low=0, high=4)), _SEEDS),
        st.builds(lambda value: Content(base=Constant(value=value)), st.sampled_from(("1", "0", "16777216"))),
        st.builds(lambda seed, share: Content(base=Constant(value="1"), overrides=(
            Sprinkle(values=few, seed=seed, per_mille=share),)), _SEEDS, st.sampled_from((200, 700, 1000))),
    )


@lru_cache(maxsize=64)  # seeds are drawn: there are as many as cases
def sorted_contents(*, dtype: str, scattered: int | None = None) -> st.SearchStrategy[Content]:
    """Rows in ascending order, NaNs last. scattered: then dealt out by the permutation of this seed, so that
    `Permutation(seed=scattered)` sorts them."""
    moved: tuple[Override, ...] = () if scattered is None else (Scattered(seed=scattered),)
    plain = st.builds(Iota, start=st.integers(-300, 300), step=st.sampled_from((1, 0, 2, 7)))
    ramps = st.builds(lambda base: Content(base=base, overrides=moved), plain)
    if dtype.startswith(("i", "u")):
        # A ramp wraps in a narrow type: sort it.
        ramps = ramps.map(lambda content: Content(base=content.base, overrides=(Sorted(), *moved)))
    drawn = contents(dtype=dtype)
    if dtype_info(dtype).is_float:
        drawn = st.one_of(drawn, nan_contents(dtype=dtype))
    anything = drawn.map(lambda content: Content(base=content.base, overrides=(*content.overrides, Sorted(), *moved)))
    return weighted((2, anything), (1, ramps))


@cache
def pattern_contents(*, dtype: str) -> st.SearchStrategy[Content]:
    """Rows in an order that matters to a sort: ascending, descending, all equal, organ pipe, 0/1, both zeros."""
    ramp = st.builds(Iota, start=st.sampled_from((0, 100, 2**24 - 3)), step=st.sampled_from((1, -1, 0)))
    pipe = st.builds(lambda half: Content(base=Iota(), overrides=tuple(
        Tie(source=half - k, to=half + k) for k in range(1, half + 1))), st.sampled_from((1, 2, 4, 8, 16)))
    zero_one = st.builds(lambda seed: Content(base=Small(seed=seed, low=0, high=1)), _SEEDS)
    overrides = [tie_patterns(), st.builds(Put, value=st.sampled_from(_edges(dtype)), column=_COLUMNS)]
    if dtype_info(dtype).is_float:
        overrides.append(nan_patterns(dtype=dtype))
    touched = st.builds(Content, base=ramp, overrides=st.lists(st.one_of(*overrides), max_size=2).map(tuple))
    if not dtype_info(dtype).is_float:
        return st.one_of(touched, pipe, zero_one)
    signs = st.builds(lambda seed: Content(base=Constant(value="0.0"), overrides=(
        Sprinkle(values=("-0.0", "0.0", "1.0", "-1.0"), seed=seed, per_mille=700),)), _SEEDS)
    return st.one_of(touched, pipe, zero_one, signs)


def one_hot_contents() -> st.SearchStrategy[Content]:
    """Masks with exactly one True per row, in a drawn place of each or in the first; rarely with none."""
    nothing = Constant(value="0")
    drawn = st.builds(lambda seed: Content(base=nothing, overrides=(Pick(value="1", seed=seed),)), _SEEDS)
    first = st.just(Content(base=nothing, overrides=(Put(value="1"),)))
    return weighted((1, first), (3, drawn), (1, st.just(Content(base=nothing))))


def exponent_contents(*, dtype: str) -> st.SearchStrategy[Content]:
    """Floats of every exponent, powers of two and their neighbours, subnormals."""
    info = dtype_info(dtype)
    bias = info.bias
    powers = tuple(repr(2.0**k) for k in (-bias + 1, -bias, -1, 0, 1, bias))
    tiny = (repr(info.smallest_subnormal), repr(info.smallest_subnormal * 3), repr(info.smallest_normal))
    near = (*powers, "0.99999994", "1.0000001", *tiny)
    every = st.builds(lambda seed: Content(base=Finite(seed=seed, low=-1100, high=1100)), _SEEDS)
    listed = st.builds(lambda seed: Content(base=Constant(value="1"), overrides=(
        Sprinkle(values=(*near, *("-" + text for text in near)), seed=seed, per_mille=1000),)), _SEEDS)
    return st.one_of(every, listed)


def square_contents() -> st.SearchStrategy[Content]:
    """Sums of squares: no negative numbers; tiny and huge ones, at times inf and NaN."""
    some = ("0", "1e-30", "0.25", "3.5", "1e6", "1e30", "3e38")
    return st.builds(lambda values, seed: Content(base=Constant(value="0"), overrides=(
        Sprinkle(values=values, seed=seed, per_mille=1000),)), st.sampled_from((some, (*some, "inf", "nan"))), _SEEDS)


def range_limits(*, upper: bool) -> st.SearchStrategy[Content]:
    """Limits of int64 ranges [low, high), drawn so that most pairs are ranges, many of a span beyond 2^63."""
    lowest, highest = -(2**63), 2**63 - 1
    values = (10, 1, 5, 2, highest, 2**62, 2**32 + 1) if upper else (0, -5, 1, lowest, -1, -(2**62), highest - 1)
    return st.builds(lambda seed: Content(base=Constant(value=str(values[0])), overrides=(
        Sprinkle(values=tuple(map(str, values)), seed=seed, per_mille=1000),)), _SEEDS)


def true_contents() -> st.SearchStrategy[Content]:
    """Conditions: true throughout, false in one element of every row or of one row, or random."""
    true = Constant(value="1")
    return weighted(
        (2, st.just(Content(base=true))),
        (1, st.builds(lambda column: Content(base=true, overrides=(Put(value="0", column=column, row=0),)), _COLUMNS)),
        (1, st.builds(lambda seed: Content(base=true, overrides=(Pick(value="0", seed=seed),)), _SEEDS)),
        (1, st.builds(lambda seed: Content(base=Bits(seed=seed)), _SEEDS)),
    )
