"""What a kernel run as Python must give, where Triton means something else than Python."""

import re
from functools import cache

import numpy as np
import pytest

from tests.support.draws import draws
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import nodes, script_of
from tridiff.fuzz.statements.constructs import expression
from tridiff.fuzz.statements.draft import Draft, node, variable
from tridiff.fuzz.statements.idioms import IDIOMS
from tridiff.fuzz.statements.meaning.memory import Memory
from tridiff.fuzz.statements.meaning.run import refusal, stored
from tridiff.fuzz.statements.meaning.values import Illegal
from tridiff.fuzz.target import Limits
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.language.script import Node
from tridiff.oracles.by_numpy import language as in_numpy
from tridiff.oracles.by_torch import language as in_torch
from tridiff.oracles.dtypes import numpy_dtype, torch_dtype

each = pytest.mark.parametrize


def computed(body: str, *, result: str, x: list[int] | list[float] | None = None, of: str = "i32",
             is_open: list[bool] | None = None) -> list[float]:
    """What `kernel` stores from a scalar `x`, the same in numpy and torch. is_open: for which values something happens
    that is open, none by default."""
    import torch

    lines = "\n".join("    " + line for line in body.splitlines())
    source = f"def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr + tl.program_id(0))\n{lines}\n" \
             "    tl.store(out_ptr + tl.program_id(0), r)\n"
    values = x or [5]
    found = []
    for lib in (in_numpy, in_torch):
        if lib is in_numpy:
            given, out = np.array(values, numpy_dtype(of)), np.zeros(len(values), numpy_dtype(result))
        else:
            given = torch.tensor(values, dtype=torch_dtype(of))
            out = torch.zeros(len(values), dtype=torch_dtype(result))
        memories = {"x_ptr": Memory(given, of), "out_ptr": Memory(out, result, written=True)}
        assert stored(source, lib, memories, {}, len(values)) == (is_open or [False] * len(values))
        found.append(out.tolist())
    assert found[0] == found[1]
    return found[0]


@each("body, result, x, of, expected", [
    # Division of integers is towards zero for tensors, and Python's own for numbers.
    ("r = x // 2", "i32", [-3, 3], "i32", [-1, 1]),
    ("n: tl.constexpr = -3 // 2\nr = x + n", "i32", [0], "i32", [-2]),
    # An assigned number is a tensor of its own type.
    ("n = 3\nr = n / 2\ntl.static_assert(r.dtype == tl.float32)", "fp32", [0], "i32", [1.5]),
    # An 8-bit loop variable goes past the largest signed number; a negative step counts down.
    ("r = 0\nfor i in range(x, x + 8):\n    r += i", "i32", [124], "u8", [124 * 8 + 28]),
    ("r = 0\nfor i in range(4, x, -2):\n    r = r * 10 + i", "i32", [-1, 4], "i32", [420, 0]),
    ("r = 0\nwhile (r < 9) and (r != x):\n    r += 1", "i32", [4, 100], "i32", [4, 9]),
    # Sides of a conditional expression, chains of comparisons, unsigned wrap-around.
    ("r = x if 2 < x <= 5 else -x", "i32", [2, 3, 5, 6], "i32", [-2, 3, 5, -6]),
    ("r = x - 1", "u8", [0], "u8", [255]),
    ("a, b = x, 2\na, b = b, a\nr = a - b", "i32", [7], "i32", [-5]),
    # Extrema whose type each version has its own of, converted to the one that is right.
    ("r = min(x.to(tl.bfloat16), 3.25).to(tl.bfloat16).to(tl.int32)", "i32", [-2, 9], "i32", [-2, 3]),
    ("r = tl.maximum(x.to(tl.float16), x.to(tl.bfloat16)).to(tl.float16)", "fp16", [2049], "i32", [2048]),
    ("r = max(x.to(tl.int8), 3).to(tl.int8)", "i8", [-3, 9], "i32", [3, 9]),
    ("r = tl.minimum(x.to(tl.bfloat16), x)", "fp32", [-3, 257], "i32", [-3, 256]),
    ("r = tl.max(x.to(tl.bfloat16) + tl.zeros((4,), tl.bfloat16))", "fp32", [257], "i32", [256]),
    ("r = min(False, x.to(tl.float16)) + tl.maximum(x, 6).to(tl.float16)", "fp16", [-3, 9], "i32", [3, 9]),
])
def test_what_statements_give(body: str, result: str, x: list[int], of: str, expected: list[float]):
    assert computed(body, result=result, x=x, of=of) == expected


def has_no_meaning(source: str) -> bool:
    """Whether a kernel of one number and one result is refused."""
    memories = {name: Memory(np.ones(1, bool), "i32", written=name == "out_ptr") for name in ("x_ptr", "out_ptr")}
    return bool(refusal(source, memories, {}))


@each("body", [
    "r = x & 1.5", "r = x // 2.0", "r = not x", "r = x\nif x > 0:\n    r = 1.5",
    "if x > 0:\n    r = x", "for i in range(0, 4):\n    r = i", "r = x if x > 0 else 1.5",
    "tl.static_assert(x.dtype == tl.int8)\nr = x", "for i in range(0, 4, 0.5):\n    r = x\nr = x",
    # No Triton folds a scalar.
    "r = tl.sum(x)", "r = tl.max(x, axis=0)",
    # The front end goes through the bodies of loops that never run, and through branches below branches.
    "k = 0\nwhile k:\n    r = x & 1.5\nr = x", "r = x\nwhile 4 > 5:\n    k = (3).to(tl.int8)",
    "r = x\nif x > 0:\n    r = x + 1\nelse:\n    if x < -3:\n        r = x + 2\n    else:\n        if x < -1:\n"
    "            r = x & 1.5",
    "r = x\nfor i in tl.static_range(-1, 2, 1):\n    while r > 5:\n        r = (r.to(tl.uint32) * i).to(tl.int32)",
    # In another trip of the unrolled loop the same branch is fine.
    "r = x\nfor i in tl.static_range(-1, 2, 2):\n    if x > 0:\n        r += 1\n    elif x < -3:\n        r += 2\n"
    "    else:\n        r = (r.to(tl.uint32) * i).to(tl.int32)",
    # Python warns of it by itself, which nobody needs to see.
    "r = 3[0]",
    # Extrema whose type each version has its own of.
    "r = min(x.to(tl.bfloat16), x.to(tl.bfloat16))",
    "r = tl.minimum(x.to(tl.float16), x.to(tl.bfloat16))", "r = tl.maximum(2.5, x.to(tl.float16))",
    "r = max(x.to(tl.int8), 3)", "r = min(x.to(tl.bfloat16), x.to(tl.bfloat16)).to(tl.float32)",
    "r = min(x.to(tl.bfloat16), 1.5)\nr = r.to(tl.bfloat16)",
    "r = tl.maximum(x.to(tl.float16), x.to(tl.bfloat16)) + x.to(tl.float16)",
    "r = (min(x.to(tl.bfloat16), 1.5) if x > 0 else x.to(tl.bfloat16)).to(tl.bfloat16)",
    # Of two numbers Python makes a number, also where a function's argument is one.
    "r = x + max(4, 3).to(tl.int32)",
])
def test_what_the_language_refuses(body: str, recwarn: pytest.WarningsRecorder):
    lines = "\n".join("    " + line for line in body.splitlines())
    source = f"def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr)\n{lines}\n    tl.store(out_ptr, r)\n"
    assert has_no_meaning(source) and not recwarn.list


@each("body, call, refused", [
    ("n = 3\n    while a > n:\n        n = a.to(tl.uint16)\n    return n", "f(x)", True),
    ("while a < 3:\n        a = a + 0.5\n    return a", "f(x)", True),
    ("if a < 3:\n        b = a\n    else:\n        b = a.to(tl.int8)\n    return b", "f(x)", True),
    # What is unpacked keeps its types as well.
    ("n, (k, b) = 3, (a, 4)\n    while a > k:\n        b = a.to(tl.uint16)\n    return n", "f(x)", True),
    ("n, b = 3, a\n    while b < n:\n        b, n = n, a.to(tl.int8)\n    return b", "f(x)", True),
    ("n, b = 3, a\n    while b < n:\n        n, b = b, n\n    return n", "f(x)", False),
    # Two calls with arguments of different types are two functions.
    ("b = a\n    if a < 3:\n        b = a + a\n    return b", "f(x) + f(x.to(tl.int16))", False),
])
def test_variables_of_a_function_keep_their_types_in_loops_and_branches(body: str, call: str, refused: bool):
    source = f"@triton.jit\ndef f(a):\n    {body}\n\n\ndef kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr)\n" \
             f"    r = {call}\n    tl.store(out_ptr, r)\n"
    assert has_no_meaning(source) is refused


_PAIR = """@tl.core._aggregate
class Pair:
    a: tl.tensor
    n: tl.constexpr

    @triton.constexpr_function
    def __init__(self, a, n):
        self.a = a
        self.n = n

@tl.core._aggregate
class Heir(Pair):
    pass

"""


@each("other, refused", [("x + 1", False), ("x.to(tl.int8)", True), ("x[None]", True)])
@each("made, first", [("({0}, {1})", "[0]"), ("Pair({0}, {1})", ".a")])
@each("where", ["if x > 1:", "for i in range(3):"])
def test_what_variables_hold_keeps_its_types_in_loops_and_branches(
        where: str, made: str, first: str, other: str, refused: bool):
    """Of tuples and of aggregates, which exchange two tensors here."""
    second = "[1]" if first == "[0]" else ".n"
    body = f"v = {made.format('x', other)}\n    {where}\n        v = {made.format('v' + second, 'v' + first)}\n"
    source = _PAIR.replace("n: tl.constexpr", "n: tl.tensor") + (
        f"def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr)\n    {body}    tl.store(out_ptr, x)\n")
    assert has_no_meaning(source) is refused


@each("made, refused", [
    ("Pair(x, 3).a", False), ("Heir(x, 3).a", False), ("Pair(2 + 1, 3).a + x", True), ("Heir(True, 3).a | x", True)])
def test_fields_that_are_tensors_take_no_numbers(made: str, refused: bool):
    source = _PAIR + f"def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr)\n    tl.store(out_ptr, {made})\n"
    assert has_no_meaning(source) is refused


def test_undefined_results_are_open_and_endless_loops_end():
    source = "def kernel(x_ptr, out_ptr):\n    tl.store(out_ptr, tl.load(x_ptr) // 0)\n"
    memories = {name: Memory(np.ones(1, np.int32), "i32", written=name == "out_ptr") for name in ("x_ptr", "out_ptr")}
    assert stored(source, in_numpy, memories, {}, 1) == [True]
    endless = "def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr)\n    while x > 0:\n        x = x | 1\n"
    with pytest.raises(Illegal, match="does not end"):
        stored(endless, in_numpy, memories, {}, 1)


@cache
def drawn() -> list[list[Node]]:
    """The statements of some programs of every topic."""
    found = []
    for topic, number in (("statements", 150), ("functions", 120), ("pointers", 120)):
        target = find(f"language.{topic}")
        for case in draws(target.draw.cases(Limits()), number, seed=1):
            assert target.draw.valid(case)
            found.append(list(nodes(script_of(case).body)))
    return found


def test_every_passage_is_run_by_some_draw_and_means_something():
    """What a passage leaves is a tensor, whatever its operands are drawn to be."""
    met = {one.word("name") for body in drawn() for one in body if one.row == "idiom"}
    assert len(met) > 0.85 * len(IDIOMS), set(IDIOMS) - set(met)


def test_assertions_that_are_drawn_hold_for_every_number():
    """A condition on NaN as well; one that does not hold is outside the contract, and such a case is not checked."""
    asserted = [one.parts[0] for body in drawn() for one in body
                if one.row == "asserted" and one.word("kind") != "static"]
    assert len(asserted) > 9
    for condition in asserted:
        text = expression(condition)
        for value in (float("nan"), -1, 0, 1):
            assert eval(re.sub(r"\b[a-z]\w*\b(?<!or)", str(value) if value == value else "nan", text), {"nan": value})
    with pytest.raises(Declined, match="a failed assertion"):
        computed("assert x > 5\nr = x", result="i32", x=[5])


def test_a_function_returns_one_type_wherever_it_returns():
    """The front end refuses others, for the types of a call, and goes on behind a return that is taken for sure."""
    function = "def f(a, n):\n    if a > {0}:\n        return {1}\n    return {2}\n\n"

    def refused(condition: str, early: str, late: str, call: str = "f(x, 3)") -> str:
        source = function.format(condition, early, late) + (
            "def kernel(x_ptr, out_ptr):\n    x = tl.load(x_ptr + tl.program_id(0))\n"
            f"    r = {call}\n    tl.store(out_ptr + tl.program_id(0), x)\n")
        memories = {name: Memory(np.zeros(4, np.int32), "i32", written=name == "out_ptr")
                    for name in ("x_ptr", "out_ptr")}
        return refusal(source, memories, {})

    assert "several types" in refused("0", "a.to(tl.int16)", "a // 2")
    assert "several types" in refused("0", "(a, a)", "(a, a.to(tl.int8))")
    assert not refused("0", "a + 1", "a // 2") and not refused("0", "1", "-1") and not refused("0", "1", "a")
    assert not refused("0", "a * 1", "a", "f(x, 3) + f(x.to(tl.int64), 3)")
    function = "def f(a, n):\n    if n > 0:\n        if n > {0}:\n            return {1}\n    return {2}\n\n"
    assert "several types" in refused("1", "a.to(tl.int16)", "a") and "NoneType" in refused("1", "a", "a + None")
    assert not refused("3", "a.to(tl.int16)", "a") and not refused("1", "a", "a // 2", "f(x, 3) + f(x, 2)")
    # Of branches that are apart only one is there.
    function = "def f(a, n):\n    if n > {0}:\n        return {1}\n    else:\n        return {2}\n\n"
    assert not refused("0", "a", "a.to(tl.int16)")
    function = "def f(a, n):\n    if a > {0}:\n        b = a.to(tl.int8)\n        return {1}\n    return {2}\n\n"
    assert not refused("n", "a", "a // 2") and "UnboundLocalError" in refused("n", "a", "a + b")
    # Each call goes every way.
    function = ("def f(a, n):\n    if a > {0}:\n        b = {1}\n    elif a > 2:\n        b = a\n    else:\n"
                "        b = {2}\n    return b\n\n")
    assert not refused("4", "a", "n.to(tl.int32)", "f(x, x)")
    assert "AttributeError" in refused("4", "a", "n.to(tl.int32)", "f(x, 3) + f(x, x)")


@each("extremum", ["tl.minimum(x, -x)", "max(-x, x)", "max(x * -1.0, 0)", "min(0.0, -x)",
                                      "tl.max(x * (1 - 2 * tl.arange(0, 2).to(tl.float32)))"])
def test_which_zero_an_extremum_of_both_gives_is_open_to_whoever_looks_at_its_bits(extremum: str):
    """min.f32 gives -0.0, numpy the first of the two; elsewhere no contract tells zeros apart."""
    bits = f"y = {extremum}\nr = y.to(tl.int32, bitcast=True) & 0"
    computed(bits, result="i32", x=[0.0, 1.0, float("inf")], of="fp32", is_open=[True, False, False])
    assert computed(f"y = {extremum}\nr = y == 0", result="i1", x=[0.0, 1.0], of="fp32")[0] is True
    computed("y = tl.maximum(x, 1.0) - 1\nr = y.to(tl.int32, bitcast=True)", result="i32", x=[0.0, 1.0], of="fp32")


def test_an_expression_means_the_same_each_time_it_is_asked():
    """A return from within a loop leaves it in the middle."""
    draft = Draft(lambda strategy: strategy)  # nothing is drawn
    draft.learn(["def f1(a1):", "    while a1 > 0:", "        return a1", "    return a1.type.element_ty"])
    draft.define("x1", ("i32", ()))
    made = node("invoke", variable("x1"), name="f1", keywords="")
    assert [draft.kind(made) for _ in range(3)] == [("i32", ())] * 3


def test_extrema_of_bf16_are_drawn_and_converted_at_once_and_of_numbers_beside_tensors():
    extrema = converted = 0
    numbers = {"left": 0, "right": 0, "converted": 0}
    functions = ("min", "max", "tl.minimum", "tl.maximum")
    for body in drawn():
        for one in body:
            pairs = [part for part in one.parts if part.row == "call" and part.word("function") in functions]
            converted += bool(pairs) and one.row == "cast" and one.words["to"] == "bf16"
            extrema += one.row == "fold"
            for pair in pairs:
                beside = [part.row == "number" for part in pair.parts]
                numbers["left"] += beside[0]
                numbers["right"] += beside[1]
                numbers["converted"] += any(beside) and one.row == "cast"
                assert not all(beside), "of two numbers the interpreter makes a number"
    assert converted > 0 and extrema > 0 and all(numbers.values()), numbers
