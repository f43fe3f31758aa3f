"""Names, cache keys, text that people can read, benchmark scripts (contract: codegen.md §10, §12)."""

import ast
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.kernels.codegen.catalogue import PROGRAMS, halves, in_place, pointwise, scans, split_scan
from tests.kernels.codegen.nodes import buffer, constant, load, op, out, part, store, tiles
from tests.support.in_subprocess import run_script
from tridiff.kernels.codegen.graph import Graph, Schedule
from tridiff.kernels.codegen.harness import script
from tridiff.kernels.codegen.launch import plan

each = pytest.mark.parametrize


def test_equal_bodies_share_a_name_and_different_ones_do_not():
    graph = pointwise().graph
    one, again = plan(graph, tiles(32)), plan(graph, tiles(32))
    assert one == again and one.name.startswith("triton_poi_relu_mul_")
    other_block = plan(graph, tiles(64))
    assert other_block.source == one.source and other_block.key != one.key, "blocks are arguments of the launch"
    shorter = plan(replace(graph, outer=(2, 5, 7)), tiles(32))
    assert shorter.source == one.source, "sizes of a dynamic kernel are arguments"
    static = plan(graph, tiles(32, static=True))
    assert static.name != one.name and "105" in static.source and not any(a.kind == "size" for a in static.arguments)


@each("change", [{"upcast": False}, {"static": True}, {"eviction": "evict_first"},
                                    {"index_dtype": "i64"}, {"unspecialised": True}, {"nan_check": True}])
def test_options_that_change_the_kernel_change_its_key(change: dict[str, object]):
    graph = halves().graph
    assert plan(graph, replace(tiles(4), **change)).key != plan(graph, tiles(4)).key


def test_names_stay_short():
    ops = ("logical_not", "isfinite", "signbit", "nextafter", "reciprocal", "sigmoid", "relu", "neg", "abs")
    nodes = (constant("1", "fp32"), *(op(name, *[0] * (1 + (name == "nextafter"))) for name in ops), store("o", 2))
    graph = Graph(outer=(4,), buffers=(out("o", "i1", 4),), nodes=nodes)
    assert len(plan(graph, Schedule()).name) < 72 and plan(graph, Schedule()).name.isidentifier()


def test_combine_functions_are_lifted_once_per_body():
    source = plan(scans().graph, tiles(4)).source
    assert [line for line in source.split("\n") if line.startswith("def combine_")] == [
        "def combine_add(a, b):", "def combine_second(a, b):",
        "def combine_affine(a_scale, a_shift, b_scale, b_shift):"]


def test_equal_expressions_are_computed_once_but_not_under_other_masks():
    nodes = (load("a"), load("a"), op("neg", 0), op("neg", 1), op("add", 2, 3), store("o", 4))
    graph = Graph(outer=(8,), buffers=(buffer("a", "i32", 8), out("o", "i32", 8)), nodes=nodes)
    source = plan(graph, Schedule()).source
    assert source.count("tl.load(") == 1 and source.count(" = -tmp0") == 1 and "tmp2 + tmp2" in source
    assert plan(PROGRAMS["gather"]().graph, tiles(64)).source.count("tl.load(k_ptr + xindex, ") == 3


def test_frexp_is_one_call():
    nodes = (load("a"), op("frexp", 0), op("frexp", 0), part(1), part(2, 1), store("o", 3), store("p", 4))
    buffers = (buffer("a", "fp16", 8), out("o", "fp16", 8), out("p", "i32", 8))
    graph = Graph(outer=(8,), nodes=nodes, buffers=buffers)
    assert plan(graph, Schedule()).source.count("frexp(tmp0)") == 1


def test_what_a_kernel_writes_is_declared():
    kernel = plan(in_place().graph, tiles(4))
    assert kernel.mutated == ("io", "o", "total")
    split = plan(split_scan().graph, split_scan().graph.schedules[0])
    assert split.mutated == ("o", "p", "workspace0") and split.workspaces[0].dtype == "u64"
    assert split.workspaces[0].length == 3 * 7


def test_unspecialised_sizes_are_marked():
    source = plan(pointwise().graph, tiles(32, unspecialised=True)).source
    assert '@triton.jit(do_not_specialize=["n1", "n2", "xnumel"])' in source


def test_every_kernel_is_well_formed_python_with_its_imports_at_the_top():
    for make in PROGRAMS.values():
        graph = make().graph
        for schedule in graph.schedules:
            source = plan(graph, schedule, block_pointers=True).source
            tree = ast.parse(source)
            imports = [isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body]
            assert imports == sorted(imports, reverse=True)
            assert "\t" not in source and not any(line != line.rstrip() for line in source.split("\n"))


def test_benchmark_scripts_run(tmp_path: Path):
    """Twice in one process: as it is, and through its cache; a kernel that fails takes forever."""
    program = split_scan()
    text = script(program.graph, plan(program.graph, program.graph.schedules[0]))
    run = run_script(text + f"""
    first = benchmark(get_args(), repeats=1, cache={str(tmp_path)!r})
    assert first == benchmark(None, repeats=1, cache={str(tmp_path)!r}) > 0, "the second time comes from the cache"
    assert benchmark({{}}, repeats=1) == float("inf")
""")
    assert run.stdout.count("GB/s") == 1 and "inf" not in run.stdout.split("failed")[0], run.stdout
    assert run.stdout.count("failed") == 1


@each("dtype, length, whole", [("u64", 7, False), ("u64", 8, True), ("fp32", 65, False),
                                                  ("fp32", 68, True), ("i8", 30, False), ("fp16", 24, True)])
def test_descriptors_store_whole_units_of_16_bytes_only(dtype: str, length: int, whole: bool):
    """The hardware writes no less: behind a tensor that ends within a unit it overwrites the rest (Triton #11583)."""
    buffers = (buffer("a", dtype, length), out("o", dtype, length))
    graph = Graph(outer=(length,), nodes=(load("a"), store("o", 0)), buffers=buffers)
    for static in (False, True):
        schedule = tiles(16, access="descriptors", static=static)
        source = plan(graph, schedule, aligned=("a", "o")).source
        assert "a_descriptor.load(" in source
        assert ("o_descriptor1.store(" in source) is whole
