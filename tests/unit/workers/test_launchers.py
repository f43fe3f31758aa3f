"""Kernels of Triton 3.6 are launched without building a launcher: the driver is handed what the C launcher hands it."""

import ctypes
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from tridiff.fuzz.backends import launchers


class Driver:
    """A CUDA driver that keeps the bytes it is handed: host addresses are device addresses plus 4096."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.bytes, self.config, self.attribute = sizes, [], None, 0

    def cuPointerGetAttribute(self, found: Any, which: int, host: Any) -> int:
        assert which == 3
        ctypes.cast(found, ctypes.POINTER(ctypes.c_uint64))[0] = host.value - 4096
        return 1 if host.value < 4096 else 0

    def cuGetErrorString(self, code: int, text: Any) -> None:
        ctypes.cast(text, ctypes.POINTER(ctypes.c_char_p))[0] = b"driver says %d" % code

    def cuLaunchKernelEx(self, config: Any, function: Any, pointers: Any, extra: None) -> int:
        given = config._obj
        self.config = (*given.grid, *given.block, given.shared_bytes, given.stream, given.count, function.value)
        self.attribute = given.attributes[0].id if given.count else 0
        self.bytes = [ctypes.string_at(at, size) for at, size in zip(pointers, self.sizes, strict=True)]
        return 700 if function.value == 13 else 0


def array(host: int) -> Any:
    return SimpleNamespace(data_ptr=lambda: host)


@pytest.mark.parametrize("cooperative", [False, True])
def test_what_the_driver_is_handed(cooperative: bool, monkeypatch: pytest.MonkeyPatch):
    driver = Driver([8, 4, 8, 1, 2, 4, 8, 8, 8, 8])
    monkeypatch.setattr(launchers, "_cuda", lambda: driver)
    launchers.launch(("*fp32", "i32", "i64", "i1", "u16", "fp32", "constexpr", "fp64", "*i8"), (7, 5, 3), 99, 11,
                     cooperative, (array(8192), None), (8, 1, 640),
                     (array(5000), -2, 1 << 40, True, 65535, 0.1, "block", -0.0, None))
    assert driver.config == (7, 5, 3, 256, 1, 1, 640, 99, int(cooperative), 11)
    assert driver.attribute == (2 if cooperative else 0)
    assert driver.bytes == [struct.pack("<" + form, value) for form, value in (
        ("Q", 904), ("i", -2), ("q", 1 << 40), ("b", 1), ("H", 65535), ("f", 0.1), ("d", -0.0), ("Q", 0), ("Q", 4096),
        ("Q", 0))]


def test_failures_carry_the_words_of_triton_launchers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launchers, "_cuda", lambda: Driver([8, 8]))
    with pytest.raises(RuntimeError, match=r"^Triton Error \[CUDA\]: driver says 700$"):
        launchers.launch((), (1, 1, 1), 0, 13, False, (None, None), (4, 1, 0), ())
    with pytest.raises(ValueError, match=r"at 1\) cannot be accessed from Triton \(cpu tensor\?\)"):
        launchers.launch(("i32", "*i8"), (1, 1, 1), 0, 11, False, (None, None), (4, 1, 0), (1, array(64)))


def test_an_empty_grid_launches_nothing(monkeypatch: pytest.MonkeyPatch):
    driver = Driver([])
    monkeypatch.setattr(launchers, "_cuda", lambda: driver)
    launchers.launch((), (4, 0, 1), 0, 11, False, (None, None), (4, 1, 0), ())
    assert driver.config is None


def test_a_sixteenth_of_signatures_and_what_is_rare_keep_triton_s_launcher():
    drawn = [tuple(["*fp32"] * a + ["i32"] * b + ["fp32"] * c) for a in range(12) for b in range(12) for c in range(12)]
    kept = sum(not launchers.serves(one, num_ctas=1, dependent=False) for one in drawn)
    assert len(drawn) / 24 < kept < len(drawn) / 10
    plain = next(one for one in drawn[1:] if launchers.serves(one, num_ctas=1, dependent=False))
    assert not launchers.serves(plain, num_ctas=2, dependent=False)
    assert not launchers.serves(plain, num_ctas=1, dependent=True)
    for rare in ("fp16", "bf16", "tensordesc<fp16[16, 16]>", "nvTmaDesc", ("i32", "i32")):
        assert not launchers.serves((*plain, rare), num_ctas=1, dependent=False)
