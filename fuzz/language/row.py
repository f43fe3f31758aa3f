"""Row: one function, operator or method of the language, with all that is known of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.versions import before, within
from tridiff.kernels.language.call import Call, Result
from tridiff.oracles.rules import BIT, Rule

if TYPE_CHECKING:
    from tridiff.fuzz.language.checked import Watch

Topic = Literal[
    "pointwise", "operators", "reductions", "scans", "movement", "ordering", "creation", "conversions", "memory",
    "products", "random", "rounding", "words", "special", "mapped", "hints", "gluon", "descriptors", "narrow",
    "overflow",
]
NOT_INTERPRETED = "the interpreter does not run Gluon"
Library = ModuleType
"""`tridiff.oracles.by_numpy.language` or `tridiff.oracles.by_torch.language`."""
Values = tuple[Any, ...]
"""Operands or results of a call: arrays of such a library, or Python numbers."""


def of_shape(shape: Callable[[Call], tuple[int, ...]]) -> Callable[[Call, str], tuple[Result, ...]]:
    """Results of the types that the call stores, each of this shape."""
    return lambda call, version: tuple(Result(dtype=one, shape=shape(call)) for one in call.stored)


LIKE_THE_FIRST = of_shape(lambda call: call.operands[0].shape)
_OWN = ("",)
"""Stands for the row's own name."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table of the language.

    covers: the names of Triton's API that it reaches, as `tridiff.fuzz.language.table` spells them; its own unless it
    is said. draw: one legal call. text: the call as source, with operands x0, x1, ...: an expression, or statements
    that assign r0, r1, ... results: types and shapes that it must give under a Triton version; those that the call
    stores, in the shape of the first operand, unless it is said. answer: the results by a library of oracles, of
    operands that are arrays with the rows in front, or Python numbers; exact ones in the type of the result, others in
    float64. rules: how each result is compared; bit for bit unless it is said. defined: where the contract defines the
    results, in torch; None: everywhere. bounds: allowed errors of results with a SUM rule, in torch. loads: False if
    the text reads the operands' pointers itself. since: the first version that has it.
    """

    name: str
    topic: str = ""
    """The module of `tridiff.fuzz.language.rows` that lists it: said there alone, and known of the rows of `index`."""
    covers: tuple[str, ...] = _OWN
    method: bool = False
    """Whether tensors have a method of the same name, which it reaches too."""
    draw: Callable[[Choices], Call]
    text: Callable[[Call], str]
    results: Callable[[Call, str], tuple[Result, ...]] = LIKE_THE_FIRST
    answer: Callable[[Call, Library, Values], Values]
    rules: Callable[[Call], tuple[Rule, ...]] = lambda call: (BIT,) * len(call.stored)
    defined: Callable[[Call, Library, Values], Values] | None = None
    bounds: Callable[[Call, Values], Values] | None = None
    contents: Callable[[Call], tuple[str, ...]] = lambda call: ()
    """For each operand the word of what it may hold (`tridiff.fuzz.language.draw`), "" for anything."""
    definitions: Callable[[Call], str] = lambda call: ""
    """Functions of the kernel's module that the call needs."""
    loads: bool = True
    since: str = ""
    newer: Mapping[str, str] = field(default_factory=dict)
    """Options that the function has from a later version on than itself."""
    until: str = ""
    """The last version that has it, "" for the newest."""
    refused: Callable[[Call, str], str] = lambda call, backend: ""
    """Why a backend does not take a call, "" if it does."""
    unknown: Callable[[Call, str], str] = lambda call, backend: ""
    """Why a backend of this Triton fails at a call that others take: nothing is run there, but for the subject that
    shows Triton as it is."""
    stores: bool = True
    """False if the text stores its results itself, at `out0_ptr + program * out0_pitch` and so on."""
    aligned: bool = False
    """Whether arrays must begin at multiples of 16 bytes."""
    truths: Callable[[Call], bool] = lambda call: False
    """Whether arrays of i1 are passed as tensors of `torch.bool`, not of bytes."""
    gluon: bool = False
    """Whether the call is one of Gluon's language, with layouts."""
    budget: int = 0
    """The most elements of a case whose references are slow; 0: as many as the backend takes."""
    across: bool = False
    """Whether a result depends on the number of its row, so that references need all of them."""

    checked: Callable[[Call, "Watch", Values], None] | None = None
    """Does the operations of one program that may be checked for overflow, exactly. Operands: of a block its elements
    in a line, of all others the number. None: the row says nothing of that."""

    def __post_init__(self) -> None:
        if self.covers == _OWN:
            methods = (self.name.replace("tl.", "tensor."),) if self.method else ()
            object.__setattr__(self, "covers", (self.name, *methods))

    def offered(self, version: str) -> bool:
        """Whether a Triton version has it."""
        return within(version, since=self.since, until=self.until)

    def declined(self, call: Call, version: str, backend: str, *, as_it_is: bool = False) -> str:
        """Why a version or a backend does not take a call, "" if both do. as_it_is: what this Triton fails to know is
        its failure."""
        if self.since and before(version, self.since):
            return f"{self.name} is new in Triton {self.since}"
        if not self.offered(version):
            return f"{self.name} is gone after Triton {self.until}"
        for option, first in self.newer.items():
            if option in call.options and before(version, first):
                return f"{self.name} takes {option} from Triton {first} on"
        if self.gluon and backend.startswith("compile:gfx"):
            return "Gluon's layouts of these rows have 32 lanes to a warp, AMD's chips 64"
        return self.refused(call, backend) or ("" if as_it_is else self.unknown(call, backend))


def installed() -> str:
    """The version of the installed Triton; for workers, which import it."""
    import triton

    return str(triton.__version__)

