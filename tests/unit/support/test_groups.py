"""Checks of one file run on one worker, so that no two workers run the same child process."""

from tests.support.in_subprocess import group_of


def test_checks_of_one_file_are_one_group() -> None:
    file = "tests/unit/interpreter/test_interpreter_checks.py::test_interpreter"
    first, second = (group_of(f"{file}[checks_trace-check_{name}]") for name in ("one", "two"))
    assert first == second != group_of(f"{file}[checks_control-check_one]")
    assert group_of("tests/chains/test_compiled_chains.py::test_it[check_a]") == group_of(
        "tests/chains/test_compiled_chains.py::test_it[check_b]")


def test_other_tests_are_alone() -> None:
    assert group_of("tests/a.py::test_b[x]") == "tests/a.py::test_b[x]" != group_of("tests/a.py::test_b[y]")
    assert group_of("tests/a.py::test_b") == "tests/a.py::test_b"
