"""Programs and operations through torch.compile, run in Triton's interpreter. One child process: the first compilation
takes seconds, every further one a tenth of one."""

from types import SimpleNamespace
from typing import Any

import torch
from numpy.testing import assert_array_equal
from torch import ones, tensor, zeros

from tests.unit.graphs.graphs import (
    X,
    apply,
    at,
    cast,
    filled,
    halves,
    load,
    matrix,
    num,
    op,
    row_sums_of_a_masked_gather,
    sorted_rows_transposed,
    store,
)
from tridiff.fuzz import interpreter
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.inductor import launch, session
from tridiff.fuzz.inductor.operations import OPERATIONS, program
from tridiff.fuzz.inductor.programs.text import torch_program
from tridiff.fuzz.interpreter import DeviceAssertFailed, OutOfBounds, Repairs
from tridiff.fuzz.kinds.graphs import by_torch, launching
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.verdicts import Declined
from tridiff.fuzz.versions import release
from tridiff.fuzz.workers.execute import Executor
from tridiff.fuzz.workers.failures import classify
from tridiff.kernels.codegen.graph import Graph, Index, Reduce, Sym
from tridiff.oracles.dtypes import torch_dtype

interpreter.install(Repairs(block_truth=False))
INF, NAN = float("inf"), float("nan")


def _raised(source: str, *arguments: torch.Tensor) -> BaseException:
    try:
        session.run(source, arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def _answer(name: str, *arguments: torch.Tensor) -> list[Any]:
    return session.run(program(OPERATIONS[name]), arguments).tensors[0].tolist()


def _function(expression: str, parameters: str = "a") -> str:
    return f"import torch\n\n\ndef compute({parameters}):\n    return {expression}\n"


def _run(graph: Graph, buffers: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    written = torch_program(graph)
    lengths = {one.name: one for one in graph.buffers}
    arguments = tuple(
        buffers[name] if name in buffers else zeros(lengths[name].length, dtype=torch_dtype(lengths[name].dtype))
        for name in written.arguments)
    found = session.run(written.text, arguments, settings=session.Settings(emulate_precision_casts=written.emulated))
    return dict(zip(written.outputs, found.tensors, strict=True))


def check_a_program_gives_what_its_graph_says():
    gather = {"in0": tensor([1.0, 10.0, 100.0, 1000.0]), "in1": tensor([0, -1, 2, 3, 0, 1])}
    assert _run(row_sums_of_a_masked_gather(), gather)["out0"].tolist() == [1099, 10]
    rows = {"in0": tensor([1, 3, 2, 5, NAN, 4]), "io0": tensor([100, 7], dtype=torch.int32)}
    found = _run(sorted_rows_transposed(), rows)
    expected = by_torch.evaluate(sorted_rows_transposed(), rows)
    for name, value in expected.items():
        assert torch.allclose(found[name].double(), value.double(), equal_nan=True), name


def check_sizes_have_the_types_that_inductor_declares():
    """n is an int64 argument; by its value it would be one of 32 bits, of which the product is -49."""
    found = session.run(_function("a + n * 65537 * 65535 * 7", "a, n"), (zeros(2, dtype=torch.int64), 7),
                        settings=session.Settings(dynamic=True))
    assert found.tensors[0].tolist() == [49 * (2**32 - 1)] * 2


def check_halves_are_rounded_where_the_graph_says():
    for upcast, first in ((True, 300.0), (False, INF)):
        found = _run(halves(upcast=upcast), {"in0": tensor([300, 2], dtype=torch.float16)})
        assert found["out0"].tolist() == [first, 2]
        assert found["out1"].tolist() == [0x5CB0 + 1, 0x4000 + 1]


def check_known_divergences_are_there():
    """Of codegen.md §14, up to the release of torch that mended each; the next one shows here first."""
    here = release(torch.__version__)
    halves = tuple(tensor([one], dtype=torch.float16) for one in (0.0, 1.0))
    for name, inputs, wrong, right, mended in (
        ("floor_divide", (tensor([1.0]), tensor([0.1])), [10.0], [9.0], (2, 16)),
        ("times_zero", (tensor([NAN]),), [0.0], [NAN], (2, 14)), ("zero_by", (tensor([0.0]),), [0.0], [NAN], (2, 14)),
        ("signbit", (tensor([-0.0], dtype=torch.float64),), [False], [True], (2, 14)),
        ("nextafter", halves, [0.0], [2.0**-24], (2, 15)),
    ):
        assert_array_equal(_answer(name, *inputs), wrong if here < mended else right, err_msg=name)


def check_sizes_are_symbols_or_numbers():
    """The quotient of symbols is formed in fp32 (codegen.md §14 row 9); a number is exact."""
    graph = matrix(
        Index(expr=apply("int_true_div", apply("mul", Sym(name="rn"), num(16777259)), num(7)), dtype="fp64"),
        load("in0", at(5)), cast(1, "fp64"), op("add", 0, 2), store("out0", at(5), 3), rows=2, columns=5,
        in0=("fp32", 10), out0=("fp64", 10))
    written = torch_program(graph)
    assert written.sizes == (("rn", 5),) and "((rn * 16777259) / 7)" in written.text, written.text
    arguments = (zeros(10), zeros(10, dtype=torch.float64), 5)
    found = {dynamic: session.run(written.text, arguments, settings=session.Settings(dynamic=dynamic)).tensors[0]
             for dynamic in (False, True)}
    assert found[False].tolist() == [5 * 16777259 / 7] * 10
    assert set(found[True].tolist()) == {11983757.0}


def check_the_compiler_is_imported_and_runs_in_the_stage_that_has_time_for_it():
    said: list[str] = []
    session.device(said.append)
    assert said == ["compile"]
    source, arguments = _function("a * 5 + 3"), (ones(3),)
    for expected in (["compile", "launch"], ["compile", "launch"]):
        said.clear()
        session.run(source, arguments, stage=said.append)
        assert said == expected


def check_no_processes_are_started_to_compile():
    from torch._inductor import config
    from torch._inductor.async_compile import AsyncCompile, get_compile_threads

    session.run(_function("a * 7 + 3"), (ones(3),))
    assert config.compile_threads == get_compile_threads() == 1
    assert AsyncCompile.process_pool.cache_info().currsize == 0


def check_nothing_grows_from_program_to_program():
    """Each is compiled afresh, past the number at which Dynamo gives up recompiling one function."""
    from torch._dynamo import config
    from torch._inductor.codecache import PyCodeCache

    kernels = [session.run(_function(f"a * {number} + 2"), (ones(4),)).kernels
               for number in range(2, config.recompile_limit + 5)]
    assert set(kernels) == {1}
    assert len(PyCodeCache.modules) <= 2


def check_a_result_of_another_type_is_a_finding():
    """any(uint8) is bool under the compiler (codegen.md §14 row 7)."""
    graph = matrix(load("in0", at(3)), Reduce(kind="any", args=(0,)), store("out0", X, 1), rows=2, columns=3,
                   in0=("u8", 6), out0=("u8", 2))
    written = torch_program(graph)
    arguments = (ones(6, dtype=torch.uint8), zeros(2, dtype=torch.uint8))
    assert session.run(written.text, arguments).tensors[0].dtype == torch.bool
    namespace: dict[str, Any] = {}
    exec(written.text, namespace)
    assert namespace["compute"](*arguments)[0].dtype == torch.uint8


def check_one_program_is_compiled_once():
    source = _function("a * 3 + 1")
    first = session.run(source, (ones(5),))
    again = session.run(source, (zeros(5),))
    other = session.run(source, (zeros(6),))
    assert (first.kernels, again.kernels, other.kernels) == (1, 0, 1)
    assert again.tensors[0].tolist() == [1] * 5


def check_the_configuration_that_is_asked_for_is_the_fastest():
    """In the interpreter Inductor times none; on a GPU the first call keeps the smallest time."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    tuner, named = SimpleNamespace(launchers=["first", "second", "third"]), []
    for number in range(2, 6):
        session.run(_function("a + 5"), (ones(3),), settings=session.Settings(configuration=number))
        named.append(min(tuner.launchers, key=lambda one: CachingAutotuner.bench(tuner, one, ones(3), stream=0)))
    assert named == ["third", "first", "second", "third"]
    counted = [session.configuration_of(LaunchOptions(num_warps=warps, num_stages=stages))
               for warps, stages in ((1, 1), (2, 1), (4, 3), (16, 4))]
    assert counted == [2, 3, 6, 9]


def check_failures_are_told_apart():
    assert isinstance(_raised(_function("torch.linalg.inv(a)"), torch.eye(2)), Declined)
    printing = _raised(_function("a + int(a.sum().item() > 0 and print(1) or 0)"), ones(2))
    refused = classify(printing, "interpreter")
    assert (refused.verdict.value, refused.where) == ("compile_error", "dynamo")
    outside = _raised(_function("a[b]", "a, b"), ones(3), tensor([3]))
    assert isinstance(outside, DeviceAssertFailed) and "0 <= tmp" in str(outside)


def check_every_launch_is_watched():
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    launch = CachingAutotuner.run.__closure__
    assert launch is not None
    # A kernel that is told of more elements than its arguments have.
    from tridiff.fuzz.inductor import watched

    original = watched._memory
    watched._memory = lambda arguments: original(arguments)[:1]
    try:
        error = _raised(_function("a + b", "a, b"), ones(7), ones(7))
    finally:
        watched._memory = original
    assert isinstance(error, OutOfBounds)


def _square_root(values: tuple[str, ...]) -> Case:
    return Case(target="inductor.pointwise", sizes={"rows": len(values), "one": 1}, params={"op": "sqrt"}, arrays=(
        ArraySpec(name="a", dtype="fp32", dims=("rows",), content=Content(base=Explicit(values=values))),
        "out fp32[rows]", "dtype i32[one]"))


def check_a_control_that_is_wrong_is_a_conflict_and_no_finding():
    """Eager torch is one more reference. Where it differs nothing is known of torch.compile, nor of the own kernels."""
    executor, case = Executor(backend="interpreter"), _square_root(("4.0", "9.0"))

    def judged(subject: str) -> Outcome:
        return executor.execute(case, subject, backend="interpreter")[0]

    assert judged("own").verdict is judged("inductor").verdict is Verdict.AGREE
    assert judged("own+fault:wrong_value").verdict is Verdict.DISAGREE
    eagerly = launch.eagerly
    try:
        launch.eagerly = lambda operation, inputs: eagerly(operation, inputs) + 1
        wrong = judged("own")
    finally:
        launch.eagerly = eagerly
    assert (wrong.verdict, wrong.signature, wrong.rows.conflict) == (Verdict.NOT_CHECKED, None, 2)
    assert wrong.reason == "oracle_conflict: the control differs from the references about out (value)"
    assert wrong.evidence is not None and wrong.evidence.actual["out"] == ("3.0", "4.0")


def check_a_store_where_nothing_stores_is_a_finding():
    """Between the elements of a strided store; the values are right."""
    graph = matrix(load("in0", X), store("out0", apply("mul", X, num(2)), 0), rows=2, in0=("i32", 2), out0=("i32", 4))
    case = filled(graph, in0=Explicit(values=("7", "8")))
    executor, own = Executor(backend="interpreter"), launching.launch_graph

    def astray(given: Launch) -> None:
        own(given)
        given.pointer("out0")[1] = 7

    assert executor.execute(case, "own", backend="interpreter")[0].verdict is Verdict.AGREE
    try:
        launching.launch_graph = astray
        found = executor.execute(case, "own", backend="interpreter")[0]
    finally:
        launching.launch_graph = own
    assert found.verdict is Verdict.DISAGREE and found.signature is not None
    assert (found.signature.kind, found.signature.where) == ("stray_write", "out0"), found.reason
