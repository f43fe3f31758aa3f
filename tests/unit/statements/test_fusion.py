"""Programs of statements are judged with every product and every sum rounded by itself."""

import pytest
from msgspec.structs import replace

from tests.known.test_statements import program
from tests.support.draws import draws
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import valid
from tridiff.fuzz.statements.draft import literal, node, variable as name
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.script import Node

EXACT = LaunchOptions(enable_fp_fusion=False)


def of(op: str, *parts: Node) -> Node:
    return node("binary", *parts, op=op)


def made(expression: Node, dtype: str, *, result: str = "") -> Case:
    return program(node("assign", expression, name="v0"), of=(dtype, dtype), options=EXACT,
                   result=result or dtype)


X, Y, HALF = name("x0"), name("x1"), literal(0.5)
PRODUCT = of("*", X, Y)


@pytest.mark.parametrize("case, fuses", [
    (made(of("+", PRODUCT, X), "fp32"), True), (made(of("-", X, PRODUCT), "fp64"), True),
    (made(of("+", of("/", X, literal(2)), Y), "i32", result="fp32"), True),
    (made(node("idiom", X, Y, name="not_inlined"), "fp32"), True),
    (made(of("*", PRODUCT, X), "fp32"), False), (made(of("+", X, Y), "fp32"), False),
    (made(of("+", PRODUCT, X), "i32"), False), (made(of("+", of("*", X, HALF), Y), "i8", result="fp32"), True)])
def test_a_program_whose_products_may_be_fused_is_no_case_under_options_that_fuse(case: Case, fuses: bool):
    """Shrinking takes Triton's defaults for simplest: it went from another failure to what fusion makes of a sum."""
    assert valid(case) and valid(replace(case, options=LaunchOptions())) is not fuses
    assert valid(replace(case, variants=(LaunchOptions(num_warps=1),))) is not fuses


def test_no_drawn_program_is_fused():
    for topic in ("statements", "functions", "pointers"):
        for case in draws(find(f"language.{topic}").draw.cases(Limits()), 20, seed=1):
            assert valid(case) and not case.options.enable_fp_fusion
