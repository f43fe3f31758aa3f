"""The messages between `tridiff.fuzz.repro.script` and the process that writes scripts."""

import msgspec

from tridiff.fuzz.records import Case, Verdict


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a script is to show. failure, failure_kind, where: as in the finding's signature; of several launches the
    script shows the one that is given array `where`. liveness: let the compiler's front end say which branches
    matter."""

    title: str
    note: str
    case: Case
    subject: str
    backend: str
    failure: Verdict
    failure_kind: str
    where: str = ""
    liveness: bool = True


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One script. faithful: every run-time argument of the original launch is one here too."""

    text: str
    faithful: bool


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Scripts for one finding, the most readable first; or why there is none."""

    scripts: tuple[Candidate, ...] = ()
    problem: str = ""
    fix: str = ""
