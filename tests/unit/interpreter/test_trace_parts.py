"""Program orders, buffer lookup and the shadow memory on their own; no Triton involved."""

import numpy as np
from hypothesis import given, strategies as st

from tests.support.refusals import refused
from tridiff.fuzz.interpreter.buffers import Buffer, BufferMap
from tridiff.fuzz.interpreter.order import ProgramOrder
from tridiff.fuzz.interpreter.shadow_memory import Accessor, ShadowMemory, Synchronisation, program_tuple


@given(st.integers(0, 2000), st.integers(-(1 << 63), (1 << 64) - 1))
def test_every_order_is_a_permutation(programs: int, seed: int):
    for kind in ("ascending", "reversed", "shuffled"):
        order = ProgramOrder(kind, seed=seed).permutation(programs)
        assert sorted(order.tolist()) == list(range(programs))


SHUFFLED_7 = [1, 8, 5, 7, 0, 9, 4, 6, 3, 2]


def test_the_shuffle_of_a_seed_never_changes():
    # A corpus entry names its order by seed; these numbers must hold for ever.
    assert ProgramOrder("shuffled", seed=7).permutation(10).tolist() == SHUFFLED_7
    assert ProgramOrder("shuffled", seed=8).permutation(10).tolist() != SHUFFLED_7


def test_locate_finds_the_element_and_refuses_what_sticks_out():
    buffers = BufferMap([
        Buffer("a", 1000, 40, 4), Buffer("b", 1040, 16, 8), Buffer("empty", 1040, 0, 4), Buffer("c", 2000, 3, 1)])
    names = [buffer.name for buffer in buffers.buffers]
    for address, size, expected in (
        (1000, 4, ("a", 0)), (1036, 4, ("a", 9)), (1036, 8, None), (999, 4, None), (1040, 8, ("b", 0)),
        (1052, 4, ("b", 1)), (1056, 1, None), (2002, 1, ("c", 2)), (2002, 2, None), (0, 4, None),
        ((1 << 64) - 4, 4, None), ((1 << 64) - 4, 8, None),
    ):
        index, element, inside = buffers.locate(np.array([address], dtype=np.uint64), size)
        assert bool(inside[0]) == (expected is not None), (address, size)
        if expected is not None:
            assert (names[int(index[0])], int(element[0])) == expected
    assert buffers.nearest(1060) == (buffers.buffers[names.index("b")], 2)
    assert buffers.nearest(990) == (buffers.buffers[names.index("a")], -3)


def test_no_buffer_means_nothing_is_inside():
    assert not BufferMap([]).locate(np.array([8], dtype=np.uint64), 4)[2].any()
    assert BufferMap([]).nearest(8) is None


def test_aliases_become_one_and_partial_overlap_is_refused():
    merged = BufferMap([Buffer("x", 64, 16, 4), Buffer("y", 64, 16, 4, initialised=False)])
    assert [buffer.name for buffer in merged.buffers] == ["x=y"] and merged.index("x") == merged.index("y") == 0
    assert merged.buffers[0].initialised
    with refused("'x' and 'y' overlap in part; register one buffer"):
        BufferMap([Buffer("x", 64, 16, 4), Buffer("y", 72, 16, 4)])
    with refused("two buffers are called 'x'"):
        BufferMap([Buffer("x", 64, 16, 4), Buffer("x", 128, 16, 4)])
    with refused("no buffer is called 'z'; use one of"):
        merged.index("z")


class Model:
    """Plain accesses and atomics of a few programs on one element, checked against all pairs by definition."""

    def __init__(self) -> None:
        self.memory = ShadowMemory(1, initialised=True)
        self.sync = Synchronisation()
        self.history: list[tuple[int, int, str]] = []
        self.clocks: dict[int, set[tuple[int, int]]] = {}
        self.published: set[tuple[int, int]] = set()
        self.raced = self.reported = False

    def act(self, program: int, action: str) -> None:
        if action == "release":
            self.published |= self.clocks.get(program, set()) | {
                (p, i) for i, (p, _, _) in enumerate(self.history) if p == program}
            self.sync.release(program, 0)
            return
        if action == "acquire":
            self.clocks.setdefault(program, set()).update(self.published)
            self.sync.acquire(program, 0)
            return
        known = self.clocks.get(program, set())
        for i, (other, _, earlier) in enumerate(self.history):
            harmless = {earlier, action} <= {"read", "atomic load"} or {earlier, action} <= {"atomic", "atomic load"}
            self.raced |= other != program and not harmless and (other, i) not in known
        self.history.append((program, len(self.history), action))
        accessor = Accessor(program, self.sync.epoch(program), 0, self.sync.ordered_before(program))
        element = np.array([0])
        if action == "read":
            conflicts = self.memory.read(element, accessor)
        elif action == "write":
            conflicts = self.memory.write(element, accessor)
        else:
            conflicts = self.memory.update(element, accessor, writes=action == "atomic")
        self.reported |= bool(conflicts)


actions = st.sampled_from(["read", "write", "atomic", "atomic load", "release", "acquire"])


@given(st.lists(st.lists(actions, max_size=6), min_size=1, max_size=4))
def test_races_are_those_of_the_definition(programs: list[list[str]]):
    model = Model()
    for program, steps in enumerate(programs):
        for step in steps:
            model.act(program, step)
    assert model.reported or not model.raced, "missed a race"
    # One reader or atomic is kept per element, or MANY: an order that covers several readers is forgotten, and the
    # report may be too careful then. With at most two programs nothing is forgotten.
    if len(programs) <= 2:
        assert model.reported == model.raced


def test_program_numbers_are_z_innermost():
    grid = (2, 3, 4)
    numbers = [program_tuple(n, grid) for n in range(24)]
    assert numbers == [(x, y, z) for x in range(2) for y in range(3) for z in range(4)]
