"""Outside a checkout the installed entries are read, and a campaign begins with a copy of them."""

from pathlib import Path

import pytest

from tests.support.refusals import refused
from tridiff.fuzz.corpus import installed
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import CorpusEntry


def test_an_empty_folder_reads_the_installed_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    found = installed.corpus_to_read(installed.DEFAULT)
    assert found != installed.DEFAULT and isinstance(Corpus(found).find("value-cd18b7a4b0"), CorpusEntry)


def test_a_folder_that_is_named_or_there_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert installed.corpus_to_read(Path("mine")) == Path("mine") and installed.fill(Path("mine")) == 0
    (tmp_path / "corpus").mkdir()
    assert installed.corpus_to_read(installed.DEFAULT) == installed.DEFAULT and installed.fill(installed.DEFAULT) == 0
    assert list((tmp_path / "corpus").iterdir()) == []


def test_a_campaign_begins_with_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    copied = installed.fill(installed.DEFAULT)
    entries = list(Corpus(tmp_path / "corpus").entries())
    assert copied == len(entries) > 100 and all(isinstance(one, CorpusEntry) for one in entries)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(installed.shutil, "copytree", refuse)
    with refused(r"corpus cannot be written \(Permission denied\)"):
        installed.fill(installed.DEFAULT)
