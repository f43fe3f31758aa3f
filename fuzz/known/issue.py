"""What is recorded about one known defect, whatever the family of targets in which it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING

from tridiff.fuzz.records import Case, Signature, Together
from tridiff.fuzz.records.corpus_entry import Stage, Truth

if TYPE_CHECKING:
    import torch

Path = str
"""An importable object, "package.module:name"."""

Masks = dict[str, "torch.Tensor"]
"""By output, what a defect predicts: a bool tensor of the output's shape, true where it predicts just the value that is
there."""

WRONG = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "unwritten", "dtype", "shape")
"""How wrong elements of an output may look."""
_COMPILED = ("llvm", "ptxas")
"""Stages of a compiler that the interpreter does not run, and an evaluation of TTGIR does not come to."""
ASTRAY = ("illegal_address", "misaligned_address", "wrong_address_space")
"""How a kernel may end that reads or writes no place of its own: by what happens to lie there."""


@dataclass(frozen=True, kw_only=True)
class KnownIssue:
    """One defect, its evidence, and how its failures are told from those of others.

    match: whether the pattern is in a case; without it a case is never taken for this issue.

    explains: a function that is run where the outputs are. It gets a `Wrong` and returns `Masks`. A failure belongs to
    the issue only if every wrong element is predicted.

    relative: the nearest case without the pattern; None if there is none. A failure belongs to the issue only if this
    one does not fail. A case that has no relative is then taken for none. One of explains and relative must be given,
    unless the issue shows in no wrong values but in `errors` alone; if both are, both must hold.

    errors: globs over the kind of a failure that leaves no values to look at (an error of the compiler, a crash), or
    that is no matter of values (`memory_order`). Empty: such a failure never belongs to the issue.

    A defect that shows in several families may have a record in each, under one name: its failures are one finding.
    Which versions have the defect is said by the expectations of its entries, and nowhere else.
    """

    name: str
    """Words joined by hyphens; findings carry it, and corpus entries as their `cause`."""
    title: str
    upstream: tuple[str, ...] = ()
    """Issue references such as triton#7749."""
    stage: Stage
    truth: Truth = "defect"
    """Where it arises and what kind of difference it is, as (some of) its entries say."""
    where: tuple[tuple[str, str], ...]
    """(glob over the names of targets, subject): what has the defect. Its failures are one finding in all of them."""
    entries: tuple[str, ...] = ()
    """TARGET/ID of the corpus entries that prove it."""
    match: Callable[[Case], bool]
    explains: Path = ""
    relative: Callable[[Case], Case | None] | None = None
    instead: Callable[[Case], Case | None] | None = None
    """What draws take that avoid the pattern; the relative, unless this is given."""
    errors: tuple[str, ...] = ()
    kinds: tuple[str, ...] = WRONG
    """Kinds of wrong elements as which it shows; one of `errors` needs no mention."""
    backends: tuple[str, ...] = ()
    """Kinds of backends (`cuda`, `interpreter`, `compile`) on which alone it shows; (): on any. A defect of the
    interpreter never accounts for what a compiled kernel does; what shows where kernels are compiled, may show where
    their IR is evaluated."""
    repair: str = ""
    """The switch of `tridiff.fuzz.interpreter.Repairs` for want of which the interpreter fails: whoever ran the case
    tried it with that switch on and says so (`Outcome.explained_by`)."""

    together: Callable[[Together], tuple[Case, ...]] | None = None
    """As `relative`, for a joint launch whose cases pass alone: those that lack the pattern together."""

    def concerns(self, case: Case, subject: str) -> bool:
        """Whether the case has the pattern, on a subject that has the defect."""
        here = any(subject == name and fnmatchcase(case.target, glob) for glob, name in self.where)
        return here and self.within(case)

    def within(self, case: Case) -> bool:
        """Whether the pattern is in the case, or in the case under another of its options."""
        return any(self.match(case.under(options)) for options in (case.options, *case.variants))

    def shows_on(self, backend: str) -> bool:
        """Whether the defect is one of a backend: none that lies in a stage which the backend has not."""
        kind = backend.partition(":")[0]
        if kind == "evaluated" and self.backends:
            return self.stage not in _COMPILED and self.backends != ("interpreter",)
        return kind in self.backends if self.backends else (
            kind not in ("interpreter", "evaluated") or self.stage not in _COMPILED)

    def shows_as(self, signature: Signature) -> bool:
        """Whether a failure of this kind may be one of the issue."""
        return bool(self.repair) or signature.kind in self.kinds or self.tells(signature)

    def tells(self, signature: Signature) -> bool:
        """Whether the failure has no values to explain, and is of a kind that the issue is known for."""
        return any(fnmatchcase(signature.kind, glob) for glob in self.errors)


@dataclass(frozen=True, kw_only=True, eq=False)
class Wrong:
    """One launch with wrong elements, on the device where it was judged.

    inputs: whole input arrays by name. expected, actual: output arrays by name, as they are judged; an output that no
    oracle answers as a whole has no `expected`. wrong: for outputs with wrong elements, a bool tensor of the output's
    shape, true where every oracle that was asked rejects the element. poison: the pattern of elements that nothing
    wrote, as an integer of the output's width (`content.place.Buffer.poison`).
    """

    case: Case
    inputs: Mapping[str, torch.Tensor]
    expected: Mapping[str, torch.Tensor]
    actual: Mapping[str, torch.Tensor]
    wrong: Mapping[str, torch.Tensor]
    poison: Mapping[str, int]


def predicting(output: str) -> Callable[[Callable[[Wrong], torch.Tensor | None]], Callable[[Wrong], Masks]]:
    """Of a function that tells of one output where a defect predicts it (None: nowhere) makes what `explains` names,
    which asks it only where that output has wrong elements."""
    def masking(predicted: Callable[[Wrong], torch.Tensor | None]) -> Callable[[Wrong], Masks]:
        @wraps(predicted)
        def masks(seen: Wrong) -> Masks:
            found = predicted(seen) if output in seen.wrong else None
            return {} if found is None else {output: found}
        return masks
    return masking
