"""Constructs in files: short ones are a line that is read back as the same, and nothing else."""

import json

import msgspec
import pytest

from tests.support.refusals import refusal
from tridiff.fuzz.records.codec import decode, without_defaults
from tridiff.fuzz.statements.draft import node, variable
from tridiff.kernels.language.call import Call, Operand
from tridiff.kernels.language.script import Node, Script

each = pytest.mark.parametrize


def number(value: str) -> Node:
    return node("number", value=value)


LONG = node("block", *[variable("v" * 40)] * 4)


@each("node, written", [
    (node("else"), "else"), (variable("x0"), "name(name=x0)"),
    (node("item", number("-1.5"), place=2, list=True),
     "item(place:2, list:true, number(value=-1.5))"),
    (node("compare", variable("a"), variable("b"), op="=="),
     "compare(op===, name(name=a), name(name=b))"),
    (node("unary", variable("a"), op="not "), "unary(op=not , name(name=a))"),
    (node("text", of=""), "text(of=)"), (node("text", of="true"), "text(of=true)"),
    (node("text", of="f(x)"), {"row": "text", "words": {"of": "f(x)"}}),
    (node("text", of="a, b"), {"row": "text", "words": {"of": "a, b"}}),
    (LONG, {"row": "block", "parts": [f"name(name={'v' * 40})"] * 4}),
])
def test_a_short_construct_is_a_line(node: Node, written: object):
    script = Script(body=(node,), functions=(node,))
    told = without_defaults(script)
    assert told == {"type": "script", "functions": [written], "body": [written]}
    assert msgspec.convert(told, Script) == script == msgspec.json.decode(msgspec.json.encode(script), type=Script)


@each("line", [
    "", "a(", "a()", "a(b=1", "a(b=1,c)", "a(b=1) ", "a(b:x)", "a(b=1, b=2)", "a b", "a(b))", "1a", "a(b=\u00e4)",
    f"a(b={'1' * 61})", f"a({', '.join('b' * 13)})", "a(" * 9000])
def test_what_is_no_construct_is_refused_in_one_line(line: str):
    assert len(refusal(lambda: decode(json.dumps({"type": "script", "body": [line]}), Script))) < 300


@each("operand, written", [
    (Operand(dtype="i32", shape=(16, 2)), "i32[16,2]"), (Operand(dtype="i32"), "i32"),
    (Operand(kind="scalar", dtype="u64"), "scalar u64"),
    (Operand(kind="constexpr", dtype="fp32", number='float("-inf")'), 'constexpr fp32 float("-inf")'),
    (Operand(dtype="scalar", shape=(1,)), "scalar[1]"), (Operand(dtype="i32", number="7"), "i32 7"),
    (Operand(dtype="scalar", number="7"), {"dtype": "scalar", "number": "7"}),
])
def test_an_operand_is_a_line(operand: Operand, written: object):
    for program in (Script(operands=(operand,)), Call(row="tl.x", operands=(operand,))):
        told = without_defaults(program)
        assert isinstance(told, dict) and told["operands"] == [written]
        assert msgspec.convert(told, type(program)) == program


@each("line", [
    "", "i32[]", "i32[0]", "i32[99999]", "i32[1,1,1,1,1,1]", "I32", "block i32", "number i32 x", "i32 1 2",
    "i32[1", f"i{'3' * 9}"])
def test_what_is_no_operand_is_refused_in_one_line(line: str):
    assert len(refusal(lambda: decode(json.dumps({"type": "call", "row": "a", "operands": [line]}), Call))) < 300
