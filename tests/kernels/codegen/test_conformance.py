"""The conformance table has no empty cell, and everything it names exists (contract: codegen.md §1 to §13)."""

import ast
from dataclasses import astuple
from pathlib import Path

from tridiff.fuzz.registry import select
from tridiff.kernels.codegen.conformance import ROWS, table

REPOSITORY = Path(__file__).parents[3]
SECTIONS = tuple(str(number) for number in range(1, 14))


def defined(path: Path) -> set[str]:
    """Names of the functions, classes and variables at the top of a file."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_no_cell_is_empty_and_no_section_is_missing():
    assert all(cell.strip() for row in ROWS for cell in astuple(row))
    assert {row.section.split()[0] for row in ROWS} == set(SECTIONS)
    assert table().count("\n") == len(ROWS) + 1


def test_what_is_named_exists():
    for row in ROWS:
        module, _, name = row.module.partition(":")
        assert name in defined(REPOSITORY / "kernels/codegen" / module), row
        test, _, function = row.test.partition("::")
        assert function in defined(Path(__file__).with_name(test)), row


def test_every_target_exists():
    for row in ROWS:
        for pattern in row.targets.split(", "):
            assert pattern == "sweep" or select((pattern,)), row
