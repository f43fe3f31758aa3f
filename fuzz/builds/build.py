"""One build of a package (Triton, or torch) in a folder of its own, and what really runs with it."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tridiff.fuzz.errors import TridiffError, writing

Package = Literal["triton", "torch"]

INSTALLED = "installed"
"""What names the packages of this environment."""

_RELEASE = re.compile(r"\d+(?:\.\d+)+(?:[.+-]?\w+)*")
_START = 120.0
"""Seconds that an import of the package may take."""

_ASK = """
import json, sys
import {package} as package
print(json.dumps({{"version": package.__version__, "file": package.__file__}}))
"""


@dataclass(frozen=True, kw_only=True)
class Running:
    """What a process imports that has a build in front of its path."""

    version: str
    file: str


@dataclass(frozen=True, kw_only=True)
class Build:
    """name: as the user gave it. folders: what goes in front of the path of a process, first one first; none for the
    environment as it is."""

    name: str
    folders: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The folders as `PYTHONPATH` takes them."""
        return os.pathsep.join(self.folders)

    def beside(self, other: "Build") -> "Build":
        """This build with another one's folders behind its own (a Triton and the torch that it runs with)."""
        return replace(self, folders=(*self.folders, *other.folders))

    def environment(self) -> dict[str, str]:
        """Environment variables of a process that runs this build."""
        here = dict(os.environ)
        if self.folders:
            here["PYTHONPATH"] = os.pathsep.join(filter(None, (self.path, here.get("PYTHONPATH", ""))))
        return here


def cache_folder() -> Path:
    """Where releases are kept: `TRIDIFF_BUILDS`, else `tridiff/builds` in the user's cache folder."""
    own = os.environ.get("TRIDIFF_BUILDS")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tridiff" / "builds"


def resolve(text: str, *, package: Package = "triton", cache: Path | None = None) -> Build:
    """The build that `text` names: `installed`, a release number, a wheel, or a folder that holds the package.

    A release that is not in the cache yet is installed there with `pip install --no-deps --target`. Raises TridiffError
    for a name that fits nothing, and when pip cannot get the release."""
    if text == INSTALLED:
        return Build(name=text)
    path = Path(text).expanduser()
    if path.is_dir():
        folder = path.resolve()
        for one in (folder, folder / "python"):
            if (one / package / "__init__.py").exists():
                return Build(name=text, folders=(str(one),))
        raise TridiffError(f"{text} holds no package {package}",
                           fix=f"name the folder that has {package}/__init__.py, a wheel or a release such as 3.9.0")
    cache = cache or cache_folder()
    if path.suffix == ".whl":
        return Build(name=text, folders=(str(_unpacked(path, package, cache)),))
    if _RELEASE.fullmatch(text):
        return Build(name=text, folders=(str(_release(text, package, cache)),))
    raise TridiffError(f"{text!r} is no build of {package}",
                       fix="name a release such as 3.9.0, a wheel, a folder that holds the package, or `installed`")


def _release(number: str, package: Package, cache: Path) -> Path:
    folder = cache / f"{package}-{number}"
    if (folder / package / "__init__.py").exists():
        return folder

    def fill(place: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--target", str(place), f"{package}=={number}"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            said = (run.stderr.strip().splitlines() or ["no message"])[-1]
            raise TridiffError(f"{package} {number} cannot be installed ({said[:200]})", fix=(
                f"put it into {folder} by hand: pip install --no-deps --target {folder} {package}=={number}"))

    return _made(folder, fill)


def _unpacked(wheel: Path, package: Package, cache: Path) -> Path:
    try:
        with open(wheel, "rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()[:16]
    except OSError as error:
        raise TridiffError(f"{wheel} cannot be read ({error.strerror})", fix="name a wheel that exists") from None
    folder = cache / f"{package}-wheel-{digest}"
    if (folder / package / "__init__.py").exists():
        return folder

    def fill(place: Path) -> None:
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(place)
        except zipfile.BadZipFile:
            raise TridiffError(f"{wheel} is no wheel", fix="name a wheel, a folder or a release") from None
        if not (place / package / "__init__.py").exists():
            raise TridiffError(f"{wheel} holds no package {package}", fix=f"name a wheel of {package}")
        for binary in place.glob("**/bin/*"):
            binary.chmod(0o755)

    return _made(folder, fill)


def _made(folder: Path, fill: Callable[[Path], None]) -> Path:
    """The folder, filled beside its place and moved there whole: what is interrupted leaves nothing that looks done."""
    with writing(folder, fix="free disk space or set TRIDIFF_BUILDS"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            fill(place)
            with contextlib.suppress(OSError):  # Somebody else was faster.
                place.rename(folder)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return folder


def inspect(build: Build, *, package: Package = "triton") -> Running:
    """What a fresh process imports. Raises TridiffError if the import fails, and if it is another package than that in
    the build's folder."""
    try:
        run = subprocess.run([sys.executable, "-c", _ASK.format(package=package)], capture_output=True, text=True,
                             env=build.environment(), timeout=_START)
    except subprocess.TimeoutExpired:
        raise TridiffError(f"{build.name}: `import {package}` takes more than {_START:g} s",
                           fix="try it in a shell") from None
    if run.returncode:
        said = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        raise TridiffError(f"{build.name}: `import {package}` fails ({said[:300]})", fix="repair or rebuild it")
    told = json.loads(run.stdout.splitlines()[-1])
    running = Running(version=str(told["version"]), file=str(told["file"]))
    if build.folders and not any(Path(running.file).is_relative_to(one) for one in build.folders):
        raise TridiffError(f"{build.name}: {package} comes from {running.file}, not from {build.folders[0]}",
                           fix="take the other one out of PYTHONPATH and of what .pth files add")
    return running
