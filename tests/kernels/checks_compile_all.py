"""Ahead-of-time compilation for all dtypes, broken variants and architectures."""

from tests.kernels.checks_compile import OTHER_TARGETS, RECIPES


def check_every_helper_for_every_dtype():
    """Two dtypes per helper would hide what a third one breaks: all of the contract, on sm_90."""
    for recipe in RECIPES:
        for dtype in recipe.dtypes:
            try:
                assert "ret;" in recipe.build(dtype).asm["ptx"]
            except Exception as error:
                raise AssertionError(f"{recipe.helper.__name__} {dtype}") from error


def check_every_helper_for_other_architectures():
    for recipe in RECIPES:
        for target, stage in OTHER_TARGETS:
            assert recipe.build(recipe.dtypes[0], target=target).asm[stage], (recipe.helper.__name__, target)


def check_every_broken_variant():
    for recipe in RECIPES:
        for name, mutant in recipe.mutants.items():
            try:
                recipe.build("fp32" if "fp32" in recipe.dtypes else recipe.dtypes[0], helper=mutant)
            except Exception as error:
                raise AssertionError(f"{recipe.helper.__name__} {name}") from error


def check_columns_reduce_too():
    for recipe in RECIPES:
        if "AXIS" in recipe.driver.constexprs:
            assert recipe.build(recipe.dtypes[0], AXIS=0, ROW_BLOCK=64, COL_BLOCK=2).asm["ptx"]
