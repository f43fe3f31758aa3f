"""Versions of Triton are told apart in one module, and in the dialects of the kernels' texts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tridiff.fuzz.versions import RELEASES, SINCE, offers, release

REPOSITORY = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"3\.\d+(\.\d+)?")


def comparisons(tree: ast.AST) -> Iterator[int]:
    """Lines on which something is compared with a version's number, or a version with anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if any(isinstance(part, ast.Attribute) and part.attr == "version_info" for part in parts):
                continue  # Python's
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            parts = list(node.args)
        else:
            continue
        if any(map(_is_version, parts)):
            yield node.lineno


def _is_version(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple) and len(node.elts) >= 2:
        first = node.elts[0]
        return isinstance(first, ast.Constant) and first.value == 3
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and NUMBER.fullmatch(node.value) is not None
    return isinstance(node, ast.Attribute) and node.attr in ("__version__", "triton_release")


@pytest.mark.parametrize("text, found", [
    ("x < (3, 7)", True), ("(0,) < e.triton_release < top", True), ("e.triton == '3.6.0'", True),
    ("triton.__version__ >= lowest", True), ("v.startswith('3.9')", True), ("x == 3", False),
    ("x in ('a', 'b')", False),
    ("sys.version_info >= (3, 11)", False),
    ("TRITON = ('3.6.0', '3.9.0')", False), ("offers(e.triton, 'x')", False), ("shape == (2, 3)", False)])
def test_what_counts_as_a_comparison(text: str, found: bool):
    assert any(comparisons(ast.parse(text))) == found


def test_versions_are_compared_in_one_place():
    found = [f"{path.relative_to(REPOSITORY)}:{line}" for folder in ("fuzz", "kernels", "oracles")
             for path in sorted((REPOSITORY / folder).rglob("*.py"))
             if path != REPOSITORY / "fuzz" / "versions.py" and path.name != "dialect.py"
             for line in comparisons(ast.parse(path.read_text(encoding="utf-8")))]
    assert found == []


def test_what_a_release_offers_follows_from_its_number():
    assert [release(one) for one in ("3.9.0", "3.10.1+git1", "", "main.3", "3")] == [(3, 9), (3, 10), (), (), ()]
    assert [[offers(one, "ttg.barrier") for one in ("3.6.0", "3.7.1", "3.10.0", "")]] == [[False, True, True, True]]
    assert set(SINCE.values()) <= set(RELEASES) and list(RELEASES) == sorted(RELEASES)


def test_the_releases_are_those_that_are_installed_with_tridiff():
    pinned = re.search(r'"triton>=(\d+)\.(\d+),<(\d+)\.(\d+)"', (REPOSITORY / "pyproject.toml").read_text())
    assert pinned is not None
    lowest, beyond = tuple(map(int, pinned.groups()[:2])), tuple(map(int, pinned.groups()[2:]))
    assert RELEASES[0] == lowest and RELEASES[-1][0] == beyond[0] and RELEASES[-1][1] + 1 == beyond[1]
