"""A copy of a Triton with one file changed; everything else is a link to the original."""

import shutil
from pathlib import Path, PurePosixPath

from tridiff.fuzz.planted.edit import Edit

_PACKAGE = "triton"


def plant(edit: Edit, package: Path, folder: Path) -> Path:
    """Write a folder that holds the package `triton` with the edit, and return the folder: a build for `tridiff gate`.

    package: the folder of the original `triton/__init__.py`. folder: is made; what was there is removed. Compiled
    modules of unchanged files are linked as well, so that the copy is imported as fast as the original."""
    shutil.rmtree(folder, ignore_errors=True)
    changed = PurePosixPath(edit.file)
    _link(package, folder / _PACKAGE, changed.parts)
    path = folder / _PACKAGE / changed
    path.write_bytes(edit.applied((package / changed).read_bytes()))
    return folder


def _link(original: Path, copy: Path, changed: tuple[str, ...]) -> None:
    """Links to all of a folder; on the way to the changed file, folders of their own."""
    copy.mkdir(parents=True)
    for one in original.iterdir():
        if one.name == changed[0]:
            if len(changed) > 1:
                _link(one, copy / one.name, changed[1:])
        elif one.name == "__pycache__":
            (copy / one.name).mkdir()
            for compiled in one.iterdir():
                if len(changed) > 1 or compiled.name.partition(".")[0] != changed[0].removesuffix(".py"):
                    (copy / one.name / compiled.name).symlink_to(compiled)
        else:
            (copy / one.name).symlink_to(one)
