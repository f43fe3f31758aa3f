"""The list of packages in pyproject.toml is what lies in the folders, and a wheel works beside a package that is called
`kernels`, away from any checkout."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

WRONG, RIGHT = "helpers.promote_to_tensor/value-2f4e602f2a", "helpers.frexp/value-4141e4f295"
"""Entries, as the interpreter of every release answers."""
REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_folder_with_modules_is_packaged() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    declared = project["tool"]["setuptools"]["packages"]
    present = {".".join(("tridiff", *path.parent.relative_to(REPOSITORY).parts))
               for folder in ("fuzz", "kernels", "oracles") for path in (REPOSITORY / folder).rglob("*.py")}
    assert set(declared) == present | {"tridiff.corpus"}
    assert len(declared) == len(set(declared))


@pytest.mark.slow
def test_a_wheel_works_beside_another_kernels_from_any_folder(tmp_path: Path) -> None:
    # From 70 on it makes wheels by itself.
    if find_spec("pip") is None or find_spec("setuptools") is None or int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("a wheel is built by what is installed, which needs pip and setuptools from 77 on")
    source, site, elsewhere = (tmp_path / name for name in ("source", "site", "elsewhere"))
    elsewhere.mkdir()
    # A copy, for what setuptools leaves behind where it builds.
    for name in ("fuzz", "kernels", "oracles", "corpus"):
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(REPOSITORY / name, source)
    others = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep)
              if one and not (Path(one) / "tridiff").exists()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *others])}

    def run(*arguments: object, status: int = 0) -> str:
        done = subprocess.run([sys.executable, *map(str, arguments)], cwd=elsewhere, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        assert done.returncode == status, done.stdout
        return done.stdout

    pip = ("-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, source)
    wheel, = tmp_path.glob("tridiff-*.whl")
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", "--target", site, wheel)
    (site / "kernels").mkdir()
    (site / "kernels" / "__init__.py").write_text("theirs = True\n")
    assert {one.name for one in site.iterdir() if one.suffix != ".dist-info"} == {"bin", "kernels", "tridiff"}
    where = run("-c", "import kernels, tridiff.kernels, tridiff.fuzz as own; print(kernels.theirs, own.__file__)")
    assert where.split() == ["True", str(site / "tridiff" / "fuzz" / "__init__.py")]
    tridiff = site / "bin" / "tridiff"
    assert run(tridiff, "--version").startswith("tridiff 0.1.0")
    assert "2 as expected, 0 changed" in run(tridiff, "replay", WRONG, RIGHT, "--backend", "interpreter")
    run(tridiff, "repro", WRONG, "--backend", "interpreter", "--script", "bug.py")
    assert "BUG" in run("bug.py", status=1).splitlines()[-1]
