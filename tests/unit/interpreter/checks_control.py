"""Control flow, assertions, program order and how faults surface, with and without the repairs."""

import traceback
import warnings

import numpy as np
import torch
import triton.language as tl
from torch import int32, tensor, zeros
from triton import jit

from tests.unit.interpreter.defects import defect
from tridiff.fuzz import interpreter
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter import (
    AssumptionViolated,
    BlockTruthValue,
    DeviceAssertFailed,
    InterpreterFault,
    ProgramOrder,
    Repairs,
    active,
    active_order,
    install,
    missing,
    repaired,
)
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.versions import before, interpreter_features, interpreter_module


def raised(action: object) -> Exception | None:
    """What calling `action` raises, None for nothing."""
    try:
        action()
    except Exception as error:
        return error
    return None


@jit
def count_up(dst, n):
    total = 0
    for k in range(n):
        total += k
    tl.store(dst, total)


def check_loop_with_a_bound_known_at_run_time():
    def holds() -> bool:
        result = zeros(1, dtype=int32)
        count_up[(1,)](result, 5)
        return result.item() == 10

    old = before(installed(), "3.7.0")
    defect("loop_bounds", holds, exists=old and np.lib.NumpyVersion(np.__version__) >= "2.4.0")


@jit
def block_and(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(dst + i, (v > 0) and (v < 5))


@jit
def block_or(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(dst + i, (v > 5) or (v < 0))


@jit
def block_not(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, not (tl.load(x + i) > 5))


@jit
def chained(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, 0 < tl.load(x + i) < 5)


@jit
def negated(flags):
    return not flags


@jit
def through_a_helper(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, negated(tl.load(x + i) > 5))


def check_block_logic_is_refused_at_its_line():
    x = tensor([-1, 3, 7, 0], dtype=int32)
    for kernel, function in ((block_and, "block_and"), (block_or, "block_or"), (block_not, "block_not"),
                             (through_a_helper, "negated")):
        def outcome(kernel: object = kernel) -> Exception | None:
            return raised(lambda: kernel[(1,)](x, zeros(4, dtype=torch.bool), N=4))

        with repaired(Repairs().but(block_truth=False)):
            assert outcome() is None, "without the repair the misreading is silent"
        with repaired():
            fault = outcome()
        assert isinstance(fault, BlockTruthValue), fault
        assert fault.location.function == function
        with open(fault.location.file) as stream:
            line = stream.read().splitlines()[fault.location.line - 1]
        assert any(word in line for word in (" and ", " or ", "not ")), line


def check_chained_comparison_is_right_or_refused():
    x = tensor([-1, 3, 7, 0], dtype=int32)
    result = zeros(4, dtype=torch.bool)
    with repaired():
        fault = raised(lambda: chained[(1,)](x, result, N=4))
    if interpreter_features().chained_comparison:
        assert fault is None and result.tolist() == [False, True, False, False]
    else:
        assert isinstance(fault, BlockTruthValue)


@jit
def scalar_logic(dst, n, FLAG: tl.constexpr):
    pid = tl.program_id(0)
    if FLAG and pid < n and not pid == 1:  # noqa: SIM201 - `not` on a scalar is the point
        tl.store(dst + pid, 1)
    while 0 <= pid < 1 and n > 0:
        pid += 1
    one = tl.load(dst + tl.arange(0, 1))
    if one or n > 5:
        tl.store(dst + 3, 7)


def check_logic_on_scalars_and_constants_stays_accepted():
    result = zeros(4, dtype=int32)
    with repaired():
        scalar_logic[(3,)](result, 3, FLAG=True)
    assert result.tolist() == [1, 0, 1, 7]


@jit
def argmin_of(x, dst, N: tl.constexpr):
    tl.store(dst, tl.argmin(tl.load(x + tl.arange(0, N)), 0))
    tl.store(dst + 1, tl.max(tl.sort(tl.load(x + tl.arange(0, N))), 0))


def check_library_functions_that_use_scalar_logic_still_run():
    result = zeros(2, dtype=int32)
    with repaired():
        argmin_of[(1,)](tensor([4, 2, 9, 2], dtype=int32), result, N=4)
    assert result.tolist() == [1, 9]


@jit
def asserting(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=-1)
    tl.device_assert(v >= 0, "negative input", mask=i < n)


def check_device_assert():
    x = tensor([1, 2, -3, -4], dtype=int32)

    def fails(n: int) -> Exception | None:
        return raised(lambda: asserting[(1,)](x, n, N=4))

    with repaired(Repairs().but(assertions=False)):
        assert fails(4) is None
    with repaired():
        assert fails(2) is None, "lanes that are masked off do not count"
        fault = fails(4)
    assert isinstance(fault, DeviceAssertFailed) and isinstance(fault, InterpreterFault)
    assert "negative input" in str(fault) and "2 of 4 lanes (2, 3)" in str(fault)
    assert fault.program == (0, 0, 0)


@jit
def assuming(n):
    tl.assume(n > 3)


def check_violated_assumption():
    with repaired():
        assert raised(lambda: assuming[(1,)](4)) is None
        assert isinstance(raised(lambda: assuming[(1,)](3)), AssumptionViolated)


@jit
def wrap_around(x, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(x + i) + tl.load(x + i))


def check_integer_overflow_wraps_although_assertions_are_on():
    result = zeros(2, dtype=int32)
    with repaired():
        wrap_around[(1,)](tensor([2**31 - 1, -(2**31)], dtype=int32), result, N=2)
    assert result.tolist() == [-2, 0]


@jit
def divide(a, b, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(a + i) // tl.load(b + i))


def check_launches_are_silent():
    a, b = tensor([1, -(2**31)], dtype=int32), tensor([0, -1], dtype=int32)
    result = zeros(2, dtype=int32)

    def warned() -> int:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            divide[(1,)](a, b, result, N=2)
        return len(caught)

    assert warned() > 0
    with repaired(Repairs().but(poison_arithmetic=False)):
        assert warned() == 0
    assert result.tolist() == [0, -(2**31)]


@jit
def turn(clock, dst):
    now = tl.load(clock)
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    linear = (x * tl.num_programs(1) + y) * tl.num_programs(2) + z
    tl.store(dst + linear, now)
    tl.store(clock, now + 1)


def check_program_order():
    def positions(order: ProgramOrder | None) -> list[int]:
        clock, result = zeros(1, dtype=int32), torch.full((24,), -1, dtype=int32)
        with repaired(order=order):
            assert active_order() == order
            turn[(2, 3, 4)](clock, result)
        return result.tolist()

    ascending = list(range(24))
    assert positions(None) == ascending == positions(ProgramOrder("ascending"))
    assert positions(ProgramOrder("reversed")) == ascending[::-1]
    shuffled = positions(ProgramOrder("shuffled", seed=5))
    assert sorted(shuffled) == ascending and shuffled != ascending
    assert positions(ProgramOrder("shuffled", seed=5)) == shuffled
    assert positions(ProgramOrder("shuffled", seed=6)) != shuffled


@jit
def faulty(x):
    return x.no_such_attribute


@jit
def outer(x):
    return faulty(x)


@jit
def two_levels(x, N: tl.constexpr):
    outer(tl.load(x + tl.arange(0, N)))


@jit
def failing_helper(x):
    tl.device_assert(x > 0, "not positive")
    return x


@jit
def outer_failing(x):
    return failing_helper(x)


@jit
def two_levels_assert(x, N: tl.constexpr):
    outer_failing(tl.load(x + tl.arange(0, N)))


def check_frames_of_helpers_stay_visible():
    x = zeros(2)
    with repaired():
        other = raised(lambda: two_levels[(1,)](x, N=2))
        fault = raised(lambda: two_levels_assert[(1,)](x, N=2))
    assert isinstance(other, interpreter_module().InterpreterError)
    for error, functions in ((other, ("faulty", "outer", "two_levels")),
                             (fault, ("failing_helper", "outer_failing", "two_levels_assert"))):
        text = "".join(traceback.format_exception(error))
        for function in functions:
            assert f"in {function}\n" in text, (function, text)


@jit
def increment(x):
    return x + 1


@jit
def many_calls(dst, K: tl.constexpr):
    v = tl.program_id(0)
    for _ in tl.static_range(K):
        v = increment(v)
    tl.store(dst + tl.program_id(0), v + tl.sum(tl.arange(0, 2), 0))


def check_language_is_patched_once_per_launch():
    module = interpreter_module()
    original, calls = module._patch_builtin, 0

    def counting(*args: object) -> None:
        nonlocal calls
        calls += 1
        original(*args)

    def holds() -> bool:
        nonlocal calls
        counts, results = [], []
        for k in (1, 20):
            calls, result = 0, zeros(2, dtype=int32)
            many_calls[(2,)](result, K=k)
            counts.append(calls)
            results.append(result.tolist())
        assert results == [[2, 3], [21, 22]]
        return counts[0] == counts[1]

    module._patch_builtin = counting
    try:
        defect("patch_once", holds)
    finally:
        module._patch_builtin = original
    with repaired():
        assert many_calls.fn.__globals__["tl"] is tl
        before = tl.load
        many_calls[(1,)](zeros(1, dtype=int32), K=1)
        assert tl.load is before


def check_install_is_idempotent_and_reversible():
    builder = interpreter_module().InterpreterBuilder
    before = dict(vars(builder))
    assert active() == Repairs.none()
    install()
    once = dict(vars(builder))
    install()
    assert dict(vars(builder)) == once and active() == Repairs()
    with repaired(Repairs.none()):
        assert active() == Repairs.none()
    assert active() == Repairs()
    install(Repairs.none())
    assert dict(vars(builder)) == before


def check_unknown_order_names_the_fix():
    error = raised(lambda: ProgramOrder("sideways"))
    assert isinstance(error, TridiffError) and "'reversed'" in str(error)


def check_every_repair_finds_what_it_repairs():
    assert missing() == (), "nothing is installed"
    with repaired(order=ProgramOrder("shuffled", seed=1)):
        assert missing() == ()


def check_a_repair_that_finds_nothing_is_named():
    """A release that renames what tridiff replaces: a method, an inherited one, a function of the module, a class."""
    interpreter._remove()  # Else what is deleted comes back when another check's repairs are undone.
    module = interpreter_module()
    builder = module.InterpreterBuilder
    for owner, name, gone in (
            (builder, "create_dot", {"narrow_arithmetic: InterpreterBuilder.create_dot",
                                     "undefined_lanes: InterpreterBuilder.create_dot"}),
            (builder, "cast_impl", {"conversions: InterpreterBuilder.cast_impl"}),
            (builder, "create_barrier", {"trace: InterpreterBuilder.create_barrier"}),
            (module, "_patch_lang_tensor", {f"{repair}: triton.runtime.interpreter._patch_lang_tensor" for repair in (
                "loop_bounds", "block_truth", "undefined_lanes", "presence")}),
            (module, "ScanOps", {"narrow_arithmetic: triton.runtime.interpreter.ScanOps",
                                 "undefined_lanes: triton.runtime.interpreter.ScanOps"})):
        kept = getattr(owner, name)
        delattr(owner, name)
        try:
            with repaired():
                assert gone <= set(missing()), (name, missing())
                assert active() == Repairs(), "what was asked for is not what took hold"
        finally:
            setattr(owner, name, kept)
    with repaired():
        assert missing() == ()
