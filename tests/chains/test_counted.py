"""What campaigns count of chains: different pairs of layouts, different chains of views."""

import msgspec

from tests.chains.drawn import cases
from tests.known.test_issues import entry
from tests.support.draws import draws
from tridiff.fuzz.kinds.chains.cases import chain_of
from tridiff.fuzz.kinds.chains.coverage import counted, features
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.gluon.chain import Alloc, Chain, Convert, Global, Load, Out, Permute, Read, Reshape, Step
from tridiff.kernels.gluon.layouts import Blocked, Swizzled

ROWS, COLUMNS = Blocked((1, 1), (1, 32), (1, 1), (1, 0)), Blocked((1, 1), (32, 1), (1, 1), (0, 1))
FLAT = Blocked((1,), (32,), (1,), (0,))


def of(*steps: Step, shape: tuple[int, ...] = (8, 8)) -> tuple[str, ...]:
    arrays = (Global("in0", "i32", (8, 8)), Global("out0", "i32", shape, True))
    return counted(Case(target="gluon.view_chain", sizes={}, arrays=(), program=Chain(1, arrays, steps)))


def test_a_pair_is_two_different_layouts_in_their_order():
    there = of(Load(0, ROWS), Convert(0, COLUMNS), Out(1, 1))
    back = of(Load(0, COLUMNS), Convert(0, ROWS), Out(1, 1))
    assert [one.rpartition(" ")[0] for one in (*there, *back)] == ["#layout pair"] * 2 and there != back
    assert of(Load(0, ROWS), Convert(0, ROWS), Out(1, 1)) == ()
    assert of(Load(0, ROWS), Convert(0, COLUMNS), Convert(1, ROWS), Out(2, 1)) == tuple(sorted((*there, *back)))


def test_a_chain_of_views_is_counted_where_elements_pass_through_it():
    plain = Swizzled(1, 1, 1, (1, 0))
    buffer = (Load(0, ROWS), Alloc("i32", (8, 8), plain, source=0))
    assert of(*buffer, Read(1, ROWS), Out(2, 1)) == ()
    turned = of(*buffer, Permute(1, (1, 0)), Read(2, ROWS), Out(3, 1))
    assert len(turned) == 1 and turned[0].startswith("#view chain ")
    # How the elements come in and go out is no part of it.
    assert of(Load(0, COLUMNS), Alloc("i32", (8, 8), plain, source=0), Permute(1, (1, 0)), Read(2, COLUMNS),
              Out(3, 1)) == turned
    deeper = of(*buffer, Permute(1, (1, 0)), Reshape(2, (64,)), Read(3, FLAT), Out(4, 1), shape=(64,))
    assert len(deeper) == 1 and deeper != turned
    other = msgspec.structs.replace(plain, max_phase=2)
    assert of(buffer[0], Alloc("i32", (8, 8), other, source=0), Permute(1, (1, 0)), Read(2, ROWS), Out(3, 1)) != turned


def test_drawn_kernels_carry_several():
    """Ten thousand of each are to be judged in campaigns of minutes, in which some thousand kernels compile."""
    for target, what, least in (("gluon.convert_layout", "#layout pair ", 2.5),
                                ("gluon.view_chain", "#view chain ", 1.5)):
        drawn = cases(target, 40)
        found = {cell for case in drawn for cell in find(target).coverage.cells(case) if cell.startswith(what)}
        assert len(found) >= least * len(drawn), (target, len(found))


def test_chains_held_to_the_features_of_one_have_its_layouts_types_and_warps_and_meet_its_defect():
    name = "gluon.convert_layout/value-e95cb3acf8"
    (issue,) = (one for one in all_issues() if name in one.entries)
    target, wanted = find("gluon.convert_layout"), frozenset(features(entry(name).case))
    assert {"convert", "blocked", "linear", "fp8e4nv", "1 warps"} <= wanted

    def drawn(only: frozenset[str]) -> list[Case]:
        return draws(target.draw.cases(Limits(elements=1 << 12, rows=64, only=only)), 300, seed=5)

    held = drawn(wanted)
    free = drawn(frozenset())
    # Numbers of elements are i32.
    assert types_of(held) <= {"fp8e4nv", "i32"} and {chain_of(case).warps for case in held} == {1}
    assert len(types_of(free)) > 8 and len({chain_of(case).warps for case in free}) > 3
    assert sum(issue.concerns(case, "own") for case in held) > max(2, sum(issue.concerns(case, "own") for case in free))


def types_of(cases: list[Case]) -> set[str]:
    return {one.dtype for case in cases for one in chain_of(case).arrays}
