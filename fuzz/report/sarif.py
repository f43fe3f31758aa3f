"""A report as SARIF 2.1.0, for tools that collect the results of analyses (OASIS, sarif-v2.1.0-os)."""

import json

from tridiff.fuzz.report.junit import text_of
from tridiff.fuzz.report.model import Finding, Report

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"

_RULES = {
    "New": ("new-finding", "A failing case whose cause no corpus entry has."),
    "Still failing": ("known-finding", "A failing case whose cause the corpus has."),
    "No longer failing": ("stopped-failing", "A saved case that was expected to fail and did not."),
    "Regressions": ("regression", "Right on the baseline; wrong, refused, crashing, hanging or unwritten on the "
                                  "candidate."),
    "Changed behaviour": ("changed-behaviour", "Other bits where the contract leaves the answer open."),
    "Wrong in both, differently": ("wrong-differently", "Both builds fail, in different ways."),
    "Fixed": ("fixed", "Wrong on the baseline, right on the candidate."),
}
"""By group of findings: the rule that they break, and what it says."""


def sarif(report: Report) -> str:
    """The whole file. A location is a target (logical), and the file of the shrunk case where the record has one,
    relative to the record."""
    groups = [group for group in report.groups if group in _RULES]
    rules = [{"id": _RULES[group][0], "name": _RULES[group][0].title().replace("-", ""),
              "shortDescription": {"text": _RULES[group][1]},
              "defaultConfiguration": {"level": _level_of(report, group)}} for group in groups]
    results = [_result(one, groups.index(one.group)) for one in report.findings if one.group in groups]
    notifications = [{"level": "error", "message": {"text": line}} for line in report.errors]
    run = {
        "tool": {"driver": {"name": "tridiff", "semanticVersion": report.tridiff or "0", "rules": rules}},
        "automationDetails": {"id": f"tridiff/{report.kind}/{report.id}"},
        "invocations": [{"executionSuccessful": report.status != 2, "exitCode": report.status,
                         "toolExecutionNotifications": notifications}],
        "originalUriBaseIds": {"RECORD": {"description": {"text": "The folder of the record."}}},
        "results": results, "columnKind": "unicodeCodePoints",
        "properties": {"verdict": report.verdict, "headline": report.headline, "why": list(report.why),
                       "notChecked": [f"{what}: {reason}" for what, reason in report.not_checked]},
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _level_of(report: Report, group: str) -> str:
    levels = {one.level for one in report.of(group)}
    return next((level for level in ("error", "warning", "note") if level in levels), "note")


def _result(one: Finding, rule: int) -> dict[str, object]:
    logical = [{"name": one.target or one.id, "kind": "function",
                "fullyQualifiedName": " ".join(filter(None, (one.target, one.subject, f"on {one.backend}")))}]
    location: dict[str, object] = {"logicalLocations": logical}
    if one.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": one.file, "uriBaseId": "RECORD"},
                                        "region": {"startLine": 1}}
    return {
        "ruleId": _RULES[one.group][0], "ruleIndex": rule, "level": one.level, "kind": "fail",
        "message": {"text": f"{one.title}{f': {one.reason}' if one.reason else ''}"},
        "locations": [location], "partialFingerprints": {"cause/v1": one.key},
        "properties": {"id": one.id, "about": dict(one.about), "text": text_of(one)},
    }
