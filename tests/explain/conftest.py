"""What tests of explanations share."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.in_subprocess import ScriptRun, run_forked
from tridiff.fuzz.builds import Build
from tridiff.fuzz.explain import children
from tridiff.fuzz.explain.request import Request

_run = children._run


def _run_shared(request: Request, folder: Path, build: Build | None, *, interpret: bool,
                seconds: float) -> tuple[str, str]:
    if build is not None or not seconds:
        return _run(request, folder, build, interpret=interpret, seconds=seconds)
    (folder / "request.json").write_bytes(msgspec.json.encode(request))
    log = folder / "log"
    status = run_forked("tridiff.fuzz.explain.child", folder, interpret=interpret, log=log, cache=folder / "cache",
                        seconds=seconds)
    ended = ScriptRun(status, "", "").status.removeprefix("killed by ")
    return ended, log.read_text(errors="replace")


@pytest.fixture(scope="module", autouse=True)
def children_are_forked() -> Iterator[None]:
    """By a process that has imported torch and Triton; `test_children` and the debugger have children as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "_run", _run_shared)
        yield
