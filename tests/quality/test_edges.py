"""Within five hundred draws every strategy reaches its edges, and each shrinks to the plain case."""

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import hypothesis
import pytest
import torch
from hypothesis import Phase, settings, strategies as st

from tests.support.draws import draws as drawn
from tridiff.fuzz.content.place import place
from tridiff.fuzz.records import ArraySpec, Case, Content, Iota, LaunchOptions, Layout, Put, Small
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies import (
    Ramp,
    contents,
    dtypes,
    int_divisors,
    integer_ramps,
    launch_options,
    lengths,
    nan_patterns,
    option_variants,
    row_counts,
    shapes,
    strided_layouts,
    tie_patterns,
)
from tridiff.fuzz.target import Limits
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info

each = pytest.mark.parametrize
DRAWS = 500
CPU = torch.device("cpu")
DIMS = ("rows", "cols")
LIMITS = Limits(elements=1 << 12, rows=64)


def draws(strategy: st.SearchStrategy[Any], number: int = DRAWS) -> list[Any]:
    """What a campaign would draw, with a fixed seed."""
    found = drawn(strategy, number, seed=2024)
    assert 0 < len(found) <= number, "fewer where there are no more"
    return found


def simplest(strategy: st.SearchStrategy[Any], condition: Callable[[Any], bool] = lambda value: True) -> Any:
    # Not the explain phase: it varies the minimum at random, and what it meets that is shorter is not shrunk again.
    return hypothesis.find(strategy, condition, random=random.Random(7), settings=settings(
        database=None, max_examples=2000, phases=(Phase.generate, Phase.shrink)))


# -- shapes

def test_lengths():
    found = set(draws(lengths(maximum=512)))
    powers = {1 << k for k in range(1, 10)}
    assert found >= powers | {p - 1 for p in powers} | {p + 1 for p in powers if p < 512} | {0, 1}
    assert len(found) > 100, "lengths between the powers come up, too"
    assert 0 not in draws(lengths(maximum=512, empty=False), 300)
    assert simplest(lengths(maximum=512)) == 1
    assert simplest(lengths(maximum=512), lambda n: n > 100) in (101, 127)


@each("maximum", [1, 2, 3, 5, 1000])
def test_lengths_keep_their_maximum(maximum: int):
    assert set(draws(lengths(maximum=maximum), 200)) <= set(range(maximum + 1))
    assert max(draws(row_counts(maximum=maximum), 100)) <= maximum


def test_shapes_keep_their_product():
    found = draws(shapes(rank=3, maximum=300), 500)
    assert all(a * b * c <= 300 for a, b, c in found)
    assert any(0 in shape for shape in found) and any(shape.count(1) == 0 and 0 not in shape for shape in found)
    assert simplest(shapes(rank=3, maximum=300)) == (1, 1, 1)
    assert simplest(shapes(rank=0, maximum=1)) == ()
    with pytest.raises(ValueError, match="rank=-1 is negative"):
        shapes(rank=-1, maximum=2)


def test_row_counts_lean_to_batches_and_shrink_to_one():
    found = draws(row_counts(maximum=1 << 20), 300)
    assert {1, 1 << 20, 33, 1000} <= set(found)
    assert simplest(row_counts(maximum=1 << 20)) == 1


# -- layouts and options

def test_layouts():
    found: list[Layout] = draws(strided_layouts(dims=DIMS))
    assert {layout.order for layout in found} == {(), (1, 0)}
    assert {layout.broadcast for layout in found} == {(), ("rows",), ("cols",), DIMS}
    assert {layout.gap for layout in found} == {0, 1, 5} and {layout.step for layout in found} == {1, 2, 3}
    # Each misalignment that a 16-byte vector of 1- to 8-byte elements can notice.
    assert {layout.offset for layout in found} >= {0, 1, 3, 4, 7, 16}
    assert 0.3 < sum(layout == Layout() for layout in found) / len(found) < 0.8
    assert simplest(strided_layouts(dims=DIMS)) == Layout()


def test_layouts_of_outputs_never_overlap():
    for layout in draws(strided_layouts(dims=DIMS, output=True)):
        spec = ArraySpec(name="x", dtype="i8", dims=DIMS, layout=layout)
        places = [r * s + c * t for s, t in [spec.strides({"rows": 5, "cols": 7})] for r in range(5) for c in range(7)]
        assert len(set(places)) == 35


def test_options():
    found: list[LaunchOptions] = draws(launch_options(), 500)
    assert {o.num_warps for o in found} == {1, 2, 4, 8, 16}
    assert {o.num_stages for o in found} == {1, 2, 3} and {o.enable_fp_fusion for o in found} == {True, False}
    assert simplest(launch_options()) == LaunchOptions()
    variants = draws(option_variants(), 500)
    assert () in variants and {v[0].num_warps for v in variants if v} >= {1, 2, 4, 8, 16}
    assert simplest(option_variants()) == ()


def test_dtypes():
    assert set(draws(dtypes(), 500)) == set(NAMES)
    assert simplest(dtypes()) == "i32" and simplest(dtypes(among=("bf16", "fp64", "fp16"))) == "fp64"


# -- contents

def placed(content: Content, dtype: str) -> torch.Tensor:
    """4 rows of 33."""
    spec = ArraySpec(name="x", dtype=dtype, dims=DIMS, content=content)
    return place(spec, {"rows": 4, "cols": 33}, device=CPU).values


@cache
def arrays(dtype: str) -> tuple[torch.Tensor, ...]:
    """What that many contents hold."""
    return tuple(placed(content, dtype) for content in draws(contents(dtype=dtype)))


def bits(values: torch.Tensor) -> torch.Tensor:
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()]
    return values.view(torch.int8 if values.dtype == torch.bool else integers).to(torch.int64)


@each("dtype", ["fp32", "fp64", "bf16", "fp8e4nv"])
def test_contents_of_floats(dtype: str):
    info = dtype_info(dtype)
    width, mantissa = info.bits, info.mantissa_bits
    patterns = torch.cat([bits(one).reshape(-1) for one in arrays(dtype)]) & ((1 << width) - 1 if width < 64 else -1)
    sign = (patterns >> (width - 1)) & 1
    field = patterns & ((1 << mantissa) - 1)
    exponent = (patterns >> mantissa) & ((1 << (width - 1 - mantissa)) - 1)
    top = (1 << (width - 1 - mantissa)) - 1
    for negative in (0, 1):
        of = sign == negative
        assert bool((of & (exponent == 0) & (field == 0)).any()), "zero of either sign"
        assert bool((of & (exponent == 0) & (field != 0)).any()), "subnormals"
        if info.has_inf:
            assert bool((of & (exponent == top) & (field == 0)).any()), "infinities"
            nan = of & (exponent == top) & (field != 0)
            quiet = 1 << (mantissa - 1)
            assert bool((nan & (field & quiet != 0)).any()) and bool((nan & (field & quiet == 0)).any())
            if mantissa > 2:
                assert len(field[nan].unique()) >= 5, "payloads"
        else:
            assert bool((of & (exponent == top) & (field == (1 << mantissa) - 1)).any()), "NaN"
    assert bool(((exponent == top - (0 if not info.has_inf else 1)) & (field == (1 << mantissa) - 1 - (
        0 if info.has_inf else 1))).any()), "the largest finite number"


@each("dtype", ["i8", "i32", "u64"])
def test_contents_of_integers(dtype: str):
    info = dtype_info(dtype)
    everything = torch.cat([bits(one).reshape(-1) for one in arrays(dtype)])
    mask = (1 << info.bits) - 1
    for value in (int(info.min), int(info.min) + 1, int(info.max), int(info.max) - 1, 0, 1, -1):
        if info.min <= value <= info.max:
            wanted = value & mask
            wanted = wanted - (1 << info.bits) if wanted >> (info.bits - 1) else wanted
            assert bool((everything == wanted).any()), value


@each("dtype", ["i32", "fp32", "i1"])
def test_contents_have_ties(dtype: str):
    rows = [row for one in arrays(dtype) for row in bits(one)]
    distinct = [len(row.unique()) for row in rows]
    assert any(n == 1 for n in distinct), "constant rows"
    assert any(n == 2 for n in distinct), "two values, many ties"
    if dtype != "i1":
        assert any(n == 33 for n in distinct), "no ties at all"
        assert any(n == 32 for n in distinct), "one tie"


def test_contents_without_nan_have_none():
    for content in draws(contents(dtype="fp32", nan=False), 400):
        assert not placed(content, "fp32").isnan().any()


def test_simplest_contents():
    for dtype in ("i32", "fp32"):
        plain = simplest(contents(dtype=dtype))
        assert plain.overrides == () and plain.base == Small(seed=0)
    assert simplest(contents(dtype="fp32"), lambda c: c.overrides != ()).overrides[0].__class__.__name__ == "Tie"
    assert simplest(nan_patterns(dtype="fp32")) == Put(value="nan", column=0)
    assert simplest(tie_patterns(), lambda tie: getattr(tie, "to", 0) != 0).to == 1


@each("dtype", ["fp32", "bf16", "fp8e5"])
def test_nan_patterns(dtype: str):
    found = draws(nan_patterns(dtype=dtype))
    puts = [one for one in found if isinstance(one, Put)]
    assert {one.value for one in puts} >= {"nan", "-nan", "nan:0x1", "-nan:0x1"}
    columns = {one.column for one in puts}
    assert {0, 1} <= columns and max(columns) >= 60 and len(columns) > 30
    assert {one.per_mille for one in found if not isinstance(one, Put)} == {20, 200, 700, 1000}


# -- division

@cache
def division_cases() -> tuple[Case, ...]:
    return tuple(draws(find("triton.floordiv").draw.cases(LIMITS), 2 * DRAWS))


def divisor_values(dtype: str) -> set[int]:
    return {value for content in draws(int_divisors(dtype=dtype), 300)
            for value in placed(content, dtype).reshape(-1).tolist()}


@each("dtype", ["i8", "i32", "i64", "u8", "u64"])
def test_divisors(dtype: str):
    info, found = dtype_info(dtype), divisor_values(dtype)
    wanted = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, int(info.max)}
    if info.kind == "int":
        wanted |= {-1, -2, -3, -4, -16, -17, int(info.min)}
    assert found >= wanted


def ramps() -> list[Case]:
    return [c for c in division_cases() if c.params["form"] == "ramp"]


def operands(case: Case) -> tuple[int, int, int]:
    """First and last dividend before wrapping, divisor."""
    a, b = case.array("a").content, case.array("b").content
    return a.base.start, a.base.start + case.sizes["rows"] - 1, int(b.base.value)


@cache
def signed_ramps() -> tuple[Ramp, ...]:
    return tuple(draws(integer_ramps(dtype="i32", maximum=1 << 12), 2 * DRAWS))


def test_every_form_of_division_comes_up():
    forms = Counter(case.params["form"] for case in division_cases())
    assert set(forms) >= {"blocks", "ramp"} and min(forms.values()) > 100


@each("kind", ["constexpr", "run_time", "unspecialised", "loaded"])
def test_ramps_that_cross_zero_with_every_kind_of_divisor(kind: str):
    """The input of Triton issue 7749: contiguous, negative, a power of two that divides the block."""
    hits = [ramp for ramp in signed_ramps()
            if ramp.divisor_kind == kind and ramp.start < 0 < ramp.start + ramp.count
            and ramp.divisor > 1 and ramp.divisor & (ramp.divisor - 1) == 0]
    assert {ramp.start_kind for ramp in hits} == {"constexpr", "run_time"}
    assert any(ramp.block % ramp.divisor == 0 for ramp in hits)


def test_ramps_start_at_constants_and_at_run_time_values():
    assert {(c.params["start_kind"], operands(c)[0] < 0 <= operands(c)[1]) for c in ramps()} == {
        ("constexpr", True), ("constexpr", False), ("run_time", True), ("run_time", False)}


def test_wholly_negative_ramps_and_negative_divisors():
    found = [operands(c) for c in ramps() if c.array("a").dtype[0] == "i"]
    assert any(last < 0 for _, last, _ in found)
    assert {(first < 0, divisor < 0) for first, _, divisor in found} == {
        (False, False), (False, True), (True, False), (True, True)}


@each("kind", ["constexpr", "run_time", "unspecialised", "loaded"])
def test_divisors_that_a_launch_specialises_and_those_it_does_not(kind: str):
    """1 becomes a constant, a multiple of 16 carries a hint, anything else neither (jit.md §2.2)."""
    found = {ramp.divisor for ramp in signed_ramps() if ramp.divisor_kind == kind}
    assert {1, 16, 2} <= found and min(found) < 0 and len(found) > 10


def test_int_min_by_minus_one_is_drawn():
    """In blocks both values meet in one lane of some drawn case."""
    def meets(case: Case) -> bool:
        if case.params["form"] == "ramp":
            return False
        a, b = (place(case.array(n), case.sizes, device=CPU).values for n in ("a", "b"))
        info = dtype_info(case.array("a").dtype)
        return info.kind == "int" and bool(((bits(a) == int(info.min)) & (bits(b) == -1)).any())

    assert any(meets(case) for case in division_cases())


def test_all_sign_quadrants_meet_in_blocks():
    found = set()
    for case in division_cases():
        if case.params["form"] == "blocks" and case.array("a").dtype == "i32" and 0 not in case.sizes.values():
            a, b = (place(case.array(n), case.sizes, device=CPU).values for n in ("a", "b"))
            found |= {(x, y) for x, y in zip(a.sign().reshape(-1).tolist(), b.sign().reshape(-1).tolist(), strict=True)}
    assert found >= {(1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1)}


def test_the_simplest_ramp():
    plain = simplest(integer_ramps(dtype="i32", maximum=1 << 12))
    assert (plain.start, plain.count, plain.block, plain.divisor) == (0, 4, 4, 2)
    assert (plain.start_kind, plain.divisor_kind) == ("constexpr", "constexpr")


@each("name", ["triton.vector_add", "helpers.minimum", "helpers.max_with_index"])
def test_the_simplest_case_of_a_target_is_plain(name: str):
    case = simplest(find(name).draw.cases(LIMITS))
    assert set(case.sizes.values()) == {1}
    assert (case.options, case.variants, case.repeats) == (LaunchOptions(), (), 0)
    assert all(spec.layout == Layout() for spec in case.arrays)
    assert case.arrays[0].dtype == "i32"
    assert all(spec.content in (None, Content(base=Small(seed=0)), Content(base=Iota())) for spec in case.arrays)


@each("name", ["triton.vector_add", "triton.floordiv", "helpers.minimum", "helpers.max_with_index"])
def test_every_drawn_case_can_be_run(name: str):
    target = find(name)
    for case in draws(target.draw.cases(LIMITS), 200):
        case.check()
        assert target.draw.valid(case)
        assert case.target == name and case.elements() <= 64 << 12
