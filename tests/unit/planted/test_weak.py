"""Weak mutation: which wrong expressions stand beside those of Triton, and which of them cases tell apart."""

import ast
import marshal
from collections.abc import Callable
from pathlib import Path

import pytest
import triton

from tests.support.planted import PACKAGE
from tridiff.fuzz.planted.alternatives import alternatives
from tridiff.fuzz.planted.unnoticed import OfFile, Unnoticed, markdown, measure
from tridiff.fuzz.planted.weak import ONE_VALUE, asking, prepare, seen

_TEXT = '''
TABLE = [min(3, 4)]

def chosen(a, flag=None):
    assert not flag or a
    if flag is None and len(a) > 1:
        return passed(a, kind="list", size=flag)
    return a[0] if flag else passed(a, kind=flag)

def passed(a, *, kind, size=0):
    class Inner:
        size = kind
        def given(self):
            return super().__hash__() and TABLE[0]
    return [one for one in a if one > 0]

@jit
def kernel(a):
    return a + 1
'''


@pytest.mark.parametrize("text, truth, expected", [
    ("a < b", False, {"a <= b"}), ("a == b", True, {"True", "False"}), ("a is not None", False, {"bool(a)"}),
    ("a in (1, 2)", False, {"a in (1,)", "a in (2,)"}), ("a in b", False, set()),
    ("a and b and c", False, {"b and c", "a and c", "a and b", "a or b or c"}),
    ("isinstance(a, (int, str))", False, {"isinstance(a, (int,))", "isinstance(a, (str,))"}),
    ("a // b", False, {"-(-a // b)"}), ("a - b", False, {"a + b"}), ("a[0]", False, {"a[-1]"}),
    ("a[1:n]", False, {"a[:n]", "a[1:]"}), ("a if b else c", False, {"a", "c"}), ("max(a, b)", False, {"min(a, b)"}),
    ("a.get(b, 3)", False, {"3"}), ("a.strip()", False, {"a"}), ("[a, b]", False, {"[a]", "[b]"}), ("-a", False, {"a"}),
    ("3", False, {"4", "2"}), ("True", False, set()), ("a", False, set()), ("sorted(a)", False, {"list(a)"})])
def test_alternatives_of_an_expression(text: str, truth: bool, expected: set[str]):
    found = alternatives(ast.parse(text, mode="eval").body, truth=truth)
    assert {ast.unparse(one) for one in found} == expected and len(found) == len(expected)


class Watched:
    """A module with questions in it, and what was noticed of its alternatives."""

    def __init__(self, folder: Path) -> None:
        (folder / "one.py").write_text(_TEXT)
        self._folder, self._found = folder, prepare(folder, ["one.py"], folder)
        codes, asked = marshal.loads((folder / "code").read_bytes())
        self._seen = bytearray(len(self._found) + len(asked))
        self.names: dict[str, Callable[..., object]] = {
            "jit": lambda function: function, "__tridiff_weak__": asking(asked, self._seen)}  # type: ignore[dict-item]
        exec(codes[str(folder / "one.py")], self.names)

    def told(self) -> list[set[str]]:
        """Noticed, run and never anything else, not run."""
        (self._folder / "seen").write_bytes(self._seen)
        return [{f"{one.before} -> {one.after}" for one in some} for some in seen(self._folder, self._found)]


def test_an_alternative_is_noticed_once_it_comes_to_something_else(tmp_path: Path):
    watched = Watched(tmp_path)
    noticed, run, rest = watched.told()
    assert not noticed | run and f"flag -> {ONE_VALUE}" in rest
    assert not any(("TABLE" in one and "TABLE[0]" not in one) or "one > 0" in one or "a + 1" in one for one in rest)
    assert watched.names["chosen"]([1, 2]) == [1, 2]
    noticed, run, rest = watched.told()
    assert {"flag is None and len(a) > 1 -> False", "flag is None -> False", "len(a) > 1 -> False"} <= noticed
    assert {"flag is None -> not bool(flag)", f"flag -> {ONE_VALUE}", "len(a) > 1 -> len(a) >= 1"} <= run
    assert {"a[0] -> a[-1]", "a[0] if flag else passed(a, kind=flag) -> a[0]"} & rest == {"a[0] -> a[-1]"}
    assert watched.names["chosen"]([5], 0) == [5] and watched.names["chosen"]([6], 0) == [6]
    assert watched.names["chosen"]([7, 8], "x") == 7
    noticed, run, rest = watched.told()
    assert {"flag is None -> not bool(flag)", "a[0] -> a[-1]", "flag is None and len(a) > 1 -> len(a) > 1",
            f"a -> {ONE_VALUE}"} <= noticed
    assert "len(a) > 1 -> len(a) >= 1" in run, "that was asked with one element only where flag is given"


def test_cases_of_a_target_notice_what_matters_to_them():
    found = measure(PACKAGE, triton=triton.__version__, targets=("triton.vector_add",), backends=("interpreter",),
                    cases=8, seed=1, at_once=1, watch=lambda done, number: None, files=("language/semantic.py",))
    (one,) = found.files
    assert found.cases == 8 and one.noticed + len(one.unnoticed) + len(one.not_run) == one.number
    told = {name.partition(" ")[2] for name in (*one.unnoticed, *one.not_run)}
    assert "TritonSemantic.add: input_scalar_ty.is_floating() -> True" not in told, "integers are added as well"
    assert "TritonSemantic.add: input_scalar_ty.is_int() -> True" in told, "nothing comes there but integers"
    assert any(name.startswith("TritonSemantic.dot:") for name in told) and one.noticed > 100
    page = markdown(found)
    assert f"| language/semantic.py | {one.number} | {one.noticed} | {len(one.unnoticed)} |" in page
    assert f"- {one.unnoticed[0]}" in page


def test_a_page_of_several_files():
    files = tuple(OfFile(file=name, number=4, noticed=2, unnoticed=("x",), not_run=("y",)) for name in "ab")
    assert "6 of 8 small wrong alternatives; 4 of these come to something else in a case (67%)" in markdown(
        Unnoticed(triton="3.9.0", cases=5, files=files))
