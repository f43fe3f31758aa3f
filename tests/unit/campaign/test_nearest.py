"""Of drawn cases with the pattern of an issue those run that are like its entries, and not those alone."""

from msgspec.structs import replace

from tests.support.cases import addition
from tests.support.draws import draws
from tridiff.fuzz.campaign.nearest import ANY, DRAWS, FRESH, Nearest
from tridiff.fuzz.corpus.likeness import Likeness, words_of
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Constant, Graph, Pointwise


def _program(*ops: str, value: str = "2.0") -> Case:
    nodes = [Constant(value=value, dtype="fp32"), *(Pointwise(op=op, args=(place,)) for place, op in enumerate(ops))]
    return replace(addition(), program=Graph(outer=(4,), buffers=(), nodes=tuple(nodes), schedules=()))


def _warps(number: int, *, rows: int = 4) -> Case:
    return replace(addition(rows=rows), options=LaunchOptions(num_warps=number))


def test_words_tell_what_is_computed_of_what_and_of_which_kind_of_number():
    words = words_of(_program("exp", "log"))
    assert {"log of exp", "exp of constant"} <= words and words != words_of(_program("log", "exp"))
    assert words == words_of(_program("exp", "log", value="3.5")) != words_of(_program("exp", "log", value="1e-40"))
    assert len({words_of(_program("exp", value=one)) for one in (
        "0.0", "-0.0", "1.0", "-1.0", "0x1p-130", "0.5", "-7.25", "nan", "inf", "-inf")}) == 10


def test_a_word_weighs_the_more_the_fewer_cases_have_it():
    like = Likeness([frozenset({"common", "seldom"})])
    for _ in range(50):
        like.see(frozenset({"common"}))
    assert like.shared(frozenset({"seldom"}))[0] > 0.9 > 0.1 > like.shared(frozenset({"common"}))[0]
    assert like.shared(frozenset({"seldom", "other"}))[0] < like.shared(frozenset({"seldom"}))[0]
    assert Likeness([]).shared(frozenset({"seldom"})) == (0.0, frozenset())


def test_the_most_like_case_is_chosen_and_now_and_then_any():
    entry = _warps(8, rows=5)
    chosen = Nearest((entry,), lambda case: case.options.num_warps != 2)
    met = []
    for place in range(6 * FRESH):
        case = _warps((1, 4, 8)[place % 3] if place % 7 else 2, rows=2 + place)
        if chosen.due(case):
            met.append(chosen.choose())
    assert len(met) >= 4 and met[0].options.num_warps == 8
    assert all(case.options.num_warps != 2 for case in met) and len({case.digest for case in met}) == len(met)
    assert any(case.options.num_warps != 8 for case in met[:ANY])


def test_a_pattern_that_is_seldom_drawn_is_looked_for_beside_the_cases_that_have_it():
    target = find("codegen.pointwise")
    one = next(case for case in draws(target.draw.cases(Limits(elements=64, rows=8)), 40, seed=3)
               if len(case.program.nodes) > 8)
    chosen = Nearest((_program("exp"),), lambda case: len(case.program.nodes) > 4)
    met = [chosen.choose() for place in range(5 * DRAWS) if chosen.due(one if place == 0 else _program("exp"))]
    assert met[0] == one and len({case.digest for case in met}) == len(met) == 5
    assert all(target.draw.valid(case) and len(case.program.nodes) > 4 for case in met)
