"""What runs where no backend is asked for."""

import pytest

from tridiff.fuzz.cli import options


@pytest.mark.parametrize("here, due", [
    (("cuda", "interpreter", "compile:sm_90"), ("cuda",)),
    (("interpreter", "compile:sm_90"), ("interpreter", "compile", "evaluated:sm_90")),
])
def test_without_a_gpu_values_of_the_ir_are_judged_beside_the_interpreter(
        here: tuple[str, ...], due: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(options, "available_backends", lambda: here)
    assert options.chosen_backends([]) == due
    assert options.chosen_backends(["evaluated"]) == ("evaluated",)
    assert options.chosen_backends(["evaluated:gfx942"]) == ("evaluated:gfx942",)
