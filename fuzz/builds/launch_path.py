"""Whether two builds of Triton launch compiled code in the same way, so that equal code must give equal results."""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

LAUNCH_PATH = (
    "runtime/**/*", "tools/*.py", "compiler/compiler.py", "backends/driver.py", "backends/*/driver.*",
    "backends/*/bin/ptxas*", "backends/*/include/**/*", "_utils.py", "knobs.py",
    "experimental/gluon/_runtime.py", "experimental/gluon/nvidia/*.py", "experimental/gluon/amd/*.py")
"""Files of the package that stand between the text of a kernel and its results: what binds arguments, assembles PTX,
loads, allocates and launches."""


def launch_alike(baseline: str, candidate: str) -> bool:
    """Whether both have the same files there. baseline, candidate: what goes in front of the path, "" for nothing."""
    packages = [_package(one) for one in (baseline, candidate)]
    if packages[0] is None or packages[1] is None:
        return False
    one, other = (dict(_files(package)) for package in packages if package is not None)
    return bool(one) and one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)


def _package(path: str) -> Path | None:
    for folder in filter(None, path.split(os.pathsep)):
        if (Path(folder) / "triton" / "__init__.py").exists():
            return Path(folder) / "triton"
    found = importlib.util.find_spec("triton")
    return Path(found.origin).parent if found is not None and found.origin else None


def _files(package: Path) -> Iterator[tuple[str, Path]]:
    for pattern in LAUNCH_PATH:
        for path in package.glob(pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(package)), path


def _equal(one: Path, other: Path) -> bool:
    if one.samefile(other):
        return True
    return one.stat().st_size == other.stat().st_size and _digest(one) == _digest(other)


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
