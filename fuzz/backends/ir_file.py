"""IR text as a file, which is the form in which Triton's compiler takes it."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def ir_file(text: str, *, suffix: str = "ttgir") -> Iterator[str]:
    """Path of a file with `text`, deleted afterwards. suffix: the stage, `ttir` or `ttgir`.

    The name is always the same: it ends up in diagnostics, and one defect should give one message.
    """
    with tempfile.TemporaryDirectory(prefix="tridiff-ir-") as folder:
        path = Path(folder) / f"kernel.{suffix}"
        path.write_text(text, encoding="utf-8")
        yield str(path)
