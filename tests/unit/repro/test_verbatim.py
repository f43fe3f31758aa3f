"""Generated Gluon kernels in short scripts: what the kernel does not reach is left out, what stands there often has a
name, and nothing else changes."""

import ast

import pytest

from tests.support.repository import ENTRIES
from tridiff.fuzz.corpus.expected import expectation
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.repro.script import MAX_LINES, script
from tridiff.fuzz.repro.verbatim import Verbatim

SOURCE = '''import triton
import triton.language as plain
from triton.experimental import gluon
from triton.experimental.gluon import language as tl

L1: tl.constexpr = tl.constexpr(tl.BlockedLayout([2], [32], [4], [0]))
L2: tl.constexpr = tl.constexpr(tl.BlockedLayout([1], [32], [4], [0]))

@gluon.jit
def _unused(a, b):
    return a + b

@gluon.jit
def _inner(a):
    return a ^ 1

@gluon.jit
def _outer(a):
    return _inner(a)

@gluon.jit
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8, layout=L1)[None, :] * 2)
    tl.static_assert(x.dtype == tl.int32, "the result has another type")
    tl.static_assert(1 == 1, "an assertion of the kernel's own")
    tl.store(out_ptr + tl.arange(0, 8, layout=L1)[None, :] * 4, _outer(x))
'''


@pytest.mark.parametrize("asserted, kept", [((), False), (("another_type",), True), (("another_shape",), False)])
def test_a_kernel_keeps_what_it_reaches_and_the_assertions_that_are_the_finding(
        asserted: tuple[str, ...], kept: bool):
    text = Verbatim(SOURCE, "gluon").cut(asserted).source
    names = [one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    assert names == ["_inner", "_outer", "kernel"]
    assert "L1:" in text and "L2" not in text and "plain" not in text and "import gluon" in text
    assert ("another type" in text) is kept and "an assertion of the kernel's own" in text
    assert text.count("tl.arange(") == 1 and text.count("range0") == 3 and "* 2" in text and "* 4" in text


def test_a_function_that_is_called_as_an_array_is_has_another_name():
    text = Verbatim(SOURCE, "gluon").apart({"_inner", "x", "out"}).source
    names = [one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    assert names == ["_unused", "_inner_function", "_outer", "kernel"] and "return _inner_function(a)" in text
    assert "x = tl.load(x_ptr" in text and Verbatim(SOURCE, "gluon").apart({"x", "kernels"}).source == SOURCE


def test_a_long_gluon_kernel_has_a_short_script_that_says_what_is_recorded():
    entry = ENTRIES.find("language.gluon/assertion--numscanblocks-b2de64d95b")
    wanted = expectation(entry, subject="own", triton=installed(), backend="compile:sm_100")
    if wanted is None:
        pytest.skip(f"nothing is recorded of Triton {installed()}")
    made = script(entry, backend="compile:sm_100")
    assert made.lines <= MAX_LINES and made.text.count("tl.arange(") == 3
    assert made.answer == ("BUG" if wanted.verdict.failed else "OK")
