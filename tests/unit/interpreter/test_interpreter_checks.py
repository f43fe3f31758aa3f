"""The check files of this folder, each run in a child process under TRITON_INTERPRET=1; one pytest case per check."""

from pathlib import Path

from tests.support.in_subprocess import Checks, every_check, run_script

test_interpreter = every_check({path.stem: Checks(path) for path in sorted(Path(__file__).parent.glob("checks_*.py"))})


def test_install_is_refused_in_a_process_that_compiles():
    source = (
        "from tridiff.fuzz.errors import TridiffError\n"
        "from tridiff.fuzz.interpreter import Repairs, active, install\n"
        "try:\n"
        "    install()\n"
        "except TridiffError as error:\n"
        "    print(error)\n"
        "print(active() == Repairs.none())\n")
    lines = run_script(source, interpret=False).stdout.splitlines()
    assert lines == [
        "Triton was imported for compiled kernels, there is no interpreter to repair; "
        "set TRITON_INTERPRET=1 before anything imports triton", "True"]


def test_importing_the_package_imports_neither_torch_nor_triton():
    modules = ("tridiff.fuzz.interpreter", "tridiff.fuzz.interpreter.trace", "tridiff.fuzz.interpreter.views",
               "tridiff.fuzz.versions")
    source = f"import sys, {', '.join(modules)}\nprint(sorted({{'torch', 'triton'}} & set(sys.modules)))"
    assert run_script(source).stdout == "[]\n"
