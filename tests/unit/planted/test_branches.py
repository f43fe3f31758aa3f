"""Branches of Triton's Python layer: which there are, and which a run of them takes."""

import ast
import contextlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
import triton

from tests.support.refusals import refused
from tridiff.fuzz.coverage.lines import Lines
from tridiff.fuzz.planted.branches import Covered, Report, branches, markdown, merged
from tridiff.fuzz.planted.choose import FILES
from tridiff.fuzz.planted.hidden import keys
from tridiff.fuzz.planted.reach import reason, table

_TEXT = '''
def plain(a, b):
    if a:
        b += 1
    if (a and
            b):
        b += 2
    else:
        b += 3
    while b > 5:
        b -= 5
    return b


def left(a):
    if a:
        return 1


def short(a):
    if a: return 1


@jit
def kernel(a):
    if a:
        a += 1
'''


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    (tmp_path / "one.py").write_text("jit = lambda function: function\n" + _TEXT)
    found = ModuleType("one")
    exec(compile((tmp_path / "one.py").read_text(), str(tmp_path / "one.py"), "exec"), found.__dict__)
    return found


def taken(module: ModuleType, folder: Path, *calls: tuple[str, tuple[object, ...]]) -> set[str]:
    """Names of branches that the calls take."""
    lines = Lines(folder)
    before = sys.gettrace()
    with lines:
        for name, arguments in calls:
            getattr(module, name)(*arguments)
    sys.settrace(before)
    every = branches("one.py", (folder / "one.py").read_bytes())
    return {one.name.partition(":")[2] for one in every if one.taken(lines.steps.get("one.py", set()))}


def test_both_ways_of_conditions_are_branches(tmp_path: Path, module: ModuleType):
    names = [one.name.partition(":")[2] for one in branches("one.py", (tmp_path / "one.py").read_bytes())]
    assert names == [f"{line} {function}: {way}" for line, function in (
        (4, "plain"), (6, "plain"), (11, "plain"), (17, "left")) for way in ("true", "false")]


@pytest.mark.parametrize("calls, expected", [
    ([("plain", (1, 1))], {"4 plain: true", "6 plain: true", "11 plain: false"}),
    ([("plain", (0, 9))], {"4 plain: false", "6 plain: false", "11 plain: true", "11 plain: false"}),
    ([("left", (0,))], {"17 left: false"}), ([("left", (1,))], {"17 left: true"}), ([], set())])
def test_what_a_call_takes(calls: list[tuple[str, tuple[object, ...]]], expected: set[str], tmp_path: Path,
                           module: ModuleType):
    assert taken(module, tmp_path, *calls) == expected


def test_the_page_names_what_is_missing():
    report = Report(triton="3.9.0", cases=2, by_target={"launch.host on compile:sm_90": 1}, files=(
        Covered(file="runtime/jit.py", branches=4, taken=3, missing=("runtime/jit.py:7 run: false",)),))
    page = markdown(report)
    assert "2 cases take 3 of 4 branches (75%)" in page and "- runtime/jit.py:7 run: false" in page


def test_what_is_out_of_reach_counts_apart():
    far = {"runtime/jit.py:9 run: true": "other chips"}
    page = markdown(Report(triton="3.9.0", cases=2, by_target={}, files=(
        Covered(file="runtime/jit.py", branches=4, taken=2, missing=("runtime/jit.py:7 run: false",),
                unreachable=far),)))
    assert "1 are out of reach, with reasons: 67% of the others, 1 left" in page
    parts = ("## Not taken", "## Out of reach", "- other chips: 1")
    assert [page.index(one) for one in parts] == sorted(page.index(one) for one in parts)


def test_what_any_of_several_runs_took_is_taken(tmp_path: Path):
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime/jit.py").write_text("def run(a):\n    if a:\n        a()\n    while a:\n        a()\n")
    names = [f"runtime/jit.py:{line} run: {way}" for line in (2, 4) for way in ("true", "false")]

    def report(*missing: str, triton: str = "3.9.0", **far: str) -> Report:
        return Report(triton=triton, cases=2, by_target={}, files=(Covered(
            file="runtime/jit.py", branches=4, taken=4 - len(missing) - len(far), missing=missing,
            unreachable=far),))

    both = merged([report(*names[:3]), report(names[0], **{names[1]: "thought so once"})], tmp_path)
    assert both.cases == 4 and both.files[0].missing == tuple(names[:2]) and both.files[0].taken == 2
    with refused("one Triton"):
        merged([report(), report(triton="3.6.0")], tmp_path)


def test_reasons_are_of_branches_and_statements_that_exist():
    """In the release that the list was written for: a branch that was renamed is one that may be taken."""
    if not triton.__version__.startswith("3.9.0"):
        pytest.skip("the list is of Triton 3.9.0")
    package = Path(triton.__file__).parent
    found = {key for pattern in FILES for path in package.glob(pattern)
             for key, _ in keys(path.relative_to(package).as_posix(), ast.parse(path.read_bytes()))}
    assert all(any(key == one or (one.endswith("*") and key.startswith(one[:-1])) for key in found) for one in table())
    assert reason("language/semantic.py TritonSemantic.mod: scalar_ty.is_floating(): true") == ""


def test_a_condition_that_raises_goes_no_way(tmp_path: Path, module: ModuleType):
    with pytest.raises(TypeError):
        taken(module, tmp_path, ("plain", (1, "a")))
    lines = Lines(tmp_path)
    before = sys.gettrace()
    with lines, contextlib.suppress(TypeError):
        module.plain(0, None)
    sys.settrace(before)
    found = {one.name for one in branches("one.py", (tmp_path / "one.py").read_bytes())
             if one.taken(lines.steps["one.py"])}
    assert "one.py:11 plain: false" not in found
