"""What tests of scripts share."""

import pytest

from tridiff.fuzz.repro import script
from tridiff.fuzz.repro.build import build


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write scripts here: importing torch and Triton in a child takes seconds."""
    monkeypatch.setattr(script, "_ask", lambda request, **_: build(request))
