"""Host-side helpers: activating backends, default options, the compile-time logarithm."""

import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import driver

from tests.kernels.driver_runs import SM_90
from tests.kernels.errors import error_of
from tests.support.in_subprocess import run_script
from tridiff.kernels.helpers import host_drivers
from tridiff.kernels.helpers.host_drivers import _log2, get_backend_options, set_driver_to_cpu, set_driver_to_gpu


class StubDriver:
    """A driver for an H200 that is not there."""

    made = 0
    active = True

    def __init__(self) -> None:
        type(self).made += 1

    @classmethod
    def is_active(cls) -> bool:
        return cls.active

    def get_current_target(self) -> GPUTarget:
        return SM_90


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """An empty table of backends and no active driver, for the time of a test."""
    saved = dict(backends)
    backends.clear()
    monkeypatch.setattr(driver, "_active", None)
    monkeypatch.setattr(driver, "_default", None)
    monkeypatch.setattr(host_drivers, "_torch_sees_a_gpu", lambda name: False)
    yield backends
    backends.clear()
    backends.update(saved)


def stub(*, active: bool) -> Any:
    return SimpleNamespace(driver=type("Driver", (StubDriver,), {"made": 0, "active": active}))


def test_without_a_cpu_backend_there_is_one_warning_and_no_change(registry: dict[str, Any]):
    registry["nvidia"] = stub(active=True)
    set_driver_to_gpu()
    before = driver.active
    with pytest.warns(UserWarning, match="Could not find an active CPU backend") as caught:
        set_driver_to_cpu()
    assert len(caught) == 1
    assert driver.active is before


def test_cpu_backend_is_made_active_once(registry: dict[str, Any]):
    registry["nvidia"], registry["cpu"] = stub(active=False), stub(active=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        set_driver_to_cpu()
        first = driver.active
        set_driver_to_cpu()
    assert isinstance(first, registry["cpu"].driver)
    assert driver.active is first and registry["cpu"].driver.made == 1


def test_first_active_gpu_backend_wins_and_stays(registry: dict[str, Any]):
    registry["cpu"], registry["amd"], registry["nvidia"] = stub(active=True), stub(active=False), stub(active=True)
    registry["other"] = stub(active=True)
    set_driver_to_gpu()
    first = driver.active
    assert isinstance(first, registry["nvidia"].driver)
    set_driver_to_gpu()
    assert driver.active is first and registry["nvidia"].driver.made == 1
    set_driver_to_cpu()
    set_driver_to_gpu()
    assert isinstance(driver.active, registry["nvidia"].driver)


def test_no_gpu_backend_is_an_error(registry: dict[str, Any]):
    registry["cpu"], registry["nvidia"] = stub(active=True), stub(active=False)
    with pytest.raises(RuntimeError, match="Could not find an active GPU backend"):
        set_driver_to_gpu()


def test_torch_is_asked_where_tritons_probe_fails(registry: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    registry["amd"], registry["nvidia"] = stub(active=False), stub(active=False)
    monkeypatch.undo()  # the real question to torch
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.version, "hip", None)
    assert not host_drivers._torch_sees_a_gpu("amd") and host_drivers._torch_sees_a_gpu("nvidia")
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert host_drivers._torch_sees_a_gpu("amd") and not host_drivers._torch_sees_a_gpu("nvidia")
    assert not host_drivers._torch_sees_a_gpu("other")


def test_options_need_an_active_driver(registry: dict[str, Any]):
    registry["nvidia"] = stub(active=False)
    with pytest.raises(RuntimeError, match="0 active drivers"):
        get_backend_options()


@triton.jit
def empty_kernel(out_ptr):
    tl.store(out_ptr, 1.0)


def test_options_are_those_that_compilation_records(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(driver, "_active", StubDriver())
    options = get_backend_options()
    source = ASTSource(fn=empty_kernel, signature={"out_ptr": "*fp32"}, constexprs={})
    recorded = triton.compile(source, target=SM_90).metadata._asdict()
    assert {"num_warps", "num_stages", "num_ctas", "debug", "enable_fp_fusion"} <= set(options)
    shared = set(options) & set(recorded) - {"extern_libs"}
    # A launch through the JIT may raise debug; ahead of time nothing does.
    def listed(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value  # metadata went through JSON

    assert {name: listed(options[name]) for name in shared} == {name: listed(recorded[name]) for name in shared}
    options["num_warps"] = 99
    assert get_backend_options()["num_warps"] == 4, "a caller's change must not reach the next caller"


def test_log2_of_every_power_and_of_nothing_else():
    assert [_log2(2**k) for k in range(21)] == list(range(21))
    for n in (0, -1, -8, 3, 6, 2**20 - 1, 2**20 + 1):
        with pytest.raises(ValueError, match=f"takes a power of two, got {n}"):
            _log2(n)


@triton.jit
def log2_kernel(out_ptr, N: tl.constexpr):
    STEPS: tl.constexpr = _log2(N)
    for step in tl.static_range(STEPS):
        tl.store(out_ptr + step, step)


def test_log2_is_known_at_compile_time():
    def build(n: int) -> str:
        source = ASTSource(fn=log2_kernel, signature={"out_ptr": "*i32", "N": "constexpr"}, constexprs={"N": n})
        return str(triton.compile(source, target=SM_90).asm["ttir"])

    assert build(1).count("tt.store") == 0 and build(8).count("tt.store") == 3
    assert "takes a power of two, got 6" in error_of(lambda: build(6))


def test_log2_in_interpreted_kernels():
    run_script(
        "import torch, triton, triton.language as tl\n"
        "from tridiff.kernels.helpers.host_drivers import _log2\n"
        "@triton.jit\n"
        "def kernel(out_ptr, N: tl.constexpr):\n"
        "    for step in tl.static_range(_log2(N)):\n"
        "        tl.store(out_ptr + step, step + 1)\n"
        "out = torch.zeros(5, dtype=torch.int32)\n"
        "kernel[(1,)](out, 8)\n"
        "assert out.tolist() == [1, 2, 3, 0, 0], out\n")


def test_log2_says_so_where_triton_has_no_compile_time_functions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(triton.runtime.jit, "constexpr_function")
    with pytest.raises(NotImplementedError, match="no compile-time functions"):
        host_drivers._make_log2()(8)
