"""The order of simplicity, and the explicit minimiser on predicates whose exact minimum is known."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace

from tests.support.cases import addition, division, ramp
from tridiff.fuzz.content.text import complexity, to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import (
    ArraySpec,
    Case,
    Constant,
    Content,
    Delay,
    Evidence,
    Explicit,
    Iota,
    Launched,
    LaunchOptions,
    Layout,
    Outcome,
    Put,
    RowCounts,
    Signature,
    Small,
    Verdict,
)
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.explicit import Shrunk, cut_row, minimise
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.target import Limits

each = pytest.mark.parametrize
DIVISION = find("helpers.div_floor_integer")
ADDITION = find("triton.vector_add")
QUICK = settings(max_examples=100, suppress_health_check=list(HealthCheck))
DRAWN = st.one_of(DIVISION.draw.cases(Limits(elements=64, rows=8)), DIVISION.draw.cases(Limits(elements=8, rows=2)))


# -- the order

@QUICK
@given(cases=st.lists(DRAWN, min_size=3, max_size=3))
def test_any_three_cases_are_ordered(cases: list[Case]):
    ranks = [simplicity(case, DIVISION) for case in cases]
    for a in ranks:
        for b in ranks:
            assert (a < b) + (b < a) + (a == b) == 1
    first, second, third = sorted(ranks)
    assert first <= second <= third and first <= third


PLAIN = division((-1,), (2,))


def plain_but(**changes: object) -> Case:
    """PLAIN with its dividends changed."""
    return replace(PLAIN, arrays=(replace(PLAIN.arrays[0], **changes), *PLAIN.arrays[1:]))


@each("less", [
    division((-1, 0), (2, 1)),
    replace(PLAIN, repeats=1),
    replace(PLAIN, variants=(LaunchOptions(),)),
    replace(PLAIN, options=LaunchOptions(num_warps=8)),
    plain_but(layout=Layout(offset=1)),
    division((1,), (-2,)), division((-2,), (2,)), division((-1,), (3,)), division((2,), (-1,)),
    plain_but(content=Content(base=Small())),
    plain_but(content=Content(base=Explicit(values=("-1",)), overrides=(Put(value="-1"),))),
])
def test_what_is_less_simple_than_minus_one_by_two(less: Case):
    assert simplicity(PLAIN, DIVISION) < simplicity(less, DIVISION)


@each("chain", [
    [ramp(start=-1, divisor=2), ramp(start=-1, divisor=2, start_kind="run_time"), ramp(start=-1, divisor=2, block=2),
     ramp(start=-1, divisor=2, divisor_kind="run_time", block=4), ramp(start=0, divisor=1, rows=2)],
    [ramp(start=0, divisor=1), ramp(start=1, divisor=1), ramp(start=1, divisor=-1), ramp(start=-1, divisor=1),
     ramp(start=-1, divisor=2), ramp(start=1, divisor=-2)],
])
def test_ramps_from_simplest_to_least_simple(chain: list[Case]):
    ranks = [simplicity(case, DIVISION) for case in chain]
    assert ranks == sorted(ranks)
    assert all(a != b for a, b in itertools.combinations(ranks, 2))


# -- the minimiser

def integers(case: Case, name: str) -> list[int]:
    """Values of a listed, constant or ramp array."""
    spec = case.array(name)
    n = 1
    for length in spec.shape(case.sizes):
        n *= length
    match spec.content.base:
        case Explicit(values=values):
            return [int(v) for v in (values + values[-1:] * n)[:n]]
        case Constant(value=value):
            return [int(value)] * n
        case Iota(start=start, per_row=step):
            return [start + step * r for r in range(n)]
    return [0] * n


def shrink(case: Case, fails: Callable[[Case], str | bool], *, max_runs: int = 600,
           backend: str = "interpreter", launched: Launched | None = None) -> Shrunk:
    """Minimise under a synthetic predicate; `fails` gives the kind of failure, True for a wrong value. launched: which
    launch of the case fails, if that is told."""
    def run(candidate: Case) -> Outcome:
        failed = fails(candidate)
        kind = "value" if failed is True else failed
        signature = Signature(target=case.target, subject="own", verdict=Verdict.DISAGREE, kind=kind) if kind else None
        return Outcome(case_digest=candidate.digest, target=case.target, subject="own", backend=backend,
                       verdict=Verdict.DISAGREE if kind else Verdict.AGREE, signature=signature,
                       rows=RowCounts(), evidence=Evidence(launched=launched) if launched else None)

    def inputs(candidate: Case) -> Evidence:
        return Evidence(whole=True, inputs={s.name: tuple(str(v) for v in integers(candidate, s.name))
                                            for s in candidate.arrays if s.content is not None})

    first = run(case)
    assert first.signature is not None, "the case must fail to begin with"
    return minimise(case, first, target=find(case.target), run=run, inputs=inputs, max_runs=max_runs)


def pairs(case: Case) -> list[tuple[int, int]]:
    return list(zip(integers(case, "a"), integers(case, "b"), strict=True))


def floors_wrongly(case: Case) -> bool:
    """As a division that truncates does."""
    return any(a < 0 and a % b for a, b in pairs(case) if b)


def test_one_element_of_a_batch():
    big = division([5, 8, -77, 12, 40, 9, 3, 2], [3, 2, 10, 4, 7, 9, 1, 5])
    found = shrink(big, floors_wrongly)
    assert pairs(found.case) == [(-1, 2)]
    assert found.case.sizes == {"rows": 1, "cols": 1}


def test_a_ramp():
    big = ramp(start=-777, divisor=12, rows=900, block=128, start_kind="run_time", divisor_kind="loaded")
    found = shrink(big, floors_wrongly)
    assert found.case == replace(ramp(start=-1, divisor=2), arrays=found.case.arrays)
    assert pairs(found.case) == [(-1, 2)]


@each("rows", [225, 257])
def test_a_ramp_that_fails_at_its_end_loses_its_head(rows: int):
    # Only the last row is wrong; every run of a long ramp is dear, so that a head that goes in small pieces stays.
    big = ramp(start=3 - rows, divisor=-20, rows=rows, block=128, start_kind="run_time", divisor_kind="loaded")
    found = shrink(big, lambda case: (2, -20) in pairs(case), max_runs=100)
    assert pairs(found.case) == [(2, -20)]


@each("value", ["-5e-324", "-0.1"])
def test_of_two_numbers_that_differ_in_sign_the_positive_one_is_simpler(value: str):
    assert complexity(value.removeprefix("-"), "fp64") < complexity(value, "fp64")


@each("least", [1, 2, 3, 5, 8, 13, 33])
def test_a_number_of_rows(least: int):
    found = shrink(addition(rows=200), lambda c: c.sizes["rows"] >= least)
    assert found.case.sizes == {"rows": least}
    assert set(integers(found.case, "a") + integers(found.case, "b")) == {0}
    assert found.case.params == {"block": 1}


@each("bound", [1, 7, 100, 255, 256, 65_535, 2**24 + 1, 2**31 - 1])
def test_an_integer_threshold(bound: int):
    case = division((2**31 - 1,), (1,))
    found = shrink(case, lambda c: integers(c, "a")[0] >= bound)
    assert integers(found.case, "a") == [bound]


@each("bound", [-1, -9, -100, -32_769, -(2**31)])
def test_a_negative_threshold(bound: int):
    case = division((-(2**31),), (1,))
    found = shrink(case, lambda c: integers(c, "a")[0] <= bound)
    assert integers(found.case, "a") == [bound]


def test_two_values_that_must_change_together():
    found = shrink(division((-9,), (5,)), lambda c: pairs(c) in ([(-9, 5)], [(-1, 2)]))
    assert pairs(found.case) == [(-1, 2)]


def test_two_values_that_must_change_places():
    found = shrink(division((9,), (1,)), lambda c: sorted(pairs(c)[0]) == [1, 9])
    assert pairs(found.case) == [(1, 9)]


def test_an_element_whose_neighbours_must_turn_round():
    case = replace(division((0,), (1,)), sizes={"rows": 1, "cols": 3}, arrays=tuple(
        replace(spec, content=None if spec.content is None else Content(base=Explicit(values=values)))
        for spec, values in zip(division().arrays, (("0", "0", "7"), ("1", "1", "1"), ()), strict=True)))
    found = shrink(case, lambda c: integers(c, "a") in ([0, 0, 7], [7, 0], [1, 0]))
    assert integers(found.case, "a") == [1, 0]


def test_the_row_that_failed_is_cut_out():
    spec = ArraySpec(name="a", dtype="i32", dims=("rows", "cols"), content=Content(base=Small(seed=3)), first_row=100)
    listed = replace(spec, name="b", content=Content(base=Explicit(values=("1", "2", "3", "4", "5", "6"))))
    out = replace(spec, name="out", content=None)
    case = Case(target="x", sizes={"rows": 3, "cols": 2}, arrays=(spec, listed, out))
    cut = cut_row(case, 1)
    assert cut.sizes == {"rows": 1, "cols": 2}
    assert cut.array("a").first_row == 101 and cut.array("out").first_row == 100
    content = cut.array("b").content
    assert content.base == Explicit(values=("3", "4"))


def gather(*, start: int, divisor: int, rows: int, origin: int) -> Case:
    """A ramp whose quotients are read from a table of their own values."""
    one = ramp(start=start, divisor=divisor, rows=rows, block=8)
    table = ArraySpec(name="table", dtype="i32", dims=("slots",), content=Content(base=Iota(start=-origin, step=1)))
    return replace(one, sizes={**one.sizes, "slots": 2 * origin}, params={**one.params, "form": "gather"},
                   arrays=(*one.arrays[:2], table, one.arrays[2]))


def test_a_table_shrinks_to_the_positions_that_right_results_may_have():
    big = gather(start=-40, divisor=6, rows=30, origin=64)
    assert DIVISION.draw.valid(big)
    found = shrink(big, floors_wrongly)
    assert pairs(found.case) == [(-1, 2)]
    assert found.case.sizes == {"rows": 1, "slots": 4}


SCAN = find("helpers.exclusive_scan_decoupled_lookback")


def scan(*, cols: int, repeats: int = 0) -> Case:
    """One exclusive sum over as many programs as columns."""
    return Case(
        target=SCAN.name, sizes={"rows": 1, "cols": cols}, repeats=repeats,
        params={"combine": "add", "value": "i32", "index_dtype": "i32"}, arrays=(
            ArraySpec(name="values", dtype="i32", dims=("rows", "cols"), content=Content(
                base=Small(seed=3), overrides=(Put(value="7"),))),
            "scratch u64[rows,cols] ~ constant", "prefix i32[rows,cols]"))


def every(nth: int, least: int, kind: str = "value") -> Callable[[Case], str]:
    """A race: shows in every nth run, the first one included, of at least so many programs."""
    runs = itertools.count()
    return lambda c: kind if next(runs) % nth == 0 and c.sizes["cols"] >= least else ""


@each("least", [2, 5, 13])
def test_a_race_shrinks_to_the_programs_it_needs(least: int):
    found = shrink(scan(cols=200), every(3, least), backend="cuda").case
    assert found.sizes == {"rows": 1, "cols": least}


def test_a_race_that_hardly_ever_shows_is_not_called_smaller():
    """One failure in eight runs would often not show again."""
    assert shrink(scan(cols=200), every(9, 1), backend="cuda").case.sizes["cols"] == 200


def test_a_race_of_many_programs_is_told_by_one_value():
    found = shrink(scan(cols=900), every(2, 700), backend="cuda").case
    assert found.sizes["cols"] == 700
    assert found.array("values").content == Content(base=Constant())


@each("rows, cols", [(1, 900), (300, 3)])
@each("drawn", [None, Delay(of="program", access=3, number=0)])
def test_a_race_of_many_programs_is_told_by_one_that_is_delayed(drawn: Delay | None, rows: int, cols: int):
    runs = itertools.count()

    def fails(case: Case) -> str:
        late = case.sizes["cols"] >= 3 and case.delay is not None and case.delay.number == 2 and case.delay.access > 0
        programs = case.sizes["rows"] * case.sizes["cols"]
        return "value" if late or (programs >= 231 and next(runs) % 3 == 0) else ""

    case = scan(cols=cols)
    case = replace(case, sizes=case.sizes | {"rows": rows}, delay=drawn)
    found = shrink(case, fails, backend="cuda").case
    assert (found.sizes["rows"], found.sizes["cols"]) == (1, 3) and SCAN.draw.valid(found)
    assert found.delay == Delay(of="program", access=1, number=2)
    # Where it does not matter, nobody is delayed.
    found = shrink(case, lambda c: c.sizes["cols"] >= 2, backend="cuda").case
    assert found.sizes["cols"] == 2 and found.delay is None


def test_launches_that_differ_get_more_chances_to():
    def fails(case: Case) -> str:
        return "nondeterministic" if case.repeats and case.sizes["cols"] * (case.repeats + 1) >= 60 else ""

    found = shrink(scan(cols=200, repeats=1), fails, backend="cuda").case
    assert (found.sizes["cols"], found.repeats) == (4, 16)


def test_the_signature_is_preserved():
    """A smaller case fails in another way: the minimiser must not slide into it."""
    def fails(case: Case) -> str:
        rows = case.sizes["rows"]
        return "rare" if rows >= 6 else "common" if rows >= 1 else ""

    found = shrink(addition(rows=50), fails)
    assert found.case.sizes == {"rows": 6}
    assert found.outcome.signature.kind == "rare"


def test_what_the_target_refuses_is_not_tried():
    tried: list[Case] = []

    def fails(case: Case) -> str:
        tried.append(case)
        return "value"

    found = shrink(ramp(start=-5, divisor=4, rows=9, block=8), fails)
    assert all(DIVISION.draw.valid(case) for case in tried)
    # 0 is no divisor of a ramp; 1 is the simplest that is.
    assert pairs(found.case) == [(0, 1)]


def test_a_refused_candidate_is_not_the_end():
    def fails(case: Case) -> str:
        if case.sizes["rows"] == 1:
            raise TridiffError("no", fix="no")
        return "value"

    assert shrink(addition(rows=20), fails).case.sizes == {"rows": 2}


def test_options_layouts_and_variants_go_when_they_do_not_matter():
    case = addition(rows=4)
    case = replace(case, options=LaunchOptions(num_warps=8, num_stages=1, enable_fp_fusion=False), repeats=1,
                   variants=(LaunchOptions(num_warps=1),), arrays=tuple(
                       replace(spec, layout=Layout(offset=3, gap=5, step=2)) for spec in case.arrays))
    found = shrink(case, lambda c: True).case
    assert (found.options, found.variants, found.repeats) == (LaunchOptions(), (), 0)
    assert all(spec.layout == Layout() for spec in found.arrays)


@each("keep", [{"num_warps": 8}, {"enable_fp_fusion": False}, {"num_stages": 1}])
def test_the_one_option_that_matters_stays(keep: dict[str, object]):
    options = LaunchOptions(num_warps=8, num_stages=1, enable_fp_fusion=False)
    name, value = next(iter(keep.items()))
    found = shrink(replace(addition(), options=options),
                   lambda c: getattr(c.options, name) == value)
    assert found.case.options == LaunchOptions(**keep)


def test_the_variant_that_is_wrong_becomes_the_launch():
    bad = LaunchOptions(num_warps=1)
    found = shrink(replace(addition(), variants=(LaunchOptions(num_warps=2), bad)),
                   lambda c: bad in (c.options, *c.variants))
    assert (found.case.options, found.case.variants) == (bad, ())


def test_the_launch_that_was_wrong_is_the_case_from_the_first_run_on():
    bad = LaunchOptions(num_warps=1)
    case = replace(addition(rows=50), variants=(LaunchOptions(num_warps=2), bad))
    once = shrink(case, lambda c: bad in (c.options, *c.variants), max_runs=1, launched=Launched(options=bad))
    assert once.case == case.under(bad)
    with_both = shrink(case, lambda c: "option_dependent" if bad in c.variants else "", launched=Launched(options=bad))
    assert bad in with_both.case.variants


def test_an_unaligned_pointer_that_matters_stays_at_one_element():
    case = addition(offset=7)
    found = shrink(case, lambda c: bool(c.array("a").layout.offset % 4))
    assert found.case.array("a").layout == Layout(offset=1)


def test_a_stride_of_zero_that_matters_is_told_with_its_value():
    case = addition(rows=4)
    repeated = replace(case.arrays[1], layout=Layout(broadcast=("rows",)), content=Content(base=Small(seed=4)))
    case = replace(case, arrays=(case.arrays[0], repeated, case.arrays[2]))
    found = shrink(case, lambda c: bool(c.array("b").layout.broadcast)).case
    assert found.array("b").content == Content(base=Constant(value="0"))


def test_the_budget_is_kept_and_the_best_so_far_returned():
    found = shrink(addition(rows=2**14), lambda c: c.sizes["rows"] >= 1000, max_runs=8)
    assert 8 < found.runs <= 16  # as many again for the plainest relative
    assert 1000 <= found.case.sizes["rows"] < 2**14


@settings(QUICK, max_examples=30)
@given(case=DRAWN, least=st.integers(0, 40))
def test_minimising_never_ends_less_simple_and_always_still_fails(case: Case, least: int):
    def fails(candidate: Case) -> str:
        return "value" if candidate.elements() >= least else ""

    if not fails(case):
        return
    found = shrink(case, fails, max_runs=120)
    assert fails(found.case)
    assert found.case == case or found.runs > 0
    content = [s.content for s in found.case.arrays if s.content]
    listed = all(isinstance(c.base, Explicit) for c in content)
    before = simplicity(case, DIVISION)
    # Writing values out is the one step that may add a more complex value; it never adds elements.
    assert simplicity(found.case, DIVISION) <= before or (listed and simplicity(
        found.case, DIVISION)[0] <= before[0])


def test_values_of_shrunk_floats_have_one_spelling():
    case = addition(rows=1, dtype="fp32")
    case = replace(case, arrays=tuple(
        replace(s, content=Content(base=Explicit(values=("2.5",)))) if s.content else s for s in case.arrays))

    def run(candidate: Case) -> Outcome:
        return Outcome(case_digest=candidate.digest, target="t", subject="own", backend="interpreter",
                       verdict=Verdict.DISAGREE,
                       signature=Signature(target="t", subject="own", verdict=Verdict.DISAGREE, kind="k"))

    found = minimise(case, run(case), target=ADDITION, run=run, inputs=lambda c: Evidence())
    for name in ("a", "b"):
        content = found.case.array(name).content
        assert content.base == Explicit(values=("0.0",))
        assert to_bits("0.0", "fp32") == 0
