"""The bench of bundles: which entries are chosen, what is held against the record, and three bundles in earnest."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.repository import ENTRIES
from tridiff.fuzz.bench.bundles import Chosen, Row, bundle, choices, spread, table
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.records import CorpusEntry, Expectation, Verdict
from tridiff.kernels.codegen.dialect import found_version

VERSIONS = ("3.6.0", "3.9.0")


def chosen(**more: object) -> Chosen:
    given = {"entry": "codegen.scan/x", "kind": ("codegen", "llvm", "crash"), "backend": "compile:gfx942",
             "recorded": {"3.6.0": "BUG", "3.9.0": "OK"}, **more}
    return Chosen(**given)


def entry(*rows: tuple[str, str, Verdict]) -> CorpusEntry:
    found = ENTRIES.find("codegen.scan/sigabrt-63f2f12421")
    expected = tuple(Expectation(subject=found.signature.subject, triton=triton, backend=backend, verdict=verdict)
                     for triton, backend, verdict in rows)
    return replace(found, expected=expected)


def test_entries_are_chosen_that_one_version_fails_and_another_does_not():
    repaired = entry(("3.6.0", "cuda", Verdict.CRASH), ("3.9.0", "cuda", Verdict.AGREE),
                     ("3.6.0", "compile:gfx942", Verdict.CRASH), ("3.9.0", "compile:gfx942", Verdict.AGREE))
    (one,) = choices([repaired], VERSIONS)
    assert (one.backend, one.recorded, one.affected) == ("compile:gfx942", {"3.6.0": "BUG", "3.9.0": "OK"}, "3.6.0")
    for other in (entry(("3.6.0", "interpreter", Verdict.CRASH), ("3.9.0", "interpreter", Verdict.CRASH)),
                  entry(("3.6.0", "interpreter", Verdict.CRASH), ("3.9.0", "interpreter", Verdict.NOT_CHECKED)),
                  entry(("3.6.0", "cuda", Verdict.CRASH), ("3.9.0", "cuda", Verdict.AGREE)),
                  replace(repaired, truth="undefined")):
        assert not list(choices([other], VERSIONS))


def test_there_is_one_of_each_kind_before_there_is_a_second():
    found = [chosen(entry=name, kind=(name[0], "llvm", "crash")) for name in ("a1", "a2", "a3", "b1", "c1")]
    assert [one.entry for one in spread(found, 4)] == ["a1", "b1", "c1", "a2"]


def test_a_script_that_says_ok_where_it_must_say_bug_is_told():
    whole = Row(chosen=chosen(), said={"3.6.0": "BUG", "3.9.0": "OK"}, lines=30)
    wrong = Row(chosen=chosen(), said={"3.6.0": "OK", "3.9.0": "OK"}, lines=30)
    lacking = Row(chosen=chosen(), said=whole.said, lacking=("blame.json",))
    lines = list(table([whole, wrong, lacking], VERSIONS))
    assert lines[0].startswith("1 of 3 bundles of 1 kinds")
    assert "| OK (recorded: BUG) | OK |" in lines[-2] and lines[-1].endswith("| blame.json |")
    assert (whole.good, wrong.good, lacking.good) == (True, False, False)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", ["language.ordering/dtype--object-has-no-at-74dff93318",
                                  "loops.options/assertion--detail--ispre-876fd9b5b4",
                                  "triton.negate/zero-sign-c65330b634"])
def test_a_bundle_says_what_is_recorded_of_the_installed_build(name: str, tmp_path: Path):
    version, found = found_version(), ENTRIES.find(name)
    rows = [one for one in found.expected if one.triton == version and one.subject == found.signature.subject]
    row = next(one for one in rows if not one.backend.startswith("cuda") and (
        one.verdict.failed or one.verdict is Verdict.AGREE))
    expected = {version: "BUG" if row.verdict.failed else "OK"}
    made = bundle(chosen(entry=name, backend=row.backend, recorded=expected), {version: resolve("installed")}, tmp_path,
                  seconds=15.0)
    assert made.said == expected
    assert made.lines <= 40
