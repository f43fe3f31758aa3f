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
REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_folder_with_modules_is_packaged():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    declared = project["tool"]["setuptools"]["packages"]
    present = {".".join(("tridiff", *path.parent.relative_to(REPOSITORY).parts))
               for folder in ("fuzz", "kernels", "oracles") for path in (REPOSITORY / folder).rglob("*.py")}
    assert set(declared) == present | {"tridiff.corpus"}
    assert len(declared) == len(set(declared))


@pytest.mark.slow
def test_a_wheel_works_beside_another_kernels_from_any_folder(tmp_path: Path):
    if find_spec("pip") is None or find_spec("setuptools") is None or int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("no pip, or no setuptools from 77 on, to build the wheel")
    source, site = tmp_path / "source", tmp_path / "site"
    # A copy, for what setuptools leaves behind where it builds.
    for name in ("fuzz", "kernels", "oracles", "corpus"):
        shutil.copytree(REPOSITORY / name, source / name)
    shutil.copy(REPOSITORY / "pyproject.toml", source)
    shutil.copy(REPOSITORY / "README.md", source)
    others = [one for one in os.environ.get("PYTHONPATH", "").split(":") if not (Path(one) / "tridiff").exists()]
    environment = {**os.environ, "PYTHONPATH": ":".join([str(site), *others])}

    def run(*arguments: object, status: int = 0) -> str:
        done = subprocess.run([sys.executable, *map(str, arguments)], cwd=tmp_path, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        assert done.returncode == status, done.stdout
        return done.stdout

    run("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, source)
    wheel, = tmp_path.glob("tridiff-*.whl")
    run("-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", "--target", site, wheel)
    (site / "kernels").mkdir()
    (site / "kernels/__init__.py").write_text("theirs = True\n")
    assert {one.name for one in site.iterdir() if one.suffix != ".dist-info"} == {"bin", "kernels", "tridiff"}
    where = run("-c", "import kernels, tridiff.kernels, tridiff.fuzz as own; print(kernels.theirs, own.__file__)")
    assert where.split() == ["True", str(site / "tridiff/fuzz/__init__.py")]
    tridiff = site / "bin/tridiff"
    assert run(tridiff, "--version").startswith("tridiff 0.1.0")
    assert "2 as expected, 0 changed" in run(tridiff, "replay", WRONG, RIGHT, "--backend", "interpreter")
    run(tridiff, "repro", WRONG, "--backend", "interpreter", "--script", "bug.py")
    assert "BUG" in run("bug.py", status=1).splitlines()[-1]
