"""The libdevice and math names: every function compiles for sm_90."""

from types import ModuleType

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

from tests.kernels.driver_runs import SM_90
from tests.kernels.errors import error_of
from tests.kernels.libdevice_functions import FUNCTIONS, RESULTS
from tridiff.kernels import generated
from tridiff.kernels.helpers.libdevice import libdevice, math

each = pytest.mark.parametrize
TYPES = {"fp32": "fp32", "fp64": "fp64", "int1": "i8", "int32": "i32", "int64": "i64"}
MATH = ("abs", "cos", "exp", "log", "sin")

KERNEL = '''
@triton.jit
def {module}_{name}(x_ptr, y_ptr, out_ptr, RESULT: tl.constexpr):
    lane = tl.arange(0, 128)
    result = {module}.{name}({operands})
    tl.static_assert(result.dtype == RESULT, "another result dtype than expected")
    tl.store(out_ptr + lane, result)
'''


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    """One kernel per function."""
    x, y = "tl.load(x_ptr + lane)", "tl.load(y_ptr + lane)"
    parts = ["import triton\nimport triton.language as tl\n"
             "from tridiff.kernels.helpers.libdevice import libdevice, math\n"]
    for name, arity in FUNCTIONS.items():
        parts.append(KERNEL.format(module="libdevice", name=name, operands=x if arity == 1 else f"{x}, {y}"))
    parts += [KERNEL.format(module="math", name=name, operands=x) for name in MATH]
    return generated.load("\n".join(parts), name="libdevice_kernels")


def build(kernels: ModuleType, module: str, name: str, dtype: str) -> str:
    result = RESULTS.get(name, dtype) if module == "libdevice" else dtype
    second = "i32" if name == "ldexp" else dtype
    signature = {"x_ptr": f"*{dtype}", "y_ptr": f"*{second}", "out_ptr": f"*{TYPES[result]}", "RESULT": "constexpr"}
    types = {str(t): t for t in (tl.float16, tl.float32, tl.float64, tl.int1, tl.int32, tl.int64)}
    kernel = getattr(kernels, f"{module}_{name}")
    source = ASTSource(fn=kernel, signature=signature, constexprs={"RESULT": types[result]})
    return str(triton.compile(source, target=SM_90).asm["ttir"])


@each("name", sorted(FUNCTIONS))
def test_every_function_compiles_with_the_expected_result_dtype(kernels: ModuleType, name: str):
    for dtype in ("fp32", "fp64"):
        assert "extern_elementwise" in build(kernels, "libdevice", name, dtype)


@each("name", MATH)
def test_math_is_the_language_itself(kernels: ModuleType, name: str):
    assert f"math.{'absf' if name == 'abs' else name}" in build(kernels, "math", name, "fp32")


def test_compiled_code_refuses_half_precision_too(kernels: ModuleType):
    assert "float16" in error_of(lambda: build(kernels, "libdevice", "ilogb", "fp16"))


def test_the_names_are_the_modules_of_the_installed_triton():
    assert libdevice.__name__.endswith("libdevice") and math is tl.math
