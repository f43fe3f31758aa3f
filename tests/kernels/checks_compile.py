"""Ahead-of-time compilation of every helper and broken variant.

One launch recipe per helper: the driver, the constexprs, the dtypes of its contract.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import triton.language as tl
from triton.compiler import ASTSource

from tests.kernels.driver_runs import GFX942, INF, INTEGERS, SM_80, SM_90, SM_100, compile_ahead
from tests.kernels.errors import error_of
from tridiff.kernels import drivers as every_driver
from tridiff.kernels.drivers import (
    assertions,
    elementwise,
    frexp as frexp_driver,
    probes,
    reduce_rows,
    select_rows,
    welford,
)
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.drivers.vector_add import vector_add
from tridiff.kernels.helpers import (
    assertions as assertion_helpers,
    bits,
    extrema,
    integer,
    operators,
    probes as probe_helpers,
    reductions,
    select,
    welford as welford_helpers,
)
from tridiff.kernels.helpers.mutants_integer import MUTANTS as INTEGER_MUTANTS

TILE = {"ROW_BLOCK": 2, "COL_BLOCK": 64}
NUMBERS = (*INTEGERS, "bf16", "fp16", "fp32", "fp64")
INDEX = {name: "i64" for name in ("index", "a_index", "b_index", "out_index")}


@dataclass(frozen=True)
class Recipe:
    """How a helper is compiled. dtypes: those of its contract, the example first. constexprs: beyond the usual ones."""

    driver: Driver
    helper: Any
    dtypes: tuple[str, ...]
    mutants: Mapping[str, Any]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    pointers: Mapping[str, str] = field(default_factory=dict)

    def build(self, dtype: str, *, helper: Any = None, target: Any = SM_90, options: Any = None, **values: Any) -> Any:
        """The compiled object; i1 is stored as bytes. values: constexprs set otherwise."""
        constexprs = {**TILE, **self.constexprs, **values, "HELPER": helper or self.helper}
        if "BOOL" in self.driver.constexprs:
            constexprs["BOOL"] = dtype == "i1"
        stored = "i8" if dtype == "i1" else dtype
        return compile_ahead(
            self.driver, stored, target=target, pointers=self.pointers, options=options, constexprs=constexprs)


def family(module: Any, names: str, driver: Driver, dtypes: tuple[str, ...], **more: Any) -> Iterator[Recipe]:
    """Recipes of some helpers of a module, with the broken variants that the module mutants_* beside it holds."""
    package, _, name = module.__name__.rpartition(".")
    table = importlib.import_module(f"{package}.mutants_{name}").MUTANTS
    for helper in names.split():
        yield Recipe(driver, getattr(module, helper), dtypes, table[helper], **more)


FLOATS = ("fp32", "fp64")
EVERYTHING = ("fp32", "i1", *NUMBERS, "fp8e4nv", "fp8e5")
REDUCTION = {"AXIS": 1, "PADDING": 0}
ORDERED = ("i1", *NUMBERS)
ROWS, INDEXED = reduce_rows.reduce_rows, reduce_rows.reduce_rows_with_index
RECIPES = (
    *family(integer, "div_floor_integer remainder_integer", elementwise.elementwise_binary, tuple(INTEGERS)),
    *family(operators, "operator_negate", elementwise.elementwise_unary,
            ("fp32", "i8", "i16", "i32", "i64", "bf16", "fp16", "fp64")),
    *family(extrema, "minimum maximum", elementwise.elementwise_binary, ORDERED),
    *family(extrema, "minimum_with_index maximum_with_index", elementwise.elementwise_pair_with_index, ORDERED,
            pointers=INDEX),
    *family(extrema, "min2 max2", ROWS, ORDERED, constexprs=REDUCTION),
    *family(extrema, "min_with_index max_with_index", INDEXED, ORDERED,
            constexprs={**REDUCTION, "INDEX_PADDING": 2**63 - 1}, pointers=INDEX),
    *family(reductions, "prod", ROWS, NUMBERS, constexprs=REDUCTION),
    *family(reductions, "any", ROWS, ("i1", *INTEGERS), constexprs=REDUCTION),
    *family(welford_helpers, "welford_reduce", welford.welford_step, FLOATS, constexprs={"FIRST": None}),
    *family(welford_helpers, "welford_combine", welford.welford_pairs, FLOATS),
    *family(welford_helpers, "welford", welford.welford_states, FLOATS, constexprs={"AXIS": 1}),
    *family(bits, "frexp", frexp_driver.frexp, FLOATS, pointers={"exponent": "i32"}),
    *family(select, "select_one", select_rows.select_rows, EVERYTHING, constexprs={"AXIS": 1, "KEEP_DIMS": False},
            pointers={"mask": "i8"}),
    *family(assertion_helpers, "device_assert_then", assertions.assert_then, EVERYTHING, pointers={"condition": "i8"}),
    *family(probe_helpers, "promote_to_tensor", probes.promote, EVERYTHING, constexprs={"SCALAR": False},
            pointers={"facts": "i32"}),
    *family(probe_helpers, "is_floating", probes.classify, EVERYTHING, constexprs={"SCALAR": True},
            pointers={"out": "i8"}))
OTHER_TARGETS = ((SM_80, "ptx"), (SM_100, "ptx"), (GFX942, "amdgcn"))


def recipe_of(helper: Any) -> Recipe:
    return next(recipe for recipe in RECIPES if recipe.helper is helper)


def check_every_helper():
    """On sm_90, for the first dtype of its contract or the last, which take turns, with one broken variant.

    All dtypes, variants and architectures: checks_compile_all.py.
    """
    for number, recipe in enumerate(RECIPES):
        dtype = recipe.dtypes[-(number % 2)]
        assert "ret;" in recipe.build(dtype).asm["ptx"], (recipe.helper.__name__, dtype)
        variant = next(iter(recipe.mutants.values()))
        assert "ret;" in recipe.build(recipe.dtypes[0], helper=variant).asm["ptx"], recipe.helper.__name__


def check_other_architectures():
    """An element-wise helper, a reduction and the one that takes numbers apart."""
    for recipe in RECIPES:
        if recipe.helper in (integer.div_floor_integer, welford_helpers.welford, bits.frexp):
            for target, stage in OTHER_TARGETS:
                assert recipe.build(recipe.dtypes[0], target=target).asm[stage], (recipe.helper.__name__, target)


def check_loops_and_scalars():
    looped = {"HELPER": extrema.min2, "COMBINE": extrema.minimum, "PADDING": INF, **TILE}
    compile_ahead(reduce_rows.reduce_rows_looped, "fp32", constexprs=looped)
    with_index = {"HELPER": extrema.min_with_index, "COMBINE": extrema.minimum_with_index, "INDEX_PADDING": 2**62}
    indexed = {**looped, **with_index}
    compile_ahead(reduce_rows.reduce_rows_looped_with_index, "fp32", pointers=INDEX, constexprs=indexed)
    for peeled in (True, False):
        values = {"HELPER": welford_helpers.welford_reduce, "MERGE": welford_helpers.welford, "ACCUMULATOR": tl.float32}
        state = dict.fromkeys(("mean", "m2", "weight"), "fp32")
        compile_ahead(welford.welford_rows, "fp16", pointers=state, constexprs={**values, "PEELED": peeled, **TILE})
    for literal in (None, 5):
        values = {"HELPER": integer.div_floor_integer, "B": literal, "SCALAR_FIRST": False, **TILE}
        compile_ahead(elementwise.elementwise_scalar, "i32", constexprs=values)


def check_mixed_signedness_is_refused():
    recipe = RECIPES[0]
    constexprs = {**TILE, "HELPER": recipe.helper}
    build = partial(compile_ahead, recipe.driver, "i32", pointers={"b": "u32"}, constexprs=constexprs)
    assert "differ in signedness" in error_of(build)


def check_different_helpers_have_different_cache_keys():
    """Otherwise a cached own helper would be run under the name of a broken one."""
    keys = {}
    functions = [integer.div_floor_integer, integer.remainder_integer, operators.operator_floordiv]
    functions += [*INTEGER_MUTANTS["div_floor_integer"].values(), *INTEGER_MUTANTS["remainder_integer"].values()]
    driver = elementwise.elementwise_binary
    for function in functions:
        constexprs = {**TILE, "HELPER": function, "BOOL": False}
        signature = {name: "constexpr" if name in constexprs else "i32" for name in driver.arguments}
        source = ASTSource(fn=driver.kernel, signature=signature, constexprs=constexprs)
        keys[source.hash()] = function
    assert len(keys) == len(functions)


def check_planted_compile_error():
    fault = {"FAULT": "compile_error"}
    for recipe in RECIPES:
        message = error_of(partial(recipe.build, recipe.dtypes[0], **fault))
        assert "planted_undefined_name" in message, recipe.driver.name
    build = partial(compile_ahead, vector_add, "fp32", constexprs={"BLOCK": 64, **fault})
    assert "planted_undefined_name" in error_of(build)


def check_assertions_exist_only_when_asked_for():
    """The helper's own, and the planted one."""
    assertion = recipe_of(assertion_helpers.device_assert_then)
    assert "__assertfail" in assertion.build("fp32", options={"debug": True}).asm["ptx"]
    assert "__assertfail" not in assertion.build("fp32").asm["ptx"]
    other = recipe_of(extrema.minimum)
    for fault, expected in (("runtime_error", True), ("wrong_value", False), ("", False)):
        assert ("__assertfail" in other.build("fp32", options={"debug": True}, FAULT=fault).asm["ptx"]) is expected


def check_floor_helpers_satisfy_the_overflow_sanitizer():
    """With debug=True Triton asserts that + and - of ints do not overflow; only the widening checks may remain.

    A helper that relied on wrap-around would fail there on legal operands; see the interpreted check for values.
    """
    for name in ("div_floor_integer", "remainder_integer"):
        recipe = recipe_of(getattr(integer, name))
        assert recipe.build("i32", options={"debug": True, "sanitize_overflow": True}).asm["ptx"]


def check_no_flush_to_zero():
    """Comparison, selection and decomposition must see subnormals."""
    for helper in (extrema.minimum, extrema.maximum_with_index, bits.frexp):
        recipe = recipe_of(helper)
        assert ".ftz" not in recipe.build("fp32").asm["ptx"], helper


def check_driver_records_match_their_kernels():
    """Every argument of a kernel is an array's pointer or stride, an int, a scalar or a constexpr: no more, no less."""
    drivers = {}
    for _, module, _ in pkgutil.iter_modules(every_driver.__path__, "tridiff.kernels.drivers."):
        found = vars(importlib.import_module(module)).values()
        drivers |= {value.name: value for value in found if isinstance(value, Driver)}
    assert len(drivers) >= 30
    for name, driver in drivers.items():
        named = [*driver.integers, *driver.scalars, *driver.constexprs]
        for array in (*driver.inputs, *driver.outputs):
            named += [array.pointer, *array.strides]
        assert sorted(named) == sorted(driver.arguments), name
        assert {p.name for p in driver.kernel.params if p.is_constexpr} == set(driver.constexprs), name
