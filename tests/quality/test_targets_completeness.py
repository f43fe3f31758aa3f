"""Every row of the helper contract has a target with two oracles, all its dtypes, and faults that exist.

`ROWS` is the table of contents of helpers.md, kept by hand: a helper that the contract names and no target
tests is an error here, not an omission that nobody sees.
"""

import subprocess
import sys

import pytest

from tests.support.draws import draws
from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import all_targets, find
from tridiff.fuzz.target import Limits, Target
from tridiff.oracles.dtypes import FLOATS, INTEGERS, NAMES

each = pytest.mark.parametrize
ORDERED = ("i1", *INTEGERS, *FLOATS)
PACKED = ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32")

ROWS: dict[str, tuple[str, ...]] = {
    # §3
    "promote_to_tensor": NAMES, "is_floating": NAMES,
    # §4
    "div_floor_integer": INTEGERS, "remainder_integer": INTEGERS,
    # §5
    "minimum": ORDERED, "maximum": ORDERED, "min2": ORDERED, "max2": ORDERED,
    "minimum_with_index": ORDERED, "maximum_with_index": ORDERED, "min_with_index": ORDERED, "max_with_index": ORDERED,
    # §6
    "prod": (*INTEGERS, *FLOATS), "any": ("i1", *INTEGERS),
    # §7
    "welford_reduce": ("fp32", "fp64"), "welford_combine": ("fp32", "fp64"), "welford": ("fp32", "fp64"),
    # §8
    "device_assert_then": NAMES,
    # §9
    "randint64": ("i64",), "rand": ("fp32",),
    # §10
    "bucketize_binary_search": (*INTEGERS, *FLOATS),
    # §11
    "pack_value_flag": PACKED, "unpack_value": PACKED, "unpack_flag": PACKED,
    "exclusive_scan_decoupled_lookback": PACKED,
    "exclusive_scan_decoupled_lookback_64": ("i64", "u64", "fp64"),
    # §12
    "frexp": ("fp32", "fp64"),
    # §13
    "sort_with_index": ORDERED, "select_one": NAMES, "x_grid_barrier": ("u32",),
}
"""Helper of the contract -> dtypes that its row demands. `_prod_accumulate`, `_any_combine` and the steps of
the sorting network are tested through the helpers that are made of them."""

WITHOUT_UPSTREAM = {"rand"}
"""Helpers that torch takes straight from Triton."""

LEAST_FAULTS = {"unpack_value": 3, "unpack_flag": 2}
"""Helpers of one line, of which five broken variants would be repetitions."""


def _target(helper: str) -> Target:
    return find(f"helpers.{helper}")


def _drawn(target: Target, count: int) -> list[Case]:
    return draws(target.draw.cases(Limits(elements=256, rows=4)), count, seed=3)


@each("helper", ROWS)
def test_every_contract_row_has_a_target_for_all_its_dtypes(helper: str):
    assert set(ROWS[helper]) <= set(_target(helper).dtypes)


@each("name", sorted(all_targets()))
def test_drawn_cases_are_valid_and_judged_by_two_oracles_that_are_there(name: str):
    """The same draws for all three questions: each target draws once."""
    target = find(name)
    drawn = _drawn(target, 15)
    _valid_and_small_enough(target, drawn)
    _two_oracles_and_a_rule(target, drawn)
    _every_path_resolves(target, drawn)


def _two_oracles_and_a_rule(target: Target, drawn: list[Case]) -> None:
    for case in drawn:
        sources: dict[str, set[str]] = {}
        for reference in target.judge.oracles(case):
            for output in reference.outputs:
                sources.setdefault(output, set()).add(reference.source)
        rules = target.judge.rules(case)
        for spec in case.arrays:
            if spec.content is None:
                assert len(sources.get(spec.name, ())) >= 2, f"{spec.name} of {target.name} has fewer than two oracles"
                assert spec.name in rules
        if any(rule.kind == "SUM" or (rule.member is not None and rule.member.kind == "SUM")
               for rule in rules.values()):
            assert target.judge.bounds(case), f"{target.name} judges by a bound that nothing derives"


def _valid_and_small_enough(target: Target, drawn: list[Case]) -> None:
    for case in drawn:
        case.check()
        assert target.draw.valid(case), case


def _every_path_resolves(target: Target, drawn: list[Case]) -> None:
    for path in (*target.faults.planted.values(), target.subjects["own"]):
        assert resolve(path) is not None
    for case in drawn:
        references = [*target.judge.oracles(case), *target.judge.bounds(case)]
        references += [one for one in (target.judge.canonical(case), target.run.asserts(case)) if one]
        for reference in references:
            assert callable(resolve(reference.function))
        defined = target.judge.defined(case)
        assert defined is None or callable(resolve(defined[0]))


@each("helper", ROWS)
def test_every_helper_has_faults_and_an_upstream_counterpart(helper: str):
    target = _target(helper)
    assert len(target.faults.planted) >= LEAST_FAULTS.get(helper, 5)
    if helper not in WITHOUT_UPSTREAM:
        assert callable(resolve(target.subjects["inductor"]))


def test_every_target_has_planted_faults():
    assert not [name for name, one in all_targets().items() if len(one.faults.planted) < 1 + 2 * ("programs_" in name)]


@each("helper", ROWS)
def test_every_broken_variant_of_the_kernel_stack_is_a_fault_of_the_target(helper: str):
    planted = set(_target(helper).faults.planted.values())
    tables = {path.partition(":")[0] for path in planted if "mutants_" in path}
    for module in tables:
        for name in resolve(f"{module}:MUTANTS").get(helper, {}):
            assert f"{module}:MUTANTS[{helper}][{name}]" in planted


DRAWN = """
import sys
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.registry import all_targets, find
from tridiff.fuzz.target import Limits
for name in all_targets():
    for case in draw_cases(name, Limits(elements=1 << 10, rows=1 << 5), 6, seed=1):
        find(name).judge.rules(case), find(name).judge.label(case), tuple(find(name).coverage.cells(case))
    slow = {"torch", "triton"} & sys.modules.keys()
    assert not slow, f"{name} imports {slow}"
"""


def test_whoever_draws_cases_imports_neither_torch_nor_triton():
    found = subprocess.run([sys.executable, "-c", DRAWN], capture_output=True, text=True, timeout=240, check=False)
    assert found.returncode == 0, found.stderr.strip().splitlines()[-1]
