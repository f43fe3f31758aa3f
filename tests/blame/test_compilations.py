"""Findings of the corpus that need no device: where the compiler ends, run pass by pass."""

import pytest

from tests.support.repository import ENTRIES
from tridiff.fuzz.blame import localise
from tridiff.fuzz.blame.localise import NotFailing, blame


def test_llvm_is_blamed_for_its_assertion():
    entry = ENTRIES.find("codegen.indexing/sigabrt-89561c16c7")
    found = blame(entry.case, entry.signature.subject, "compile:sm_90", seconds=120)
    assert (found.stage, found.step, found.confidence) == ("llvm", "llvm optimize_module", "seen")
    assert "llvm optimisation off" in found.gone
    assert "Instructions.cpp" in found.evidence[0]


@pytest.mark.own_zygote
def test_a_case_that_does_not_fail_is_blamed_on_nobody():
    entry = ENTRIES.find("codegen.indexing/sigabrt-89561c16c7")
    with pytest.raises(NotFailing):
        blame(entry.case, entry.signature.subject, "compile:gfx942", seconds=60)


def test_a_function_of_the_library_is_told_from_the_front_end_that_compiles_it(
        monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(localise, "RIGHT_SECONDS", 40.0)  # however busy the machine is
    entry = ENTRIES.find("language.movement/dtype--object-has-no-at-5285cc55b6")
    found = blame(entry.case, entry.signature.subject, "compile:sm_90", seconds=120)
    assert (found.stage, found.confidence) == ("language", "inferred")
    assert any("it ends inside of flip" in one for one in found.evidence)
    assert found.evidence[-1].endswith("language/standard.py flip"), "the function behind it"


def test_what_launching_does_wrong_is_blamed_without_watching_the_passes():
    entry = ENTRIES.find("launch.sources/launches-2a7b415b75")
    found = blame(entry.case, entry.signature.subject, "compile:sm_90", seconds=120)
    assert (found.stage, found.confidence) == ("runtime", "inferred")
    assert "launching keeps and counts (launches)" in found.evidence[0]
