"""A release of Triton that nobody has looked at is said to be one, item by item."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.unit.corpus.entries import entry, expect
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.cli.doctor import _repairs
from tridiff.fuzz.cli.new_triton import DIALECTS, ROOT, TABLES, Item, checklist
from tridiff.fuzz.cli.render import render_summary
from tridiff.fuzz.records import Environment

HERE = Environment(backend="interpreter", triton="3.9.0")
GONE = ("fma: InterpreterBuilder.create_fma",)


def items(triton: str, environment: Environment = HERE, records: Path = ROOT / "reports") -> dict[str, Item]:
    known = entry(expected=(expect("own", triton="3.6.0", backend="cuda"), expect("own", triton="3.9.0",
                                                                                 backend="cuda")))
    partly = entry(expected=(expect("own", triton="3.6.0", backend="cuda"), expect("own", triton="3.9.0",
                                                                                  backend="interpreter")))
    found = checklist(triton, entries=[known, partly], records=records, environments=(environment,))
    return {one.what: one for one in found}


def test_a_known_release_needs_nothing_but_what_is_not_recorded():
    found = items("3.9.0")
    assert [what for what, one in found.items() if not one.done] == ["corpus"]
    assert found["corpus"].detail.startswith("0 of 2 entries have no row for it, 1 only on some")


def test_an_unknown_release_asks_for_everything():
    found = items("3.10.0", replace(HERE, triton="3.10.0", repairs_missing=GONE))
    assert [what for what, one in found.items() if one.done] == []
    assert found["release"].detail == "3.10.0 is none of 3.6, 3.7, 3.8, 3.9"
    assert found["patched names"].detail == GONE[0]
    assert found["corpus"].detail.startswith("2 of 2 entries have no row for it")
    assert "no ledgers of this release" in found["operations of the IR"].detail


@pytest.mark.parametrize("environments", [(), (Environment(backend="cuda"),)])
def test_without_an_interpreter_its_repairs_are_not_called_right(environments: tuple[Environment, ...]):
    found = {one.what: one for one in checklist("3.9.0", entries=[], records=Path("none"), environments=environments)}
    assert not found["patched names"].done and not found["operations of the IR"].done


def test_every_file_that_is_named_exists():
    assert all((ROOT / name).is_file() for name in (*DIALECTS, *TABLES))


def test_missing_repairs_are_red_in_doctor_and_in_summaries(capsys: pytest.CaptureFixture[str]):
    assert _repairs(HERE) == ("interpreter repairs", True, "each finds what it replaces")
    _, ok, detail = _repairs(replace(HERE, repairs_missing=GONE))
    assert not ok and GONE[0] in detail and "--new-triton" in detail
    for environment, told in ((HERE, False), (replace(HERE, repairs_missing=GONE), True)):
        render_summary(Summary(id="x", options=campaign_options(), environments=(environment,), by_target=(),
                               counts=Counts(executed=1, agree=1)), [], Path("x"))
        assert (GONE[0] in capsys.readouterr().out) == told
