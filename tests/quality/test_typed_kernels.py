"""mypy checks every module of `kernels`, all but the device functions in it."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted((ROOT / "kernels").rglob("*.py"))


def _is_jit(node: ast.expr) -> bool:
    return ast.unparse(node).partition("(")[0].endswith(".jit")


def _plain(module: ast.Module) -> list[ast.FunctionDef]:
    """The functions that are not for the device."""
    nodes = list(ast.walk(module))
    made = {ast.unparse(one.args[0]) for one in nodes if isinstance(one, ast.Call) and one.args and _is_jit(one)}
    return [one for one in nodes if isinstance(one, ast.FunctionDef) and one.name not in made
            and not any(map(_is_jit, one.decorator_list))]


def _annotated(function: ast.FunctionDef) -> bool:
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return function.returns is not None and all(one.annotation or one.arg in ("self", "cls") for one in arguments)


def test_no_module_is_left_out():
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert "tridiff.kernels" in mypy["packages"] and "exclude" not in mypy
    left_out = [name for one in mypy["overrides"] for name in one["module"]
                if one.get("ignore_errors") or one.get("follow_imports") == "skip"]
    assert not [name for name in left_out if name.startswith("tridiff")]


def test_plain_functions_are_annotated():
    """Also beside device code, where mypy passes over those that are not."""
    assert not [f"{path}: {one.name}" for path in PATHS
                for one in _plain(ast.parse(path.read_text())) if not _annotated(one)]
