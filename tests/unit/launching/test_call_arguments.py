"""Every argument of every function of the language is given in another form somewhere."""

import ast
import inspect
from typing import Any

import pytest

from tridiff.fuzz.language.row import installed
from tridiff.fuzz.launching.lines import parts
from tridiff.fuzz.versions import before

_INNER = ("_semantic", "_generator", "_builder", "self")
_ELSEWHERE = {"plain": {"make_block_ptr", "static_assert", "static_print", "str_to_ty"},
              "gluon": {"aggregate_replace", "static_assert", "static_print"}}
"""What is called by other lines, or by an expression."""


def _calls(language: str) -> dict[str, list[ast.Call]]:
    """By function, the calls that the lines of a language make of it."""
    found: dict[str, list[ast.Call]] = {}
    for part, lines in parts().items():
        if part.startswith((f"{language}: arguments of ", f"{language}: names ")):
            for line in lines:
                for node in ast.walk(ast.parse(line)):
                    if isinstance(node, ast.Call):
                        found.setdefault(ast.unparse(node.func), []).append(node)
    return found


def _unnamed(function: Any, calls: list[ast.Call]) -> set[str]:
    """The arguments of a function that no call gives."""
    parameters = [one for one in inspect.signature(getattr(function, "fn", function)).parameters.values()
                  if one.name not in _INNER and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    given = {word.arg for call in calls for word in call.keywords}
    for call in calls:
        given |= {one.name for one in parameters[:len(call.args)]}
    return {one.name for one in parameters} - given


@pytest.mark.parametrize("language", ["plain", "gluon"])
def test_every_argument_of_every_function_is_given(language: str):
    pytest.importorskip("triton")
    if before(installed(), "3.9.0"):
        pytest.skip("the calls are written for 3.9.0")
    from triton import language as tl
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia import ampere, hopper
    from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

    calls = _calls(language)
    names = {"tl": tl if language == "plain" else gl, "ampere": ampere, "hopper": hopper, "mbarrier": mbarrier,
             "tma": tma}
    missing = {}
    for name in [one for one in calls if one.partition(".")[0] in names and "." in one]:
        value: Any = names[name.partition(".")[0]]
        for part in name.split(".")[1:]:
            value = getattr(value, part)
        if not inspect.isclass(value) and _unnamed(value, calls[name]):
            missing[name] = _unnamed(value, calls[name])
    assert missing == {}
    every = {one for one in dir(names["tl"]) if not one.startswith("_") and callable(getattr(names["tl"], one))
             and not inspect.isclass(getattr(names["tl"], one))}
    assert {one for one in every if f"tl.{one}" not in calls} == _ELSEWHERE[language]
