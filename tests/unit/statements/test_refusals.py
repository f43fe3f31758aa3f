"""What a clear refusal is, and that wrong kernels get one."""

import ast
from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks
from tridiff.fuzz.statements.refusing import unclear

CHECKS = Checks(Path(__file__).with_name("checks_refusals.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_refusals(name: str) -> None:
    CHECKS.require(name)


class Placed(Exception):
    """An error that shows a line, as the compiler's do."""

    def __init__(self, text: str) -> None:
        self.src, self.node, self.error_message = "source", ast.parse("x = 1").body[0], text
        super().__init__(text)


def raised(cause: Exception | None, text: str, *, placed: bool = True) -> Exception:
    try:
        try:
            if cause is None:
                _ = [][1]
            else:
                raise cause
        except Exception as error:
            raise (Placed(text) if placed else RuntimeError(text)) from error
    except Exception as error:
        return error


def test_a_clear_refusal_shows_the_line_and_the_reason() -> None:
    assert unclear(raised(ValueError("axis 3 is too large"), "axis 3 is too large"), "axis") == ""
    assert unclear(raised(ValueError("axis"), "axis", placed=False), "axis").startswith("no line named: ValueError")
    assert unclear(raised(None, "list index out of range"), "axis").startswith("unclear: IndexError")
    assert unclear(raised(ValueError("no such type"), "no such type"), "axis").startswith("another reason: ValueError")
