"""Generated kernels: text becomes a module whose jit functions compile and show their source."""

import inspect

import pytest
import triton
from triton.compiler import ASTSource

from tests.kernels.driver_runs import SM_90
from tridiff.kernels import generated

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def double(value):
    return value + value


@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, double(tl.load(x_ptr + offsets)))
"""


def test_a_generated_kernel_compiles_and_shows_its_source():
    module = generated.load(SOURCE, name="doubling")
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "BLOCK": "constexpr"}
    compiled = triton.compile(ASTSource(module.kernel, signature, constexprs={"BLOCK": 64}), target=SM_90)
    assert "add.f32" in compiled.asm["ptx"] or "add.rn.f32" in compiled.asm["ptx"]
    assert "def kernel(x_ptr" in inspect.getsource(module.kernel.fn)


def test_equal_text_is_executed_once_and_other_text_is_not_confused_with_it():
    first = generated.load(SOURCE, name="doubling")
    other = generated.load(SOURCE.replace("value + value", "value * 3"), name="doubling")
    assert generated.load(SOURCE, name="doubling") is first
    assert "value * 3" in inspect.getsource(other.double.fn) and "value + value" in inspect.getsource(first.double.fn)


def test_a_name_that_is_no_identifier_is_refused():
    with pytest.raises(ValueError, match="not an identifier"):
        generated.load(SOURCE, name="../x")


def test_broken_text_raises_and_leaves_nothing_behind():
    for _ in range(2):
        with pytest.raises(SyntaxError):
            generated.load("def kernel(:\n", name="broken")


def test_old_modules_are_dropped():
    first = generated.load("x = 0\n", name="many")
    for number in range(1, generated.KEPT + 1):
        generated.load(f"x = {number}\n", name="many")
    assert generated.load("x = 0\n", name="many") is not first


def test_lasting_modules_stay_with_their_source_whatever_else_is_loaded_or_forgotten():
    first = generated.load(SOURCE, name="lasting", lasting=True)
    for number in range(generated.KEPT + 1):
        generated.load(f"x = {number}\n", name="passing")
    generated.forget()
    assert generated.load(SOURCE, name="lasting", lasting=True) is first
    assert "value + value" in inspect.getsource(first.double.fn)
