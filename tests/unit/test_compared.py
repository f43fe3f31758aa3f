"""What differs in a statement counts as run where it comes to something else than the other text would."""

import ast
import enum

import pytest

from tridiff.fuzz.backends.beside import differ
from tridiff.fuzz.backends.watched import effect, idle, noting, put_notes
from tridiff.fuzz.builds.changed import places

each = pytest.mark.parametrize


def noted(before: str, after: str, *arguments: object) -> bool:
    """Whether one call of a function notes that it may come to something else in the other text of it. What it returns
    or raises is as without notes."""
    tree = ast.parse(before)
    old, new = tree.body[0], ast.parse(after).body[0]
    assert isinstance(old, ast.FunctionDef) and isinstance(new, ast.FunctionDef)
    beside = places(old, new)
    put_notes(tree, {old.name: (0,)}, {}, {old.name: dict.fromkeys(beside, 0)}, {old.name: beside})
    found: set[int] = set()
    results = []
    for one, names in ((tree, noting(found.add)), (ast.parse(before), {})):
        space = {**names, "effect": lambda value: value}
        exec(compile(one, "text", "exec"), space)
        try:
            results.append(space[old.name](*arguments))
        except LookupError as error:
            results.append(str(error))
    assert results[0] == results[1] and 0 in found
    assert found <= {0, effect(0), idle(0)}
    return effect(0) in found


CONDITION = "def f(x, y):\n    if {}:\n        return 1\n    return 2\n"


@each("before, after, same, other", [
    ("x > 3", "x >= 3", (5, 0), (3, 0)), ("x", "x is not None", (4, 0), (0, 0)),
    ("effect(x) and y > 1", "effect(x) and y > 2", (1, 3), (1, 2)),
    ("effect(x) and y > 1", "effect(x) and y > 2", (0, 2), (1, 2)),
    ("not effect(y + 0)", "not effect(y + 1 - x)", (1, 5), (2, 5)),
    ("isinstance(x, int)", "isinstance(x, bool)", ("a", 0), (1, 0)), ("x == 1", "x == 1 or y.no", (1, 0), (0, 0))])
def test_a_condition_counts_where_the_other_is_met_otherwise(before: str, after: str, same: tuple[object, ...],
                                                             other: tuple[object, ...]):
    texts = CONDITION.format(before), CONDITION.format(after)
    assert not noted(*texts, *same) and noted(*texts, *other)


@each("call", ["x.join({})", "x.index({})", "x.split({})", "max([{}], key=x.join)"])
def test_what_may_build_operations_is_evaluated_once(call: str):
    made: list[object] = []
    built = type("Built", (), {name: lambda self, value: made.append(value) for name in ("join", "index", "split")})()
    texts = (f"def f(x):\n return {call.format(number)}\n" for number in (1, 2))
    assert noted(*texts, built) and made == [1, 1], "with notes, and without"


@each("before, after, same, other", [
    ("return effect(x[0])", "return effect(x[1])", [3, 3], [3, 4]), ("y = x[0]\n return y", "y = x[-1]\n return y", [2],
                                                                         [1, 2]),
    ("return [*x, len(x)]", "return [*x, 2]", "ab", "abc"), ("return x['a']", "return x.get('a')", {"a": 1}, {}),
    ("return x", "if x > 3: return 3\n return x", 2, 4), ("y = x", "y = x\n if x > 3: return 3", 2, 4),
    ("for i in range(len(x)): effect(i)", "for i in range(len(x) or 1): effect(i)", "a", "")])
def test_values_count_where_they_are_others(before: str, after: str, same: object, other: object):
    texts = f"def f(x):\n {before}\n", f"def f(x):\n {after}\n"
    assert not noted(*texts, same) and noted(*texts, other)


@each("after", [
    "return effect(x)", "return [a for a in x]", "return [effect(a + 1) for a in x]", "y = [effect(a) for a in x]",
    "return f'{effect(x)}'", "if x: return [effect(a) for a in x]", "pass"])
def test_what_cannot_be_asked_counts_whenever_it_runs(after: str):
    assert noted("def f(x):\n return [effect(a) for a in x]\n", f"def f(x):\n {after}\n", (1, 2))


def test_a_statement_more_does_not_hide_another_change():
    before = "def f(x):\n y = 1\n return y\n"
    assert not noted(before, "def f(x):\n if x: return 3\n y = 1\n return y\n", 0)
    assert noted(before, "def f(x):\n if x: return 3\n y = 1\n return y + 1\n", 0)


class Colour(enum.Enum):
    RED, BLUE = 1, 2


@each("one, other, apart", [
    (1, 1.0, True), (True, 1, True), (0.0, -0.0, True), (float("nan"), float("nan"), False),
    ([1, (2,)], [1, (2,)], False),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ({1: [2]}, {1: [3]}, True), (Colour.RED, Colour.BLUE, True),
    (object(), object(), True), (int, float, True), ({1, 2}, {2, 1}, False)])
def test_values_are_the_same_if_nothing_tells_them_apart(one: object, other: object, apart: bool):
    assert differ(one, other) is apart


def test_types_of_triton_are_compared_by_what_they_hold():
    tl = pytest.importorskip("triton.language")
    one, same, other = (tl.block_type(tl.float32, [size]) for size in (4, 4, 8))
    assert not differ(one, same) and differ(one, other)
