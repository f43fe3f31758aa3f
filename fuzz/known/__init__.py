"""Known defects: one `KnownIssue` each, for all families of targets.

`issue` says what such a record holds, `issues` finds them all, `explain` holds wrong elements against what they predict
(in the worker, which has torch), `attribute` says in the campaign's process which of them a failure belongs to. How to
add one is in `notes.md`.
"""

from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.known.issue import KnownIssue, Wrong
from tridiff.fuzz.known.issues import all_issues, issue_of_entry, issues_of

__all__ = ["Attribution", "KnownIssue", "Wrong", "all_issues", "issue_of_entry", "issues_of"]
