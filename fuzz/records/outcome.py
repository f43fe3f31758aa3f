"""Outcome: what became of one case on one subject and backend."""

import enum
import hashlib
from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from tridiff.fuzz.records.case import Case, LaunchOptions
from tridiff.fuzz.records.runs import MOST_IN_RUNS, check_runs, in_runs, one_by_one
from tridiff.kernels import lines
from tridiff.kernels.record import Record

LONGEST_REASON = 2000
"""Characters of an outcome's reason."""


class Verdict(enum.Enum):
    """`not_checked` never reads as a pass; the last three never delivered a result."""

    AGREE = "agree"
    DISAGREE = "disagree"
    NOT_CHECKED = "not_checked"
    COMPILE_ERROR = "compile_error"
    CRASH = "crash"
    HANG = "hang"

    @property
    def failed(self) -> bool:
        """Whether the verdict speaks against the subject."""
        return self not in (Verdict.AGREE, Verdict.NOT_CHECKED)


class Signature(Record, kw_only=True):
    """What makes two failing cases the same finding.

    kind: the class of failure (`value`, `nan_missing`, `SIGSEGV`, `illegal_address`, ...). where: the
    output, or the compiler stage. about: the dtype kind and the target's own feature word. The backend
    and the versions are left out: they belong to the entry's expected verdicts. The target is empty in files of
    corpus entries alone, whose case names it.
    """

    target: str = ""
    subject: str
    verdict: Verdict
    kind: str
    where: str = ""
    about: str = ""

    @property
    def key(self) -> str:
        """One readable line; equal keys are equal signatures."""
        return _BAR.join((self.target, *self._words))

    @property
    def line(self) -> str:
        """All but the target and what is empty at the end, as `own | disagree | value | out0 | tl.cast`, where
        `of_line` reads that back; "" where it does not."""
        words = self._words
        while words[-1] == "":
            words = words[:-1]
        return lines.written(self, _BAR.join(words), lambda line: Signature.of_line(line, self.target))

    @staticmethod
    def of_line(line: str, target: str) -> "Signature":
        """The signature of a target that a line says; ValueError if it says none."""
        words = line.split(_BAR)
        if not 2 <= len(words) <= 5:
            raise ValueError(f"{line[:80]!r} is no line of a signature")
        subject, verdict, kind, where, about = (*words, "", "", "")[:5]
        return Signature(target=target, subject=subject, verdict=Verdict(verdict), kind=kind, where=where, about=about)

    @property
    def _words(self) -> tuple[str, ...]:
        return self.subject, self.verdict.value, self.kind, self.where, self.about

    @property
    def digest(self) -> str:
        """Ten hex digits for file names."""
        return hashlib.blake2b(self.key.encode(), digest_size=5).hexdigest()


_BAR = " | "


class RowCounts(Record, kw_only=True):
    """Independent inputs of one case, by what was decided about them."""

    agree: int = 0
    disagree: int = 0
    conflict: int = 0
    """Oracles contradict each other and no majority settles it."""
    undefined: int = 0
    """The contract leaves the whole row open."""
    by_oracle: dict[str, int] = {}
    """Rows that each oracle judged; a costly oracle judges a sample and every suspect."""

    @property
    def judged(self) -> int:
        return self.agree + self.disagree


class Seconds(Record, kw_only=True):
    """Wall seconds spent in the worker, by phase."""

    materialise: float = 0.0
    launch: float = 0.0
    """Compiling, launching and waiting for the device."""
    judge: float = 0.0


class WrongElement(Record, kw_only=True):
    """An element of an output, by its place in the whole of it in row-major order, with its value and, by oracle, the
    right one, as text."""

    output: str
    place: int
    actual: str
    expected: dict[str, str] = {}


class Launched(Record, kw_only=True):
    """One of the launches of a case: under which options, and in which of its schedules."""

    options: LaunchOptions
    schedule: int = 0


class Evidence(Record, kw_only=True):
    """The first failing row, values as text (see `tridiff.fuzz.content.text`), or the tail of the worker's log.

    In files `"256 x 1.0"` stands for 256 equal values in a row, and oracles that expect the same stand together, as
    `"numpy and torch"`.
    """

    row: int = 0
    whole: bool = False
    """Small cases list all rows; `row` is then only the first that failed."""
    inputs: dict[str, tuple[str, ...]] = {}
    expected: dict[str, dict[str, tuple[str, ...]]] = {}
    """Oracle name, then output name."""
    actual: dict[str, tuple[str, ...]] = {}
    wrong: tuple[WrongElement, ...] = ()
    """Some wrong elements of a long output, of which `actual` shows less or nothing."""
    log: str = ""
    launched: Launched | None = None
    """The launch that failed, where it is not the first: what is above is of that one."""
    alone: str = ""
    """The class of dtypes to which a shrunk case owes that it fails (`fuzz.shrink.dtypes`); "" if others fail too."""
    beside: dict[str, str] = {}
    """What is wrong of neighbours of a shrunk case (`fuzz.shrink.beside`), by what is changed; "" of right ones."""
    plainest: "Relative | None" = None
    """What a shrunk case comes to where any wrong value will do (`fuzz.shrink.plainest`); it has `alone` and `beside`
    then. None where that is the case itself."""

    def __post_init__(self) -> None:
        check_runs(self._values())
        told = {"inputs": _each(one_by_one, self.inputs), "actual": _each(one_by_one, self.actual),
                "expected": {oracle: _each(one_by_one, arrays) for names, arrays in self.expected.items()
                             for oracle in names.split(_AND)}}
        for name, values in told.items():
            msgspec.structs.force_setattr(self, name, values)

    def _values(self) -> list[str]:
        return [value for arrays in (self.inputs, self.actual, *self.expected.values())
                for values in arrays.values() for value in values]

    def in_files(self) -> dict[str, object]:
        """The fields that files tell more shortly."""
        if len(self._values()) > MOST_IN_RUNS:
            return {}
        alike: dict[str, list[str]] = {}
        for oracle, arrays in sorted(self.expected.items()):
            alike.setdefault(repr(sorted(arrays.items())), []).append(oracle)
        return {"inputs": _each(in_runs, self.inputs), "actual": _each(in_runs, self.actual), "expected": {
            _AND.join(oracles): _each(in_runs, self.expected[oracles[0]]) for oracles in alike.values()}}


_AND = " and "
_Values = dict[str, tuple[str, ...]]


def _each(told: Callable[[Iterable[str]], tuple[str, ...]], arrays: _Values) -> _Values:
    return {name: told(values) for name, values in arrays.items()}


class Relative(Record, kw_only=True):
    """Another case that fails, and how."""

    case: Case
    signature: Signature
    evidence: Evidence


ALL_OPEN = "the contract leaves every row open"
"""The reason of a case that ended as it should and was not checked, because no value of it is asked for."""
SOURCE_READ = "read up to the source IR and not compiled"
"""The reason of a case that was to stop there and did."""
NO_ASSEMBLER = "this installation has no ptxas for the chip, or not what its vendor needs"
"""The reason of a case that could not be compiled for a chip."""
PERHAPS_TRAPPED = "a device assertion may be due"
"""How the reason begins of a launch that failed, as CUDA says for no reason, where one may be due and may not be:
behind an assertion stands a trap. It counts if it fails so again."""
TRAPPED = "assertion=trap"
"""The cell of the ledger of launches that such a trap stopped where an assertion is due."""
ORACLE_CONFLICT = "oracle_conflict"
"""How the reason begins of a case that was not checked because the oracles contradict each other."""


class Outcome(Record, kw_only=True):
    """The judged result of one case."""

    case_digest: str
    target: str
    subject: str
    backend: str
    verdict: Verdict
    reason: Annotated[str, Meta(max_length=LONGEST_REASON)] = ""
    """One line; always given unless the verdict is `agree`."""
    signature: Signature | None = None
    rows: RowCounts = RowCounts()
    failing_rows: tuple[int, ...] = ()
    evidence: Evidence | None = None
    launches: int = 0
    compiled_kernels: int = 0
    cells: tuple[str, ...] = ()
    """Cells of the IR ledger found in the kernels that were compiled."""
    seconds: Seconds = Seconds()
    explained_by: tuple[str, ...] = ()
    """Known issues (`fuzz.known`) that predict every wrong element as it is."""
    explained_too: tuple[str, ...] = ()
    """Others, each of which does so alone."""

    @property
    def log(self) -> str:
        """What was printed by whatever ended the case, "" where nothing was kept."""
        return self.evidence.log if self.evidence is not None else ""
