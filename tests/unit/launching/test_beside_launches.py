"""What stands beside launches: a fault there changes an answer, and twice the same gives the same."""

from pkgutil import resolve_name
from typing import Any

import pytest

from tests.unit.launching.test_scenes import case, play

FAULTS: tuple[tuple[str, str, Any], ...] = (
    ("caches", "triton.runtime.cache:RemoteCacheManager.put", lambda self, data, filename, binary=True: data),
    ("build", "triton.runtime.build:_compile_so_from_src", lambda *given, **named: "one"),
    ("knobs", "triton.knobs:toenv", lambda value: (str(value),)),
    ("knobs", "triton.knobs:base_knobs.copy", lambda self: self),
    ("tools", "triton.tools.mxfp:MXFP4Tensor.to_packed_tensor", lambda self, dim: self.data),
    ("timers", "triton.runtime.autotuner:Autotuner.do_bench", lambda self, *given, **named: None),
    ("timers", "triton.testing:_quantile", lambda a, q: q),
    ("scratch", "triton.backends.driver:GPUDriver.allocate_default_profile_scratch", lambda self, *given: None),
    ("libraries", "triton.backends.nvidia.driver:libdevice_dir", "/other"),
    ("active", "triton.backends.nvidia.driver:_cuda_driver_is_active", lambda: True),
    ("driver", "triton.backends.nvidia.driver:CudaDriver.get_empty_cache_for_benchmark", lambda self: 1),
    ("driver", "triton.backends.nvidia.driver:libraries", ["other"]),
    ("launches", "triton.backends.nvidia.driver:GSAN_PER_DEVICE_STATE_STRIDE", 8),
    ("maps", "triton.backends.nvidia.driver:TMA_TF32", 12),
    ("assembler", "triton.backends.nvidia.compiler:signal.SIGSEGV", 7),
    ("assembler", "triton.backends.nvidia.compiler:sm_arch_from_capability", lambda capability: "sm_90"),
)
"""Part, what is changed in Triton, and its wrong stand-in."""


@pytest.mark.parametrize("part, place, wrong", FAULTS)
def test_faults_beside_launches_change_an_answer(
        part: str, place: str, wrong: Any, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("triton")
    try:
        resolve_name(place)
    except AttributeError:
        pytest.skip("this version has none")
    right = play(case("beside", part=part))
    assert right == play(case("beside", part=part))
    monkeypatch.setattr(place.replace(":", "."), wrong)
    assert right != play(case("beside", part=part))


def test_what_tuning_prints_and_listeners_and_hooks_are_told_is_an_answer():
    pytest.importorskip("triton")
    told = play(case("tuned", sizes="5 5 6"))
    assert told == play(case("tuned", sizes="5 5 6"))
    assert told["tuned printed"].count("best config selected") == 2
    assert "[90, 4, 1, 3, " in play(case("hooks"))["hooks events"]
