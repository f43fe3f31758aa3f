"""The entries that are installed with tridiff, for whoever runs it outside a checkout."""

import importlib
import shutil
from pathlib import Path

from tridiff.fuzz.errors import TridiffError

DEFAULT = Path("corpus")
"""The folder of entries in the working directory, unless an option names another."""


def installed() -> Path:
    """The folder of the installed entries; TridiffError if this installation has none."""
    # A folder without modules: an editable installation lists an import hook beside it.
    for folder in map(Path, importlib.import_module("tridiff.corpus").__path__):
        if any(folder.glob("*/*.json")):
            return folder
    raise TridiffError("this installation of tridiff holds no corpus", fix="name a corpus folder with --corpus")


def corpus_to_read(folder: Path) -> Path:
    """`folder`, or the installed entries where the default was meant and the working directory has none."""
    return installed() if folder == DEFAULT and not folder.exists() else folder


def fill(folder: Path) -> int:
    """Copy the installed entries into the default folder if it does not exist yet, so that what is known is known
    there too; returns how many. Raises TridiffError if they cannot be written."""
    if folder != DEFAULT or folder.exists():
        return 0
    try:
        shutil.copytree(installed(), folder, ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    except OSError as error:
        raise TridiffError(f"{folder} cannot be written ({error.strerror or error})",
                           fix="name a corpus folder with --corpus") from None
    return sum(1 for _ in folder.glob("*/*.json"))
