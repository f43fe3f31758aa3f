"""The messages between `tridiff.fuzz.repro.script` and the process that writes scripts."""

from typing import Literal

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Verdict
from tridiff.kernels.language.lines import ASSERTED

Length = Literal["short", "short if possible", "any"]
"""How long a script may be: short enough for an issue, that if it can be, or as long as it takes."""


MANY_VALUES = "the case has too many values"
"""Why a script is not written that would be too long."""


def no_script(problem: str) -> TridiffError:
    """The error of a finding that no script shows."""
    return TridiffError(problem, fix="rerun it with `tridiff repro` instead")


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which the finding was seen to fail on the script's backend: verdict and kind as in a signature."""

    verdict: Verdict
    kind: str

    @property
    def asserted(self) -> bool:
        """Whether an assertion of the kernel on its result, when it is compiled, is what failed."""
        return self.verdict is Verdict.DISAGREE and self.kind in ASSERTED


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a script is to show. failure, failure_kind, where: as in the finding's signature; of several launches the
    script shows the one that is given array `where`, in that
    schedule of the case. recorded: every way in which some version failed on this backend,
    the first of which decides the script's form; nothing else counts as the bug. liveness: let the compiler's front end
    say which branches matter. only_repaired: a right result is no answer, because Triton's own interpreter never
    showed the finding. length: of the script. ptx: also the PTX and how ptxas is called. launches: how often the script
    launches at most until it is wrong. seen: in how many runs it was, if that depends on timing. around: pass bf16 and
    fp8 as fp32, and let scalars end loops. repaired: run in the interpreter as tridiff repairs it."""

    title: str
    note: str
    case: Case
    subject: str
    backend: str
    failure: Verdict
    failure_kind: str
    where: str = ""
    schedule: int = 0
    recorded: tuple[Recorded, ...] = ()
    liveness: bool = True
    only_repaired: bool = False
    length: Length = "short"
    ptx: bool = False
    launches: int = 1
    seen: str = ""
    around: bool = False
    repaired: bool = False

    @property
    def bundle(self) -> bool:
        """Whether whatever the case needs may be in the script."""
        return self.length != "short"

    @property
    def asserted(self) -> tuple[str, ...]:
        """The kinds of those `ways` that are assertions of the kernel on its result."""
        return tuple(way.kind for way in self.ways if way.asserted)

    @property
    def ways(self) -> tuple[Recorded, ...]:
        """`recorded`, or the one way that the signature names."""
        return self.recorded or (Recorded(verdict=self.failure, kind=self.failure_kind),)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One script. faithful: every run-time argument of the original launch is one here too."""

    text: str
    faithful: bool


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """PTX of the kernel, compiled ahead of time. command: how Triton calls ptxas, the file being `bug.ptx`.
    versions: of Triton and of ptxas."""

    text: str
    command: str
    versions: str


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Scripts for one finding, the most readable first; or why there is none."""

    scripts: tuple[Candidate, ...] = ()
    assembly: Assembly | None = None
    problem: str = ""
    fix: str = ""
