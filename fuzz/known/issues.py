"""All known issues: every module of this room may define some as ISSUES."""

import importlib
import pkgutil
from functools import cache

from fuzz.errors import TridiffError
from fuzz.known.issue import KnownIssue
from fuzz.records import Case

_NOT_ISSUES = ("attribute", "explain", "issue", "issues", "predictions")


@cache
def all_issues() -> tuple[KnownIssue, ...]:
    """Every known issue, by name. Raises TridiffError for two of one name, and for one that explains nothing."""
    import fuzz.known as room

    found: dict[str, KnownIssue] = {}
    for module in pkgutil.iter_modules(room.__path__):
        if module.name in _NOT_ISSUES:
            continue
        for one in getattr(importlib.import_module(f"{room.__name__}.{module.name}"), "ISSUES", ()):
            if one.name in found:
                raise TridiffError(f"two known issues are called {one.name}", fix="rename one of them")
            if not (one.explains or one.relative or one.errors):
                raise TridiffError(f"known issue {one.name} would explain every failure",
                                   fix="give it `explains`, `relative` or `errors`")
            found[one.name] = one
    return tuple(found[name] for name in sorted(found))


def issue(name: str) -> KnownIssue:
    """The issue of this name; TridiffError for an unknown one."""
    for one in all_issues():
        if one.name == name:
            return one
    raise TridiffError(f"no known issue is called {name!r}", fix="see `tridiff targets --blind`")


def issues_of(case: Case, subject: str) -> tuple[KnownIssue, ...]:
    """The issues whose pattern the case has."""
    return tuple(one for one in all_issues() if one.concerns(case, subject))


@cache
def _owners() -> dict[str, str]:
    return {entry: one.name for one in all_issues() for entry in one.entries}


def issue_of_entry(target: str, entry_id: str) -> str:
    """Name of the issue that a corpus entry proves, or ""."""
    return _owners().get(f"{target}/{entry_id}", "")
