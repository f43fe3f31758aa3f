"""What the corpus says by cause: the committed entries, and the page made of them."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.committed import committed_corpus
from tests.unit.corpus.entries import entry, expect
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.corpus.bugs import causes, missing, page
from tridiff.fuzz.records import CorpusEntry, Expectation, Verdict


@cache
def entries() -> tuple[CorpusEntry, ...]:
    return tuple(one for one in Corpus(committed_corpus()).entries() if isinstance(one, CorpusEntry))


def found(cause: str, **fields: object) -> CorpusEntry:
    return replace(entry(), truth="defect", cause=cause, stage="ttgir", **fields)


def test_every_committed_entry_has_a_class_a_cause_and_a_stage():
    lacking = [one.id for one in entries() if one.truth == "unclassified" or not one.cause or one.stage == "unknown"]
    assert not lacking


def test_every_explanation_says_more_than_a_section():
    """A reader without the contracts at hand still learns what is wrong."""
    cited = re.compile(r"\(?\w+\.md( §[\d.]+( row \d+)?,?)*\)?")
    short = [one.id for one in entries() if len(cited.sub("", one.explanation).split()) < 8]
    assert not short


def test_option_documented_for_blackwell_only_says_so():
    specialised = [one for one in entries() if one.case.target == "loops.warp_specialize"]
    assert specialised and all("for Blackwell only" in one.explanation for one in specialised)


def test_page_says_what_the_entries_say():
    """`tridiff corpus --check`, which fails when BUGS.md is stale."""
    assert run(["corpus", "--check", "--corpus", str(committed_corpus())]) == 0


def test_stale_or_absent_page_fails_the_check(tmp_path: Path):
    Corpus(tmp_path).admit(found("one-cause"))
    check = ["corpus", "--check", "--corpus", str(tmp_path)]
    assert run(check) == 1
    assert run(["corpus", "--render", "--corpus", str(tmp_path)]) == 0
    assert run(check) == 0
    Corpus(tmp_path).rewrite(found("one-cause", title="another title"))
    assert run(check) == 1


def test_entries_of_one_cause_stand_together_and_say_where_records_are_few():
    wrong = (expect("own", triton="3.6.0", backend="cuda", kind="value"),)
    right = Expectation(subject="own", triton="3.9.0", backend="cuda", verdict=Verdict.AGREE)
    two = [found("same", id="value-aaaaaaaaaa", expected=(*wrong, right)),
           found("same", id="value-bbbbbbbbbb", expected=wrong)]
    (one,) = causes(two)
    assert len(one.entries) == 2
    assert one.matrix[0].cells == {"3.6.0": "wrong", "3.9.0": "right (1 of 2)"}


def test_backends_that_do_the_same_share_a_line_of_the_page():
    rows = tuple(expect("own", triton="3.9.0", backend=backend)
                 for backend in ("compile:sm_80", "compile:sm_90", "interpreter"))
    different = replace(rows[1], verdict=Verdict.AGREE)
    assert "- interpreter, compile:sm_80, sm_90: 3.9.0 wrong\n" in page([found("same", expected=rows)])
    apart = page([found("same", expected=(rows[0], different, rows[2]))])
    assert "- interpreter, compile:sm_80: 3.9.0 wrong\n" in apart


def test_range_of_versions_holds_a_record_of_each():
    rows = [expect("own", triton=version, backend="interpreter") for version in ("3.6.0", "3.7.1", "3.8.0", "3.9.0")]
    rows[3] = replace(rows[3], verdict=Verdict.AGREE)
    on_gpu = [replace(rows[place], backend="cuda") for place in (0, 2)]
    text = page([found("same", expected=(*rows, *on_gpu))])
    assert "- cuda: 3.6.0, 3.8.0 wrong\n- interpreter: 3.6.0 to 3.8.0 wrong; 3.9.0 right\n" in text


def test_only_the_class_defect_is_listed_among_defects():
    text = page([found("a-defect"), replace(found("a-reading", id="value-cccccccccc"), truth="contract")])
    defects, _, rest = text.partition("## Our own reading")
    assert "a-defect" in defects.split("## Defects")[1] and "a-reading" not in defects and "a-reading" in rest


def test_json_uses_the_names_of_entries(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    Corpus(tmp_path).admit(found("one-cause"))
    assert run(["corpus", "--json", "--corpus", str(tmp_path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["class"], one["cause"], one["stages"]) == ("defect", "one-cause", ["ttgir"])


def test_missing_names_entries_without_a_verdict_from_a_gpu():
    known = found("same", expected=(expect("own", triton="3.6.0", backend="cuda"), expect("own", triton="3.9.0")))
    assert [(one.triton, one.subject) for one in missing([known])] == [("3.9.0", "own")]


def divergences() -> dict[str, set[int]]:
    """Rows of codegen.md §14 that entries of generated programs cite, by entry."""
    rows = {one.id: set(map(int, re.findall(r"codegen\.md §14[^.;]*? row (\d+)", one.explanation)))
            for one in entries() if one.case.target.startswith("inductor.programs_")}
    return {name: numbers for name, numbers in rows.items() if numbers}


def test_ten_divergences_come_from_generated_programs():
    assert len(set().union(*divergences().values())) >= 10


@pytest.mark.parametrize("triton", ["3.6.0", "3.9.0"])
def test_ten_divergences_on_a_gpu_come_from_generated_programs(triton: str):
    corpus = {one.id: one for one in entries()}
    failing = {row for name, rows in divergences().items() for row in rows for seen in corpus[name].expected
               if (seen.triton, seen.backend) == (triton, "cuda") and seen.verdict.failed}
    assert len(failing) >= 10
