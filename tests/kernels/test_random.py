"""Random helpers, compiled for sm_90."""

import pytest

from tests.kernels.driver_runs import compile_ahead
from tridiff.kernels.drivers.random import random_integer, random_real
from tridiff.kernels.helpers.mutants_random import MUTANTS
from tridiff.kernels.helpers.random import rand, randint64, randn

each = pytest.mark.parametrize


@each("offset", ["i32", "u32", "i64"])
def test_integers_compile_for_every_offset_dtype(offset: str) -> None:
    constexprs = {"HELPER": randint64, "COL_BLOCK": 64}
    stages = compile_ahead(random_integer, "i64", pointers={"offset": offset}, constexprs=constexprs).asm
    assert "arith.remui" in stages["ttir"] and "arith.remsi" not in stages["ttir"]


@each("helper", MUTANTS["randint64"].values(), ids=lambda helper: helper.__name__)
def test_broken_integers_compile(helper: object) -> None:
    constexprs = {"HELPER": helper, "COL_BLOCK": 64}
    assert compile_ahead(random_integer, "i64", constexprs=constexprs).asm["ptx"]


@each(
    "helper", [rand, randn, *MUTANTS["rand"].values(), *MUTANTS["randn"].values()], ids=lambda helper: helper.__name__)
def test_reals_compile(helper: object) -> None:
    pointers = {"seed": "i64", "offset": "i32"}
    constexprs = {"HELPER": helper, "COL_BLOCK": 64}
    assert compile_ahead(random_real, "fp32", pointers=pointers, constexprs=constexprs).asm["ptx"]
