"""Target: one thing worth fuzzing, as data and small functions.

A target file names its kernels and oracles by import path ("tridiff.kernels.helpers.integer:div_floor_integer"),
because the process that draws cases must not import Triton; workers resolve the paths.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hypothesis.strategies import SearchStrategy

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case, Environment, LaunchOptions, Scalar
from tridiff.fuzz.target.memory_orders import MemoryOrder
from tridiff.fuzz.versions import within

if TYPE_CHECKING:
    from tridiff.oracles.rules import Rule

Vocabulary = Mapping[str, Collection[Scalar]]
"""Names of parameters, each with the values that it may have: a tuple or a range."""

POWERS_OF_TWO = tuple(1 << k for k in range(13))
"""1 to 4096: what blocks, lanes and alignments may be."""

Path = str
"""An importable object, "package.module:name"."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one case may cost on the backend it is drawn for."""

    elements: int = 1 << 14
    """Elements of one array."""
    rows: int = 1 << 10
    variants: bool = True
    """Whether the backend tells options apart (the interpreter does not)."""
    avoid: frozenset[str] = frozenset()
    """Known issues (`fuzz.known`) seen to fail here: their patterns are drawn once in fifty times only."""
    only: frozenset[str] = frozenset()
    """Things (`Draw.things`) or features (`Draw.features`) that are to be drawn, of a target that has some of them; any
    where empty."""
    # Hundreds of them: Hypothesis warns of a strategy whose text is long.
    aims: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    """Cells (`Draw.aims`) at which most draws are aimed, each with its weight; none where empty."""
    mode: tuple[LaunchOptions, tuple[LaunchOptions, ...]] | None = None
    """Options, with variants, that most cases are to have of targets with joint launches; None: any."""
    backend: str = ""
    """What is to run the case: of a table what it does not run at all is not drawn. "": anything."""
    releases: tuple[str, ...] = ()
    """Releases of Triton that are to run the case, all of which take what is drawn; any where empty."""

    def offered(self, *, since: str = "", until: str = "") -> bool:
        """Whether all of these releases have what came with one of Triton's and went after another."""
        return all(within(one, since=since, until=until) for one in self.releases)

    def among(self, things: Mapping[str, tuple[str, str]]) -> list[str]:
        """Names of the things that may be drawn, each given with the first and the last release that has it, "" for
        none: of those that are to be drawn what these releases have, or all where they have nothing of it."""
        asked = [name for name in things if name in self.only] or list(things)
        return [name for name in asked if self.offered(since=things[name][0], until=things[name][1])] or asked


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One oracle: a function of input arrays that returns the output arrays.

    source: `numpy` and `torch` functions take and return arrays of that library (torch on the device of
    the subject), `exact` ones Python numbers; the exact one is asked only about rows in dispute.
    arguments: input arrays in the function's order; an entry `name=param` passes the case's param as the
    keyword `name`, an entry `@case` the case itself (for references that interpret its program).
    outputs: names of what is returned, in order.
    """

    source: Literal["numpy", "torch", "exact"]
    function: Path
    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ("out",)
    sample: int | None = None
    """Judge at most this many rows (spread over the batch) and every suspect; None: all rows."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """What may be drawn."""

    cases: Callable[[Limits], SearchStrategy[Case]]
    again: Callable[[Case], SearchStrategy[Case]] | None = None
    """A case with other values in its inputs and nothing else changed, which the same compiled kernel runs; the case as
    it is where it has no inputs. None: of targets whose cases are not drawn so."""
    params: Callable[[Case], Vocabulary] = lambda case: {}
    """The parameters of a case, each with its legal values; none where all that a case says stands in its program."""
    delays: Literal["", "warp", "program"] = ""
    """What a case may delay (`Case.delay`): a warp of every program, a program, or nothing."""
    valid: Callable[[Case], bool] = lambda case: True
    """Whether a case that the shrinker made is one that the strategy could have drawn."""
    breadth: int = 1
    """How many things of the language it draws from, one at a time: it needs that many more cases to have seen each."""
    things: Callable[[], Mapping[str, tuple[str, ...]]] = dict
    """Names of such things, each with names of Triton's that it is about; none where it draws from no table."""
    runs: Callable[[str, str, str], bool] = lambda thing, triton, backend: True
    """Whether a backend, under a Triton version, runs anything of the thing of that name."""
    thing: Callable[[Case], str] = lambda case: ""
    """Which of them a case shows."""
    features: Callable[[Case], tuple[str, ...]] = lambda case: ()
    """What else `Limits.only` takes so that what is drawn resembles a case: features of its program."""
    aims: Callable[[str], Mapping[str, tuple[str, ...]]] = lambda triton: {}
    """By thing the cells of the coverage ledger at which draws can be aimed (`Limits.aims`), as far as a Triton version
    has them; of no version: all. A campaign goes on with each until enough cases reached it."""
    aims_of_gates: Callable[[str], Mapping[str, tuple[str, ...]]] = lambda triton: {}
    """Likewise, the cells at which draws can be aimed besides, of which one case shows whether two builds differ."""
    text: Callable[[Case], str] = lambda case: ""
    """The source that a case is about, where it only names it."""
    about: Callable[[Case], str] = lambda case: ""
    """Words of what a case without such a source does, names of Triton's among them; of several things that it does in
    turn a line for each."""
    once: Callable[[int], Iterable[Case]] = lambda seed: ()
    """Cases that a gate runs once each, by its seed, the most telling first: of a target that shows one thing of many
    in a case, at next to no cost."""
    interpreter_elements: int = 1 << 12
    """Elements of one array that the interpreter manages in a fraction of a second."""


@dataclass(frozen=True, kw_only=True)
class Joint:
    """How cases of a target are run in one launch.

    may_join: whether a case may be a part of one, under a Triton version on a backend. launch: a function of a `Launch`
    for each of some cases with the same options; the first of them has the report. text: a function of such cases that
    gives the source of the kernel.
    """

    may_join: Callable[[Case, str, str], bool]
    launch: Path
    text: Path


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a case is launched, and what its launches may do."""

    launch: Callable[[Launch], None]
    joint: Joint | None = None
    """None: every case has launches of its own."""
    writes_once: bool = True
    """Whether every output element is written by exactly one lane; the interpreter counts."""
    memory_orders: Callable[[Case], tuple[MemoryOrder, ...]] = lambda case: ()
    """Memory orders (`tridiff.fuzz.judge.ptx_orders`) that the compiled code of a case's kernels must carry."""
    waiting_programs: Callable[[Case], int] = lambda case: 0
    """How many programs wait for each other in one launch, for targets whose programs do: what a case shows may then
    depend on how they meet, and a defect may need many of them."""
    asserts: Callable[[Case], Reference | None] = lambda case: None
    """A torch function of inputs that is true if a device assertion must stop the launch when assertions are
    enabled (option `debug`; always in the interpreter, but for cases that say `sanitize_overflow`); None where it may
    or may not. Arguments as in `Reference`, `@case` too."""
    written: tuple[str, ...] = ()
    """Input arrays that the kernel may write: scratch."""
    untraced: tuple[str, ...] = ()
    """Subjects whose memory the interpreter does not watch, because they allocate some of their own."""
    schedules: Callable[[Case], int] = lambda case: 0
    """Further launches of the same case in another way (`Launch.schedule` 1, 2, ...); each is judged like the main
    one, and exact outputs must have its bits."""
    lacking: Callable[[Environment], str] = lambda environment: ""
    """What this Triton version or chip lacks that every case of the target needs, "" if nothing. A campaign leaves
    the target out there and says so; what only some cases need is declined case by case."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """What the right answer is, and how findings are told apart."""

    oracles: Callable[[Case], tuple[Reference, ...]]
    rules: Callable[[Case], Mapping[str, "Rule"]]
    """Comparison class per output."""
    defined: Callable[[Case], tuple[Path, tuple[str, ...]] | None] = lambda case: None
    """A torch function of the named inputs (and `name=param` keywords, as in `Reference.arguments`) that is
    true where the contract defines the result: one mask for every output with rows, or a dict of masks by output."""
    untouched: Callable[[Case], tuple[Path, tuple[str, ...]] | None] = lambda case: None
    """A torch function, as for `defined`, of masks by output: elements that no launch may write, because no program
    stores there. They are left open by `defined`, and must still hold what was there before the launch."""
    bounds: Callable[[Case], tuple[Reference, ...]] = lambda case: ()
    """For outputs with a SUM rule: torch functions that derive the allowed errors (float64, one per element
    of the output) from the inputs. An infinite bound leaves its element open."""
    canonical: Callable[[Case], Reference | None] = lambda case: None
    """Where the contract admits several answers: a torch function of outputs (and inputs) that puts every
    admissible one into the same form, which is then judged in place of its `outputs`."""
    unordered: Callable[[Case], tuple[str, ...]] = lambda case: ()
    """Float outputs that lanes accumulate into in no fixed order (atomic additions): the same launch may give other
    bits, so that every launch is held against the bound instead of against another launch."""
    expected_ir: Path = ""
    """A function of the case: names of operations that the compiler's IR (TTGIR) of its kernel must contain, where the
    installed Triton has them. "": nothing is asked of the IR."""
    expected_ir_may_fold: bool = False
    """Whether the compiler may rightly merge such operations with others: a kernel without them is then not checked
    rather than wrong."""
    asserting: Path = ""
    """A function of the case: whether the compiled code of its kernels must contain a device assertion; False: it must
    not; None: it may. "": nothing is asked of the code."""
    label: Callable[[Case], str] = lambda case: ""
    """A word that tells findings of one target apart (dtype kind, operator)."""
    label_is_issue: bool = False
    """Whether the label names a known cause: every wrong-value outcome with this label, in any target of the family,
    is then one finding."""
    label_is_form: bool = False
    """Whether the label names a form in the case with which a known defect shows, if there is one. Of a failure that
    is not that defect's it says nothing: its smallest case may be without."""
    output_class: Callable[[str], str] = lambda name: name
    """The word for an array in signatures; one word for arrays that are alike, so that one defect is one finding."""


@dataclass(frozen=True, kw_only=True)
class Shrink:
    """Which simpler cases are tried."""

    simplest: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Params the shrinker may change, each with its values from simplest on."""
    steps: Callable[[Case], Iterable[Case]] = lambda case: ()
    """Simpler cases to try when shrinking, for cases that carry a program; each by one step, simplest first."""
    forms: Callable[[Case], Iterable[Case]] = lambda case: ()
    """The case in plainer forms, of which findings are told apart by another label: for its plainest relative."""
    size: Callable[[Case], tuple[int, ...]] = lambda case: ()
    """What makes a program large, most important first; compared before everything else in `shrink.order`."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Broken variants of the subject `own`, to test the tester."""

    planted: Mapping[str, Path] = field(default_factory=dict)
    """Each variant by its name."""
    shared_as: str = ""
    """What the faults are planted in, where several targets share it: each is looked for in all of them in turn."""
    affects: Callable[[Case, str], bool] = lambda case, fault: True
    """Whether a fault changes a case's kernel. Cases whose kernel it does not change are skipped."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What a campaign counts as reached."""

    cells: Callable[[Case], Iterable[str]] = lambda case: ()
    """Cells of the coverage ledger that a case reaches, as short words ("op=exp dtype=fp32"). Of "#WHAT DIGEST" the
    ledger keeps how many different ones there were."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One thing worth fuzzing, composed of what its readers ask: each gets its part."""

    name: str
    family: str = ""
    """The targets with which it is told; the first part of its name unless it is said."""
    summary: str
    contract: str
    """Where the contract stands, for example "helpers.md §4"."""
    subjects: Mapping[str, Path]
    dtypes: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    """Subjects whose implementation is a reference in its own right (eager torch) and is run to control the others.
    Where one fails, references contradict each other: the case is not checked (`oracle_conflict`), and no finding."""
    backends: tuple[str, ...] = ("cuda", "interpreter", "compile", "evaluated")
    draw: Draw
    run: Run
    judge: Judge
    shrink: Shrink = field(default_factory=Shrink)
    faults: Faults = field(default_factory=Faults)
    coverage: Coverage = field(default_factory=Coverage)

    def __post_init__(self) -> None:
        if not self.family:
            object.__setattr__(self, "family", self.name.partition(".")[0])
