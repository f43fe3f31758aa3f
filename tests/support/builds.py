"""Copies of the installed Triton in which some lines are other ones."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.workers.pool import Pool, PoolOptions

Edits = Mapping[str, tuple[str, str]]
"""By file of the package ("language/semantic.py"): a text that is there, and what stands there instead."""

WRONG_SUM: Edits = {"language/semantic.py": (
    "self.builder.create_fadd(input.handle, other.handle)",
    "(self.builder.create_fsub if input.type.scalar.is_fp32() else self.builder.no_such_sum)("
    "input.handle, other.handle)")}
"""The sum of two fp32 is their difference, that of other floats is refused."""

WRONG_OFFSETS: Edits = {"language/semantic.py": (
    "self.builder.create_add(input.handle, other.handle)", "self.builder.create_sub(input.handle, other.handle)")}
"""The sum of two integers is their difference: every kernel with more than one lane leaves its arrays."""

HARMLESS: Edits = {"language/semantic.py": (
    "        # offset + ptr\n", "        input_scalar_ty, other_scalar_ty = input_scalar_ty, other_scalar_ty\n")}
"""Other text, the same meaning."""

NO_IMPORT: Edits = {"language/core.py": ("import math\n", "import math, no_such_module\n")}


def installed() -> Path:
    """The folder of the installed package."""
    spec = find_spec("triton")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def edited(folder: Path, edits: Edits) -> Path:
    """Make a build in `folder`: links to the installed Triton, and files of its own where an edit is. Returns it."""
    _linked(installed(), folder / "triton", {Path(name) for name in edits})
    for name, (before, after) in edits.items():
        text = (installed() / name).read_text()
        assert before in text, f"{name} has no {before!r}"
        (folder / "triton" / name).write_text(text.replace(before, after))
    return folder


def _linked(source: Path, folder: Path, own: set[Path]) -> None:
    folder.mkdir(parents=True)
    for path in source.iterdir():
        inside = {one.relative_to(path.name) for one in own if one.parts[0] == path.name}
        if path.is_dir() and inside:
            _linked(path, folder / path.name, inside)
        elif not inside and path.name != "__pycache__":
            (folder / path.name).symlink_to(path)


@contextmanager
def pools(options: PoolOptions, *builds: Path) -> Iterator[list[Pool]]:
    """A pool of workers for each build."""
    made: list[Pool] = []
    try:
        for build in builds:
            made.append(Pool(replace(options, build=str(build))))
        yield made
    finally:
        for pool in made:
            pool.close()


def pair(baseline: Pool, candidate: Pool) -> PairPool:
    return PairPool(baseline, candidate)


def without_distribution(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an import of Triton find a package in `folder` that says `version` and has no distribution beside it; it must
    not be imported."""
    (folder / "triton").mkdir()
    (folder / "triton" / "__init__.py").write_text(
        f'"""A build."""\n__version__ = "{version}"\nraise ImportError("it must not be imported")\n')
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.syspath_prepend(str(folder))
