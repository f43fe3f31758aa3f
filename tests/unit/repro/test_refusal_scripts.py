"""Scripts of kernels that must be refused: short, without what the wrong statements do not name, and as the harness
answers."""

import ast
import runpy
from pathlib import Path

import pytest

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro.build import build
from tridiff.fuzz.repro.refusal_script import reduced
from tridiff.fuzz.repro.request import Request
from tridiff.fuzz.statements.refused import REFUSED
from tridiff.fuzz.statements.refusing import case_of, source
from tridiff.fuzz.workers.execute import Executor
from tridiff.kernels.language.refusal import Refusal

TARGET = "language.refusals"
COMPILED = "compile:sm_90"
ENDS = ("pointer_to_pointers",)
"""Rows that end the process under some version."""


def request(row: str, *, backend: str = COMPILED, mended: bool = False) -> Request:
    return Request(title=row, note="", case=case_of(TARGET, Refusal(row=row, mended=mended), 0), subject="own",
                   backend=backend, failure=Verdict.COMPILE_ERROR if mended else Verdict.DISAGREE,
                   failure_kind="ValueError: too many values" if mended else "accepted")


def text_of(row: str) -> str:
    (one,) = build(request(row)).scripts
    return one.text


def answer_of(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = folder / "bug.py"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path))
    answer = capsys.readouterr().out.strip().splitlines()[-1]
    assert {"OK": 0, "BUG": 1}[answer] == ended.value.code
    return answer


@pytest.mark.parametrize("row", [
    pytest.param(row, marks=() if number % 12 == 0 else pytest.mark.nightly)
    for number, row in enumerate(one for one in REFUSED if one not in ENDS)])
def test_a_script_answers_as_the_harness_does(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]):
    case = case_of(TARGET, Refusal(row=row), 0)
    (found, *_) = Executor(backend=COMPILED).execute(case, "own", backend=COMPILED)
    if found.verdict is Verdict.NOT_CHECKED:
        pytest.skip(found.reason)
    text = text_of(row)
    assert text.count("\n") <= 40
    monkeypatch.setattr("sys.excepthook", None)
    assert answer_of(text, tmp_path, capsys) == ("BUG" if found.verdict.failed else "OK")


def test_a_script_holds_no_statement_function_or_argument_that_is_not_needed():
    names = {one: ast.unparse(reduced(ast.parse(source(Refusal(row=one))), Refusal(row=one)))
             for one in ("split_odd", "returned_types")}
    assert names["split_odd"] == (
        "@triton.jit\ndef kernel(x_ptr):\n    x = tl.load(x_ptr + tl.arange(0, 8))\n    r = tl.split(x)")
    assert names["returned_types"].startswith("@triton.jit\ndef either(a):") and "alike" not in names["returned_types"]


def test_a_kernel_that_is_taken_and_an_error_without_the_reason_are_bugs(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("sys.excepthook", None)
    right = text_of("undefined_name")
    assert answer_of(right, tmp_path, capsys) == "OK"
    assert answer_of(right.replace("nowhere + 1", "1"), tmp_path, capsys) == "BUG"
    assert answer_of(right.replace('r"nowhere"', 'r"elsewhere"'), tmp_path, capsys) == "BUG"


def test_there_is_none_for_the_interpreter_and_the_control_is_a_kernel_like_others():
    with pytest.raises(TridiffError, match="runs wrong kernels as Python"):
        build(request("undefined_name", backend="interpreter"))
    (one,) = build(request("undefined_name", mended=True)).scripts
    assert "placed" not in one.text and "triton.compile(source" in one.text
