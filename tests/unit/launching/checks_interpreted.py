"""Interpreted kernels: what they hold is told, the same each time, and a fault in the interpreter changes it."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from triton.language import standard

from tests.unit.launching.test_scenes import case, play
from tridiff.fuzz.launching.apart import ENDED
from tridiff.fuzz.launching.lines import parts
from tridiff.fuzz.launching.scenes import interpreted
from tridiff.fuzz.versions import interpreter_module


def check_values_and_refusals_are_told() -> None:
    told = play(case("values", part="plain: types 1", values="wide"))
    refused = {name for name, answer in told.items() if answer.startswith("refused")}
    assert 5 <= len(refused) <= len(told) - 5 and ENDED not in told.values()
    assert told == play(case("values", part="plain: types 1", values="wide"))
    assert told != play(case("values", part="plain: types 1", values="small"))


def check_addresses_are_not_told() -> None:
    for part in ("plain: addresses 1", "plain: assigned 4"):
        assert play(case("values", part=part)) == play(case("values", part=part))
    assert len(set(play(case("given", way="plain")).values())) > 70


def check_arrays_lie_where_addresses_are_longer_than_other_numbers() -> None:
    lines = Path("/proc/self/maps").read_text().splitlines()
    heaps = [line.split()[0].split("-") for line in lines if "[heap]" in line]
    for dtype in (torch.uint8, torch.int64):
        address = interpreted._placed(torch.ones(2048, dtype=dtype)).data_ptr()
        assert not any(int(low, 16) <= address < int(high, 16) for low, high in heaps)


def check_what_does_not_end_is_told() -> None:
    with patch("tridiff.fuzz.launching.scenes.interpreted._SECONDS", 0.1):
        assert ENDED in play(case("values", part="plain: control 3")).values()


def _shown(name: str, wrong: Any, scene: str, **choices: object) -> bool:
    right = play(case(scene, **choices))
    with patch.object(interpreter_module().InterpreterBuilder, name, wrong):
        return right != play(case(scene, **choices))


def check_a_fault_of_the_interpreter_changes_an_answer() -> None:
    builder = interpreter_module().InterpreterBuilder
    assert _shown("create_and", builder.create_or, "values", part="plain: logic 1")
    assert _shown("get_int16", builder.get_uint16, "values", part="plain: kinds 2")
    assert _shown("create_print", lambda self, *given: print("other"), "whole", piece="assertions")
    with patch.object(interpreter_module(), "_implicit_cvt", lambda argument: argument):
        wrong = play(case("given", way="plain"))
    right = play(case("given", way="plain"))
    changed = {name for name in right if right[name] != wrong[name]}
    assert changed >= {"given int 9223372036854775808", "given bool True"}


def check_the_least_of_a_line_is_told_from_its_largest() -> None:
    """tl.topk of one element, in ascending order."""
    part, place = next((part, number) for part, lines in parts().items() for number, line in enumerate(lines)
                       if line == "r = tl.topk(f, 1, descending=False)")
    right = list(play(case("values", part=part)).values())
    with patch.object(standard, "min", standard.max):
        wrong = list(play(case("values", part=part)).values())
    assert right[place].startswith("refused") or right[place] != wrong[place]


def check_descriptors_that_round_are_loaded_from() -> None:
    right = play(case("given", way="plain"))
    if not hasattr(interpreter_module(), "_round_f32_to_tf32"):
        return
    with patch.object(interpreter_module(), "_round_f32_to_tf32", lambda data: data):
        wrong = play(case("given", way="plain"))
    assert {name for name in right if right[name] != wrong[name]} == {"given descriptor fp32 zero rounded"}


def check_descriptors_leave_what_is_no_number_and_what_lies_before_them_alone() -> None:
    module = interpreter_module()
    right = play(case("given", way="plain"))

    def rounded(data: Any) -> Any:
        return ((data.view("u4") + 0x1000) & 0xFFFFE000).view("f4")

    def around(self: Any, offsets: Any) -> Any:
        return real(self, [type(one)(abs(one.data), one.dtype) for one in offsets])

    real = module.TensorDescHandle.materialize_pointers
    with patch.object(module.TensorDescHandle, "materialize_pointers", around):
        wrong = play(case("given", way="plain"))
    assert {name for name in right if right[name] != wrong[name]} >= {"given descriptor i32 zero"}
    if hasattr(module, "_round_f32_to_tf32"):
        with patch.object(module, "_round_f32_to_tf32", rounded):
            wrong = play(case("given", way="plain"))
        assert "given descriptor fp32 zero rounded" in {name for name in right if right[name] != wrong[name]}


def check_scales_of_products_are_told() -> None:
    module = interpreter_module()
    if not hasattr(module, "_dot_scaled_scale_to_f32"):
        return
    real = module._dot_scaled_scale_to_f32
    part = case("values", part="plain: scaled 1")
    right = play(part)
    with patch.object(module, "_dot_scaled_scale_to_f32", lambda handle, kind: real(handle, module.tl.float16)):
        wrong = play(part)
    assert 4 <= sum(right[name] != wrong[name] for name in right) < len(right)


def check_masked_lanes_of_atomics_are_told_alike() -> None:
    native = interpreter_module()._interpreter
    real = native.atomic_rmw

    def other(operation: Any, pointer: Any, value: Any, mask: Any, order: Any) -> Any:
        found = real(operation, pointer, value, mask, order)
        found[~mask] = 77
        return found

    part = case("values", part="plain: seldom 4")
    right = play(part)
    with patch.object(native, "atomic_rmw", other):
        assert right == play(part)


def check_nothing_of_the_installation_is_told() -> None:
    import triton.language as tl

    part = case("values", part="plain: assigned 1")
    right = play(part)
    with patch.object(tl, "__file__", "/elsewhere/language.py"), patch.object(tl.sum, "kwargs", {"other": 1}):
        assert right == play(part)
