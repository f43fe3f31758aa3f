"""The step-wise simulator: its memory, its scheduler, its enumeration, and the protocols in it. Needs no Triton."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.kernels.interleavings import affine
from tests.support.nights import by_day
from tridiff.kernels.simulator import grid_barrier as gb, lookback as lb
from tridiff.kernels.simulator.exhaustive import explore
from tridiff.kernels.simulator.memory import Access, Buffer, Memory
from tridiff.kernels.simulator.scheduling import Choices, Newest, Oldest, Program, Random, RoundRobin, Run, simulate

each = pytest.mark.parametrize

X, Y, Z = ("m", 0), ("m", 1), ("m", 2)


def fresh(reorders: bool) -> Callable[[], Memory]:
    return lambda: Memory({"m": Buffer((0, 0, 0), 8)}, reorders=reorders)


def straight(*accesses: Access) -> Callable[[], Program[tuple[int, ...]]]:
    """A program that makes these accesses and returns what they returned."""

    def program() -> Program[tuple[int, ...]]:
        told = []
        for access in accesses:
            told.append((yield access))
        return tuple(told)

    return program


def outcomes(programs: Sequence[Callable[[], Program[tuple[int, ...]]]], *, reorders: bool) -> set[tuple[object, ...]]:
    """All results that some order produces."""
    everything = explore(programs, fresh(reorders), right=lambda run: False, keep=1_000_000)
    return {run.results for run in everything.wrong}


def ran(*programs: Callable[[], Program[Any]], choices: Choices | None = None, reorders: bool = False,
        **options: Any) -> Run[Any]:
    return simulate(programs, fresh(reorders)(), choices=choices or Oldest(), **options)


# ---- memory: the litmus tests of the field ----


@each(
    ("store", "load", "lost"),
    [
        ("release", "acquire", False), ("relaxed", "acquire", True), ("release", "relaxed", True),
        ("plain", "plain", True)])
def test_message_passing_needs_release_and_acquire(store: str, load: str, lost: bool):
    writer = straight(Access("store", X, 1), Access("store", Y, 1, store))
    reader = straight(Access("load", Y, 0, load), Access("load", X))
    assert ((0, 0), (1, 0)) not in outcomes([writer, reader], reorders=False)
    assert (((0, 0), (1, 0)) in outcomes([writer, reader], reorders=True)) == lost


def test_store_buffering_happens_only_where_loads_may_lag():
    left, right = (Access("store", X, 1), Access("load", Y)), (Access("store", Y, 1), Access("load", X))
    programs = [straight(*left), straight(*right)]
    assert ((0, 0), (0, 0)) not in outcomes(programs, reorders=False)
    assert ((0, 0), (0, 0)) in outcomes(programs, reorders=True)


def test_one_program_never_sees_a_word_go_back():
    writer = straight(Access("store", X, 1), Access("store", X, 2))
    reader = straight(Access("load", X), Access("load", Y), Access("load", X))
    pairs = {(told[0], told[2]) for _, told in outcomes([writer, reader], reorders=True)}
    assert pairs == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)}


def test_additions_are_atomic_and_wrap():
    program = straight(Access("add", X, 200, "relaxed"))
    assert outcomes([program, program], reorders=True) == {((0,), (200,)), ((200,), (0,))}
    run = ran(program, program, reorders=True)
    assert run.words["m"] == (400 - 256, 0, 0)


def test_a_relaxed_addition_passes_on_what_was_released_before_it():
    writer = straight(Access("store", X, 1), Access("add", Y, 1, "release"))
    middle = straight(Access("add", Y, 1, "relaxed"))
    reader = straight(Access("load", Y, 0, "acquire"), Access("load", X))
    told = {results[2] for results in outcomes([writer, middle, reader], reorders=True)}
    assert (2, 1) in told and (2, 0) not in told


def test_an_addition_of_zero_is_a_load_and_writes_nothing():
    assert not Access("add", X, 0, "acquire").writes and Access("add", X, 1).writes


def test_words_outside_a_buffer_and_oversized_words_are_refused():
    with pytest.raises(IndexError, match=r"m\[3\] is outside the buffer of 3 words"):
        ran(straight(Access("load", ("m", 3))))
    with pytest.raises(ValueError, match="no unsigned 8-bit number"):
        Buffer((256,), 8)


# ---- scheduling ----


def logger(name: int) -> Callable[[], Program[int]]:
    def program() -> Program[int]:
        yield Access("store", X, name)
        yield Access("store", Y, name)
        return name

    return program


def programs_in_order(run: Run[int]) -> list[int]:
    return [step.program for step in run.steps]


def order_of_three(choices: Choices, **options: Any) -> list[int]:
    return programs_in_order(ran(*map(logger, range(3)), choices=choices, **options))


def test_policies_order_the_steps():
    assert order_of_three(Oldest()) == [0, 0, 1, 1, 2, 2]
    assert order_of_three(Newest()) == [2, 2, 1, 1, 0, 0]
    assert order_of_three(RoundRobin()) == [0, 1, 2, 0, 1, 2]
    assert order_of_three(Oldest(), start_order=(2, 1, 0)) == [2, 2, 1, 1, 0, 0]
    assert order_of_three(Newest(), resident=1) == [0, 0, 1, 1, 2, 2]
    assert order_of_three(Newest(), resident=2) == [1, 1, 2, 2, 0, 0]


def test_random_order_is_a_function_of_the_seed():
    orders, again = ([order_of_three(Random(seed)) for seed in range(20)] for _ in range(2))
    assert orders == again and len(set(map(tuple, orders))) > 10


def test_waiting_programs_are_woken_by_a_write_and_found_stuck_without_one():
    def waiter() -> Program[int]:
        polls = 0
        while (yield Access("load", X)) == 0:
            polls += 1
        return polls

    for policy in (Oldest, Newest, RoundRobin):
        run = ran(waiter, waiter, logger(1), choices=policy())
        assert run.outcome == "finished" and max(run.results[:2]) <= 1
    stuck = ran(waiter, waiter)
    assert stuck.outcome == "deadlock" and stuck.results == (None, None) and len(stuck.steps) == 2
    assert ran(logger(1), step_limit=1).outcome == "step_limit"


def test_bad_orders_are_refused():
    with pytest.raises(ValueError, match="each of the 1 programs once"):
        ran(logger(0), start_order=(1,))
    with pytest.raises(ValueError, match="at least one program must fit"):
        ran(logger(0), resident=0)


def test_enumeration_visits_every_state_once():
    # Two independent programs of a and b accesses pass through (a+1)(b+1) states; the last is not asked for a
    # choice.
    for a, b in ((1, 1), (2, 3), (4, 4)):
        left = straight(*[Access("store", X, 1)] * a)
        right = straight(*[Access("store", Y, 1)] * b)
        assert explore([left, right], fresh(False), right=lambda run: True).states == (a + 1) * (b + 1) - 1
    with pytest.raises(ValueError, match="more than 3 states"):
        explore([left, right], fresh(False), right=lambda run: True, state_limit=3)


def test_enumeration_finds_the_one_wrong_order():
    def increments() -> Program[int]:
        value = yield Access("load", X)
        yield Access("store", X, value + 1)
        return value

    found = explore([increments] * 2, fresh(False), right=lambda run: run.words["m"][0] == 2, keep=9)
    assert found.wrong and all(run.words["m"][0] == 1 for run in found.wrong)
    assert all(programs_in_order(run) not in ([0, 0, 1, 1], [1, 1, 0, 0]) for run in found.wrong)


# ---- look-back ----

WORD = 0xFFFFFFFF


def add(left: int, right: int) -> int:
    return left + right & WORD


def second(left: int, right: int) -> int:
    return right


def signed_maximum(left: int, right: int) -> int:
    return max(left, right, key=lambda word: word - (word >> 31 << 32))


VALUES = [WORD, WORD - 2, WORD - 4, WORD - 6]  # -1, -3, -5, -7
MAPS = [0x00030005, 0x00070009, 0x000B000D, 0x0011FFFF]
COMBINES = {
    "add": (add, VALUES), "second": (second, VALUES), "maximum": (signed_maximum, VALUES), "affine": (affine(16), MAPS),
}


def finds_fault(combine: str, *, bits: int, programs: int, reorders: bool, wrong: str) -> bool:
    function, values = COMBINES[combine]
    expected = lb.exclusive_prefixes(values[:programs], function)
    exploration = explore(
        lb.scan_programs(values[:programs], function, bits=bits, wrong=wrong),
        lambda: lb.scan_memory(programs, bits=bits, reorders=reorders),
        right=lambda run: run.outcome == "finished" and run.results == expected, stop_at_first=True)
    return bool(exploration.wrong)


SIZES = [(32, 1), (32, 2), (32, 3), (32, 4), (64, 1), (64, 2), (64, 3)]
SCANS = [(*size, combine, reorders) for size in SIZES for combine in COMBINES for reorders in (False, True)]
# Four programs that may see words late pass through most states of all: by day with the map that shows every order.
FEWER_STATES = [one for one in SCANS if one[1] < 4 or not one[3] or one[2] == "affine"]


@each("bits, programs, combine, reorders", by_day(SCANS, only=FEWER_STATES))
def test_scans_are_right_in_every_order(bits: int, programs: int, combine: str, reorders: bool):
    assert not finds_fault(combine, bits=bits, programs=programs, reorders=reorders, wrong="")


# Faults that programs in ascending order show, that take a reordering memory, that another combine than "add" shows.
IN_ORDER = {"block_on_the_left", "inclusive_returned", "exclusive_published", "walk_passes_prefix",
            "first_program_adds_zeros", "one_slot_for_both"}
NEED_REORDERING = {"flag_without_release", "poll_without_acquire", "arrival_without_release"}
SHOWN_BY = {"carry_on_the_right": "second", "block_on_the_left": "second", "first_program_adds_zeros": "maximum"}
SCAN_FAULTS = [*((32, fault) for fault in lb.FAULTS), *((64, fault) for fault in lb.FAULTS_64)]


@each("bits, wrong", SCAN_FAULTS)
def test_scan_faults_are_found_and_only_where_they_can_be(bits: int, wrong: str):
    combine, in_order, needs_reordering = SHOWN_BY.get(wrong, "add"), wrong in IN_ORDER, wrong in NEED_REORDERING
    function, values = COMBINES[combine]
    assert finds_fault(combine, bits=bits, programs=3, reorders=True, wrong=wrong)
    assert finds_fault(combine, bits=bits, programs=3, reorders=False, wrong=wrong) == (not needs_reordering)
    ascending = simulate(
        lb.scan_programs(values[:3], function, bits=bits, wrong=wrong), lb.scan_memory(3, bits=bits), choices=Oldest())
    assert (ascending.results != lb.exclusive_prefixes(values[:3], function)) == in_order


def test_unknown_faults_are_refused():
    with pytest.raises(ValueError, match="unknown fault 'carry'"):
        simulate(lb.scan_programs([1], add, wrong="carry"), lb.scan_memory(1), choices=Oldest())


LONG = [(programs, bits) for programs in (1, 2, 7, 100, 1000) for bits in (16, 32, 64)]


@each("programs, bits", by_day(LONG, only=[one for one in LONG if one[0] < 1000]))
def test_long_scans_in_random_orders(programs: int, bits: int):
    values = [(2654435761 * k + 12345) % 2 ** min(bits, 32) for k in range(programs)]
    function = second if bits == 16 else affine(16)
    expected = lb.exclusive_prefixes(values, function)
    for seed in range(3):
        run = simulate(
            lb.scan_programs(values, function, bits=bits),
            lb.scan_memory(programs, bits=bits, reorders=programs <= 100), choices=Random(seed, staleness=0.3),
            resident=None if programs <= 100 else 132)
        assert run.outcome == "finished" and run.results == expected


@each("programs", by_day([1_000, 10_000], only=[1_000]))
def test_thousands_of_programs_on_132_processors(programs: int):
    values = [k * k % 1000 for k in range(programs)]
    run = simulate(lb.scan_programs(values, add), lb.scan_memory(programs), choices=Random(1), resident=132)
    assert run.outcome == "finished" and run.results == lb.exclusive_prefixes(values, add)


@each("bits", [32, 64])
def test_progress_needs_ascending_starts_or_residence_of_all(bits: int):
    values = list(range(1, 9))
    backwards = tuple(reversed(range(8)))
    shuffled = (3, 0, 6, 1, 7, 5, 2, 4)

    def outcome(start_order: tuple[int, ...], resident: int | None) -> str:
        programs = lb.scan_programs(values, add, bits=bits)
        memory = lb.scan_memory(8, bits=bits)
        run = simulate(programs, memory, choices=Random(5), start_order=start_order, resident=resident)
        assert run.outcome == "deadlock" or run.results == lb.exclusive_prefixes(values, add)
        return run.outcome

    assert outcome(tuple(range(8)), 1) == "finished"
    assert outcome(backwards, None) == outcome(shuffled, None) == "finished"
    assert outcome(backwards, 7) == "deadlock"
    assert outcome(shuffled, 1) == "deadlock"


@each("bits", [32, 64])
def test_dirty_scratch_is_invisible_in_ascending_order_and_visible_in_others(bits: int):
    values = [10, 20, 30, 40]
    used = simulate(lb.scan_programs([1, 2, 3, 4], add, bits=bits), lb.scan_memory(4, bits=bits), choices=Oldest())
    dirt = used.words[lb.SCRATCH]
    expected = lb.exclusive_prefixes(values, add)

    def results(choices: Oldest | Newest | Random) -> tuple[int | None, ...]:
        memory = lb.scan_memory(4, bits=bits, dirt=dirt)
        return simulate(lb.scan_programs(values, add, bits=bits), memory, choices=choices).results

    assert results(Oldest()) == expected  # why the interpreter cannot see it
    assert results(Newest()) == (0, 1, 3, 6) != expected  # all four read what the last launch left
    assert any(results(Random(seed)) != expected for seed in range(10))
    with pytest.raises(ValueError, match="dirt has 1 words"):
        lb.scan_memory(4, bits=bits, dirt=(0,))


def test_impossible_flags_do_not_send_the_walk_out_of_bounds():
    for flag in (1, 3, 255, WORD):
        for bits in (32, 64):
            dirt = [flag] * (4 if bits == 32 else 12)
            memory = lb.scan_memory(4, bits=bits, dirt=dirt)
            run = simulate(lb.scan_programs([1, 2, 3, 4], add, bits=bits), memory, choices=Newest())
            assert run.outcome == "finished"


# ---- grid barrier ----


def barrier_is_right(run: Run[tuple[int, ...]], programs: int, rounds: int) -> bool:
    return run.outcome == "finished" and all(result == (programs,) * rounds for result in run.results)


BARRIERS = [(*size, initial, reorders) for size in ((1, 3), (2, 1), (2, 2), (3, 1)) for initial in (0, gb.TOP_BIT)
            for reorders in (False, True)]


# Three programs pass through the most states: by day from the initial value that a launch before has left.
@each("programs, rounds, initial, reorders", by_day(BARRIERS, only=[one for one in BARRIERS
                                                                          if one[0] < 3 or one[2]]))
def test_the_barrier_is_right_in_every_order(programs: int, rounds: int, initial: int, reorders: bool):
    exploration = explore(
        gb.barrier_programs(programs, rounds),
        lambda: gb.barrier_memory(programs, rounds, initial=initial, reorders=reorders),
        right=lambda run: barrier_is_right(run, programs, rounds))
    assert not exploration.wrong


@each("wrong", gb.FAULTS)
def test_barrier_faults_are_found_and_only_where_they_can_be(wrong: str):
    rounds = 2 if wrong == "top_bit_set_means_open" else 1

    def found(rounds: int, reorders: bool) -> bool:
        exploration = explore(
            gb.barrier_programs(2, rounds, wrong=wrong), lambda: gb.barrier_memory(2, rounds, reorders=reorders),
            right=lambda run: barrier_is_right(run, 2, rounds), stop_at_first=True)
        return bool(exploration.wrong)

    assert found(rounds, True)
    assert found(rounds, False) == (wrong not in NEED_REORDERING)
    if rounds > 1:
        assert not found(1, True), "one use of the barrier is not supposed to show this fault"


@each("programs", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64])
@each("initial", [0, gb.TOP_BIT])
def test_five_barriers_in_a_row_in_random_orders(programs: int, initial: int):
    for seed in range(3):
        run = simulate(
            gb.barrier_programs(programs, 5), gb.barrier_memory(programs, 5, initial=initial, reorders=programs <= 9),
            choices=Random(seed, staleness=0.2))
        assert barrier_is_right(run, programs, 5)
        assert run.words[gb.SEM] == (initial ^ gb.TOP_BIT,)  # five toggles, and nothing else left behind


def test_groups_have_barriers_of_their_own():
    run = simulate(gb.barrier_programs(3, 4, groups=5), gb.barrier_memory(3, 4, groups=5), choices=Random(2))
    assert barrier_is_right(run, 3, 4) and run.words[gb.SEM] == (0,) * 5


def test_a_barrier_whose_programs_do_not_all_fit_never_opens():
    for choices in (Oldest(), Newest(), RoundRobin(), Random(1)):
        run = simulate(gb.barrier_programs(4, 1), gb.barrier_memory(4, 1), choices=choices, resident=3)
        assert run.outcome == "deadlock" and run.results == (None,) * 4
    fits = simulate(gb.barrier_programs(4, 1), gb.barrier_memory(4, 1), choices=Random(1), resident=4)
    assert fits.outcome == "finished"
