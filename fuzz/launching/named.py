"""Calls with every argument by its name."""

import ast
import contextlib
import inspect
from collections.abc import Callable
from typing import Any


def by_name(text: str, called: Callable[[str], tuple[Any, int]]) -> str:
    """A text with the names that this build has for arguments. called: a function by its text, and how many arguments
    it has without them."""
    tree = ast.parse(text)
    for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
        # What is refused, or has no names, stays as it is.
        with contextlib.suppress(Exception):
            function, taken = called(ast.unparse(call.func))
            takes = inspect.signature(getattr(function, "fn", function))
            takes.bind_partial(*range(taken), *call.args, **dict.fromkeys(str(one.arg) for one in call.keywords))
            several = [*zip([*takes.parameters.values()][taken:], call.args, strict=False)]
            if all(one.kind is one.POSITIONAL_OR_KEYWORD and not isinstance(given, ast.Starred)
                   for one, given in several):
                call.keywords[:0] = [ast.keyword(one.name, given) for one, given in several]
                call.args = []
    return ast.unparse(tree)
