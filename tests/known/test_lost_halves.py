"""Two defects of 3.6.0 that a night met once each: what is told by them, and what stays new beside them."""


from tests.known.test_issues import entry
from tests.support.committed import committed_corpus
from tridiff.fuzz.corpus.cause import finding_of_entry
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.known.attribute import is_issue
from tridiff.fuzz.known.chains import ISSUES
from tridiff.fuzz.known.graphs import options
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.registry import find

LOST = next(one for one in ISSUES if one.name == "odd-halves-lost-behind-ldmatrix")


def test_halves_that_repeat_the_ones_in_front_are_known_and_others_are_new():
    case = entry(LOST.entries[0]).case
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    wrong = right.clone()
    wrong[..., 1::2] = wrong[..., ::2]
    assert LOST.match(case)
    assert [str(one) for one in wrong.reshape(-1)[:4].tolist()] == ["3", "3", "100", "100"]
    assert rehearsal.judged({"out0": wrong})[1] == (LOST.name,)
    other = wrong.clone()
    other[0, 0, 2] += 1
    assert rehearsal.judged({"out0": other})[1] == (), "an even element"
    few = right.clone()
    few[0, 0, 1] = few[0, 0, 0]
    assert rehearsal.judged({"out0": few})[1] == (), "one pair of a thousand"


def test_the_control_of_a_lane_of_poison_has_wide_indices():
    case = entry("codegen.mixed/value-06961659fa").case
    relative = options.with_wide_indices(case)
    assert options.writes_rows_in_pairs(case) and relative is not None
    assert find(case.target).draw.valid(relative) and not options.writes_rows_in_pairs(relative)


def test_every_entry_belongs_to_an_issue():
    """One that belongs to none is taken for every wrong value of its target."""
    assert [one.id for one in Corpus(committed_corpus()).entries()
            if isinstance(one, CorpusEntry) and not is_issue(finding_of_entry(one))] == []
