"""Cutting down kernels: every rewrite keeps the meaning, and does what it is for."""

import ast
import copy
import textwrap
import types

import pytest
from hypothesis import given, strategies as st

from tridiff.fuzz.repro.inline import drop_aliases, squeeze
from tridiff.fuzz.repro.simplify import DropConversions, FoldArithmetic, bind, constant_node, evaluate, fold
from tridiff.fuzz.repro.source import Program, inline_expressions, inline_statements, propagate_constants

each = pytest.mark.parametrize


def tree(text: str) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(text)).body[0]
    return node


def program(*texts: str, packages: dict[str, str] | None = None) -> Program:
    """Functions in order, the kernel last; all at home in one package unless said otherwise."""
    nodes = [tree(text) for text in texts]
    functions = {node.name: node for node in nodes}
    return Program(functions=functions, kernel=nodes[-1].name,
                   packages={name: (packages or {}).get(name, "here") for name in functions})


def body(node: ast.FunctionDef) -> str:
    return "\n".join(ast.unparse(one) for one in node.body)


def folded(text: str, **options: object) -> str:
    options = {"present": (), "visited": None} | options
    return body(fold(tree(text), **options))


@each("test, value", [
    ("'x' == 'x'", True), ("'x' != 'x'", False), ("None is None", True), ("None is not None", False), ("3 < 4", True),
    ("-1 >= 0", False), ("not True", False), ("1 == 1 and 2 == 3", False), ("x and False", False),
    ("x or True", True), ("f is None", False), ("f is not None", True),
])
def test_constant_conditions_are_decided(test: str, value: bool):
    node = ast.parse(test, mode="eval").body
    assert evaluate(node, ("f",)) is value


@each("test", ["x", "x == 1", "x and True", "f", "not f", "f == 1", "f and True", "x is None",
                                  "1 < 2 < 3", "f(x)"])
def test_other_conditions_stay(test: str):
    """`f` is present, which says that it is not None, not that it is true."""
    assert "if" in folded(f"def k(x, f):\n    if {test}:\n        x = 1\n    return x", present=("f",))


def test_folding_drops_what_constants_rule_out():
    text = """
        def k(a, FAULT: tl.constexpr, unused: int):
            "Documentation."
            tl.static_assert(a.dtype == tl.int32, "no")
            if FAULT == "x":
                a = 1
            elif FAULT == "":
                a = 2
            else:
                a = 3
            y = a if FAULT == "" and a > 0 else 7
            return y
            a = 4
    """
    node = fold(bind(tree(text), {"FAULT": constant_node("")}), present=(), visited=None)
    assert ast.unparse(node) == "def k(a, unused):\n    a = 2\n    return a if a > 0 else 7"


def test_parameters_that_stay_keep_what_they_are_by_default():
    bound = bind(tree("def k(a, b, n=1, c=2, d=None):\n    return a"), {"b": constant_node(3), "n": constant_node(4)})
    assert ast.unparse(bound.args) == "a, c=2, d=None"


def test_a_parameter_that_is_assigned_becomes_a_variable():
    assert body(bind(tree("def k(n):\n    n = n + 1\n    return n"), {"n": constant_node(4)})) == (
        "n = 4\nn = n + 1\nreturn n")


@each("value, text", [
    (-3, "-3"), (0.5, "0.5"), (float("inf"), "float('inf')"), (float("-inf"), "float('-inf')"), (None, "None"),
    (True, "True"), ("x", "'x'"),
])
def test_constants_are_written_so_that_a_kernel_can_read_them(value: bool | float | str | None, text: str):
    assert ast.unparse(constant_node(value)) == text


BRANCHES = """def k(x):
    if x.dtype.is_floating():
        y = 1
    else:
        y = 2
    if x:
        y = y + 1
    if isinstance(x, int):
        y = y + 2
    return y"""


def test_branches_that_were_not_compiled_go():
    assert folded(BRANCHES, visited={2, 5, 6, 7, 8, 10}) == "y = 2\nif x:\n    y = y + 1\nreturn y"


def test_a_branch_that_was_compiled_may_depend_on_run_time_values():
    """Both branches seen, or a body without else seen: nothing is known about the condition."""
    kept = folded(BRANCHES, visited=set(range(1, 11)))
    assert kept.count("if ") == 3
    assert folded(BRANCHES, visited=None) == kept


def test_expressions_are_inlined_where_nothing_is_evaluated_twice():
    twice = program("def double(x):\n    return x + x", "def k(p):\n    return double(p) + double(load(p)) + double(1)")
    inline_expressions(twice)
    assert body(twice.functions["k"]) == "return p + p + double(load(p)) + (1 + 1)"
    once = program("def neg(x):\n    return -x", "def k(p):\n    return neg(load(p))")
    inline_expressions(once)
    assert (list(once.functions), body(once.functions["k"])) == (["k"], "return -load(p)")


def test_a_global_that_is_a_variable_of_the_caller_is_not_captured():
    clash = program("def g(x):\n    return x + scale", "def k(p):\n    scale = 3\n    return g(p) + scale")
    inline_expressions(clash)
    assert "g(p)" in body(clash.functions["k"])


def test_a_function_whose_parameters_have_no_names_stays_one():
    for line in ("return a - b", "c = a - b\n    return c"):
        kept = program(f"def f(a, /, b):\n    {line}", "def k(x):\n    y = f(x, x)\n    tl.store(x, y)")
        inline_expressions(kept)
        inline_statements(kept, everything=True)
        assert body(kept.functions["k"]).splitlines()[0] == "y = f(x, x)"


def test_arguments_that_are_always_the_same_constant_are_filled_in():
    text = program("def search(x, wrong, kind, stride):\n    if wrong == 'other':\n        x = 0\n"
                   "    return tl.cast(x * stride, kind)",
                   "def k(p, q):\n    return search(p, 'one', tl.int64, 2) + search(q, 'one', tl.int64, 3)")
    propagate_constants(text)
    assert [ast.unparse(node) for node in text.functions.values()] == [
        "def search(x, stride):\n    return tl.cast(x * stride, tl.int64)",
        "def k(p, q):\n    return search(p, 2) + search(q, 3)"]


def test_a_tuple_of_constants_is_filled_in_element_by_element():
    """The options of a loop are one tuple, which the kernel hands on."""
    made = program("def loop(n, HINTS, K):\n    for i in tl.range(0, n, flatten=HINTS[1]):\n        f(i, HINTS[K])",
                   "def k(n):\n    loop(n, (2, True), 0)")
    propagate_constants(made)
    assert body(made.functions["loop"]) == (
        "for i in tl.range(0, n, flatten=True):\n    f(i, (2, True)[0])")
    assert body(made.functions["k"]) == "loop(n)"
    assert folded("def k(i):\n    return (2, True)[i] + (2, True)[2]") == "return (2, True)[i] + (2, True)[2]"


def test_functions_passed_by_name_stay():
    reduce = program("def smaller(a, b):\n    return min(a, b)", "def k(p):\n    return tl.reduce(p, 0, smaller)")
    inline_expressions(reduce)
    inline_statements(reduce, everything=True)
    assert list(reduce.functions) == ["smaller", "k"]


def test_scaffolding_is_inlined_and_helpers_stay():
    texts = ("def tile(n):\n    row = pid() * 4\n    mask = row < n\n    return row, mask",
             "def helper(a):\n    b = a + 1\n    b = b * b\n    return b",
             "def k(p, n):\n    row, mask = tile(n)\n    x = helper(load(p + row, mask))\n    store(p + row, x, mask)")
    packages = {"helper": "there"}
    kept = program(*texts, packages=packages)
    inline_statements(kept, everything=False)
    assert list(kept.functions) == ["helper", "k"]
    assert body(kept.functions["k"]).splitlines() == [
        "row = pid() * 4", "mask = row < n", "x = helper(load(p + row, mask))", "store(p + row, x, mask)"]
    flat = program(*texts, packages=packages)
    inline_statements(flat, everything=True)
    assert body(flat.functions["k"]).splitlines()[2:] == [
        "x = load(p + row, mask) + 1", "x = x * x", "store(p + row, x, mask)"]


def test_arrays_are_known_to_be_there_once_the_kernel_is_whole():
    one = program("def k(p, n):\n    if p is not None and n > 0:\n        store(p, n)")
    inline_statements(one, everything=False)
    assert body(one.functions["k"]) == "if n > 0:\n    store(p, n)"


def test_aliases_and_neutral_operations_go():
    node = tree("def k(a):\n    x = a\n    y = x * 1 + 0\n    y = y\n    z = tl.where(True, y, y)\n    return z + x")
    FoldArithmetic().visit(DropConversions().visit(node))
    drop_aliases(node)
    assert body(node) == "y = a\nreturn y + a" or body(node) == "return a + a"


def test_an_alias_of_something_assigned_later_stays():
    node = tree("def k(a):\n    x = a\n    a = a + 1\n    return x + a")
    drop_aliases(node)
    assert body(node) == "x = a\na = a + 1\nreturn x + a"


def test_squeezing_respects_the_width_and_loops():
    text = "def k(a):\n    x = f(a)\n    y = x + a\n    while y > 0:\n        z = y - 1\n        y = z\n    return y"
    wide, narrow = tree(text), tree(text)
    squeeze(wide, width=80, functions={})
    assert body(wide).splitlines() == ["y = f(a) + a", "while y > 0:", "    y = y - 1", "return y"]
    squeeze(narrow, width=12, functions={})
    assert "x = f(a)" in body(narrow)


# Random programs over ints and a small memory: what a rewritten program returns and stores is what the original did.

NAMES = ("a", "b", "c", "d")
CELLS = 3


class Memory:
    """What stands for `tl`: loads, stores and atomic additions on a few cells, and every store in order."""

    def __init__(self) -> None:
        self.cells = list(range(CELLS))
        self.log: list[tuple[int, int]] = []

    def load(self, at: int) -> int:
        return self.cells[at % CELLS]

    def store(self, at: int, value: int) -> None:
        self.cells[at % CELLS] = value % 97
        self.log.append((at % CELLS, value % 97))

    def atomic_add(self, at: int, value: int) -> int:
        before = self.load(at)
        self.store(at, before + value)
        return before


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...], callees: tuple[str, ...], depth: int = 2) -> str:
    kind = draw(st.integers(0, 7 if depth else 2))
    if kind >= 6 and callees:
        inner = [draw(expressions(names, callees, depth - 1)) for _ in range(2)]
        return f"{draw(st.sampled_from(callees))}({', '.join(inner)})"
    if kind == 5:
        return f"tl.load({draw(expressions(names, (), depth - 1))})"
    if kind == 4:
        return f"tl.atomic_add({draw(st.sampled_from(names))}, 1)"
    if kind == 0:
        return str(draw(st.integers(-3, 3)))
    left = draw(st.sampled_from(names))
    if kind == 1:
        return left
    right = draw(st.sampled_from((*names, "1", "0", "7")))
    return f"({left} {draw(st.sampled_from(('+', '-', '*')))} {right})"


@st.composite
def functions(draw: st.DrawFn, name: str, callees: tuple[str, ...]) -> str:
    known = ["a", "b"]
    lines = [f"def {name}(a, b):"]

    def value() -> str:
        return draw(expressions(tuple(known), callees))

    for _ in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(("assign", "assign", "assign", "pair", "if", "store", "call"))):
            case "assign":
                target = draw(st.sampled_from(NAMES))
                lines.append(f"    {target} = {value()}")
                known = sorted({*known, target})
            case "pair":
                first, second = draw(st.permutations(NAMES))[:2]
                lines.append(f"    {first}, {second} = ({value()}, {value()})")
                known = sorted({*known, first, second})
            case "if":
                lines += [f"    if {draw(st.sampled_from(known))} > 0:", f"        {known[0]} = {value()}"]
            case "store":
                lines.append(f"    tl.store({value()}, {value()})")
            case "call" if callees:
                lines.append(f"    {draw(st.sampled_from(callees))}({value()}, {value()})")
    lines.append(f"    return {value()}")
    return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, ...]:
    names: tuple[str, ...] = ()
    texts = []
    for name in ("f", "g", "h", "k"):
        texts.append(draw(functions(name, names)))
        names = (*names, name)
    return tuple(texts)


def results(functions: dict[str, ast.FunctionDef], kernel: str) -> list[object]:
    module = ast.Module(body=[copy.deepcopy(node) for node in functions.values()], type_ignores=[])
    scope = vars(types.ModuleType("program"))
    exec(compile(ast.fix_missing_locations(module), "<program>", "exec"), scope)
    found: list[object] = []
    for a in (-2, 0, 3):
        for b in (-1, 0, 5):
            scope["tl"] = memory = Memory()
            found.append((scope[kernel](a, b), memory.log))
    return found


def test_an_expression_does_not_pass_a_store():
    """The argument is evaluated before the callee stores, and stays so."""
    texts = ("def f(x):\n    tl.store(0, 1)\n    return x", "def k(p):\n    y = f(tl.load(0))\n    return y")
    moved = program(*texts)
    inline_statements(moved, everything=True)
    assert body(moved.functions["k"]).splitlines()[:2] == ["x = tl.load(0)", "tl.store(0, 1)"]
    kept = tree("def k(p):\n    x = tl.load(p)\n    y = tl.atomic_add(p, 1) + x\n    return y")
    squeeze(kept, width=110, functions={})
    assert body(kept).splitlines()[0] == "x = tl.load(p)"


@given(programs(), st.booleans(), st.booleans())
def test_random_programs_keep_their_meaning(texts: tuple[str, ...], everything: bool, squeezed: bool):
    packages = {"g": "there", "h": "there"}
    before = results(program(*texts, packages=packages).functions, "k")
    cut = program(*texts, packages=packages)
    propagate_constants(cut)
    assert results(cut.functions, "k") == before
    inline_expressions(cut)
    assert results(cut.functions, "k") == before
    inline_statements(cut, everything=everything)
    assert results(cut.functions, "k") == before
    for node in cut.functions.values():
        FoldArithmetic().visit(node)
        drop_aliases(node)
        if squeezed:
            squeeze(node, width=110, functions=cut.functions)
    assert results(cut.functions, "k") == before
    inline_expressions(cut)
    assert results(cut.functions, "k") == before
