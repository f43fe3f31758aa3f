"""Chains: what is drawn is legal and varied, what is illegal is refused with the reason."""

import msgspec
import pytest
from msgspec.structs import replace

from tests.chains.drawn import CHAIN_TARGETS, cases
from tests.support.draws import draws
from tridiff.fuzz.kinds.chains import draft
from tridiff.fuzz.kinds.chains.cases import chain_of, sizes_of, spec_of, valid
from tridiff.fuzz.records import Bits, Case, Constant, Content, Explicit, LaunchOptions, Small, decode, encode
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.gluon import rules_buffers
from tridiff.kernels.gluon.chain import (
    Alloc,
    Atomic,
    Barrier,
    Chain,
    Dealloc,
    Global,
    Index,
    Load,
    Out,
    Permute,
    Ramp,
    Read,
    Reduce,
    Reinterpret,
    Reshape,
    Scan,
    Scatter,
    Step,
    Store,
    Subslice,
)
from tridiff.kernels.gluon.check import problem
from tridiff.kernels.gluon.layouts import Blocked, Linear, Mma, Padded, SharedLinear, Slice, Swizzled
from tridiff.kernels.gluon.operations import expected_operations

each = pytest.mark.parametrize
ROWS = Blocked((1, 1), (1, 32), (4, 1), (1, 0))
PLAIN = Swizzled(1, 1, 1, (1, 0))
SWIZZLED = Swizzled(4, 2, 4, (1, 0))
ARRAYS = (Global("x", "i32", (16, 32)), Global("y", "i32", (16, 32), output=True))
LOADED = Load(0, ROWS)
BUFFER = Alloc("i32", (16, 32), PLAIN, source=0)
INDEX = Ramp((16, 32), ROWS, (0, 1))


def chain(*steps: Step, arrays: tuple[Global, ...] = ARRAYS, warps: int = 4) -> Chain:
    return Chain(warps, arrays, steps)


def case_of(made: Chain, **contents: Content) -> Case:
    arrays = tuple(spec_of(array, None if array.output else contents.get(array.name, Content(base=Bits())))
                   for array in made.arrays)
    return Case(target="gluon.view_chain", sizes=sizes_of(made), arrays=arrays, program=made,
                options=LaunchOptions(num_warps=made.warps))


COPY = chain(LOADED, BUFFER, Read(1, ROWS), Out(2, 1))


def test_draws_keep_to_the_shared_memory_of_a_block(monkeypatch: pytest.MonkeyPatch):
    """Rings in several buffers are too much for it one time in a thousand, and often for a third of it."""
    for module in (draft, rules_buffers):
        monkeypatch.setattr(module, "MAX_SHARED_BYTES", 32 << 10)
    found = draws(find("gluon.view_chain").draw.cases(Limits(elements=1 << 12)), 60, seed=3)
    rings = [[step.slots for step in chain_of(case).steps if isinstance(step, Alloc)] for case in found]
    assert len(found) == 60 and any(3 in slots for slots in rings) and max(map(len, rings)) == 4


def test_a_copy_through_shared_memory_is_legal():
    assert problem(COPY) == "" and valid(case_of(COPY))


@each("why, steps", [
    ("nothing has written", (Alloc("i32", (16, 32), PLAIN), Read(0, ROWS), Out(1, 1))),
    ("nothing is stored to y", (LOADED,)),
    ("stored twice", (LOADED, Out(0, 1), Out(0, 1))),
    ("a slice through the swizzle", (LOADED, replace(BUFFER, layout=SWIZZLED), Subslice(1, 0, 0, 4))),
    ("starts at a multiple", (LOADED, BUFFER, Subslice(1, 0, 4, 8))),
    ("a cut view is not reshaped", (LOADED, BUFFER, Subslice(1, 0, 0, 8), Reshape(2, (256,)))),
    ("not contiguous", (LOADED, BUFFER, Subslice(1, 0, 0, 8), Reinterpret(2, "i32", (256,), Swizzled(1, 1, 1, (0,))))),
    ("beyond the view", (LOADED, BUFFER, Reinterpret(1, "i64", (16, 32), PLAIN))),
    ("was freed", (LOADED, BUFFER, Dealloc(1), Read(1, ROWS))),
    ("must be indexed first", (LOADED, Alloc("i32", (16, 32), PLAIN, slots=2), Store(1, 0))),
    ("slot 2 of 2", (LOADED, Alloc("i32", (16, 32), PLAIN, slots=2), Index(1, 2))),
    ("no permutation", (LOADED, BUFFER, Permute(1, (0, 0)))),
    ("two values for one element", (LOADED, BUFFER, replace(INDEX, mask=15), Scatter(1, 0, 2, 1))),
    ("not known to lie below 16", (LOADED, BUFFER, INDEX, Scatter(1, 0, 2, 0))),
    ("after atomics without a barrier", (LOADED, BUFFER, INDEX, Atomic(1, 0, 2, 1, "add"), Read(1, ROWS))),
    ("depends on the order", (LOADED, BUFFER, INDEX, Atomic(1, 0, 2, 1, "add"), Reduce(3, 0, "add"))),
    ("no tensor", (LOADED, BUFFER, Out(1, 1))),
    ("value 7 is no view", (LOADED, Read(7, ROWS))),
])
def test_illegal_chains_are_refused_with_the_reason(why: str, steps: tuple[Step, ...]):
    assert why in problem(chain(*steps))


@each("why, layout", [
    ("not for 32 lanes and 4 warps", Blocked((1, 1), (1, 16), (4, 1), (1, 0))),
    ("rank 1", Blocked((1,), (32,), (4,), (0,))),
    ("differ in rank", Blocked((1, 1), (1, 32), (4, 1), (1, 1))),
    ("wgmma", Mma(3, (2, 2), (16, 8, 16))),
    ("a linear layout for", Linear((), ((0, 1),) * 5, ((0, 0),) * 2, (16, 16))),
    ("distinct single bits", Linear(((0, 1), (0, 1)), ((0, 2), (0, 4), (0, 8), (0, 16), (1, 0)), ((2, 0), (4, 0)),
                                    (16, 32))),
    ("rank 2", Slice(0, Blocked((1, 1), (1, 32), (4, 1), (1, 0)))),
])
def test_layouts_that_do_not_fit_are_refused(why: str, layout: object):
    assert why in problem(chain(Load(0, layout), Out(0, 1)))


@each("why, layout", [
    ("wider than a row", Swizzled(16, 1, 8, (1, 0))),
    ("not independent", SharedLinear(((0, 1),) * 9)),
    ("a padded layout for", Padded(((4, 4),), ((0, 1),), (2,))),
    ("outside the buffer", SharedLinear(tuple((0, 1 << k) for k in range(9)))),
])
def test_shared_layouts_that_do_not_fit_are_refused(why: str, layout: object):
    assert why in problem(chain(LOADED, replace(BUFFER, layout=layout))) or "rank" in problem(
        chain(LOADED, replace(BUFFER, layout=layout)))


def test_sums_of_floats_must_be_exact():
    def summed(between: object) -> str:
        arrays = (Global("x", "fp16", (16, 32), between=between), Global("y", "fp16", (16,), output=True))
        return problem(chain(LOADED, Reduce(0, 1, "add"), Out(1, 1), arrays=arrays))

    assert summed((-8, 8)) == ""
    assert "beyond what the type holds" in summed((-100, 100))
    assert "no small whole numbers" in summed(msgspec.UNSET)


def test_scans_are_of_blocked_layouts():
    assert problem(chain(LOADED, Scan(0, 1, "add"), Out(1, 1))) == ""
    assert "blocked layouts only" in problem(chain(replace(LOADED, layout=Mma(2, (2, 2), (16, 8))), Scan(0, 1, "add")))


@each("change", [
    {"shape": [1 << 40]}, {"shape": []}, {"shape": [4] * 9}, {"name": "../x"}, {"dtype": "f32"}, {"rows": 1},
])
def test_hostile_arrays_are_refused_by_the_decoder(change: dict[str, object]):
    plain = msgspec.json.decode(msgspec.json.encode(COPY))
    plain["arrays"][0] |= change
    with pytest.raises(Exception, match="input"):
        decode(msgspec.json.encode(plain), Chain)


def test_long_chains_and_unknown_steps_are_refused_by_the_decoder():
    for steps in ([{"type": "barrier"}] * 97, [{"type": "run", "code": "1"}], [{"type": "read", "view": 1 << 40}]):
        plain = msgspec.json.decode(msgspec.json.encode(COPY)) | {"steps": steps}
        with pytest.raises(Exception, match="input"):
            decode(msgspec.json.encode(plain), Chain)


def test_a_case_whose_arrays_are_not_the_chains_is_not_valid():
    good = case_of(COPY)
    assert not valid(replace(good, sizes=good.sizes | {"x_0": 8}))
    assert not valid(replace(good, arrays=good.arrays[::-1]))
    assert not valid(replace(good, options=LaunchOptions(num_warps=8)))
    assert not valid(replace(good, program=replace(COPY, steps=COPY.steps[:2])))
    assert not valid(replace(good, arrays=(replace(good.arrays[0], dtype="fp32"), good.arrays[1])))


def test_contents_must_keep_the_promises_of_the_chain():
    promised = replace(COPY, arrays=(Global("x", "i32", (16, 32), between=(0, 3)), COPY.arrays[1]))
    accepted = {"small": Small(low=0, high=3), "constant": Constant(value="2"), "listed": Explicit(values=("1",) * 512)}
    refused = {"small": Small(low=0, high=4), "constant": Constant(value="-1"), "bits": Bits(),
               "listed": Explicit(values=("1",) * 511 + ("4",)), "nan": Constant(value="nan")}
    for base in accepted.values():
        assert valid(case_of(promised, x=Content(base=base)))
    for base in refused.values():
        assert not valid(case_of(promised, x=Content(base=base)))


@each("target", CHAIN_TARGETS)
def test_every_drawn_case_is_valid_small_and_survives_json(target: str):
    for case in cases(target, 40):
        assert problem(chain_of(case)) == "" and find(target).draw.valid(case)
        text = encode(case)
        assert len(text) < 16_000
        assert decode(text, Case) == case


def test_the_targets_together_draw_every_kind_of_step():
    seen = {type(step) for target in CHAIN_TARGETS for case in cases(target, 40) for step in chain_of(case).steps}
    every = set(Step.__args__)
    assert every <= seen, sorted(step.__name__ for step in every - seen)
    assert Barrier in seen


def test_view_chains_reach_their_full_depth():
    def depth(made: Chain) -> int:
        depths: list[int] = []
        for step in made.steps:
            through = isinstance(step, Index | Subslice | Permute | Reshape | Reinterpret)
            depths.append(depths[step.view] + 1 if through else 0)
        return max(depths)

    depths = {depth(chain_of(case)) for case in cases("gluon.view_chain", 100)}
    assert max(depths) >= 6 and {1, 2, 3, 4, 5} <= depths


def test_conversions_meet_many_pairs_of_layouts():
    pairs, distinct = 0, set()
    for case in cases("gluon.convert_layout", 60):
        made = chain_of(case)
        sources = {number: step.layout for number, step in enumerate(made.steps) if hasattr(step, "layout")}
        for step in made.steps:
            if type(step).__name__ == "Convert" and step.source in sources:
                pairs += 1
                distinct.add((sources[step.source], step.layout))
    assert len(distinct) > 100, f"{len(distinct)} of {pairs}"


def test_views_through_which_nothing_is_read_may_be_gone_from_the_ir():
    part = Subslice(1, 0, 0, 8)
    small = (ARRAYS[0], replace(ARRAYS[1], shape=(8, 32)))
    read = chain(LOADED, BUFFER, part, Read(2, ROWS), Out(3, 1), arrays=small)
    unread = chain(LOADED, BUFFER, part, Read(1, ROWS), Out(3, 1))
    on_the_way = chain(LOADED, BUFFER, part, Subslice(2, 0, 0, 8), Read(3, ROWS), Out(4, 1), arrays=small)
    for made, kept in ((read, True), (unread, False), (on_the_way, True)):
        assert not problem(made)
        assert ("ttg.memdesc_subslice" in expected_operations(made)) == kept
        assert {"ttg.local_alloc", "ttg.local_load"} <= set(expected_operations(made))
