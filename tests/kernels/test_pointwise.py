"""The operation table: complete, consistent, and every kind of form compiles for sm_90 to the promised type."""

import re
import string
import subprocess
import sys

import pytest
import triton
from triton.compiler import ASTSource

from tests.kernels.driver_runs import SM_90
from tridiff.kernels.generated import load
from tridiff.kernels.pointwise import functions, table
from tridiff.kernels.pointwise.table import (
    ALL,
    FLOATS,
    HALVES,
    IMPORTS,
    INTEGERS,
    OPS,
    TRITON_NAMES,
    emit,
    result_dtype,
)

each = pytest.mark.parametrize

# codegen.md §3, row by row.
SPECIFIED = (
    "add sub mul neg square truediv reciprocal floor_divide trunc_divide remainder fmod mod_operator eq ne lt le gt ge "
    "minimum maximum fmin fmax relu clamp where logical_and logical_or logical_xor logical_not bitwise_and bitwise_or "
    "bitwise_xor bitwise_not left_shift right_shift floor ceil trunc round abs sign signbit copysign nextafter isinf "
    "isnan exp exp2 expm1 log log2 log10 log1p pow sqrt rsqrt sigmoid sin cos tan asin acos atan atan2 sinh cosh tanh "
    "asinh acosh atanh erf erfc erfinv lgamma hypot erfcx i0 i1 j0 j1 y0 y1 frexp_mantissa frexp_exponent ldexp fma")


def test_every_operation_of_the_contract_is_there():
    wanted = {*SPECIFIED.split(), *(f"to_{name}" for name in ALL), *(f"bitcast_{name}" for name in ALL if name != "i1")}
    assert wanted <= OPS.keys(), sorted(wanted - OPS.keys())
    two_lowerings = (
        "exp exp2 log log2 sqrt rsqrt sin cos erf abs floor ceil truediv fmod trunc_divide minimum maximum signbit "
        "nextafter")
    assert {op.variant_of for op in OPS.values()}.issuperset(two_lowerings.split())


@each("op", OPS.values(), ids=lambda op: op.name)
def test_forms_are_consistent(op: table.Op):
    listed = [signature for form in op.forms for signature in form.signatures]
    assert len(listed) == len(set(listed)) and {len(s) for s in listed} == {op.arity}
    assert op.variant_of == "" or op.variant_of in OPS
    for form in op.forms:
        fields = {int(field) for _, field, _, _ in string.Formatter().parse(form.template) if field is not None}
        assert fields == set(range(op.arity))
        assert all(hasattr(functions, name) for name in re.findall(r"pointwise\.(\w+)", form.template))
    for signature in op.signatures:
        assert set(signature) <= set(ALL) and result_dtype(op.name, signature) in ALL
        if op.halves == "fp32" and signature[0] in HALVES:
            text = emit(op.name, signature, ["x", "y", "z"][: op.arity])
            assert "(x).to(tl.float32)" in text
            if result_dtype(op.name, signature) == signature[0]:
                assert text.endswith(f".to({TRITON_NAMES[signature[0]]})")


def test_emitted_text():
    assert emit("add", ("i8", "i8"), ("a", "b")) == "a + b"
    assert emit("exp", ("fp16",), ("a",)) == "(libdevice.exp((a).to(tl.float32))).to(tl.float16)"
    assert emit("lt", ("bf16", "bf16"), ("a", "b")) == "a < b" and result_dtype("lt", ("bf16", "bf16")) == "i1"
    assert emit("frexp_exponent", ("fp16",), ("a",)) == "pointwise.frexp((a).to(tl.float32))[1]"
    assert emit("to_fp8e5", ("fp64",), ("a",)) == "a.to(tl.float32).to(tl.float8e5)"
    assert emit("nextafter", ("bf16", "bf16"), ("a", "b")) == "pointwise.nextafter(a, b)"
    assert result_dtype("truediv", ("i64", "i64")) == "fp32" and result_dtype("where", ("i1", "u8", "u8")) == "u8"
    with pytest.raises(KeyError, match="no pointwise operation 'exq'"):
        emit("exq", ("fp32",), ("a",))
    with pytest.raises(KeyError, match="does not take"):
        emit("exp", ("i32",), ("a",))


def test_the_table_imports_neither_torch_nor_triton():
    code = "import sys; import tridiff.kernels.pointwise.table; " \
           "sys.exit(bool({'torch', 'triton', 'numpy'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def compiled(name: str, signature: tuple[str, ...]) -> str:
    """PTX of a kernel that loads, computes one operation, checks its type, and stores."""
    result = result_dtype(name, signature)
    pointers = [f"p{k}" for k in range(len(signature))]
    lines = [IMPORTS, "@triton.jit", f"def kernel({', '.join([*pointers, 'out'])}):", "    i = tl.arange(0, 128)"]
    lines += [f"    x{k} = tl.load(p{k} + i){' != 0' if d == 'i1' else ''}" for k, d in enumerate(signature)]
    lines += [f"    r = {emit(name, signature, [f'x{k}' for k in range(len(signature))])}",
              f"    tl.static_assert(r.dtype == {TRITON_NAMES[result]})",
              f"    tl.store(out + i, r{'.to(tl.int8)' if result == 'i1' else ''})"]
    module = load("\n".join(lines) + "\n", name="pointwise_" + name)
    memory = ["*i8" if d == "i1" else f"*{d}" for d in (*signature, result)]
    source = ASTSource(module.kernel, dict(zip([*pointers, "out"], memory, strict=True)), constexprs={})
    return str(triton.compile(source, target=SM_90).asm["ptx"])


# One signature per device function and per kind of form; all of them compile in the sweeps.
COMPILED = [
    *((op, (d, d)) for op in ("floor_divide", "trunc_divide", "remainder", "nextafter", "copysign") for d in FLOATS),
    *((op, (d, d)) for op in ("trunc_divide", "fmod", "left_shift", "right_shift", "pow") for d in ("i8", "u64")),
    *((op, (d,)) for op in ("neg", "sign", "isinf", "floor", "signbit") for d in ("bf16", "fp64")),
    ("neg", ("u8",)), ("bitwise_not", ("u16",)), ("relu", ("i8",)), ("minimum_tl", ("bf16", "bf16")),
    ("clamp", ("bf16", "bf16", "bf16")), ("where", ("i1", "fp8e4nv", "fp8e4nv")), ("fma", ("fp16", "fp16", "fp16")),
    ("to_fp8e4nv", ("i64",)), ("to_fp8e5", ("fp64",)), ("to_i1", ("fp8e5",)), ("to_u8", ("bf16",)),
    ("to_bf16", ("i64",)), ("to_fp64", ("fp8e4nv",)), ("bitcast_bf16", ("fp16",)), ("ldexp", ("bf16", "i32")),
    ("frexp_mantissa", ("fp64",)), ("llrint", ("fp16",)), ("truediv", ("i1", "i1"))]


@each("name, signature", COMPILED, ids=["-".join((name, *types)) for name, types in COMPILED])
def test_forms_compile_to_the_promised_type(name: str, signature: tuple[str, ...]):
    assert "st.global" in compiled(name, signature)


def test_floor_and_ceil_do_not_flush_as_libdevice_does():
    """The reason for own functions: libdevice's floor of a negative subnormal is -0.0 on the device."""
    assert ".ftz" in compiled("floor_libdevice", ("fp32",))
    assert ".ftz" not in compiled("floor", ("fp32",)) and ".ftz" not in compiled("ceil", ("fp32",))
    assert "div.rn.f32" in compiled("floor_divide", ("fp32", "fp32"))


def test_every_integer_division_is_of_magnitudes():
    """A signed division of a contiguous run of numbers is miscompiled (Triton issue 7749)."""
    for name in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        for dtype in INTEGERS:
            form = next(f for f in OPS[name].forms if (dtype, dtype) in f.signatures)
            assert "//" not in form.template and "%" not in form.template
        assert not re.search(r"\b(div|rem)\.s(16|32|64)\b", compiled(name, ("i32", "i32")))
