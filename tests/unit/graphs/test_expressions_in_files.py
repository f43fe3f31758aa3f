"""Index expressions and nodes in files: text that is read back as the same, and nothing else."""

import msgspec
import pytest

from tests.unit.graphs.graphs import X, apply, cast, constant, load, num, op, store
from tridiff.fuzz.records.codec import without_defaults
from tridiff.kernels.codegen.graph import (
    Expr,
    Graph,
    Index,
    Load,
    Node,
    Real,
    Store,
    node_read,
    node_written,
    read,
    written,
)

each = pytest.mark.parametrize
STRIDED = apply("add", apply("mul", X, num(-63)), apply("to_float", Real(value="0x1.8p-3")))


def test_a_node_says_its_expression_as_text_and_is_read_from_it():
    assert written(STRIDED) == "add(mul(x0, -63), to_float('0x1.8p-3'))"
    for node in (Index(expr=STRIDED), load("in0", STRIDED), store("out0", STRIDED, 1)):
        told = without_defaults(node)
        assert isinstance(told, dict) and written(STRIDED) in told.values()
        assert msgspec.convert(told, Node) == node
        assert msgspec.json.decode(msgspec.json.encode(node), type=Node) == node, "messages have it part by part"


def test_a_real_that_a_quote_would_end_stays_as_it_is():
    for value in ("it's", "'"):
        told = without_defaults(Index(expr=Real(value=value)))
        assert isinstance(told, dict) and told["expr"] == {"type": "real", "value": value}


@each("text", [
    "", "add(", "add()", "add(x0,)", "add(x0))", "x0 x0", "x0,", "pow(x0)", "Add(x0)", "add(x0) ;", "9" * 20,
    "9" * 5000,
    "min(0" + ", 1" * 8 + ")", "neg(" * 65 + "x0" + ")" * 65, "''" + "'", "x" * 40])
def test_what_is_no_expression_is_refused_in_one_line(text: str):
    with pytest.raises(ValueError):
        read(text)
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({"type": "index", "expr": text}, Node)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


@each("expr", [X, num(-(2**63)), Real(value="nan"), apply("neg", X), STRIDED])
def test_every_kind_of_expression_is_read_back(expr: Expr):
    assert read(written(expr)) == expr


@each("node, text", [
    (load("in0", STRIDED), "in0[add(mul(x0, -63), to_float('0x1.8p-3'))]"),
    (Load(buffer="in0", index=X, mask=2, other="-0.5"), "in0[x0] if v2 else -0.5"),
    (Load(buffer="in0", index=X, other="1"), ""), (Load(buffer="in0", index=X, checked=True), ""),
    (store("out0", num(7), 12), "out0[7] = v12"),
    (Store(buffer="out0", index=X, value=1, mode="atomic_add"), ""),
    (op("where", 0, 11, 2), "where(v0, v11, v2)"), (cast(3, "fp16"), "v3 to fp16"),
    (cast(3, "fp16", bitcast=True), "v3 as fp16"), (constant("nan:0x1", "fp32"), "nan:0x1 fp32"),
    (constant("1 2", "fp32"), ""), (constant("in0[x0]", "i32"), "in0[x0] i32"),
    (load("in0", Real(value="] = v1")), "in0['] = v1']"), (load("in0", Real(value="'")), ""),
    (Index(expr=X), "")])
def test_a_node_is_text_in_files_where_that_says_all_of_it(node: Node, text: str):
    assert node_written(node) == text
    if text:
        assert node_read(text) == node
    graph = Graph(outer=(1,), nodes=(node,))
    told = without_defaults(graph)
    assert isinstance(told, dict) and told["nodes"] == [text or without_defaults(node)]
    assert msgspec.convert(told, Graph) == graph


@each("text", [
    "", "in0[x0", "in0[]", "in0[x0] if v2", "in0[x0] = 3", "in0[x0] = v96", "in0[x0] = v9999", "le()", "le(0, 1)",
    "le(v0, v1, v2, v3)", "v3 into fp32", "In[x0]", "add(v0", "1.0 fp32 fp64", f"{'1' * 65} i64"])
def test_what_is_no_node_is_refused_in_one_line(text: str):
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({"type": "graph", "outer": [1], "nodes": [text]}, Graph)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200
