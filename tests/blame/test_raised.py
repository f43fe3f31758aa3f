"""Who is named behind an error of Triton's Python layer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton
from msgspec.structs import replace
from triton.language.semantic import TritonSemantic

from tests.support.cases import addition
from tridiff.fuzz.blame import laboratory, right
from tridiff.fuzz.blame.localise import _Search, blame
from tridiff.fuzz.blame.raised import innermost, stack
from tridiff.fuzz.blame.trial import Frame, Result, Trial
from tridiff.fuzz.coverage.lines import Lines
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Outcome, Signature, Verdict
from tridiff.fuzz.records.observed import Observe
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor

PACKAGE = Path(triton.__file__).parent
HELPER, CALLER, VISITED = (Frame(file="language/core.py", line=7, function="tensor.__init__"),
                           Frame(file="language/semantic.py", line=512, function="TritonSemantic.minus"),
                           Frame(file="compiler/code_generator.py", line=90, function="CodeGenerator.visit"))


def test_who_called_a_helper_is_named_unless_right_cases_do_the_same():
    right_ones = {"language/core.py": (7,), "compiler/code_generator.py": (90,)}
    assert innermost((HELPER, CALLER, VISITED), right_ones) == "language/semantic.py TritonSemantic.minus"
    # A line that nobody runs otherwise is the nearest thing that is known.
    assert innermost((HELPER, CALLER, VISITED), {}) == "language/core.py tensor.__init__"
    assert innermost((HELPER, CALLER, VISITED), right_ones | {"language/semantic.py": (1, 512)}) == ""
    # What raises on purpose does as it should where right cases go through it, and is wrong itself where none does.
    check = Frame(file="_utils.py", line=3, function="validate", lines=(1, 2, 3))
    passed = right_ones | {"_utils.py": (1, 2)}
    assert innermost((check, CALLER), passed) == "language/semantic.py TritonSemantic.minus"
    assert innermost((check, CALLER), right_ones) == innermost((check, VISITED), passed) == "_utils.py validate"


def test_a_wrong_call_of_a_helper_is_named_by_lines_that_right_cases_run(monkeypatch: pytest.MonkeyPatch):
    """The operands of a helper that every kernel goes through are exchanged in one of its callers."""
    monkeypatch.setattr(right, "TARGETS", ("triton.vector_add", "triton.mod"))
    monkeypatch.setattr(right, "EACH", 2)
    with pytest.raises(TridiffError, match="too few"):
        right.right_lines("compile:sm_90", PACKAGE)
    monkeypatch.setattr(right, "LEAST", 3)
    lines = right.right_lines("compile:sm_90", PACKAGE)
    assert len(lines["language/semantic.py"]) > 100
    wrong = compile("\n" * 99_999 + "def minus(self, input):\n    return self.tensor(input.type, input.handle)\n",
                    str(PACKAGE / "language/semantic.py"), "exec")
    there: dict[str, Any] = {}
    exec(wrong, there)
    monkeypatch.setattr(TritonSemantic, "minus", there["minus"])
    executor, errors = Executor(backend="compile:sm_90"), list[BaseException]()
    executor.on_error = errors.append
    case = draw_cases("triton.negate", Limits(elements=8, rows=1, variants=False), 1)[0]
    outcome, _ = executor.execute(case, "own", backend="compile:sm_90", observe=Observe(stop="source"))
    assert outcome.verdict is Verdict.COMPILE_ERROR
    frames = stack(errors[0], PACKAGE)
    assert frames[0].function == "tensor.__init__"
    assert innermost(frames, lines) == "language/semantic.py minus"


TEXT = """
def helper(fail):
    raise fail

def caller(fail):
    return (lambda: helper(fail))()

def visit(self, node, fail):
    try:
        caller(fail)
    except ValueError as error:
        raise RuntimeError("at 1:1") from None

def ast_to_ttir(generator, node, fail):
    visit(generator, node, fail)
"""


def test_a_stack_has_what_an_error_came_of_and_nothing_that_only_hands_it_on(tmp_path: Path):
    there: dict[str, Any] = {}
    path = tmp_path / "compiler/code_generator.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    exec(compile(TEXT, str(path), "exec"), there)
    library = SimpleNamespace(file_name=str(tmp_path / "language/standard.py"), begin_line=30,
                              jit_fn=SimpleNamespace(__name__="argmax"))

    def frames(fail: Exception, generator: object = None) -> list[tuple[str, int]]:
        with pytest.raises(Exception) as raised:
            there["ast_to_ttir"](generator, SimpleNamespace(lineno=3), fail)
        found = stack(raised.value, tmp_path)
        assert [one.function for one in found if one.lines] == [one.function for one in found][:1]
        return [(one.function, one.line) for one in found]

    # What every compilation goes through is left out, and so is the second error of `visit`.
    known = [("helper", 3), ("caller", 6), ("caller", 6), ("visit", 10)]
    assert frames(ValueError("no")) == frames(KeyError("no")) == known
    # What the code generator reads stands inside of the call that reads it.
    assert frames(ValueError("no"), library) == [*known[:3], ("argmax", 33), known[3]]
    # A kernel's own assertion is none of Triton's errors, and no function of Python is behind what a pass says.
    assert frames(type("CompileTimeAssertionFailure", (Exception,), {})("no")) == []
    exec(compile(TEXT, str(tmp_path / "backends/nvidia/compiler.py"), "exec"), there)
    assert frames(ValueError("no")) == []


def test_of_a_function_that_is_read_the_lines_count_that_the_code_generator_comes_to(tmp_path: Path):
    there: dict[str, Any] = {}
    exec(compile(TEXT, str(tmp_path / "compiler/code_generator.py"), "exec"), there)
    library = SimpleNamespace(file_name=str(tmp_path / "language/standard.py"), begin_line=30)
    with Lines(tmp_path, visited=True) as lines, pytest.raises(KeyError):
        there["visit"](library, SimpleNamespace(lineno=3), KeyError("no"))
    assert lines.found["language/standard.py"] == {33}
    assert lines.found["compiler/code_generator.py"] >= {3, 6, 10}


class Laboratory:
    """Compiles nothing: every case ends with an error of the front end."""

    left, triton, baseline = 90.0, "3.9.0", None

    def run(self, trial: Trial) -> Result:
        signature = Signature(target="triton.add", subject="own", verdict=Verdict.COMPILE_ERROR, kind="TypeError: x")
        told = Outcome(case_digest="0", target="triton.add", subject="own", backend=trial.backend, reason="r",
                       verdict=Verdict.COMPILE_ERROR, signature=signature)
        return Result(outcome=told, entered="front-end", triton=self.triton, stack=(HELPER, CALLER))

    def lines(self, trial: Trial) -> dict[str, tuple[int, ...]]:
        assert trial.right
        return {"language/core.py": (7,)}


def test_a_blame_names_who_is_behind_an_error():
    def blamed(laboratory: Laboratory) -> tuple[str, str, bool]:
        found = _Search(addition(rows=2), "own", "compile:sm_90", None, laboratory, "").blame()
        return found.behind, found.raised, found.alone

    raised = "language/core.py tensor.__init__"
    assert blamed(Laboratory()) == ("language/semantic.py TritonSemantic.minus", raised, False)

    class Wrong(Laboratory):
        def run(self, trial: Trial) -> Result:
            return replace(super().run(trial), stack=())

    assert blamed(Wrong()) == ("", "", False)

    class Visited(Laboratory):
        def lines(self, trial: Trial) -> dict[str, tuple[int, ...]]:
            return super().lines(trial) | {"language/semantic.py": (512,)}

    assert blamed(Visited()) == ("", raised, True)

    class Library(Laboratory):
        def run(self, trial: Trial) -> Result:
            frame = Frame(file="language/standard.py", line=9, function="softmax")
            return replace(super().run(trial), stack=(HELPER, frame))

    stages = [_Search(addition(rows=2), "own", "compile:sm_90", None, one, "").blame().stage
              for one in (Laboratory(), Library())]
    assert stages == ["front-end", "language"]

    class Hasty(Laboratory):
        def lines(self, trial: Trial) -> None:
            """There is no time for right cases."""

    assert blamed(Hasty()) == ("", raised, False)


def test_what_is_not_compiled_where_it_was_to_be_evaluated_is_blamed_in_the_compiler():
    found = blame(addition(rows=2), "own", "evaluated:sm_90", laboratory=Laboratory())
    assert (found.backend, found.stage) == ("evaluated:sm_90", "front-end")
    assert found.behind == "language/semantic.py TritonSemantic.minus"


def test_right_cases_are_run_once_and_only_where_there_is_time_for_them(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def run(self: object, trial: Trial) -> Result:
        asked.append(trial.backend)
        return Result(refused="too few") if len(asked) == 1 else Result(lines={"language/core.py": (7,)})

    monkeypatch.setattr(laboratory.Laboratory, "run", run)
    trial = Trial(name="right cases", case=addition(rows=2), subject="own", backend="compile:sm_90", right=True,
                  seconds=9)
    with laboratory.Laboratory(seconds=5) as room:
        assert room.lines(trial) is None
        assert not asked
        room.renew(60)
        assert [room.lines(trial) for _ in range(3)] == [None, {"language/core.py": (7,)}, {"language/core.py": (7,)}]
        room.lines(replace(trial, backend="interpreter"))
    assert asked == ["compile:sm_90", "compile:sm_90", "interpreter"]


@pytest.mark.parametrize("verdict, stage", [(Verdict.COMPILE_ERROR, "front-end"), (Verdict.AGREE, "interpreter"),
                                                (Verdict.DISAGREE, "unknown")])
def test_what_the_interpreter_raises_is_asked_of_the_compiler_as_well(verdict: Verdict, stage: str):
    class Room(Laboratory):
        def run(self, trial: Trial) -> Result:
            told = super().run(trial)
            if trial.evaluated or told.outcome is None or told.outcome.signature is None:
                return Result(triton=self.triton)
            seen = verdict if trial.backend.startswith("compile") else Verdict.CRASH
            signature = replace(told.outcome.signature, verdict=seen, kind="TypeError: no fp8 here")
            return replace(told, outcome=replace(told.outcome, verdict=seen, signature=signature))

    def of(room: Laboratory) -> str:
        return _Search(addition(rows=2), "own", "interpreter", None, room, "").blame().stage

    assert of(Room()) == stage

    class Typed(Room):
        """Both give another type."""

        def run(self, trial: Trial) -> Result:
            told = super().run(trial)
            if told.outcome is None or told.outcome.signature is None:
                return told
            signature = replace(told.outcome.signature, verdict=Verdict.DISAGREE, kind="another_type")
            return replace(told, outcome=replace(told.outcome, verdict=Verdict.DISAGREE, signature=signature))

    assert of(Typed()) == "front-end"
