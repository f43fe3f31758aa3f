"""The memory trace of interpreted launches: what it records, and the faults that each view must flag."""

import numpy as np
import torch
import triton.language as tl
from torch import ones, zeros
from triton import jit

from tridiff.fuzz.interpreter import NeverEndingWait, OutOfBounds, ProgramOrder, Repairs, repaired
from tridiff.fuzz.interpreter.shadow_memory import bit_patterns
from tridiff.fuzz.interpreter.trace import Buffer, Trace, recording
from tridiff.fuzz.interpreter.views import coverage, element_card, races, undefined_uses
from tridiff.fuzz.versions import interpreter_features


@jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, a + b, mask=mask)


def line_of(text: str) -> int:
    """Number of the only line of this file that is `text`, indentation aside."""
    with open(__file__) as stream:
        (number,) = (i for i, line in enumerate(stream, 1) if line.strip() == text)
    return number


def launch(kernel: object, grid: tuple[int, ...], tensors: dict[str, torch.Tensor], *args: object,
           events: bool = False, outputs: tuple[str, ...] = (), order: ProgramOrder | None = None,
           repairs: Repairs | None = None, expect: type[Exception] | None = None, **constants: object) -> Trace:
    """Trace of kernel[grid](*tensors, *args, **constants); `expect`: exception the launch must raise."""
    buffers = [Buffer.of_tensor(name, tensor, initialised=name not in outputs) for name, tensor in tensors.items()]
    with repaired(repairs, order=order), recording(buffers, events=events) as trace:
        try:
            kernel[grid](*tensors.values(), *args, **constants)
        except Exception as error:
            assert expect is not None and type(error) is expect, repr(error)
        else:
            assert expect is None, f"{expect} was not raised"
    return trace


def add_tensors() -> dict[str, torch.Tensor]:
    return {"x": torch.arange(10.0), "y": 100 * ones(10), "out": zeros(10)}


def integers(**lengths: int) -> dict[str, torch.Tensor]:
    """Arrays of zeros."""
    return {name: zeros(length, dtype=torch.int32) for name, length in lengths.items()}


def kinds(trace: Trace) -> list[str]:
    """Of the races."""
    return [race.kind for race in races(trace).races]


def check_vector_add_gives_nine_events():
    tensors = add_tensors()
    trace = launch(vector_add, (3,), tensors, 10, BLOCK=4, events=True, outputs=("out",))
    load_x = line_of("a = tl.load(x + offsets, mask=mask)")
    load_y = line_of("b = tl.load(y + offsets, mask=mask)")
    store = line_of("tl.store(out + offsets, a + b, mask=mask)")
    elements = ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9])
    expected = [
        (3 * p + k, (p, 0, 0), line, operation, {name}, elements[p]) for p in range(3)
        for k, (line, operation, name) in enumerate(
            ((load_x, "load", "x"), (load_y, "load", "y"), (store, "store", "out")))]
    assert [(event.sequence, event.program, event.location.line, event.operation,
             {trace.buffers[index].name for index in event.buffer[event.mask]}, event.element[event.mask].tolist())
            for event in trace.events] == expected
    last = trace.events[8]
    assert last.mask.tolist() == [True, True, False, False]
    assert bit_patterns(tensors["out"].numpy())[8:].tolist() == last.after[:2].tolist()
    assert last.before[:2].tolist() == [0, 0]
    assert coverage(trace, "out").exact and races(trace).clean and trace.out_of_bounds is None
    assert trace.accesses == 9
    assert undefined_uses(trace).checked and undefined_uses(trace).count == 0


def check_light_mode_counts_the_same_without_events():
    trace = launch(vector_add, (3,), add_tensors(), 10, BLOCK=4, outputs=("out",))
    assert trace.events == [] and trace.accesses == 9
    assert trace.memory(trace.index("out")).writes.tolist() == [1] * 10
    assert trace.memory(trace.index("x")).writes.tolist() == [0] * 10


@jit
def add_without_mask(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))


def check_missing_mask_is_out_of_bounds_before_it_happens():
    tensors = add_tensors()
    trace = launch(add_without_mask, (3,), tensors, 10, BLOCK=4, expect=OutOfBounds)
    fault = trace.out_of_bounds
    assert (fault.buffer, fault.element, fault.lane, fault.operation) == ("x", 10, 2, "load")
    assert fault.program == (2, 0, 0)
    assert fault.location.line == line_of("tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))")
    assert "x[10], which has 10 elements; lane 2, 2 such lanes" in str(fault)
    assert tensors["out"].tolist() == [100.0 + i for i in range(8)] + [0.0, 0.0]


@jit
def store_at(out, index):
    tl.store(out + index, 1.0)


def check_neighbouring_memory_is_protected_on_both_sides():
    whole = zeros(12)
    for index in (-1, 8):
        trace = launch(store_at, (1,), {"out": whole[2:10]}, index, expect=OutOfBounds)
        assert trace.out_of_bounds.element == index
    launch(store_at, (1,), {"out": whole[2:10]}, 7)
    assert whole.nonzero().tolist() == [[9]]
    far = launch(store_at, (1,), {"out": whole}, 2**45, expect=OutOfBounds)
    assert far.out_of_bounds.element == 2**45


@jit
def store_through(x, y, index, N: tl.constexpr):
    i = tl.arange(0, N)
    pointers = tl.trans(tl.reshape(x + index + i, (2, N // 2)))
    tl.store(pointers, 1.0)


@jit
def store_through_either(x, y, index, flag):
    tl.store(tl.where(flag > 0, x, y) + index, 1.0)


@jit
def store_through_integer(x, y, index):
    address = x.to(tl.int64) + index * 4
    tl.store(address.to(tl.pointer_type(tl.float32)), 1.0)


def check_an_address_inside_another_buffer_is_out_of_bounds():
    whole = zeros(32)
    tensors = {"x": whole[:8], "y": whole[16:24]}
    trace = launch(store_through, (1,), tensors, 16, N=4, expect=OutOfBounds)
    assert "at x[16], which has 8 elements, inside y[0]; lane 0, 4 such lanes" in str(trace.out_of_bounds)
    assert not whole.any()
    launch(store_through, (1,), tensors, 4, N=4)
    assert whole.nonzero().ravel().tolist() == [4, 5, 6, 7]
    launch(store_through_either, (1,), tensors, 7, 0)
    launch(store_through_either, (1,), tensors, 16, 1)  # either buffer may be meant
    launch(store_through_integer, (1,), tensors, 16)  # origin unknown: any buffer is accepted
    launch(store_through_integer, (1,), tensors, 8, expect=OutOfBounds)


def check_a_pointer_past_an_empty_buffer_is_out_of_bounds():
    tensors = {"x": zeros(0), "y": zeros(8)}
    trace = launch(store_through, (1,), tensors, 0, N=4, expect=OutOfBounds)
    assert trace.out_of_bounds is not None


@jit
def store_wide(out, N: tl.constexpr):
    tl.store(out.to(tl.pointer_type(tl.int64)) + tl.arange(0, N), 7)


@jit
def store_wide_shifted(out):
    tl.store((out + 1).to(tl.pointer_type(tl.int64)), 7)


def check_accesses_wider_than_elements():
    out = zeros(8, dtype=torch.int32)
    trace = launch(store_wide, (1,), {"out": out}, N=4)
    assert coverage(trace, "out").exact
    overlapping = launch(store_wide, (1,), {"out": out[:7]}, N=4, expect=OutOfBounds)
    assert overlapping.out_of_bounds.element == 6
    misaligned = launch(store_wide_shifted, (1,), {"out": out}, expect=OutOfBounds)
    assert "misaligned store of 8 bytes at out[1]" in str(misaligned.out_of_bounds)


def check_wrong_grid_shows_in_coverage():
    trace = launch(vector_add, (2,), add_tensors(), 10, BLOCK=4)
    short = coverage(trace, "out")
    assert short.never_written.tolist() == [8, 9] and not short.exact
    assert short.written_more_than_once.size == 0
    assert coverage(trace, "out", expected=range(8)).exact
    assert coverage(trace, "out", expected=np.arange(10) < 6).unexpectedly_written.tolist() == [6, 7]


@jit
def overlapping_blocks(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * (BLOCK - 1) + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask), mask=mask)


def check_double_write_shows_in_races_and_coverage():
    tensors = {"x": torch.arange(10.0), "out": zeros(10)}
    for order in (None, ProgramOrder("reversed"), ProgramOrder("shuffled", seed=1)):
        trace = launch(overlapping_blocks, (3,), tensors, 10, BLOCK=4, order=order)
        report = races(trace)
        assert sorted(e for race in report.races for e in race.elements.tolist()) == [3, 6]
        assert {race.kind for race in report.races} == {"write then write"} and report.count == 2
        assert coverage(trace, "out").written_more_than_once.tolist() == [3, 6]
    first = races(launch(overlapping_blocks, (3,), tensors, 10, BLOCK=4)).races[0]
    assert (first.buffer, first.first_program, first.second_program) == ("out", (0, 0, 0), (1, 0, 0))
    assert first.second_location.function == "overlapping_blocks"


@jit
def tail(x, out, n, BLOCK: tl.constexpr, OTHER: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + offsets, mask=offsets < n, other=OTHER), 0))


def check_missing_other_shows_as_undefined_read():
    tensors = {"x": ones(10), "out": zeros(3)}
    (use,) = undefined_uses(launch(tail, (3,), tensors, 10, BLOCK=4, OTHER=None)).uses
    assert (use.use, use.buffer, use.element, use.program) == ("store", "out", 2, (2, 0, 0))
    assert torch.isnan(tensors["out"]).tolist() == [False, False, True]
    assert undefined_uses(launch(tail, (3,), tensors, 10, BLOCK=4, OTHER=0.0)).count == 0


@jit
def shift_in_place(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(x + offsets, v, mask=offsets < n)


def check_reads_and_writes_of_different_programs():
    forward = races(launch(shift_in_place, (2,), {"x": torch.arange(8.0)}, 8, BLOCK=4))
    backward = races(launch(shift_in_place, (2,), {"x": torch.arange(8.0)}, 8, BLOCK=4, order=ProgramOrder("reversed")))
    for report, kind in ((forward, "read then write"), (backward, "write then read")):
        (race,) = report.races
        assert (race.kind, race.elements.tolist()) == (kind, [4])


@jit
def read_shared(x, out):
    p = tl.program_id(0)
    tl.store(out + p, tl.load(x))
    if p == 2:
        tl.store(x, 1.0)


def check_a_read_by_several_programs_then_written_is_a_race():
    for order in (None, ProgramOrder("reversed")):
        trace = launch(read_shared, (3,), {"x": zeros(1), "out": zeros(3)}, order=order)
        assert races(trace).count >= 1 and {race.buffer for race in races(trace).races} == {"x"}


@jit
def atomic_sum(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + offsets % 2, tl.load(x + offsets, mask=offsets < n, other=0.0), mask=offsets < n)


@jit
def half_atomic_sum(x, out, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    total = tl.sum(tl.load(x + p * BLOCK + tl.arange(0, BLOCK)), 0)
    if p == 1:
        tl.store(out, tl.load(out) + total)
    else:
        tl.atomic_add(out, total)


def check_atomics_do_not_race_with_each_other_but_with_plain_accesses():
    tensors = {"x": ones(10), "out": zeros(2)}
    trace = launch(atomic_sum, (3,), tensors, 10, BLOCK=4)
    assert tensors["out"].tolist() == [5, 5] and races(trace).clean
    assert trace.memory(trace.index("out")).writes.tolist() == [5, 5]
    mixed = launch(half_atomic_sum, (2,), {"x": ones(8), "out": zeros(1)}, 8, BLOCK=4)
    assert kinds(mixed) == ["atomic then read"]


@jit
def hand_over(data, flag, out, SEMANTIC: tl.constexpr):
    p = tl.program_id(0)
    if p == 0:
        tl.store(data, 5)
        tl.atomic_xchg(flag, 1, sem=SEMANTIC)
    else:
        seen = tl.atomic_add(flag, 0, sem=SEMANTIC)
        tl.store(out, tl.load(data) + seen)


def check_release_and_acquire_order_accesses_but_relaxed_does_not():
    def report(semantic: str) -> list[str]:
        tensors = integers(data=1, flag=1, out=1)
        trace = launch(hand_over, (2,), tensors, SEMANTIC=semantic)
        assert tensors["out"].item() == 6
        return kinds(trace)

    assert report("acq_rel") == []
    for semantic in ("relaxed", "acquire", "release"):
        assert report(semantic) == ["write then read"], semantic


@jit
def write_after_release(data, flag, out):
    p = tl.program_id(0)
    if p == 0:
        tl.atomic_xchg(flag, 1, sem="release")
        tl.store(data, 5)
    else:
        tl.atomic_add(flag, 0, sem="acquire")
        tl.store(out, tl.load(data))


def check_what_follows_a_release_is_not_published_by_it():
    assert kinds(launch(write_after_release, (2,), integers(data=1, flag=1, out=1))) == ["write then read"]


@jit
def wait_for_next(flag):
    p = tl.program_id(0)
    if p == 0:
        while tl.atomic_add(flag, 0) == 0:
            pass
    else:
        tl.atomic_xchg(flag, 1)


def check_a_wait_for_a_later_program_ends():
    launch(wait_for_next, (2,), integers(flag=1), expect=NeverEndingWait)
    launch(wait_for_next, (2,), integers(flag=1), order=ProgramOrder("reversed"))


@jit
def swap(cell, out):
    p = tl.program_id(0)
    tl.store(out + p, tl.atomic_cas(cell, p, p + 1))


def check_compare_and_swap_is_traced():
    card = element_card(launch(swap, (3,), integers(cell=1, out=3), events=True), "cell", 0)
    assert [(w.operation, w.before, w.after) for w in card.writes] == [
        ("atomic_cas", 0, 1), ("atomic_cas", 1, 2), ("atomic_cas", 2, 3)]


def check_element_card_names_writer_and_readers():
    tensors = add_tensors()
    trace = launch(vector_add, (3,), tensors, 10, BLOCK=4, events=True)
    card = element_card(trace, "out", 9)
    (write,) = card.writes
    assert (write.program, write.lane, write.operation, write.before) == ((2, 0, 0), 1, "store", 0)
    assert write.after == int(np.float32(109.0).view(np.uint32))
    assert card.reads == ()
    assert [access.program for access in element_card(trace, "x", 5).reads] == [(1, 0, 0)]


@jit
def broadcast_in_place(x, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    first = tl.load(x + i * 0)
    if BARRIER:
        tl.debug_barrier()
    tl.store(x + i, first + i)


def check_broadcast_load_then_store_in_place_is_a_hazard_without_barrier():
    def report(barrier: bool) -> tuple[list[list[int]], bool]:
        trace = launch(broadcast_in_place, (1,), {"x": zeros(4)}, N=4, BARRIER=barrier, events=True)
        view = races(trace)
        return [hazard.elements.tolist() for hazard in view.hazards], view.clean

    assert report(False) == ([[0]], False)
    assert report(True) == ([], True)
    light = races(launch(broadcast_in_place, (1,), {"x": zeros(4)}, N=4, BARRIER=False))
    assert light.hazards == () and not light.hazards_checked


@jit
def through_descriptor(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    row = tl.program_id(0) * BM
    target.store([row, 0], source.load([row, 0]))


def check_descriptors_are_traced_under_their_name():
    x, out = torch.arange(40.0).reshape(5, 8), zeros(5, 8)
    trace = launch(through_descriptor, (2,), {"x": x, "out": out}, 5, 8, BM=4, BN=8, events=True, outputs=("out",))
    assert torch.equal(x, out) and coverage(trace, "out").exact
    assert [event.operation for event in trace.events] == ["descriptor_load", "descriptor_store"] * 2
    assert undefined_uses(trace).count == 0


@jit
def through_block_pointer(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    source = tl.make_block_ptr(x, shape=(M, N), strides=(N, 1), offsets=(row, 0), block_shape=(BM, BN), order=(1, 0))
    target = tl.make_block_ptr(out, shape=(M, N), strides=(N, 1), offsets=(row, 0), block_shape=(BM, BN), order=(1, 0))
    tl.store(target, tl.load(source, boundary_check=(0,)), boundary_check=(0,))


def check_block_pointers_are_traced_where_they_exist():
    x, out = torch.arange(40.0).reshape(5, 8), zeros(5, 8)
    if not interpreter_features().block_pointers:
        with repaired():
            try:
                through_block_pointer[(2,)](x, out, 5, 8, BM=4, BN=8)
            except Exception as error:
                assert "Block pointers have been removed" in str(error)
                return
        raise AssertionError("block pointers ran although the builder has none")
    trace = launch(through_block_pointer, (2,), {"x": x, "out": out}, 5, 8, BM=4, BN=8, events=True, outputs=("out",))
    assert torch.equal(x, out) and coverage(trace, "out").exact
    assert [event.operation for event in trace.events] == ["block_pointer_load", "block_pointer_store"] * 2


@jit
def poll(flag, out):
    p = tl.program_id(0)
    if p == 0:
        tl.store(out, 1)
        tl.atomic_store(flag, 1, sem="release")
    else:
        ready = tl.atomic_load(flag, sem="acquire")
        tl.store(out + 1, tl.load(out) + ready)


def check_atomic_load_and_store_where_they_exist():
    if not interpreter_features().atomic_poll:
        assert not hasattr(tl, "atomic_load")
        return
    tensors = integers(flag=1, out=2)
    trace = launch(poll, (2,), tensors, events=True)
    assert tensors["out"].tolist() == [1, 2] and races(trace).clean
    assert [event.operation for event in trace.events] == ["store", "atomic_store", "atomic_load", "load", "store"]


@jit
def fetch(p):
    return tl.load(p)


@jit
def calls_helper(x, out):
    tl.store(out, fetch(x))


def check_line_of_a_helper_is_the_helpers_own():
    trace = launch(calls_helper, (1,), {"x": ones(1), "out": zeros(1)}, events=True)
    assert [event.location.function for event in trace.events if event.location] == ["fetch", "calls_helper"]
