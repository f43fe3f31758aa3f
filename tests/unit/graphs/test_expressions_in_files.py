"""Index expressions in files: text that is read back as the same, and nothing else."""

import msgspec
import pytest

from tests.unit.graphs.graphs import X, apply, num
from tridiff.fuzz.records.codec import without_defaults
from tridiff.kernels.codegen.graph import Expr, Index, Load, Node, Real, Store, read, written

STRIDED = apply("add", apply("mul", X, num(-63)), apply("to_float", Real(value="0x1.8p-3")))


def test_a_node_says_its_expression_as_text_and_is_read_from_it() -> None:
    assert written(STRIDED) == "add(mul(x0, -63), to_float('0x1.8p-3'))"
    for node in (Index(expr=STRIDED), Load(buffer="in0", index=STRIDED), Store(buffer="out0", index=STRIDED, value=1)):
        told = without_defaults(node)
        assert isinstance(told, dict) and written(STRIDED) in told.values()
        assert msgspec.convert(told, Node) == node  # type: ignore[arg-type]
        assert msgspec.json.decode(msgspec.json.encode(node), type=Node) == node, "messages have it part by part"


def test_a_real_that_a_quote_would_end_stays_as_it_is() -> None:
    for value in ("it's", "'"):
        told = without_defaults(Index(expr=Real(value=value)))
        assert isinstance(told, dict) and told["expr"] == {"type": "real", "value": value}


@pytest.mark.parametrize("text", [
    "", "add(", "add()", "add(x0,)", "add(x0))", "x0 x0", "x0,", "pow(x0)", "Add(x0)", "add(x0) ;", "9" * 20,
    "9" * 5000,
    "min(0" + ", 1" * 8 + ")", "neg(" * 65 + "x0" + ")" * 65, "''" + "'", "x" * 40])
def test_what_is_no_expression_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({"type": "index", "expr": text}, Node)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


@pytest.mark.parametrize("expr", [X, num(-(2**63)), Real(value="nan"), apply("neg", X), STRIDED])
def test_every_kind_of_expression_is_read_back(expr: Expr) -> None:
    assert read(written(expr)) == expr
