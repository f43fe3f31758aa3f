"""What two builds of Triton share, so that what is equal early in a compilation must give equal results."""

import concurrent.futures
import filecmp
import fnmatch
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from tridiff.fuzz.backends.watched import Watch
from tridiff.fuzz.builds.changed import Change, changes, watch
from tridiff.kernels.record import Record

LAUNCH_PATH = (
    "runtime/*", "tools/*", "compiler/compiler.py", "backends/driver.py", "backends/*/driver.*",
    "backends/*/bin/*", "backends/*/include/*", "_utils.py", "knobs.py",
    "experimental/gluon/_runtime.py", "experimental/gluon/nvidia/*", "experimental/gluon/amd/*")
"""Files of the package that stand between the text of a kernel and its results: what binds arguments, assembles PTX,
loads, allocates and launches. As in all patterns here, * stands for folders too."""

FRONT_END = ("language/*", "compiler/code_generator.py", "compiler/errors.py", "experimental/gluon/language/*")
"""Files that have done their work when the source IR, the first text of a kernel, is there."""

BESIDE = ("profiler/*", "testing.py", "_internal_testing.py", "_filecheck.py", "FileCheck")
"""Files that no compilation and no launch uses."""

_INTERPRETER = ("runtime/interpreter.py",)
_AMD = ("backends/amd/*", "experimental/gluon/amd/*", "experimental/gluon/language/amd/*")
_INTERPRETED = ("runtime/*", "language/*", "compiler/errors.py", "_utils.py", "knobs.py", "__init__.py", "_C/*")

MOST_NAMES = 20

_COMPARERS = 4


class Alike(Record, kw_only=True):
    """launch: both builds have the same files on LAUNCH_PATH, so that equal code gives equal results. behind_source:
    all files but those of the front end are the same, so that an equal source IR gives equal results."""

    launch: bool = False
    behind_source: bool = False
    changed: int | None = None
    """Files that differ; None if that is not known."""
    names: tuple[str, ...] = ()
    """Some of them."""
    reached: tuple[str, ...] = ("cuda", "interpreter", "gfx942")
    """What a file that differs may be used by: launches on an NVIDIA GPU, the interpreter, compilation for AMD."""
    functions: tuple[Change, ...] = ()
    """Functions of Python files that differ, where these are few; none where both builds differ everywhere."""
    python: bool = False
    """Whether nothing else differs: no file of another kind, and none that only one of them has."""

    @property
    def told(self) -> str:
        """In one line, which files differ."""
        if not self.changed:
            return "no file of the two packages differs" if self.changed == 0 else "which files differ is not known"
        named = ", ".join(self.names[:3]) + (" and others" if self.changed > 3 else "")
        return f"{self.changed} {'file differs' if self.changed == 1 else 'files differ'}: {named}"


def alike(baseline: str, candidate: str) -> Alike:
    """What two builds share. baseline, candidate: what goes in front of the path, "" for nothing."""
    packages = _package(baseline), _package(candidate)
    if packages[0] is None or packages[1] is None:
        return Alike()
    changed = changed_files(packages[0], packages[1])
    return Alike(launch=not any(_matches(name, LAUNCH_PATH) for name in changed),
                 behind_source=all(_matches(name, FRONT_END + BESIDE) for name in changed),
                 changed=len(changed), names=changed[:MOST_NAMES], reached=_reached(changed),
                 functions=changes(packages[0], packages[1], changed),
                 python=all(_matches(name, BESIDE) or (name.endswith(".py") and all(
                     (package / name).exists() for package in packages if package)) for name in changed))


def watch_of(shared: Alike, baseline: str) -> Watch | None:
    """What workers of the baseline have to note, of what differs; None where that is nothing."""
    package = _package(baseline)
    return watch(package, shared.functions) if package is not None and shared.functions else None


def _reached(changed: tuple[str, ...]) -> tuple[str, ...]:
    users = {"cuda": _INTERPRETER + _AMD + BESIDE, "gfx942": (*_INTERPRETER, *BESIDE, "backends/nvidia/*")}
    found = [name for name, others in users.items() if not all(_matches(one, others) for one in changed)]
    return (*found, *(("interpreter",) if any(_matches(one, _INTERPRETED) for one in changed) else ()))


def changed_files(one: Path, other: Path) -> tuple[str, ...]:
    """Files of two packages that are not the same in both, by their paths within. What Python compiled for itself does
    not count. Raises OSError for what cannot be read."""
    found: list[str] = []
    pairs: list[tuple[str, Path, Path]] = []
    for name, left, right in _beside(one, other, ""):
        if left is None or right is None:
            found.append(name)
        else:
            pairs.append((name, left, right))
    with concurrent.futures.ThreadPoolExecutor(_COMPARERS) as threads:
        same = threads.map(lambda pair: filecmp.cmp(pair[1], pair[2], shallow=False), pairs)
        found += [name for (name, _, _), equal in zip(pairs, same, strict=True) if not equal]
    return tuple(sorted(found))


def _beside(one: Path, other: Path, within: str) -> Iterator[tuple[str, Path | None, Path | None]]:
    """Files of two folders side by side; folders that both are one and the same are left out."""
    names = {path.name for folder in (one, other) for path in folder.iterdir()} - {"__pycache__"}
    for name in sorted(names):
        left, right = one / name, other / name
        path = within + name
        if left.is_dir() and right.is_dir():
            if not left.samefile(right):
                yield from _beside(left, right, path + "/")
        elif left.is_dir() or right.is_dir():
            yield path + "/", None, None
        elif not left.exists() or not right.exists():
            yield path, None, None
        elif not left.samefile(right):
            yield path, left, right


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _package(path: str) -> Path | None:
    for folder in filter(None, path.split(os.pathsep)):
        if (Path(folder) / "triton" / "__init__.py").exists():
            return Path(folder) / "triton"
    found = importlib.util.find_spec("triton")
    return Path(found.origin).parent if found is not None and found.origin else None
