"""Entries that say what nobody could have drawn are unreadable; they never reach a worker."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.repository import CORPUS
from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.corpus.store import parse
from tridiff.fuzz.corpus.vocabulary import unheard_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.registry import all_targets
from tridiff.fuzz.target import Limits

each = pytest.mark.parametrize
PAYLOADS = ("os:system", "__import__('os').system('touch attacked')", "a\nimport os", "[/red]", "../../x", "exec", "",
            "x" * 60, "none")


def entries() -> dict[str, CorpusEntry]:
    """The first entry of every target that has one, and every further one with other parameters."""
    found: dict[tuple[str, ...], CorpusEntry] = {}
    for path in sorted(CORPUS.glob("*/*.json")):
        entry = parse(path.read_bytes(), source=path.name)
        found.setdefault((entry.case.target, *sorted(entry.case.params)), entry)
    return {entry.id: entry for entry in found.values()}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key))
    if isinstance(value, str):
        yield path


@each("target", all_targets())
def test_what_is_drawn_is_heard_of(target: str):
    """The declared vocabulary holds every parameter that the strategy draws, and no case lacks one."""
    for case in draw_cases(target, Limits(elements=1 << 10, rows=1 << 6), 25):
        assert unheard_of(case, all_targets()[target]) == ""


@each("entry", entries().values(), ids=entries())
def test_every_free_text_is_looked_at(entry: CorpusEntry):
    """Each text of the case replaced by what no strategy says: refused as a file, or as a case, and never run."""
    assert misfit(entry.case, entry.signature.subject) == ""
    built = json.loads(msgspec.json.encode(entry))
    accepted = []
    said = all_targets()[entry.case.target].draw.params(entry.case)
    for path in leaves(built["case"]):
        if path[0] not in ("params", "arrays") and path[:2] != ("program", "options"):
            continue
        place = built["case"]
        for key in path[:-1]:
            place = place[key]
        kept = place[path[-1]]
        for payload in PAYLOADS:
            if path[0] == "program" and not payload:
                continue  # The shape of a scalar.
            if path[0] == "params" and payload in said[path[1]]:
                continue  # A word of the strategy: some scenes of launches draw "none".
            place[path[-1]] = payload
            text = json.dumps(built).encode()
            place[path[-1]] = kept
            try:
                read = parse(text, source="x")
            except TridiffError:
                continue
            problem = misfit(read.case, entry.signature.subject)
            if not problem:
                accepted.append((path, payload))
            else:
                assert problem.isprintable() and len(problem) < 500
    assert not accepted


@each("value", [True, "1", 3, 2**40])
def test_a_number_of_another_kind_is_not_the_number(value: object):
    case = draw_cases("helpers.prod", Limits(elements=16, rows=4), 1)[0]
    changed = replace(case, params={"axis": value})
    assert unheard_of(changed, all_targets()["helpers.prod"]).startswith("its parameter axis is never ")
    assert unheard_of(replace(case, params={}), all_targets()["helpers.prod"]) == "its parameter axis is missing"
    assert unheard_of(replace(case, params=case.params | {"more": 1}), all_targets()["helpers.prod"]) == (
        "it has no parameter more")
