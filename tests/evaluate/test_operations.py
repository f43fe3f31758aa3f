"""The evaluator of TTIR and TTGIR: what operations compute, and what it refuses."""

import ml_dtypes
import numpy as np
import pytest

from tridiff.fuzz.evaluate.conversions import rounded_once
from tridiff.fuzz.evaluate.errors import NotEvaluated, OutOfBounds
from tridiff.fuzz.evaluate.machine import Machine
from tridiff.fuzz.evaluate.memory import Memory
from tridiff.fuzz.evaluate.parse import parse

each = pytest.mark.parametrize
PROGRAM = """
module {{
  tt.func public @kernel(%x: !tt.ptr<{given}>, %y: !tt.ptr<{given}>, %out: !tt.ptr<{made}>) attributes {{a = 1}} {{
    %r = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
    %px = tt.splat %x : !tt.ptr<{given}> -> tensor<4x!tt.ptr<{given}>>
    %py = tt.splat %y : !tt.ptr<{given}> -> tensor<4x!tt.ptr<{given}>>
    %po = tt.splat %out : !tt.ptr<{made}> -> tensor<4x!tt.ptr<{made}>>
    %ax = tt.addptr %px, %r : tensor<4x!tt.ptr<{given}>>, tensor<4xi32>
    %ay = tt.addptr %py, %r : tensor<4x!tt.ptr<{given}>>, tensor<4xi32>
    %ao = tt.addptr %po, %r : tensor<4x!tt.ptr<{made}>>, tensor<4xi32>
    %a = tt.load %ax : tensor<4x!tt.ptr<{given}>>
    %b = tt.load %ay : tensor<4x!tt.ptr<{given}>>
    {lines}
    tt.store %ao, %v : tensor<4x!tt.ptr<{made}>>
    tt.return
  }}
}}
"""


def run(lines: str, a: np.ndarray, b: np.ndarray, *, given: str = "i32", made: str = "i32",
        program: str = PROGRAM) -> np.ndarray:
    """What a program of a few operations on %a and %b, both of 4 elements, stores of its value %v."""
    kinds = {"i32": np.int32, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i64": np.int64, "f16": np.float16}
    x, y = a.astype(kinds[given]), b.astype(kinds[given])
    out = np.zeros(4, kinds[made])
    text = program.format(lines=lines, given=given, made=made)
    spans = [(one.ctypes.data, one.nbytes) for one in (x, y, out)]
    Machine(parse(text), Memory(spans), (1, 1, 1)).launch([one.ctypes.data for one in (x, y, out)])
    return out


A, B = np.array([-7, 7, -2**31, 5]), np.array([2, -2, -1, 3])
F, G = np.array([np.nan, -0.0, 3.5, -1e30]), np.array([1.0, 0.0, np.nan, 2.0])
LOOP = """%c0 = arith.constant 0 : i32
    %c5 = arith.constant 5 : i32
    %c2 = arith.constant 2 : i32
    %v = scf.for %i = %c0 to %c5 step %c2 iter_args(%s = %a) -> (tensor<4xi32>)  : i32 {
      %n = tt.splat %i : i32 -> tensor<4xi32>
      %t = arith.addi %s, %n : tensor<4xi32>
      scf.yield %t : tensor<4xi32>
    } {tt.num_stages = 2 : i32}"""
BRANCH = """%c = arith.constant false
    %v = scf.if %c -> (tensor<4xi32>) {
      scf.yield %a : tensor<4xi32>
    } else {
      scf.yield %b : tensor<4xi32>
    }"""
WHILE = """%c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c1 = arith.constant 1 : i32
    %w:2 = scf.while (%s = %a, %i = %c0) : (tensor<4xi32>, i32) -> (tensor<4xi32>, i32) {
      %g = arith.cmpi slt, %i, %c3 : i32
      scf.condition(%g) %s, %i : tensor<4xi32>, i32
    } do {
    ^bb0(%s2: tensor<4xi32>, %i2: i32):
      %t = arith.addi %s2, %b : tensor<4xi32>
      %j = arith.addi %i2, %c1 : i32
      scf.yield %t, %j : tensor<4xi32>, i32
    }
    %v = arith.addi %w#0, %c_zero : tensor<4xi32>"""
FOLD = """%m:2 = "tt.reduce"(%a, %r) <{axis = 0 : i32}> ({
    ^bb0(%p: i32, %q: i32, %s: i32, %t: i32):
      %g = arith.cmpi sgt, %p, %s : i32
      %u = arith.select %g, %p, %s : i32
      %w = arith.select %g, %q, %t : i32
      tt.reduce.return %u, %w : i32, i32
    }) : (tensor<4xi32>, tensor<4xi32>) -> (i32, i32)
    %v = tt.splat %m#1 : i32 -> tensor<4xi32>"""
SCAN = """%v = "tt.scan"(%a) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tt.scan.return %s : i32
    }) : (tensor<4xi32>) -> tensor<4xi32>"""


@each("lines, expected", [
    ("%v = arith.divsi %a, %b : tensor<4xi32>", [-3, -3, -2**31, 1]),
    ("%v = arith.remsi %a, %b : tensor<4xi32>", [-1, 1, 0, 2]),
    ("%v = arith.divui %a, %b : tensor<4xi32>", [2147483644, 0, 0, 1]),
    ("%v = arith.shli %a, %b : tensor<4xi32>", [-28, -1414812757, -1414812757, 40]),
    ("%v = tt.mulhiui %a, %b : tensor<4xi32>", [1, 6, 2**31 - 1, 0]),
    ("%v = arith.minui %a, %b : tensor<4xi32>", [2, 7, -2**31, 3]),
    ("%g = arith.cmpi ult, %a, %b : tensor<4xi32>\n    %v = arith.extui %g : tensor<4xi1> to tensor<4xi32>",
     [0, 1, 1, 0]),
    ("%g = arith.cmpi slt, %a, %b : tensor<4xi32>\n    %v = arith.extsi %g : tensor<4xi1> to tensor<4xi32>",
     [-1, 0, -1, 0]),
    (LOOP, [-1, 13, 6 - 2**31, 11]), (BRANCH, list(B)), (FOLD, [1] * 4),
    (SCAN, [-2**31 + 5, -2**31 + 12, -2**31 + 5, 5]),
    ("%c_zero = arith.constant dense<0> : tensor<4xi32>\n    " + WHILE, [-1, 1, 2**31 - 3, 14]),
])
def test_integers_and_regions(lines: str, expected: list[int]):
    assert run(lines, A, B).tolist() == expected


@each("lines, expected", [
    ("%v = arith.maxnumf %a, %b : tensor<4xf32>", ["1.0", "0.0", "3.5", "2.0"]),
    ("%v = arith.minimumf %a, %b : tensor<4xf32>", ["nan", "-0.0", "nan", "-1.0000000150474662e+30"]),
    ("%v = arith.negf %b : tensor<4xf32>", ["-1.0", "-0.0", "nan", "-2.0"]),
    ("%h = arith.truncf %a : tensor<4xf32> to tensor<4xf16>\n    %v = arith.extf %h : tensor<4xf16> to tensor<4xf32>",
     ["nan", "-0.0", "3.5", "-inf"]),
    ("%h = tt.fp_to_fp %a, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FN>\n"
     "    %v = tt.fp_to_fp %h : tensor<4xf8E4M3FN> -> tensor<4xf32>", ["nan", "-0.0", "3.5", "-448.0"]),
    ("%i = arith.fptosi %a : tensor<4xf32> to tensor<4xi8>\n    %v = arith.sitofp %i : tensor<4xi8> to tensor<4xf32>",
     ["0.0", "0.0", "3.0", "-128.0"]),
])
def test_floats(lines: str, expected: list[str]):
    assert [str(float(one)) for one in run(lines, F, G, given="f32", made="f32")] == expected


def test_moved_bits_stay_as_they_are():
    signalling = np.array([0x7F800001, 0x7FC01234, 1, 0xFF800000], dtype=np.uint32).view(np.float32)
    moved = run("%v = ttg.convert_layout %a : tensor<4xf32> -> tensor<4xf32>", signalling, signalling, given="f32",
                made="f32")
    assert moved.view(np.uint32).tolist() == signalling.view(np.uint32).tolist()


@each("lines, name", [
    ("%v = tt.unheard_of %a : tensor<4xi32>", "not evaluated: op tt.unheard_of"),
    ("%v = tt.extern_elementwise %a {symbol = \"__nv_unheard\"} : (tensor<4xi32>) -> tensor<4xi32>", "__nv_unheard"),
    ("%v = arith.bitcast %a : tensor<4xi32> to tensor<4xf4>", "type f4"),
])
def test_what_it_does_not_know_it_names(lines: str, name: str):
    with pytest.raises(NotEvaluated, match=name):
        run(lines, A, B)


def test_an_access_outside_of_every_array_is_no_value():
    far = "%k = arith.constant dense<1000> : tensor<4xi32>\n    %p = tt.addptr %ax, %k : tensor<4x!tt.ptr<i32>>, " \
          "tensor<4xi32>\n    %v = tt.load %p : tensor<4x!tt.ptr<i32>>"
    with pytest.raises(OutOfBounds):
        run(far, A, B)


def test_a_region_whose_end_is_not_printed_hands_nothing_on():
    lines = """%c = arith.constant true
    scf.if %c {
      tt.store %ax, %b : tensor<4x!tt.ptr<i32>>
    }
    %v = tt.load %ax : tensor<4x!tt.ptr<i32>>"""
    assert run(lines, A, B).tolist() == list(B)


def test_fused_products_are_rounded_once():
    """2^-25 decides between the two halves of what 1 + 2^-24 lies between; added in fp64, it is gone."""
    a = np.array([1 + 2**-12, 1 + 2**-12, 3, np.inf], np.float32)
    lines = "%k = arith.constant dense<{}> : tensor<4xf32>\n    %v = math.fma %a, %a, %k : tensor<4xf32>"
    found = run(lines.format("0x0D800000"), a, a, given="f32", made="f32")  # 2^-100
    assert found.tolist() == [1 + 2**-11 + 2**-23, 1 + 2**-11 + 2**-23, 9.0, np.inf]
    down = run(lines.format("0x8D800000"), a, a, given="f32", made="f32")
    assert down.tolist() == [1 + 2**-11, 1 + 2**-11, 9.0, np.inf]


@each("value, kind, due", [
    (1 + 2**-8 + 2**-40, ml_dtypes.bfloat16, 1 + 2**-7), (1 + 2**-8 - 2**-40, ml_dtypes.bfloat16, 1.0),
    (1 + 2**-4 + 2**-40, ml_dtypes.float8_e4m3fn, 1 + 2**-3), (1 + 2**-4, ml_dtypes.float8_e4m3fn, 1.0),
    (-1e300, ml_dtypes.bfloat16, -np.inf), (1 + 2**-11 + 2**-40, np.float16, 1 + 2**-10),
])
def test_fp64_becomes_a_narrow_float_in_one_step(value: float, kind: type, due: float):
    with np.errstate(all="ignore"):
        assert float(rounded_once(np.array([value]), np.dtype(kind))[0]) == due


SUM_OF_BYTES = """%p = tt.fp_to_fp %a, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FN>
    %q = arith.addf %p, %p : tensor<4xf8E4M3FN>
    %v = tt.fp_to_fp %q : tensor<4xf8E4M3FN> -> tensor<4xf32>"""
CALL = """%v = tt.extern_elementwise %a, %b {{pure = true, symbol = "{}"}} : (tensor<4x{kind}>, \
tensor<4x{kind}>) -> tensor<4x{kind}>"""


def test_8_bit_floats_end_at_their_largest_number():
    found = run(SUM_OF_BYTES, np.array([300, -1e9, 3, np.nan]), G, given="f32", made="f32")
    assert [str(one) for one in found.tolist()] == ["448.0", "-448.0", "6.0", "nan"]


@each("symbol, a, b, due", [
    ("__nv_fadd_ru", [1, 1, -1, 0], [2**-30, -2**-30, 2**-30, 0], [1 + 2**-23, 1, -1 + 2**-24, 0]),
    ("__nv_fadd_rz", [1, 1, -1, 0], [2**-30, -2**-30, 2**-30, 0], [1, 1 - 2**-24, -1 + 2**-24, 0]),
    ("__nv_fdimf", [5, 1, -1, 2], [3, 2, -3, np.inf], [2, 0, 2, 0]),
    ("__nv_remainderf", [5, 7, -7, 1], [3, 2, 2, np.inf], [-1, -1, 1, 1]),
    ("__ocml_fmod_f32", [5, -7, 7, 1], [3, 2, -2, np.inf], [2, -1, 1, 1]),
])
def test_functions_of_vendors_libraries(symbol: str, a: list[float], b: list[float], due: list[float]):
    found = run(CALL.format(symbol, kind="f32"), np.array(a), np.array(b), given="f32", made="f32")
    assert found.tolist() == np.array(due, np.float32).tolist()


@each("symbol, first, due", [("__nv_hypot", np.inf, np.inf), ("__nv_pow", 1.0, 1.0)])
def test_functions_that_ignore_a_nan_ignore_a_signalling_one_too(symbol: str, first: float, due: float):
    """To the C library, which stands behind numpy, they do not."""
    signalling = np.full(4, 0x7FF0000000000001, np.int64).view(np.float64)
    found = run(CALL.format(symbol, kind="f64"), np.full(4, first), signalling, given="f64", made="f64")
    assert found.tolist() == [due] * 4


def test_the_upper_half_of_a_product_has_the_sign_of_its_operands():
    found = run(CALL.format("__nv_mulhi", kind="i32"), np.array([-1, -2**31, 2**31 - 1, 7]), np.array(
        [-1, -2**31, -2, 2**30]))
    assert found.tolist() == [0, 2**30, -1, 1]


ASSEMBLY = ('%v = tt.elementwise_inline_asm "{}" {{constraints = "=r,r,r", packed_element = {} : i32, pure = true}} '
            "%a, %b : tensor<4x{kind}>, tensor<4x{kind}> -> tensor<4x{kind}>")


@each("text, pack, kind, due", [
    ("sub.s32 $0, $1, $2;", 1, "i32", [-9, 9, 1 - 2**31, 2]),
    ("sub.s32 $0, $2, $4; sub.s32 $1, $3, $5;", 2, "i32", [-9, 9, 1 - 2**31, 2]),
    ("{ .reg .b32 none; mov.b32 none, 0; lop3.b32 $0, $1, $2, none, 0xC0; }", 1, "i32", [0, 6, -2**31, 1]),
    ("xor.b32 $0, $1, $2;", 4, "i8", [-5, -7, -1, 6]),
])
def test_assembly_of_registers(text: str, pack: int, kind: str, due: list[int]):
    assert run(ASSEMBLY.format(text, pack, kind=kind), A, B, given=kind, made=kind).tolist() == due


@each("text, name", [
    ("ld.global.b32 $0, [$1];", r"assembly ld.global.b32"), ("add.s32 $0, $1, %laneid;", "assembly operand %laneid"),
    ("add.s32 $1, $1, $2;", "assembly that leaves a result unwritten"),
])
def test_other_assembly_is_named(text: str, name: str):
    with pytest.raises(NotEvaluated, match=name):
        run(ASSEMBLY.format(text, 1, kind="i32"), A, B)


BOX = """%c1 = arith.constant 1 : i64
    %n = arith.constant {extent} : i32
    %from = arith.constant {start} : i32
    %d = tt.make_tensor_descriptor %x, [%n], [%c1] : !tt.ptr<i32>, <4xi32>
    %e = tt.make_tensor_descriptor %y, [%n], [%c1] : !tt.ptr<i32>, <4xi32>
    %g = tt.descriptor_load %d[%from] : !tt.tensordesc<4xi32> -> tensor<4xi32>
    tt.descriptor_store %e[%from], %g : !tt.tensordesc<4xi32>, tensor<4xi32>
    %h = tt.load %ay : tensor<4x!tt.ptr<i32>>
    %v = arith.addi %g, %h : tensor<4xi32>"""


@each("start, extent, due", [
    (0, 4, [-14, 14, 0, 10]), (0, 3, [-14, 14, 0, 3]),  # the fourth is zero on the way in and left out on the way back
    (-1, 4, [-7, -7 + 7, 7 - 2**31, -2**31 + 3]), (2, 4, [2 - 2**31, -2 + 5, -2**31, 5]),
])
def test_what_a_box_has_outside_of_its_array(start: int, extent: int, due: list[int]):
    assert run(BOX.format(start=start, extent=extent), A, B).tolist() == due


@each("padding, filled", [("", 0.0), (" {padding = 1 : i32}", 0.0),
                                               (" {padding = 2 : i32}", np.nan)])
def test_a_box_is_filled_with_what_its_descriptor_says(padding: str, filled: float):
    box = """%c1 = arith.constant 1 : i64
    %n = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %d = tt.make_tensor_descriptor %x, [%n], [%c1]PADDING : !tt.ptr<f32>, <4xf32>
    %v = tt.descriptor_load %d[%zero] : !tt.tensordesc<4xf32> -> tensor<4xf32>""".replace("PADDING", padding)
    found = run(box, np.arange(1, 5), B, given="f32", made="f32")
    np.testing.assert_array_equal(found, np.array([1, 2, filled, filled], np.float32))


REINTERPRETED = """#rows = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#columns = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}}>
#flat = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#turned = #ttg.swizzled_shared<{{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}}>
""" + PROGRAM
VIEW = """%m = tt.reshape %a : tensor<4xi32> -> tensor<2x2xi32>
    %s = ttg.local_alloc %m : (tensor<2x2xi32>) -> !ttg.memdesc<2x2xi32, #{}, #smem, mutable>
    %t = ttg.memdesc_reinterpret %s : !ttg.memdesc<2x2xi32, #{}, #smem, mutable> -> !ttg.memdesc<4xi32, #flat, #smem, \
mutable>
    %v = ttg.local_load %t : !ttg.memdesc<4xi32, #flat, #smem, mutable> -> tensor<4xi32>"""


def test_a_buffer_is_read_otherwise_as_it_lies_in_memory():
    assert run(VIEW.format("rows", "rows"), A, B, program=REINTERPRETED).tolist() == list(A)
    assert run(VIEW.format("columns", "columns"), A, B, program=REINTERPRETED).tolist() == [-7, -2**31, 7, 5]
    with pytest.raises(NotEvaluated, match="a layout that is not plain"):
        run(VIEW.format("turned", "turned"), A, B, program=REINTERPRETED)


TURNS = """%c0 = arith.constant 0 : i32
    %s = ttg.local_alloc : () -> BUFFER
    %full = ttg.local_alloc : () -> BARRIER
    ttng.init_barrier %full, 1 : BARRIER
    %v = ttg.warp_specialize(%s, %full, %a) attributes {requestedRegisters = array<i32: 48>}
    default {
      ttng.wait_barrier %full, %c0 : BARRIER
      %got = ttg.local_load %s : BUFFER -> tensor<4xi32>
      ttg.warp_yield %got : tensor<4xi32>
    }
    partition0(%to: BUFFER, %done: BARRIER, %given: tensor<4xi32>) num_warps(4) {
      ttg.local_store %given, %to : tensor<4xi32> -> BUFFER
      ARRIVE
      ttg.warp_return
    } : (BUFFER, BARRIER, tensor<4xi32>) -> \
tensor<4xi32>""".replace("BUFFER", "!ttg.memdesc<4xi32, #flat, #smem, mutable>").replace(
    "BARRIER", "!ttg.memdesc<1xi64, #flat, #smem, mutable>")


def test_partitions_take_turns_and_a_wait_that_nothing_ends_is_named():
    arrive = "ttng.arrive_barrier %done, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>"
    assert run(TURNS.replace("ARRIVE", arrive), A, B).tolist() == list(A)
    with pytest.raises(NotEvaluated, match="a wait that nothing ends"):
        run(TURNS.replace("ARRIVE", ""), A, B)


def test_a_poll_for_what_another_program_writes_is_named():
    polled = "%p = tt.atomic_poll acquire, gpu, %ax, {} : tensor<4x!tt.ptr<i32>>, tensor<4xi32> -> tensor<4xi1>\n" \
             "    %v = arith.extui %p : tensor<4xi1> to tensor<4xi32>"
    assert run(polled.format("%a"), A, B).tolist() == [1] * 4
    with pytest.raises(NotEvaluated, match="what another program writes"):
        run(polled.format("%b"), A, B)


BUFFER = """%k = arith.constant dense<[0, 1, {far}, 3]> : tensor<4xi32>
    %m = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
    %v = amdg.buffer_load %x[%k], %m{other} : {kind}tensor<4xi32>"""


@each("far, other, due", [
    (2, "", [-7, 0, -2**31, 5]), (2, ", %b", [-7, -2, -2**31, 5]), (-1, "", [-7, 0, 0, 5]),
    (2**29, ", %b", [-7, -2, 0, 5]),
])
def test_a_buffer_holds_zeros_beyond_its_end_and_where_nothing_is_read(far: int, other: str, due: list[int]):
    for kind in ("!tt.ptr<i32> -> ", ""):  # versions print either
        assert run(BUFFER.format(far=far, other=other, kind=kind), A, B).tolist() == due
