"""Each operator changes what it says, and the choice among all edits is the same every time."""

import ast
import collections
import textwrap
from pathlib import Path

import pytest
import triton

from tests.support.refusals import refused
from tridiff.fuzz.planted.choose import choose, choose_harmless, edits, edits_of
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.harmless import HARMLESS
from tridiff.fuzz.planted.operators import OPERATORS

each = pytest.mark.parametrize
PACKAGE = Path(triton.__file__).parent


def function(body: str, arguments: str = "self, a, b") -> bytes:
    return f"def work({arguments}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n".encode()


def changed(operator: str, body: str, arguments: str = "self, a, b") -> set[str]:
    """The bodies that an operator makes of one, each as Python prints it."""
    data = function(body, arguments)
    found = [ast.parse(one.applied(data)).body[0] for one in edits_of("f.py", data) if one.operator == operator]
    return {"\n".join(map(ast.unparse, one.body)) for one in found if isinstance(one, ast.FunctionDef)}


@each("operator, body, results", [
    ("swapped_operands", "return a - b", {"return b - a"}),
    ("swapped_operands", "return a + b", set()),
    ("swapped_operands", "return self.call(a, (b), 3)", set()),
    ("swapped_operands", "return self.call(a.x, b)", {"return self.call(b, a.x)"}),
    ("swapped_operands", "return isinstance(a, b)", set()),
    ("dropped_statement", "self.check(a)\nreturn b", {"pass\nreturn b"}),
    ("dropped_statement", "a = self.cast(a)\nreturn a", {"pass\nreturn a"}),
    ("dropped_statement", "c = 1\nreturn c", set()),
    ("dropped_keyword", "return f(a, x=b, y=1)", {"return f(a, y=1)", "return f(a, x=b)"}),
    ("dropped_keyword", "return f(a, _semantic=b)", set()),
    ("dropped_conversion", "return a.to(b)", {"return a"}),
    ("dropped_conversion", "return self.cast(a, b)", {"return a"}),
    ("off_by_one", "return a + 7", {"return a + 8"}),
    ("off_by_one", "return a[0]", set()),
    ("wrong_type", "return tl.int32", {"return tl.int64"}),
    ("wrong_type", "return a.is_int_signed()", {"return a.is_int_unsigned()"}),
    ("negated_condition", "return a if b else 1", {"return a if not b else 1"}),
    ("negated_condition", "if a:\n    raise ValueError(b)", set()),
    ("ignored_branch", "if a:\n    b = 1\nreturn b", {"if False:\n    b = 1\nreturn b"}),
    ("dropped_check", "if a:\n    raise ValueError(b)", {"if False:\n    raise ValueError(b)"}),
    ("other_comparison", "return a < b", {"return a <= b"}),
    ("other_comparison", "return a is None", {"return a is not None"}),
    ("other_connective", "return a and b", {"return a or b"}),
    ("flipped_flag", "return f(a, True)", {"return f(a, False)"}), ("flipped_flag", "f(a, close_fds=False)", set()),
    ("other_arithmetic", "return a & b", {"return a | b"}),
    ("other_arithmetic", "return 'text %s' % a", set()),
    ("other_instruction", "self.create_udiv()\nreturn self.create_sdiv()",
     {"self.create_sdiv()\nreturn self.create_sdiv()", "self.create_udiv()\nreturn self.create_udiv()"}),
    ("other_instruction", "return self.create_sdiv()", set()),
    ("other_function", "return max(a, b)", {"return min(a, b)"}),
    ("other_member", "return ir.SORT.A, ir.SORT.B", {"return (ir.SORT.B, ir.SORT.B)", "return (ir.SORT.A, ir.SORT.A)"}),
    ("dropped_sign", "return not a", {"return a"}),
    ("returned_argument", "return f(a, b)", {"return a"}),
])
def test_operator_changes(operator: str, body: str, results: set[str]):
    assert changed(operator, body) == results


def test_defaults_change_and_are_no_numbers_of_the_body():
    assert [one.after for one in edits_of("f.py", function("return a", "a, b=True, *, c=3"))
            if one.operator == "other_default"] == ["False", "4"]
    assert not [one for one in edits_of("f.py", function("return a", "a, c=3")) if one.operator == "off_by_one"]


def test_errors_texts_and_other_vendors_are_left_alone():
    body = '''"""Text 1 + 2."""
assert a < 1, f"{a - 1}"
raise ValueError(a - b)'''
    assert [one for one in edits_of("f.py", function(body)) if not one.harmless] == []
    assert edits_of("f.py", b"def get_amd_layout(a):\n    return a - 1\n") == []
    assert edits_of("f.py", b"def __repr__(self):\n    return self.a - 1\n") == []
    assert edits_of("f.py", b"COUNT = 3 - 1\n") == []
    # What stands there for readers of types; a function that another one replaces.
    assert edits_of("f.py", b'def f(a, b=3):\n    """Text."""\n    ...\n') == []
    assert edits_of("f.py", b"def f(a, b=3):\n    pass\n") != []


@each("operator, body, result", [
    ("reordered_branches", "return a if b else 1", "return 1 if not b else a"),
    ("double_negation", "if a:\n    return b", "if not not a:\n    return b"),
    ("named_result", "return f(a)", "named_result = f(a)\nreturn named_result"),
    ("renamed_local", "c = a\nc += b\nreturn c", "c_renamed = a\nc_renamed += b\nreturn c_renamed"),
    ("reordered_keywords", "return f(x=a, y=b)", "return f(y=b, x=a)"),
    ("unused_variable", "return a", "unused_variable = 0\nreturn a"),
    ("empty_statement", "c = a\nreturn c", "pass\nc = a\nreturn c"),
    ("comment", "return a", "return a"),
    ("blank_lines", "c = a\nreturn c", "c = a\nreturn c"),
    ("docstring", "'''Some text.'''\nreturn a", "'Another text.'\nreturn a"),
])
def test_harmless_edit_changes_the_text_and_says_so(operator: str, body: str, result: str):
    assert changed(operator, body) == {result}
    data = function(body)
    made = [one for one in edits_of("f.py", data) if one.operator == operator]
    assert all(one.harmless and one.applied(data) != data for one in made)


def test_a_name_that_a_formatted_string_reads_is_not_renamed():
    assert changed("renamed_local", "c = a\nreturn f'{c}'") == set()


def test_every_operator_has_its_word():
    assert all((one.__doc__ or "").strip() for one in (*OPERATORS.values(), *HARMLESS.values()))


@pytest.fixture(scope="module")
def found() -> list[Edit]:
    return edits(PACKAGE, only=("language/standard.py", "language/math.py", "language/random.py"))


def test_edits_of_triton_are_the_same_each_time_and_python(found: list[Edit]):
    again = edits(PACKAGE, only=("language/math.py:*",))
    assert [one for one in found if one.file == "language/math.py"] == again
    assert len({one.name for one in found}) == len(found) > 500
    for one in found[::7]:
        data = (PACKAGE / one.file).read_bytes()
        ast.parse(one.applied(data))
        assert data.count(b"\n", 0, one.replacements[0].start) + 1 >= one.line


def test_choice_is_seeded_and_spread(found: list[Edit]):
    chosen = choose(found, number=60, seed=3)
    assert chosen == choose(list(reversed(found)), number=60, seed=3)
    assert chosen[:20] == choose(found, number=20, seed=3) != choose(found, number=20, seed=4)
    assert not any(one.harmless for one in chosen)
    files = collections.Counter(one.file for one in chosen)
    assert len(files) == 3 and max(files.values()) < 40
    functions = collections.Counter((one.file, one.function) for one in chosen)
    assert len(functions) > 50, "a function has its second fault when all of its file have one"
    assert len({one.operator for one in chosen}) >= 12


def test_each_public_function_gives_one_fault(found: list[Edit]):
    files = ("language/standard.py", "language/math.py")
    chosen = choose(found, number=1000, seed=3, only=files, public=True)
    functions = [(one.file, one.function) for one in chosen]
    assert len(set(functions)) == len(functions) and {file for file, _ in functions} == set(files)
    assert set(functions) == {(one.file, one.function) for one in found if one.file in files and not one.harmless
                              and not any(part.startswith("_") for part in one.function.split("."))}
    assert chosen[:30] == choose(found, number=30, seed=3, only=files, public=True)
    assert choose(found, number=1000, seed=4, only=files, public=True) != chosen


def test_harmless_operators_take_turns(found: list[Edit]):
    chosen = choose_harmless(found, number=7, seed=3)
    assert all(one.harmless for one in chosen)
    assert len({one.operator for one in chosen}) >= 6


def test_only_what_is_asked_for_is_chosen(found: list[Edit]):
    asked = ("language/random.py:*:swapped_operands*",)
    assert {(one.file, one.operator) for one in choose(found, number=5, seed=1, only=asked)} == {
        ("language/random.py", "swapped_operands")}
    with refused("no fault is named 'nothing'"):
        choose(found, number=5, seed=1, only=("nothing",))


def test_a_folder_without_triton_is_refused(tmp_path: Path):
    with refused("no Python layer of Triton"):
        edits(tmp_path)
