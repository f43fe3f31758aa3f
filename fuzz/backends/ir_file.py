"""TTGIR text as a file, which is the form in which Triton's compiler takes it."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def ir_file(text: str) -> Iterator[str]:
    """Path of a `.ttgir` file with `text`, deleted afterwards.

    The name is always the same: it ends up in diagnostics, and one defect should give one message.
    """
    with tempfile.TemporaryDirectory(prefix="tridiff-ir-") as folder:
        path = Path(folder) / "kernel.ttgir"
        path.write_text(text, encoding="utf-8")
        yield str(path)
