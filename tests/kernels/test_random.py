"""Random helpers, compiled for sm_90."""

from typing import Any

import pytest

from tests.kernels.driver_runs import compile_ahead
from tridiff.kernels.drivers.random import random_integer, random_real
from tridiff.kernels.helpers.mutants_random import MUTANTS
from tridiff.kernels.helpers.random import rand, randint64, randn

each = pytest.mark.parametrize


@each("offset", ["i32", "u32", "i64"])
def test_integers_compile_for_every_offset_dtype(offset: str):
    constexprs = {"HELPER": randint64, "COL_BLOCK": 64}
    stages = compile_ahead(random_integer, "i64", pointers={"offset": offset}, constexprs=constexprs).asm
    assert "arith.remui" in stages["ttir"] and "arith.remsi" not in stages["ttir"]


@each("name", sorted(MUTANTS["randint64"]))
def test_broken_integers_compile(name: str):
    constexprs = {"HELPER": MUTANTS["randint64"][name], "COL_BLOCK": 64}
    assert compile_ahead(random_integer, "i64", constexprs=constexprs).asm["ptx"]


@each("right", [rand, randn], ids=lambda helper: helper.__name__)
def test_reals_compile(right: Any):
    pointers = {"seed": "i64", "offset": "i32"}
    for helper in (right, *MUTANTS[right.__name__].values()):
        constexprs = {"HELPER": helper, "COL_BLOCK": 64}
        assert compile_ahead(random_real, "fp32", pointers=pointers, constexprs=constexprs).asm["ptx"]
