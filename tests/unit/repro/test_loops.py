"""Loops that make no iteration disappear from scripts; all others stay."""

import ast
import textwrap

import pytest

from tridiff.fuzz.repro.loops import drop_empty_loops

each = pytest.mark.parametrize


def simplified(text: str) -> str:
    node = ast.parse(textwrap.dedent(text)).body[0]
    drop_empty_loops(node)
    return "\n".join(ast.unparse(one) for one in node.body)


def test_an_empty_loop_and_the_literals_only_it_read_go():
    assert simplified("""
        def kernel(x):
            first = 0
            y = x + first
            first = 4
            for start in range(first, 3, 4):
                y += start
            store(y)
    """) == "first = 0\ny = x + first\nfirst = 4\nstore(y)"
    assert simplified("""
        def kernel(x):
            first = 4
            for start in tl.range(first, 3):
                x += start
            store(x)
    """) == "store(x)"


@each("loop", [
    "range(3)", "range(0, 4, 4)", "range(3, 0, -1)", "range(limit)", "range(0, limit)", "range(first, 4)",
    "tl.static_range(1)", "something(0)", "range(1, 1, 0)",
])
def test_a_loop_that_may_run_stays(loop: str):
    text = f"for i in {loop}:\n    x += i"
    assert text in simplified(f"""
def kernel(x, limit):
    first = 9
    first = x
    {text.replace(chr(10), chr(10) + "    ")}
    store(x)
""")


@each("loop", ["range(0)", "range(4, 4)", "range(-1)", "range(0, 3, -1)"])
def test_a_loop_with_an_empty_range_of_literals_goes(loop: str):
    assert simplified(f"""
def kernel(x):
    for i in {loop}:
        x += i
    store(x)
""") == "store(x)"
