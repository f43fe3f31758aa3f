"""Cases of schema 1 become cases of schema 2 that launch the same kernels with the same arguments.

`schema_1.json.xz` holds one case of every form as tridiff 0.1 wrote it (`old`), the program and the delay that it
means, and for loops the arguments of its main launches as tridiff 0.1 passed them, and those that plain ones have
otherwise.
"""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tridiff.fuzz.backends.launch import Launch, LaunchReport
from tridiff.fuzz.corpus.vocabulary import unheard_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import SCHEMA, Case, LaunchOptions, encode
from tridiff.fuzz.records.codec import decode_file
from tridiff.fuzz.records.migration import case_to_2, record_to_2
from tridiff.fuzz.registry import find

each = pytest.mark.parametrize
OLD: list[dict[str, Any]] = json.loads(lzma.decompress(Path(__file__).with_name("schema_1.json.xz").read_bytes()))
IDS = [f"{one['old']['target']}-{number}" for number, one in enumerate(OLD)]


class Recorder:
    """A runner that keeps the arguments of launches."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.arguments: list[dict[str, Any]] = []

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        self.arguments.append(dict(sorted(arguments.items())))
        return LaunchReport(readback={})

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        return self.run(text, grid, arguments, options)

    def synchronise(self) -> None:
        """Nothing runs."""


def read(old: dict[str, Any]) -> Case:
    return decode_file(json.dumps(old).encode(), Case, source="old.json")


def test_every_form_is_there():
    programs = {one["program"]["type"] for one in OLD if "program" in one}
    forms = {one["program"]["form"]["type"] for one in OLD if one.get("program", {}).get("type") == "text"}
    assert programs == {"stream", "line_fold", "product", "described_product", "box_copy", "box_reduction",
                        "row_gather", "text", "boxes", "exchange"}
    assert forms == {"barrier", "mailbox", "warp_id", "warp_specialize", "tokens", "mask", "predicate_stage", "cluster"}
    assert {one["delay"]["of"] for one in OLD if "delay" in one} == {"warp", "program"}


@each("one", OLD, ids=IDS)
def test_an_old_case_says_what_it_said(one: dict[str, Any]):
    new = case_to_2(one["old"])
    assert new["schema"] == SCHEMA and new.get("delay") == one.get("delay")
    assert new.get("program") == one.get("program", one["old"].get("program"))
    case = read(one["old"])
    target = find(case.target)
    assert target.draw.valid(case) and unheard_of(case, target) == ""
    assert decode_file(encode(case), Case, source="new.json") == case


@each("one", [one for one in OLD if "arguments" in one],
                         ids=[name for name, one in zip(IDS, OLD, strict=True) if "arguments" in one])
def test_an_old_case_launches_what_it_launched(one: dict[str, Any]):
    case = read(one["old"])
    pointers = {spec.name: f"<{spec.name}>" for spec in case.arrays}
    for schedule, otherwise in enumerate(({}, one.get("plain", {}))):
        recorder = Recorder("compile:sm_100" if case.target == "descriptors.gather" else "compile:sm_90")
        find(case.target).run.launch(Launch(case=case, pointers=pointers, helper=None, fault="", options=case.options,
                                        runner=recorder, schedule=schedule))
        assert recorder.arguments == [
            {name: otherwise.get(name, value) for name, value in launch.items()} for launch in one["arguments"]]


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=6),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
                    max_leaves=6)


@settings(max_examples=300)
@given(data=st.data())
def test_whatever_is_amiss_in_an_old_case_is_refused_in_one_line(data: st.DataObject):
    old = json.loads(json.dumps(data.draw(st.sampled_from(OLD))["old"]))
    for _ in range(data.draw(st.integers(1, 3))):
        part = data.draw(st.sampled_from([old, *(value for value in old.values() if isinstance(value, dict))]))
        name = data.draw(st.sampled_from(sorted(part) or [""]))
        if data.draw(st.booleans()):
            part[name] = data.draw(JSON)
        else:
            part.pop(name, None)
    record_to_2(old)
    try:
        case = read({**old, "schema": 1})
    except TridiffError as refusal:
        assert "\n" not in refusal.problem
    else:
        # What the decoder cannot refuse, such as a parameter that nobody knows, is refused before it is run.
        assert encode(case)


def test_half_a_delay_stays_a_parameter_that_nobody_knows():
    old = next(one["old"] for one in OLD if "delay" in one)
    params = {name: value for name, value in old["params"].items() if name != "late_access"}
    case = read({**old, "params": params})
    assert case.delay is None and "late_" in unheard_of(case, find(case.target))
