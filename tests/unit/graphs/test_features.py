"""Programs that are held to the features of one: they are made of them, and meet its known forms more often."""

from tests.known.test_issues import entry
from tests.support.draws import draws
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.features import features
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Asm, Pointwise, Scan

LOP3 = "codegen.mixed/value-1dd3521298"
BITS_OF_A_PRODUCT = "codegen.mixed/sigabrt-eb31786672"


def drawn(number: int, *, only: frozenset[str]) -> list[Case]:
    return draws(find("codegen.mixed").draw.cases(Limits(elements=1 << 10, rows=64, only=only)), number, seed=5)


def test_features_are_productions_groups_of_operations_and_types():
    found = features(entry(LOP3).case)
    assert {"assembly", "logic", "i32"} <= set(found) and not {"scan", "exponential", "fp32"} & set(found)


def test_what_is_drawn_of_features_has_no_others_and_meets_the_form_more_often():
    wanted = frozenset(features(entry(LOP3).case)) - {"6 nodes"}
    some, all_of_them = drawn(150, only=wanted), drawn(150, only=frozenset())
    sorts = {type(node) for case in some for node in graph_of(case).nodes}
    assert {Asm, Pointwise} <= sorts and Scan not in sorts
    assert any(isinstance(node, Scan) for case in all_of_them for node in graph_of(case).nodes)
    assert having(some) >= 10 and having(some) > 2 * having(all_of_them)


def having(cases: list[Case], of: str = LOP3) -> int:
    """Cases with the pattern of an entry's issue."""
    (issue,) = (one for one in all_issues() if of in one.entries)
    return sum(issue.concerns(case, "own") for case in cases)


def test_what_a_program_computes_of_what_is_kept_of_a_larger_one():
    """The bits of a product as another half, stored as a truth value."""
    found = frozenset(features(entry(BITS_OF_A_PRODUCT).case))
    assert {"cast bits bf16 of mul fp16", "store i1 of cast bits bf16"} <= found
    alike = drawn(300, only=found)
    assert having(alike, BITS_OF_A_PRODUCT) >= 5
    assert not having(drawn(300, only=frozenset(one for one in found if " of " not in one)), BITS_OF_A_PRODUCT)
    assert any(len(graph_of(case).nodes) > 8 for case in alike)


def test_names_that_are_no_features_change_nothing():
    assert drawn(20, only=frozenset({"tl.topk"})) == drawn(20, only=frozenset())


def test_operations_among_the_features_come_up_more_often_and_others_do_not_stay_away():
    def counted(only: frozenset[str]) -> tuple[int, int]:
        nodes = [node for case in drawn(100, only=only) for node in graph_of(case).nodes]
        found = [node.op for node in nodes if isinstance(node, Pointwise)]
        return found.count("neg"), len(set(found))

    groups = frozenset({"exact arithmetic", "i32"})
    (few, _), (many, others) = counted(groups), counted(groups | {"neg"})
    assert many > 3 * max(few, 10) and others > 20


def test_programs_held_to_one_of_few_nodes_are_small_and_have_one_schedule():
    few = frozenset(features(entry(LOP3).case))
    assert "6 nodes" in few
    held, free = drawn(150, only=few), drawn(150, only=few - {"6 nodes"})

    def nodes(cases: list[Case]) -> int:
        return sum(len(graph_of(case).nodes) for case in cases)

    assert 2 * nodes(held) < nodes(free)
    # A case costs what its nodes cost to compile.
    assert having(held) / nodes(held) > 2 * having(drawn(150, only=frozenset())) / nodes(drawn(150, only=frozenset()))
    assert all(len(graph_of(case).schedules) == 1 and not case.variants for case in held)
    assert any(len(graph_of(case).schedules) > 1 for case in free)
