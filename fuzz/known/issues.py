"""All known issues: every module of this room may define some as ISSUES."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case, Together

_NOT_ISSUES = (
    "attribute", "avoiding", "contents", "explain", "issue", "issues", "predictions", "rehearse", "rewriting")


@cache
def all_issues() -> tuple[KnownIssue, ...]:
    """Every record of a known issue, by name; one that shows in several families may have a record for each. Raises
    TridiffError for one that would explain everything."""
    import tridiff.fuzz.known as room

    found: list[KnownIssue] = []
    for module in pkgutil.iter_modules(room.__path__):
        if module.name in _NOT_ISSUES:
            continue
        for one in getattr(importlib.import_module(f"{room.__name__}.{module.name}"), "ISSUES", ()):
            if not (one.explains or one.relative or one.errors or one.repair):
                raise TridiffError(f"known issue {one.name} would explain every failure",
                                   fix="give it `explains`, `relative`, `errors` or `repair`")
            found.append(one)
    return tuple(sorted(found, key=lambda one: one.name))


def issues_of(case: Case, subject: str) -> tuple[KnownIssue, ...]:
    """The issues whose pattern the case has."""
    return tuple(one for one in all_issues() if one.concerns(case, subject))


def issues_of_launch(launch: Together) -> Iterator[tuple[str, tuple[Case, ...]]]:
    """Issues that a joint launch may show, each with the cases that pass together if it does."""
    for one in all_issues():
        if one.together and (launch.target, launch.subject) in one.where and one.shows_on(launch.backend) and (
                launch.reason.startswith(one.errors) and len(cases := one.together(launch)) < len(launch.cases)):
            yield one.name, cases


@cache
def _owners(issues: tuple[KnownIssue, ...]) -> dict[str, str]:
    return {entry: one.name for one in issues for entry in one.entries}


def issue_of_entry(target: str, entry_id: str) -> str:
    """Name of the issue that a corpus entry proves, or ""."""
    return _owners(all_issues()).get(f"{target}/{entry_id}", "")
