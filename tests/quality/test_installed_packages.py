"""The list of packages in pyproject.toml is what lies in the folders."""

import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_folder_with_modules_is_packaged() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    declared = project["tool"]["setuptools"]["packages"]
    present = {".".join(("tridiff", *path.parent.relative_to(REPOSITORY).parts))
               for folder in ("fuzz", "kernels", "oracles") for path in (REPOSITORY / folder).rglob("*.py")}
    assert set(declared) == present | {"tridiff.corpus"}
    assert len(declared) == len(set(declared))
