"""JUnit, SARIF, Markdown and issue texts: what their readers require of them, whatever text comes from outside."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.report.records import HOSTILE, SCRIPT, entry, gate, hostile_entry, night, of
from tridiff.fuzz.campaign.record import Counts
from tridiff.fuzz.records import Blame
from tridiff.fuzz.report.issue import issue
from tridiff.fuzz.report.junit import junit
from tridiff.fuzz.report.markdown import cell, fenced, markdown
from tridiff.fuzz.report.model import Script
from tridiff.fuzz.report.sarif import sarif
from tridiff.fuzz.report.text import visible

NEW = "illegal-address-7f92aee734"


def suites(text: str) -> dict[str, ElementTree.Element]:
    """The suites by name, after a check of what the common schema (Jenkins' junit-10.xsd) requires: names, counts that
    add up, times that are numbers, properties first, one outcome for a case, output behind it."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites" and set(root.attrib) == {"name", "tests", "failures", "errors", "skipped", "time"}
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert suite.tag == "testsuite" and suite.attrib.keys() == root.attrib.keys()
        assert [one.tag for one in suite] == ["properties", *["testcase"] * int(suite.attrib["tests"])]
        assert all(one.tag == "property" and set(one.attrib) == {"name", "value"} for one in suite[0])
        for case in suite.findall("testcase"):
            assert set(case.attrib) == {"name", "classname", "time"} and case.attrib["name"]
            assert float(case.attrib["time"]) >= 0
            tags = [one.tag for one in case]
            assert len(set(tags)) == len(tags) and set(tags) <= {"failure", "error", "skipped", "system-out"}
            assert sum(tag != "system-out" for tag in tags) <= 1 and "system-out" not in tags[:-1]
            for one in case:
                assert set(one.attrib) <= {"message", "type"}
                assert (one.tag == "system-out") == ("message" not in one.attrib)
        for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[count]) == len(suite.findall(f"testcase/{tag}"))
        names = [(case.attrib["classname"], case.attrib["name"]) for case in suite.findall("testcase")]
        assert len(set(names)) == len(names), "a server tells cases apart by these"
        for count in total:
            total[count] += int(suite.attrib[count])
    assert {count: int(root.attrib[count]) for count in total} == total
    return {suite.attrib["name"]: suite for suite in root}


def outcomes(suite: ElementTree.Element) -> dict[str, str]:
    return {case.attrib["name"]: case[0].tag if len(case) and case[0].tag != "system-out" else "passed"
            for case in suite.findall("testcase")}


def test_junit_of_a_night(tmp_path: Path):
    found = suites(junit(of(night(tmp_path, new=(entry(NEW), hostile_entry())))))
    assert outcomes(found["cuda"]) == {
        "triton.negate own": "failure", "codegen.mixed own": "passed", "gluon.fp4 own": "skipped",
        "tma.reduce": "skipped"}
    assert outcomes(found["compile:sm_90"]) == {"helpers.frexp own": "passed"}
    assert outcomes(found["findings"]) == {NEW: "failure"}, "no row of this campaign has its target"
    assert outcomes(found["work"]) == {"all work came to its end": "passed"}
    said = found["findings"].find("testcase/failure")
    assert said is not None and said.attrib["type"] == "crash, illegal_address"
    assert "case a9edaac7dd903db4" in str(said.text) and "print('BUG'" in str(said.text)
    hostile = found["cuda"].find("testcase/failure")
    assert hostile is not None and hostile.attrib["message"] == visible(HOSTILE)


def test_junit_of_a_gate_and_of_lost_work(tmp_path: Path):
    found = suites(junit(of(gate(tmp_path))))
    assert outcomes(found["cuda"]) == {"gluon.view_chain": "failure", "helpers.frexp": "passed", "gluon.fp4": "skipped"}
    assert outcomes(found["beside cases"]) == {
        "API": "failure", "numbers": "passed", "compile time": "passed", "resources": "passed", "all inputs": "failure",
        "other": "failure"}
    assert len(found["findings"]) == 2, "properties, and the changed behaviour; what is accepted or fixed fails nothing"
    lost = suites(junit(of(night(tmp_path, errors=("triton.a on cuda: gone",)))))
    assert outcomes(lost["work"]) == {"all work came to its end": "error"}
    nothing = suites(junit(of(night(tmp_path, name="n", counts=Counts(), by_target=()))))
    assert outcomes(nothing["work"]) == {"all work came to its end": "error"}


def check_sarif(text: str) -> dict[str, Any]:
    """The run, after a check of what SARIF 2.1.0 (sections 3.13 to 3.27) requires of what is in it."""
    log = json.loads(text)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json") and len(log["runs"]) == 1
    run: dict[str, Any] = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "tridiff" and len({one["id"] for one in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"] and rule["defaultConfiguration"]["level"] in ("none", "note", "warning",
                                                                                              "error")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["message"]["text"]
        assert result["level"] in ("note", "warning", "error") and result["kind"] == "fail"
        for location in result["locations"]:
            assert all(one["name"] and one["fullyQualifiedName"] for one in location["logicalLocations"])
            if "physicalLocation" in location:
                place = location["physicalLocation"]
                assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
                assert re.fullmatch(r"[\w./-]+", place["artifactLocation"]["uri"]) and place["region"]["startLine"] >= 1
        assert all(re.fullmatch(r"\w+/v\d+", key) and value for key, value in result["partialFingerprints"].items())
    assert isinstance(run["invocations"][0]["executionSuccessful"], bool)
    return run


def test_sarif_of_a_gate(tmp_path: Path):
    run = check_sarif(sarif(of(gate(tmp_path))))
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("regression", "error"), ("changed-behaviour", "warning"), ("fixed", "note"), ("changed-behaviour", "note")]
    first = run["results"][0]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"cases/regression/{NEW}.json"
    assert first["message"]["text"].endswith(": out: 7 instead of 8")
    assert run["results"][1]["message"]["text"].endswith(HOSTILE)
    assert run["invocations"][0] == {"executionSuccessful": True, "exitCode": 1, "toolExecutionNotifications": []}


def test_sarif_of_a_night_that_could_not_check(tmp_path: Path):
    run = check_sarif(sarif(of(night(tmp_path, errors=("gone",), new=(entry(NEW),)))))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "gone"
    assert [one["ruleId"] for one in run["results"]] == ["new-finding", "known-finding", "stopped-failing"]


def test_markdown_has_every_part_and_no_foreign_markup(tmp_path: Path):
    text = markdown(of(gate(tmp_path)))
    for part in ("do not upgrade", "## Regressions (1)", "## Guards", "## Targets", "## Not checked", "## Throughput"):
        assert part in text
    assert "<script>" not in text and "\u202e" not in text
    columns = 0
    for line in text.splitlines():
        bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not (columns and bars) or bars == columns, "a cell does not end early"
        columns = bars


@pytest.mark.parametrize("text", ["a|b", "`c`", "<b>", "[x](http://y)", "*z*", "\n# heading", "~~s~~", "\\"])
def test_a_cell_is_text(text: str):
    assert not re.search(r"(?<!\\)[|*_`\[\]#~<]|\n", cell(text).replace("\\\\", ""))


def test_a_fence_is_longer_than_any_in_the_text():
    text = fenced("```\n````\nend", "python")
    assert text.startswith("`````python\n") and text.endswith("\n`````")


def test_an_issue_has_all_that_a_stranger_needs():
    text = issue(entry(NEW), script=SCRIPT, found_by="By fuzzing.")
    assert text.startswith("# A read through a linear shared layout leaves the buffer\n")
    for part in ("It crashes", "illegal\\_address", "```python\nimport torch", "run here it says BUG",
                 "- Triton: 3.6.0", "- device: NVIDIA H200", "- In a pass on TTGIR, or its lowering", "By fuzzing.",
                 "case a9edaac7dd903db4", f"tridiff repro {NEW}", "added where they must be combined",
                 "| | Triton 3.6.0 | Triton 3.9.0 |\n|---|---|---|\n| cuda | crash | right |"):
        assert part in text
    assert "Nobody has judged" not in text and "Not a defect" not in text
    assert "linear-shared-offsets-added" not in text, "our filing is of no use to a stranger"


def test_an_issue_tells_versions_that_fail_in_another_way():
    one = entry(NEW)
    other = replace(one.expected[0], triton="3.7.1", kind="misaligned_address")
    text = issue(replace(one, expected=(*one.expected, other)), script=SCRIPT, found_by="By fuzzing.")
    assert "| cuda | crash | crash (otherwise) | right |" in text


def test_an_issue_of_what_is_no_defect_says_so_first():
    text = issue(entry(NEW, truth="undefined"), script=SCRIPT, found_by="By fuzzing.")
    assert text.index("Judged: undefined. Not a defect") < text.index("## What happens")


def test_an_issue_tells_what_was_seen_of_the_place():
    seen = Blame(stage="ttgir", step="make_ttgir add_x", confidence="seen", triton="3.6.0", backend="cuda",
                 evidence=("right behind make_ttgir add_w and wrong behind make_ttgir add_x",))
    one = replace(entry(NEW), blame=(seen,))
    text = issue(one, script=SCRIPT, found_by="By fuzzing.", further="## Workarounds\n\n- none\n")
    assert "- Triton 3.6.0, cuda: right behind make\\_ttgir add\\_w and wrong behind make\\_ttgir add\\_x." in text
    assert text.index("Where it goes wrong") < text.index("## Workarounds") < text.index("## How it was found")


def test_an_issue_without_a_class_or_a_script_says_so():
    one = entry("zero-sign-c65330b634", truth="unclassified")
    text = issue(one, script=Script(note="the script takes 90 lines"), found_by="x", relation="regression: y")
    assert "Nobody has judged this yet" in text and "There is none: the script takes 90 lines." in text
    assert "regression: y" in text and "^ element 0 is the first wrong one" in text


def test_an_issue_with_hostile_text_is_plain():
    text = issue(hostile_entry(), script=SCRIPT, found_by=HOSTILE)
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
    assert "<script>" not in outside and "<img" not in outside and "\u202e" not in text
