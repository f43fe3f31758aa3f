"""Which functions differ between two packages, and which ones are watched for it."""

import ast
import math
from pathlib import Path

import pytest

from tridiff.fuzz.builds.alike import alike
from tridiff.fuzz.builds.changed import MOST, MOST_CALLERS, MOST_MAKERS, Change, changes, places, watch
from tridiff.fuzz.builds.words import APART, SHARING, kinds, of_change, of_text, share

each = pytest.mark.parametrize
BEFORE = '''"""A module."""
import math
LIMIT = 3
TABLE = {"a": 1}
TABLE["b"] = 2
TABLE.update(c=3)
def first(x, y=1):
    """What it does."""
    return x + y
class Thing:
    size: int = 4
    def method(self):
        def inner():
            return 1
        return inner()
    def other(self):
        return self.size
def uses():
    return LIMIT
def lone():
    return 0
if LIMIT:
    def lone():
        return 1
'''


def changed(folder: Path, *edits: tuple[str, str], other: str = "") -> tuple[Change, ...]:
    after = BEFORE
    for old, new in edits:
        assert after.count(old) == 1, old
        after = after.replace(old, new)
    for name, text in (("before", BEFORE), ("after", after)):
        (folder / name / "triton").mkdir(parents=True)
        (folder / name / "triton" / "one.py").write_text(text)
        (folder / name / "triton" / "__init__.py").write_text("")
        (folder / name / "triton" / "other.py").write_text(other)
    return changes(folder / "before" / "triton", folder / "after" / "triton", ["one.py"])


def near_to_change(folder: Path, text: str, old: str, new: str, *, other: str = "") -> tuple[str, ...]:
    """The words about the one function that an edit changes. other: another file of both builds."""
    for name, one in (("before", text), ("after", text.replace(old, new))):
        (folder / name).mkdir()
        (folder / name / "one.py").write_text(one)
        (folder / name / "two.py").write_text(other)
    (found,) = changes(folder / "before", folder / "after", ["one.py"])
    return found.near


@each("edit, name", [
    (("return x + y", "return x - y"), "first"), (("y=1", "y=2"), "first"), (("return inner()", "return 2"),
                                                                            "Thing.method"),
    (("            return 1\n        return", "            return 2\n        return"), "Thing.method.inner"),
    (("    def lone():\n        return 1", "    def lone():\n        return 2"), "lone 2")])
def test_a_changed_function_is_named_and_no_other(tmp_path: Path, edit: tuple[str, str], name: str):
    (one,) = changed(tmp_path, edit)
    assert (one.told, one.users) == (f"one.py:{name}", {"one.py": (name,)})


@each("edit, near", [
    (("            return 1\n        return inner()", "            return 2\n        return inner()"), {"method"}),
    (("return self.size", "return self.size + 1"), set()), (("return _helped()", "return 0"), {"calls"}),
    (("def _helped(): return 2", "def _helped(): return 3"), {"_helps", "calls", "_Made", "maker"}),
    (("self.made = 1", "self.made = 2"), {"_Made", "maker"})])
def test_words_about_a_function_are_those_of_what_is_around_it_and_calls_it(
        tmp_path: Path, edit: tuple[str, str], near: set[str]):
    text = BEFORE + '''
def _helped(): return 2
def _helps(): return _helped()
def calls(): return _helps()
class _Made:
    def __init__(self):
        self.made = 1
        _helped()
def maker(): return _Made()
'''
    assert text.count(edit[0]) == 1
    assert set(near_to_change(tmp_path, text, *edit)) - {"__init__"} == near


@each("name, callers, near", [
    ("call_helper", 1, {"user0"}), ("call_helper", MOST_CALLERS + 1, set()), ("call", 1, set())])
def test_few_that_call_a_function_from_another_file_are_words_about_it(
        tmp_path: Path, name: str, callers: int, near: set[str]):
    text = f"class Generator:\n    def {name}(self):\n        return 1\n"
    users = (f"def user{number}(generator):\n    generator.{name}()\n" for number in range(callers))
    assert set(near_to_change(tmp_path, text, "1", "2", other="".join(users))) == near


def test_an_inner_function_is_known_by_the_one_around_it(tmp_path: Path):
    text = "def helper():\n    return 1\ndef outer():\n    def init():\n        return helper()\n    return init\n"
    assert near_to_change(tmp_path, text, "return 1", "return 2") == ("outer",)


def test_what_helps_visitors_is_known_by_the_syntax_for_which_these_are(tmp_path: Path):
    text = ("class Visitor:\n    def visit_branches(self):\n        return 1\n    def visit_top_level(self):\n"
            "        return self.visit_branches()\n    def visit_If(self):\n        return self.visit_top_level()\n"
            "    def visit_While(self):\n        return self.visit_If()\n")
    near = near_to_change(tmp_path, text, "return 1", "return 2")
    assert set(near) == {"visit_top_level", "visit_If"}, "whoever calls a visitor of syntax is for another one"


@each("sharing", [2, SHARING])
def test_visitors_that_share_a_member_with_what_changed_name_kinds_of_syntax_where_they_are_few(sharing: int):
    text = "def visit_If(self):\n    self.pending = {}\ndef visit_AnnAssign(self):\n    return self.pending\n" + (
        "".join(f"def user{number}(self):\n    self.pending\n" for number in range(sharing - 1)))
    old, new = (ast.parse(text.format(one)) for one in ("self.kept", "None"))
    known = {one.name: one for one in old.body}
    words = of_change("visit_If", old.body[0], new.body[0], ["body.0"], known=known)
    assert ("annassign" in words) is (sharing < SHARING) and "user0" not in words
    assert "annassign" in of_text("x: tl.constexpr")


@each("makers", [1, MOST_MAKERS + 1])
def test_what_makes_objects_of_a_class_is_a_word_where_few_do(tmp_path: Path, makers: int):
    text = "class Made:\n    def __pow__(self):\n        return 1\n" + "".join(
        f"def maker{number}():\n    return Made()\n" for number in range(makers))
    assert set(near_to_change(tmp_path, text, "return 1", "return 2")) == {
        "Made", *(("maker0",) if makers == 1 else ())}


def test_words_are_those_of_the_statements_that_differ_and_of_what_they_stand_under():
    text = "def f(node):\n    if node.boundary_check:\n        node.padding = {}\n    return node.nothing\n"
    words = of_change("Visitor.visit_Starred", *(ast.parse(text.format(one)).body[0] for one in ("shape", "rank")),
                      ["body.0.body.0"])
    assert {"starred", "boundary", "padding", "shape", "rank"} <= {*words} and "nothing" not in words
    assert words.count("shape") == words.count("rank") > words.count("padding") == 1
    head = of_change("f", *(ast.parse(text.format(one)).body[0] for one in ("shape", "rank")), ["body.0"])
    assert {"boundary", "padding"} <= {*head} and "nothing" not in head
    check, old, gone = ast.parse("def check(fn):\n    if fn.noinline:\n        raise fn\n"
                                 "def f(fn):\n    check(fn)\n    return 3\ndef f(fn):\n    return 3\n").body
    assert "noinline" in of_change("f", old, gone, ["body.0"], known={"check": check})
    assert {"starred", "padding_option", "padding"} <= of_text("f(*x, padding_option=1)")
    assert "padding" in of_text("no Python: padding")
    assert {"notimplemented", "not", "implemented"} <= of_text("return NotImplemented")
    assert "pow" in of_change("Held.__rpow__", ast.Module([], []), None, ())
    assert {"slice", "held"} <= {*of_change("Held.__getitem__", ast.Module([], []), None, ())} & (
        of_text("held = (1, 2)[::2]"))


def test_words_of_a_small_part_that_differs_count_more_and_so_does_the_name_by_which_it_is_given():
    text = "def f(fn, kind):\n    make(fn.name, noinline={}, file_name=fn.file_name)\n"
    words = of_change("f", *(ast.parse(text.format(one)).body[0] for one in ("fn.noinline", "kind.noinline")),
                      ["body.0"])
    assert words.count("noinline") == words.count("kind") == APART and words.count("file_name") == 1
    large = of_change("f", *(ast.parse(text.format(one)).body[0] for one in (
        "fn.noinline", "one(two, three, four, five, six, seven, eight)")), ["body.0"])
    assert large.count("noinline") == 1


def test_the_number_behind_a_limits_name_is_a_word():
    source = "LIMIT = 1048576\nOTHER = 4096\nFEW = 16\ndef f(n):\n    return n > LIMIT + FEW\n"
    old, new = (ast.parse(one).body[-1] for one in (source, source.replace(">", ">=")))
    number = {*of_change("f", old, new, ["body.0"], source)} & of_text("zeros((1048576, 16, 2.512))")
    assert number == {"1048576"} and "4096" not in of_change("f", old, new, ["body.0"], source)


def test_visitors_and_operators_are_for_kinds_of_syntax_of_which_a_text_has_a_share():
    assert kinds("Visitor.visit_For") == {"for"} and kinds("Held.__rpow__") == {"pow"}
    assert kinds("Held.__ror__") == {"bitor"} and not kinds("Held.__init__") | kinds("visitor") | kinds("Held.pow")
    assert share("x ** y", {"pow"}) == pytest.approx(math.sqrt(1 / 6)) and not share("no Python: for", {"for"})
    assert share("for i in x: pass", {"for"}) > share("y = 1\nfor i in x: pass", {"for"}) > share("x", {"for"}) == 0


def test_the_kinds_of_syntax_of_a_text_are_those_of_its_tree_but_for_how_names_are_used():
    for file in Path(ast.__file__).parent.glob("[a-d]*.py"):
        text = file.read_text()
        every = [type(one) for one in ast.walk(ast.parse(text)) if not isinstance(one, ast.expr_context)]
        for kind in {*every}:
            assert share(text, {kind.__name__.lower()}) == pytest.approx(
                math.sqrt(every.count(kind) / len(every))), (file, kind)


@each("edit", [
    ("    return x + y", "    # A sum.\n    return (x +\n            y)"), ('"""What it does."""', '"""Otherwise."""'),
    ('"""A module."""', '"""Another."""\n\n')])
def test_other_text_of_the_same_meaning_is_no_change(tmp_path: Path, edit: tuple[str, str]):
    assert changed(tmp_path, edit) == ()


def test_what_stands_outside_of_functions_concerns_those_that_use_it(tmp_path: Path):
    (one,) = changed(tmp_path, ("LIMIT = 3", "LIMIT = 4"))
    assert (one.name, one.users["one.py"]) == ("LIMIT", ("uses",))
    (one,) = changed(tmp_path / "class", ("size: int = 4", "size: int = 5"))
    assert one.name == "Thing.size"
    assert set(one.users["one.py"]) == {"Thing.method", "Thing.method.inner", "Thing.other"}
    (one,) = changed(tmp_path / "else", ('{"a": 1}', '{"a": 2}'), other="def far():\n    return one.TABLE\n")
    assert one.users == {"other.py": ("far",)}
    for number, edit in enumerate((('["b"] = 2', '["b"] = 3'), ("c=3", "c=4"))):
        assert changed(tmp_path / str(number), edit, other="def far():\n    return one.TABLE\n")[0].users == one.users
        assert not changed(tmp_path / f"{number} used by none", edit)


def test_builds_that_differ_in_few_functions_say_which_and_others_do_not(tmp_path: Path):
    changed(tmp_path, ("return x + y", "return x - y"))
    found = alike(str(tmp_path / "before"), str(tmp_path / "after"))
    assert [one.told for one in found.functions] == ["one.py:first"] and found.python
    many = "".join(f"def f{number}():\n    return {{0}}\n" for number in range(MOST + 1))
    for name, value in (("before", 1), ("after", 2)):
        (tmp_path / name / "triton" / "other.py").write_text(many.replace("{0}", str(value)))
    assert alike(str(tmp_path / "before"), str(tmp_path / "after")).functions == ()
    (tmp_path / "after" / "triton" / "lib.so").write_bytes(b"")
    assert not alike(str(tmp_path / "before"), str(tmp_path / "after")).python


@each("after, ways", [
    ("    b()\n    return 3\n", ("body.0.body.0",)), ("    if a: a()\n    return 3\n", ("body.1",)),
    ("    if a: a()\n    b()\n", ("body.2",)), ("    return 3\n", ("body.0",)),
    ("    if b: a()\n    b()\n    return 3\n", ("body.0",))])
def test_a_condition_that_is_gone_is_missed_where_it_was_met(after: str, ways: tuple[str, ...]):
    old, new = (ast.parse("def f(a, b):\n" + one).body[0] for one in ("    if a: a()\n    b()\n    return 3\n", after))
    assert isinstance(old, ast.FunctionDef) and isinstance(new, ast.FunctionDef)
    assert tuple(places(old, new)) == ways


def test_the_places_of_changes_are_watched(tmp_path: Path):
    found = changed(tmp_path, ("return x + y", "return x - y"), ("LIMIT = 3", "LIMIT = 4"), (
        "    return LIMIT", "    return LIMIT + 1"))
    assert [one.name for one in found] == ["LIMIT", "first", "uses"]
    made = watch(tmp_path / "before" / "triton", found)
    assert made.functions == {"one.py": {"uses": (0, 2), "first": (1,)}} and not made.read
