"""Scripts of what lies between a kernel and its launch answer as their entries say, without a GPU."""

import pytest
import triton
from msgspec.structs import replace

from tests.support.refusals import refused
from tests.support.repository import CORPUS, ENTRIES
from tridiff.fuzz.launching.shown import shown
from tridiff.fuzz.launching.table import scenes
from tridiff.fuzz.records import Case, CorpusEntry
from tridiff.fuzz.repro.build import build
from tridiff.fuzz.repro.request import Request
from tridiff.fuzz.repro.script import recorded, run

COMPILED = "compile:sm_90"
LAUNCHES = [ENTRIES.load(path) for path in sorted(CORPUS.glob("launch.*/*.json"))]
ALWAYS = ("hits-8083bfa1d6", "keyerror---unknown-key-97a6bd267d", "second-cfed4032b0", "launches-2a7b415b75",
          "another-3bbe70c3b2")
"""The others take seconds each, and are asked at night."""


def text_of(case: Case, entry: CorpusEntry) -> str:
    (one,) = build(Request(
        title=entry.title, note="", case=case, subject="own", backend=COMPILED, failure=entry.signature.verdict,
        failure_kind=entry.signature.kind, recorded=recorded(entry, subject="own", backend=COMPILED))).scripts
    return one.text


@pytest.mark.parametrize("entry", [
    pytest.param(entry, id=entry.id, marks=() if entry.id in ALWAYS else pytest.mark.nightly) for entry in LAUNCHES])
def test_a_script_answers_as_its_entry_says(entry: CorpusEntry):
    rows = [one for one in entry.expected if (one.backend, one.triton) == (COMPILED, triton.__version__)]
    if not rows or (entry.status == "flaky" and rows[0].verdict.failed):
        pytest.skip("the entry says nothing certain of this version")
    text = text_of(entry.case, entry)
    assert text.count("\n") <= 40 and "tridiff" not in text
    assert run(text).answer == ("BUG" if rows[0].verdict.failed else "OK")


def test_the_same_without_its_cause_is_right():
    """The control of a script that says BUG under every version: nothing was refused in between."""
    entry = next(one for one in LAUNCHES if one.id == "hits-8083bfa1d6")
    text = text_of(entry.case, entry)
    mended = text.replace("helper, fresh = plain,", "helper, fresh = one,").replace("import os", "import os", 1)
    assert mended != text and run(mended).answer == "OK"


def test_a_knob_stands_for_the_option_that_it_is_for():
    entry = next(one for one in LAUNCHES if one.id == "tt-assert--op-pipeliner-21295a0329")
    text = text_of(replace(entry.case, params=entry.case.params | {"knob": "debug", "debug": False}), entry)
    assert "knobs.runtime.debug = True" in text and run(text).answer == run(text_of(entry.case, entry)).answer


def test_what_has_no_short_form_is_refused_by_name():
    entry = next(one for one in LAUNCHES if one.id == "hits-8083bfa1d6")
    case = Case(target="launch.caches", sizes={}, arrays=(), params={"scene": "mended", "refused": False})
    with refused("'mended' has no short script"):
        text_of(case, entry)
    assert shown("hooks", {}) is None and "hooks" in scenes()
