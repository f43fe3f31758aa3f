"""Ahead-of-time compilation of generated kernels for sm_90."""

import re
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.kernels.codegen.catalogue import PROGRAMS, folds, in_place, pointwise, scans, sorting, split_scan, transposed
from tests.kernels.codegen.nodes import X, apply, asm, buffer, constant, load, op, out, store, tiles, value_of
from tests.kernels.driver_runs import GFX942, SM_90
from tests.kernels.errors import error_of
from tridiff.kernels import generated
from tridiff.kernels.codegen.combo import combine
from tridiff.kernels.codegen.dialect import has_block_pointers
from tridiff.kernels.codegen.graph import Graph, Schedule
from tridiff.kernels.codegen.kernel import Kernel
from tridiff.kernels.codegen.launch import plan


def compiled(kernel: Kernel, dtypes: dict[str, str], target: GPUTarget = SM_90) -> str:
    """PTX of a kernel, or what an AMD chip has in its place. dtypes: of the buffers."""
    function = getattr(generated.load(kernel.source, name=kernel.name), kernel.name)
    spaces = {one.name: one.dtype for one in kernel.workspaces}
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for one in kernel.arguments:
        if one.kind == "constexpr":
            signature[one.name], constants[one.name] = "constexpr", one.value
        elif one.kind == "size":
            signature[one.name] = "i32" if int(one.value) < 2**31 else "i64"
        else:
            dtype = dtypes[str(one.value)] if one.kind == "buffer" else spaces[str(one.value)]
            signature[one.name] = "*" + ("i8" if dtype == "i1" else dtype)
    source = ASTSource(fn=function, signature=signature, constexprs=constants)
    made = triton.compile(source, target=target, options={"debug": True, "sanitize_overflow": False})
    return str(made.asm["ptx" if target.backend == "cuda" else "amdgcn"])


def ptx(graph: Graph, schedule: Schedule, **options: Any) -> str:
    kernel = plan(graph, schedule, aligned=[buffer.name for buffer in graph.buffers], **options)
    return compiled(kernel, {buffer.name: buffer.dtype for buffer in graph.buffers})


def check_every_program_under_its_first_schedule():
    for name, make in PROGRAMS.items():
        graph = make().graph
        if name != "sorting":
            assert "ret;" in ptx(graph, graph.schedules[0]), name


def check_the_product_of_a_decimal_rounding_is_rounded():
    """Contracted with what follows, 1.05 * 10 is a little more than 10.5 and no tie: 1.0 instead of 1.1."""
    graph = Graph(outer=(5,), buffers=(out("out0", "fp64", 5),), nodes=(
        value_of(apply("round_decimal", apply("to_float", X), 1), "fp64"), store("out0", 0)))
    text = ptx(graph, tiles(8))
    assert re.search(r"fma\.rn\.f64[^;]*0d4024000000000000, 0d0{16};", text)
    assert not re.search(r"mul\.f64\s[^;]*0d4024000000000000", text)
    kernel = plan(graph, tiles(8), aligned=["out0"])
    assert "v_fma_f64" in compiled(kernel, {"out0": "fp64"}, GFX942), "on a chip whose library has no such product"


def check_looped_split_and_cooperative_schedules():
    for make in (folds, scans, in_place):
        graph = make().graph
        for schedule in graph.schedules:
            if schedule.reduction != "persistent":
                assert "ret;" in ptx(graph, schedule)
    graph = split_scan().graph
    assert "atom" in ptx(graph, graph.schedules[0])
    assert "ret;" in ptx(sorting().graph, Schedule(no_x_dim=True))


def check_positions_in_64_bits():
    for make in (pointwise, folds, split_scan):
        graph = make().graph
        kind = "split" if make is split_scan else "looped" if graph.r else "persistent"
        schedule = tiles(1, reduction=kind, r_block=16, index_dtype="i64")
        assert "ret;" in ptx(graph, schedule)


def check_block_accesses():
    """Tensor descriptors load by the tensor memory accelerator; block pointers exist in Triton 3.6.0 only."""
    graph = transposed().graph
    assert "cp.async.bulk.tensor" in ptx(graph, tiles(4, 4, access="descriptors", static=True))
    blocks = plan(graph, tiles(8, 8, access="block_pointers"))
    assert ("make_block_ptr" in blocks.source) is has_block_pointers()
    assert "ret;" in ptx(graph, tiles(8, 8, access="block_pointers"))


def check_inline_assembly():
    bodies: dict[str, tuple[str, int]] = {
        "add_s32": ("add.s32", 2), "max_s32": ("max.s32", 2), "lop3_xor": ("lop3.b32", 3),
        "prmt_reverse": ("prmt.b32", 1), "popc": ("popc.b32", 1)}
    nodes: list[Any] = [load("a")]
    nodes += [asm(name, *((0,) * arity)) for name, (_, arity) in bodies.items()]
    nodes += [asm("popc", 0, pure=False), load("f"), asm("ex2_approx", 7)]
    nodes += [store(f"o{k}", k) for k in (*range(1, 7), 8)]
    outputs = tuple(out(f"o{k}", "fp32" if k == 8 else "i32", 64) for k in (*range(1, 7), 8))
    buffers = (buffer("a", "i32", 64), buffer("f", "fp32", 64), *outputs)
    graph = Graph(outer=(64,), buffers=buffers, nodes=tuple(nodes))
    text = ptx(graph, tiles(64))
    for name, (instruction, _) in bodies.items():
        assert instruction in text, name
    assert "ex2.approx.ftz.f32" in text
    source = plan(graph, tiles(64)).source
    assert source.count('"popc.b32') == 2, "impure assembly is not one with its twin"


def check_combo():
    programs = [pointwise(), scans(), split_scan()]
    kernel = combine([(program.graph, program.graph.schedules[0]) for program in programs])
    dtypes = {f"k{n}.{buffer.name}": buffer.dtype for n, program in enumerate(programs)
              for buffer in program.graph.buffers}
    assert "ret;" in compiled(kernel, dtypes)


def check_assertions_and_hooks_reach_the_compiler():
    nodes = (constant("-1", "fp32"), op("relu", 0), store("o", 1))
    graph = Graph(outer=(8,), buffers=(out("o", "fp32", 8),), nodes=nodes)
    schedule = tiles(8)
    assert "__assertfail" in ptx(graph, schedule, faults=("runtime_error",))
    assert "__assertfail" not in ptx(graph, schedule, faults=("accuracy",))
    message = error_of(lambda: ptx(graph, schedule, faults=("compile_error",)))
    assert "planted_undefined_name" in message
