"""The child's side of `tests.support.in_subprocess.Checks`: run one file's `check_*` functions, report each.

The report holds one JSON line per state change and is
flushed at once, so that it survives the death of this process.
"""

import importlib.util
import json
import sys
import traceback
from pathlib import Path


def main(path: Path, report: Path) -> None:
    """Load `path` as a module, run its checks in the order written, append the states to `report`."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, f"{path} is not a Python file"
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    names = [name for name in vars(module) if name.startswith("check_")]
    with report.open("a", encoding="utf-8") as stream:

        def say(state: str, name: str, text: str = "") -> None:
            stream.write(json.dumps({"state": state, "check": name, "traceback": text}) + "\n")
            stream.flush()

        for name in names:
            say("planned", name)
        for name in names:
            try:
                getattr(module, name)()
            except Exception:
                say("failed", name, traceback.format_exc())
            else:
                say("passed", name)

