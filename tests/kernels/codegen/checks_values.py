"""Interpreter checks of generated kernels: every program of the catalogue under each of its schedules."""

from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from tests.kernels.codegen.catalogue import PROGRAMS, Program, gather, halves, in_place, pointwise, scans, split_scan
from tests.kernels.codegen.graph_runs import arguments_of, launch, run, tensors_of
from tests.kernels.codegen.nodes import X, apply, buffer, load, out, part, reduce, store, tiles, value_of
from tests.kernels.errors import error_of
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels import generated
from tridiff.kernels.codegen.combo import combine
from tridiff.kernels.codegen.graph import Graph, Schedule
from tridiff.kernels.codegen.launch import plan


def assert_same(program: Program, outputs: Any, expected: Any, about: object) -> None:
    for name, want in expected.items():
        got = outputs[name]
        if program.tolerance:
            np.testing.assert_allclose(got, want, rtol=program.tolerance, err_msg=f"{about} {name}")
        elif got.dtype.kind == "f":
            # Bit for bit but for the payload of NaN.
            want = np.asarray(want, got.dtype)
            equal = (got.view(f"u{got.itemsize}") == want.view(f"u{got.itemsize}")) | (np.isnan(got) & np.isnan(want))
            assert equal.all(), (about, name, got[~equal], want[~equal])
        else:
            np.testing.assert_array_equal(got, np.asarray(want, got.dtype), err_msg=f"{about} {name}")


def verify(program: Program, schedule: Schedule, **options: Any) -> None:
    with repaired():
        outputs = run(program.graph, schedule, program.inputs, **options)
    assert_same(program, outputs, program.expected(program.inputs), schedule)


def check_every_program_under_every_schedule():
    for make in PROGRAMS.values():
        program = make()
        for schedule in program.graph.schedules:
            verify(program, schedule, aligned=[buffer.name for buffer in program.graph.buffers])


def check_what_stands_for_masked_elements_is_exact():
    # A Python float in the text would be an fp32 number.
    values = ("16777217.0", "0.1", "1e-40", "1e-310", "1e300", "3.4028235677973366e38", "-0.0", "inf", "2.0")
    loads = [load("a", mask=0, other=value) for value in values]
    stores = [store(f"o{k}", k + 1) for k in range(len(values))]
    outputs = [out(f"o{k}", "fp64", 4) for k in range(len(values))]
    graph = Graph(outer=(4,), buffers=(buffer("a", "fp64", 4), *outputs),
                  nodes=(value_of(apply("lt", X, 2), "i1"), *loads, *stores))
    a = np.array([0.1, 0.2, 0.3, 0.4])
    with repaired():
        outputs = run(graph, tiles(4), {"a": a})
    for k, value in enumerate(values):
        want = np.array([0.1, 0.2, float(value), float(value)])
        assert outputs[f"o{k}"].tobytes() == want.tobytes(), (value, outputs[f"o{k}"])


def check_halves_round_at_every_node_without_upcast():
    program = halves()
    with repaired():
        outputs = run(program.graph, tiles(4, upcast=False), program.inputs)
    assert outputs["o"].tolist() == [float("inf"), 2.0, 3.0, float("inf")]


def check_indices_out_of_range_fail_the_launch_and_masked_ones_do_not():
    program = gather()
    for bad in (37, -38):
        keys = program.inputs["k"].copy()
        keys[5] = bad
        with repaired():
            message = error_of(lambda keys=keys: run(program.graph, tiles(64), {**program.inputs, "k": keys}))
        assert "DeviceAssertFailed" in message and "index out of bounds: 0 <= wrapped1 < 37" in message, message
    verify(program, tiles(256))  # the lanes behind the end hold no index at all


def check_lifting_loads_does_not_change_values():
    program = in_place()
    for schedule in program.graph.schedules:
        verify(program, replace(schedule, lift_loads=not schedule.lift_loads))


def check_empty_axes():
    """No point, nothing written; no r, neutral results."""
    empty = Graph(outer=(0,), buffers=(buffer("a", "fp32", 1), out("o", "fp32", 3)), nodes=(load("a"), store("o", 0)))
    with repaired():
        assert run(empty, Schedule(), {"a": np.zeros(1, np.float32)})["o"].tolist() == [77] * 3
        kinds: tuple[Any, ...] = ("sum", "prod", "any", "all", "welford")
        nodes: list[Any] = [load("a")]
        buffers = [buffer("a", "fp32", 2)]
        for kind in kinds:
            nodes.append(reduce(kind, 0))
            if kind == "welford":
                nodes.append(part(len(nodes) - 1))
            nodes.append(store(f"{kind}0", len(nodes) - 1))
            buffers.append(out(f"{kind}0", "fp32", 2))
        graph = Graph(outer=(2,), r=0, buffers=tuple(buffers), nodes=tuple(nodes))
        for schedule in (tiles(2), tiles(1, reduction="looped", r_block=4, static=True),
                         tiles(2, reduction="cooperative", r_block=4)):
            outputs = run(graph, schedule, {"a": np.ones(2, np.float32)})
            found = [outputs[f"{kind}0"].tolist() for kind in kinds]
            assert found == [[0.0] * 2, [1.0] * 2, [0.0] * 2, [1.0] * 2, [0.0] * 2], (schedule, found)


def check_combo_kernels_do_what_separate_launches_do():
    programs = [pointwise(), split_scan(), scans(), gather()]
    parts = [(program.graph, program.graph.schedules[0]) for program in programs]
    kernel = combine(parts)
    tensors = {f"k{n}.{name}": tensor for n, program in enumerate(programs)
               for name, tensor in tensors_of(program.graph, program.inputs).items()}
    assert arguments_of(kernel, tensors)
    with repaired():
        launch(kernel, tensors)
    for n, program in enumerate(programs):
        outputs = {name: tensors[f"k{n}.{name}"].numpy() for name in program.expected(program.inputs)}
        assert_same(program, outputs, program.expected(program.inputs), n)


def check_finite_check_refuses_nan_and_infinity():
    program = halves()
    kernel = plan(program.graph, tiles(4, nan_check=True))
    check = getattr(generated.load(kernel.source, name=kernel.name), kernel.finite_check)
    check(a=torch.ones(3), k=torch.ones(2, dtype=torch.int32))
    for bad, word in ((float("nan"), "NaN"), (float("inf"), "infinity")):
        message = error_of(lambda bad=bad: check(a=torch.tensor([1.0, bad]).to(torch.bfloat16)))
        assert message.startswith("AssertionError") and word in message
