"""Text from outside (names of files, errors, reasons) is shown as it is, whatever it means to a terminal or to rich."""

import io
from pathlib import Path

import pytest
from rich.table import Table

from tests.support.campaigns import campaign_options
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.campaign.replay import ReplayResult
from tridiff.fuzz.campaign.table import rich_table, table
from tridiff.fuzz.cli import text
from tridiff.fuzz.cli.render import render_summary
from tridiff.fuzz.cli.text import coloured, console

each = pytest.mark.parametrize
HOSTILE = ("[/b]", "[/red].json", "index [i32] out of [red]", "[link=file:///etc]x[/link]", ":bomb: [bold",
           "\x1b[2J\x07")


def spelled(foreign: str) -> str:
    return foreign.replace("\x1b", "\\x1b").replace("\x07", "\\x07")


def shown(monkeypatch: pytest.MonkeyPatch, *things: object) -> str:
    made = console()
    made.file = io.StringIO()
    monkeypatch.setattr(text, "console", lambda **_: made)
    for one in things:
        made.print(one)
    return made.file.getvalue()


@each("foreign", HOSTILE)
@each("where", ["line", "cell", "title", "part"])
def test_nothing_is_taken_for_markup(where: str, foreign: str, monkeypatch: pytest.MonkeyPatch):
    grid = Table(title=foreign if where == "title" else None)
    grid.add_column("a", min_width=40)
    grid.add_row(foreign if where == "cell" else "x")
    made = {"line": foreign, "part": coloured(("error", "red"), foreign)}.get(where, grid)
    said = shown(monkeypatch, made)
    assert "\x1b[2J" not in said and "\x07" not in said
    assert spelled(foreign) in said


@each("foreign", HOSTILE)
def test_summaries_show_errors_and_reasons_as_they_are(foreign: str, capsys: pytest.CaptureFixture[str]):
    summary = Summary(id="x", options=campaign_options(), environments=(), by_target=(), counts=Counts(executed=3),
                      errors=(f"error {foreign}",), not_checked_reasons={f"reason {foreign}": 3},
                      left_out={f"left {foreign}": ("a",)}, stopped_failing=(f"stopped {foreign}",))
    render_summary(summary, [], Path("reports") / foreign)
    said = capsys.readouterr().out
    for word in ("error", "reason", "left", "stopped"):
        assert f"{word} {spelled(foreign)}" in said
    assert f"record in {Path('reports') / spelled(foreign)}" in said


@each("foreign", HOSTILE)
def test_replay_shows_files_by_their_names(foreign: str, monkeypatch: pytest.MonkeyPatch):
    result = ReplayResult(id=foreign, target="", status="unreadable", reason=f"{foreign}: is no entry")
    said = shown(monkeypatch, rich_table(table([], [result])))
    assert spelled(foreign) in said


def test_there_is_one_place_for_printing():
    """A console of rich's own would take markup out of foreign text."""
    fuzz = Path(text.__file__).resolve().parents[1]
    made = {f"{path.relative_to(fuzz)}: {name}" for path in fuzz.rglob("*.py")
            for name in ("Console(", "rich.print", " rprint")
            if name in path.read_text(encoding="utf-8")}
    assert made == set(), "use tridiff.fuzz.cli.text.console"
