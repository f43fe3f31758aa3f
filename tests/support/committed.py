"""The corpus as it is committed."""

import atexit
import io
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from tests.support.in_subprocess import REPOSITORY


@cache
def committed_corpus(repository: Path = REPOSITORY) -> Path:
    """The corpus as it is committed: a campaign that ran in this checkout has added what nobody has judged yet. Where
    there is no checkout, the corpus as it was delivered."""
    archive = subprocess.run(["git", "archive", "HEAD", "corpus"], cwd=repository, capture_output=True, check=False)
    if archive.returncode:
        return repository / "corpus"
    folder = Path(tempfile.mkdtemp(prefix="tridiff-corpus-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder)  # git's own archive of this repository: nothing to filter
    return folder / "corpus"
