"""The two oracles of every pipeline target: they agree with each other in bits, shape and dtype, and with values
worked out by hand."""

import numpy as np
import pytest
import torch

from tests.unit.plans.drawing import ALL, drawn
from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content.place import place
from tridiff.fuzz.kinds.plans import answers, cases
from tridiff.fuzz.records import Case, Constant, Content, Explicit, Iota, LaunchOptions
from tridiff.fuzz.target import Target
from tridiff.kernels.pipelines.plan import Dot, Fold, Op, Plan, Source, TmaStore, Worker
from tridiff.oracles import arrays, compare
from tridiff.oracles.dtypes import torch_dtype


def _inputs(case: Case) -> dict[str, torch.Tensor]:
    found = {}
    for spec in case.arrays:
        if spec.content is not None:
            values = place(spec, case.sizes, device=torch.device("cpu")).values
            found[spec.name] = values
    return found


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_both_oracles_say_the_same_in_the_form_that_is_judged(target: Target):
    for case in drawn(target, 12):
        inputs = _inputs(case)
        given: dict[str, list[torch.Tensor]] = {}
        for reference in target.judge.oracles(case):
            chosen = [case if name == "@case" else inputs[name] for name in reference.arguments]
            if reference.source == "numpy":
                chosen = [arrays.to_numpy(one) if isinstance(one, torch.Tensor) else one for one in chosen]
            result = resolve(reference.function)(*chosen)
            results = result if isinstance(result, tuple) else (result,)
            for name, one in zip(reference.outputs, results, strict=True):
                given.setdefault(name, []).append(one if reference.source == "torch" else arrays.to_torch(one))
        rules = target.judge.rules(case)
        assert set(given) == {spec.name for spec in case.arrays if spec.content is None}
        for name, (first, second) in given.items():
            spec = case.array(name)
            assert tuple(first.shape) == tuple(second.shape) == spec.shape(case.sizes), (name, case)
            if rules[name].kind == "SUM":
                bound = resolve(target.judge.bounds(case)[0].function)(
                    *[case if one == "@case" else inputs[one] for one in target.judge.bounds(case)[0].arguments])
                assert bound.shape == first.shape and bool((bound >= 0).all())
                assert torch.allclose(first, second, rtol=1e-12, atol=1e-12, equal_nan=True)
                continue
            assert first.dtype == second.dtype == torch_dtype(spec.dtype), (name, case)
            assert not compare.compare(first, second, rules[name]).mismatch.any(), (name, case)


def _case(plan: Plan, contents: dict[str, Content], programs: int = 1) -> Case:
    return Case(target="async.copy_ring", sizes=cases.sizes_of(plan, programs), program=plan,
                params={"sanitize": False}, arrays=cases.arrays_of(plan, contents),
                options=LaunchOptions(num_warps=plan.warps))


def _both(plan: Plan, contents: dict[str, Content], programs: int = 1) -> np.ndarray:
    """The first output by numpy; torch must say the same."""
    case = _case(plan, contents, programs)
    inputs = list(_inputs(case).values())
    expected = answers.numpy_answer(case, *[arrays.to_numpy(one) for one in inputs])[0]
    other = answers.torch_answer(case, *inputs)[0]
    assert np.array_equal(expected, arrays.to_numpy(other))
    return expected


def filled(value: str) -> Content:
    return Content(base=Constant(value=value))


_COUNTING = Content(base=Iota(start=0, step=1))


def test_operations_work_tile_by_tile_and_wrap():
    plan = Plan(dtype="i8", rows=1, columns=16, tiles=2, ring=2, ops=(Op(kind="multiply", constant=63),))
    assert _both(plan, {"x0": _COUNTING})[0, 0, :4].tolist() == [0, 63, 126, 189 - 256]


def test_a_row_maximum_is_that_of_the_tile_not_of_the_line():
    plan = Plan(rows=1, columns=32, tiles=2, ring=2, ops=(Op(kind="row_max"),))
    got = _both(plan, {"x0": _COUNTING})[0, 0]
    assert got[:32].tolist() == list(range(-31, 1)) and got[32:].tolist() == list(range(-31, 1))


def test_a_scan_starts_anew_in_every_tile_and_takes_zero_from_outside():
    # The first tile begins 16 columns before column 0: its first half is zero.
    plan = Plan(rows=1, columns=32, tiles=2, ring=2, before=16, ops=(Op(kind="scan"),))
    got = _both(plan, {"x0": filled("1")})[0, 0]
    assert got.tolist() == [*range(1, 17), *range(1, 33)]


def test_a_fold_counts_what_operations_make_of_the_outside():
    plan = Plan(rows=1, columns=16, tiles=2, ring=2, cut=3, ops=(Op(kind="add", constant=5),), sink=Fold(op="add"))
    got = _both(plan, {"x0": filled("1")})[0, 0]
    assert got.tolist() == [12] * 13 + [11] * 3


def test_the_maximum_of_no_tile_is_the_least_value():
    assert set(_both(Plan(tiles=0, rows=1, sink=Fold(op="max")), {"x0": _COUNTING}).flat) == {-2**31}


def test_unsigned_maxima_are_unsigned():
    plan = Plan(dtype="u32", rows=1, columns=16, tiles=1, sources=(Source(), Source()), ops=(Op(kind="second_max"),))
    got = _both(plan, {"x0": filled("4294967295"), "x1": filled("1")})
    assert set(got.flat) == {4294967295}


def test_reductions_start_from_what_stands_there_and_take_every_program():
    plan = Plan(rows=1, columns=16, tiles=1, sources=(Source(copy="tma"),), sink=TmaStore(reduce="add"))
    contents = {"x0": Content(base=Iota(start=0, step=0, per_row=1)), "initial": filled("100")}
    # Programs 0, 1 and 2 add 0, 1 and 2.
    assert set(_both(plan, contents, programs=3).flat) == {103}


def test_a_product_runs_along_the_inner_axis_over_all_tiles():
    sources = (Source(copy="tma", swizzle=32), Source(copy="tma", swizzle=32))
    plan = Plan(dtype="i8", rows=64, columns=32, tiles=2, ring=2, sources=sources, sink=Dot(n=8))
    got = _both(plan, {"x0": filled("2"), "x1": filled("3")})
    assert got.shape == (1, 64, 8) and set(got.flat) == {2 * 3 * 64}


def test_a_product_takes_second_operands_by_rows_or_by_columns():
    one_hot = Content(base=Explicit(values=tuple("1" if i == 5 else "0" for i in range(32)) * 64))
    for across, expected in ((False, [5 + 32 * n for n in range(16)]), (True, [5 * 16 + n for n in range(16)])):
        sources = (Source(copy="tma", swizzle=64), Source(copy="tma", swizzle=32 if across else 64, across=across))
        plan = Plan(dtype="fp16", rows=64, columns=32, tiles=1, sources=sources, sink=Dot(n=16))
        case = _case(plan, {"x0": one_hot, "x1": Content(base=Iota(start=0, step=1))})
        inputs = _inputs(case)
        # Column numbers restart per row of the generator: make the second operand count through.
        inputs["x1"] = torch.arange(32 * 16, dtype=torch.float16).reshape(inputs["x1"].shape)
        for result in (answers.torch_answer(case, *inputs.values())[0].numpy(),
                       answers.numpy_answer(case, *[arrays.to_numpy(one) for one in inputs.values()])[0]):
            assert result[0, 7].tolist() == expected


def test_further_partitions_have_outputs_of_their_own():
    plan = Plan(workers=(Worker(role="load"), Worker(role="compute_second"), Worker(role="side", warps=1)), ahead=0)
    case = _case(plan, {"x0": _COUNTING}, programs=2)
    out, second, side = answers.numpy_answer(case, *[arrays.to_numpy(one) for one in _inputs(case).values()])
    assert np.array_equal(out, second) and side[1, 2] == 1006
