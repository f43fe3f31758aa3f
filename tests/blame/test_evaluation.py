"""The evaluator of TTIR and TTGIR: what it computes, what it refuses, and that it sees a fault where it was planted."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import addition, division
from tridiff.fuzz.blame.planted import edits_of, plant
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.evaluate.errors import NotEvaluated, OutOfBounds
from tridiff.fuzz.evaluate.machine import Machine
from tridiff.fuzz.evaluate.memory import Memory
from tridiff.fuzz.evaluate.parse import parse
from tridiff.fuzz.records import Case, Verdict

ENTRIES = Corpus(Path(__file__).resolve().parents[2] / "corpus")

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


def run(lines: str, a: np.ndarray, b: np.ndarray, *, given: str = "i32", made: str = "i32") -> np.ndarray:
    """What a program of a few operations on %a and %b, both of 4 elements, stores of its value %v."""
    kinds = {"i32": np.int32, "f32": np.float32, "i8": np.int8, "i64": np.int64, "f16": np.float16}
    x, y = a.astype(kinds[given]), b.astype(kinds[given])
    out = np.zeros(4, kinds[made])
    text = PROGRAM.format(lines=lines, given=given, made=made)
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


@pytest.mark.parametrize(("lines", "expected"), [
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
def test_integers_and_regions(lines: str, expected: list[int]) -> None:
    assert run(lines, A, B).tolist() == expected


@pytest.mark.parametrize(("lines", "expected"), [
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
def test_floats(lines: str, expected: list[str]) -> None:
    assert [str(float(one)) for one in run(lines, F, G, given="f32", made="f32")] == expected


def test_moved_bits_stay_as_they_are() -> None:
    signalling = np.array([0x7F800001, 0x7FC01234, 1, 0xFF800000], dtype=np.uint32).view(np.float32)
    moved = run("%v = ttg.convert_layout %a : tensor<4xf32> -> tensor<4xf32>", signalling, signalling, given="f32",
                made="f32")
    assert moved.view(np.uint32).tolist() == signalling.view(np.uint32).tolist()


@pytest.mark.parametrize(("lines", "name"), [
    ("%v = tt.unheard_of %a : tensor<4xi32>", "not evaluated: op tt.unheard_of"),
    ("%v = tt.extern_elementwise %a {symbol = \"__nv_unheard\"} : (tensor<4xi32>) -> tensor<4xi32>", "__nv_unheard"),
    ("%v = arith.bitcast %a : tensor<4xi32> to tensor<4xf4>", "type f4"),
])
def test_what_it_does_not_know_it_names(lines: str, name: str) -> None:
    with pytest.raises(NotEvaluated, match=name):
        run(lines, A, B)


def test_an_access_outside_of_every_array_is_no_value() -> None:
    far = "%k = arith.constant dense<1000> : tensor<4xi32>\n    %p = tt.addptr %ax, %k : tensor<4x!tt.ptr<i32>>, " \
          "tensor<4xi32>\n    %v = tt.load %p : tensor<4x!tt.ptr<i32>>"
    with pytest.raises(OutOfBounds):
        run(far, A, B)


RIGHT = (
    "codegen.pointwise/value-580f48d91e", "codegen.random/value-e9cf99de9c", "codegen.scan/value-a9b5c5566c",
    "gluon.reduce_scan_layouts/value-b42e750096", "helpers.max2/value-1ba7511be9", "language.scans/value-018e4479a3",
    "language.gluon/value-c83ff3a43a", "language.conversions/nan-missing-ac60e5b7be",
    "language.memory/command----path-----line-be5ae97611", "helpers.welford_combine/value-17ebe270f3",
)
"""Cases that fail on a device or on the interpreter because of what is below TTGIR or beside it."""


@pytest.mark.parametrize("name", RIGHT)
def test_every_pass_of_a_right_compilation_is_right(name: str) -> None:
    found = Evaluation("sm_90").values(ENTRIES.find(name).case, "own", seconds=60)
    assert len(found) > 2
    assert [(one.problem, one.outcome and one.outcome.verdict) for one in found] == [("", Verdict.AGREE)] * len(found)


ADDITION, DIVISION = addition(rows=10, block=4), division((-7, 9), (2, -4), target="triton.floordiv")
SWAPPED = r"arith.divsi (%\w+), (%\w+) : => arith.divsi \2, \1 :"


@pytest.mark.parametrize(("case", "fault", "step"), [
    (ADDITION, r"front-end: (tt.store %\w+, %\w+), %\w+ : => \1 :", ""),
    (ADDITION, r"front-end: slt, => sle,", ""),
    (ADDITION, r"make_ttir add_combine: arith.addi (%\w+), (%\w+) : => arith.subi \1, \2 : @1",
     "make_ttir add_combine"),
    (ADDITION, "make_ttir add_cse: cmpi slt, => cmpi sle,", "make_ttir add_cse"),
    (ADDITION, r"make_ttgir add_coalesce: (tt.store %\w+, %\w+), %\w+ : => \1 :", "make_ttgir add_coalesce"),
    (ADDITION, "make_ttgir add_remove_layout_conversions: cmpi slt, => cmpi sgt,",
     "make_ttgir add_remove_layout_conversions"),
    (DIVISION, f"front-end: {SWAPPED}", ""),
    (DIVISION, f"make_ttir add_canonicalizer: {SWAPPED}", "make_ttir add_canonicalizer"),
    (DIVISION, f"make_ttgir add_coalesce: {SWAPPED}", "make_ttgir add_coalesce"),
])
def test_a_planted_fault_is_seen_behind_its_pass(case: Case, fault: str, step: str) -> None:
    found = Evaluation("sm_90", **edits_of(fault)).values(case, "own", seconds=60)
    *before, last = found
    assert last.outcome is not None
    assert last.outcome.verdict is Verdict.DISAGREE
    assert (last.behind.title if last.behind else "") == step
    assert all(one.outcome is not None and one.outcome.verdict is Verdict.AGREE for one in before)


def test_a_fault_is_read_and_misspelt_ones_are_refused() -> None:
    one = plant(r"stage ptx: add\.f32 => sub.f32 @2")
    assert (one.step, one.pattern, one.put, one.number) == ("stage ptx", r"add\.f32", "sub.f32", 2)
    assert one("add.f32 add.f32 add.f32") == "add.f32 add.f32 sub.f32"
    assert one("add.f32") == "add.f32"
    assert plant(one.written) == one
    for wrong in ("no fault", "front-end: ( => x"):
        with pytest.raises(TridiffError):
            plant(wrong)
