"""Everything that is known of one kernel, as data: what `tridiff explain --json` prints.

Fields that hold their default are left out, except of the whole.
"""

from typing import Literal, dataclass_transform

import msgspec

from tridiff.fuzz.records import Blame

Program = tuple[int, int, int]
"""Program id (x, y, z)."""

STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "sass", "amdgcn")
"""Names of compiled stages, first to last: `source` is the IR as the front end made it, before any pass."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class _Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """What never changes and is told without the fields that hold their default."""


class Function(_Told, kw_only=True):
    """A jit function. line: of its first line in the file. tree: its syntax tree as `ast.dump` prints it."""

    name: str
    file: str
    line: int
    text: str
    tree: str = ""
    role: Literal["kernel", "callee"] = "callee"


class Source(_Told, kw_only=True):
    """The kernel first, then every jit function that it reaches; values of globals that it reads. problem: why there is
    no source."""

    functions: tuple[Function, ...] = ()
    globals: dict[str, str] = {}
    problem: str = ""


class Argument(_Told, kw_only=True):
    """One parameter and what a launch says of it. type: in the signature ("*fp32", "i32", "constexpr"). constant: the
    value that is compiled in, "" if none. divisible: 16 where the compiler is told so. one: an integer 1, compiled in.
    value: of this launch; arrays as "fp32[10]"."""

    name: str
    value: str
    type: str = ""
    constexpr: bool = False
    constant: str = ""
    divisible: int = 0
    one: bool = False
    default: str = ""
    never_specialised: bool = False


class Specialisation(_Told, kw_only=True):
    """What decides which machine code runs. asked: compile options of the launch. compiled: metadata of the kernel."""

    arguments: tuple[Argument, ...] = ()
    grid: Program = (1, 1, 1)
    asked: dict[str, str] = {}
    compiled: dict[str, str] = {}
    problem: str = ""


class Stage(_Told, kw_only=True):
    """One stage's text."""

    name: str
    bytes: int
    lines: int
    text: str


class Pass(_Told, kw_only=True):
    """One pass of the compiler. diff: of the IR before and behind it, unified, where it changed anything."""

    stage: str
    name: str
    changed: bool
    diff: str = ""


class Departure(_Told, kw_only=True):
    """The IR before and behind one pass. pipeline: the pass as `mlir-opt` and `triton-opt` take it. after: "" where the
    pass did not come to its end."""

    step: str
    pipeline: str
    before: str
    after: str = ""


class Lines(_Told, kw_only=True):
    """What one line of the source became: by stage, numbers of lines of the stage's text (from 1)."""

    file: str
    line: int
    text: str
    stages: dict[str, tuple[int, ...]]


class Limit(_Told, kw_only=True):
    """What bounds the number of blocks on one multiprocessor."""

    by: Literal["threads", "registers", "shared memory", "blocks"]
    blocks: int


class Resources(_Told, kw_only=True):
    """Of each thread: registers, stack and local memory in bytes; of each block: bytes of shared memory. blocks: that a
    multiprocessor holds. occupancy: share of its warps that can be resident, 0 to 1."""

    registers: int = 0
    stack: int = 0
    local: int = 0
    shared: int = 0
    threads: int = 0
    blocks: int = 0
    occupancy: float = 0.0
    limits: tuple[Limit, ...] = ()


class Layout(_Told, kw_only=True):
    """A distribution of a block over registers, lanes and warps. owners: by element in row-major order, (warp, lane,
    register) of the first that holds it; of at most 4,096 elements. users: operations with a result of this layout."""

    name: str
    text: str
    shape: tuple[int, ...]
    owners: tuple[tuple[int, int, int], ...] = ()
    users: tuple[str, ...] = ()
    problem: str = ""


class Stages(_Told, kw_only=True):
    """The compiled kernel. arch: what it was compiled for. problem: why a stage is missing; failed_in: the step that
    did not come to its end, before: the IR that it was given. departure: around the pass that was asked for, or that
    failed."""

    arch: str = ""
    triton: str = ""
    texts: tuple[Stage, ...] = ()
    passes: tuple[Pass, ...] = ()
    lines: tuple[Lines, ...] = ()
    counters: dict[str, int] = {}
    resources: Resources | None = None
    layouts: tuple[Layout, ...] = ()
    seconds: dict[str, float] = {}
    problem: str = ""
    failed_in: str = ""
    before: str = ""
    departure: Departure | None = None

    def text(self, name: str) -> str:
        """The text of a stage, "" if there is none."""
        return next((one.text for one in self.texts if one.name == name), "")


class Difference(_Told, kw_only=True):
    """One stage under another setting. against: the setting. diff: unified, "" where the texts are equal up to names of
    files and locations."""

    stage: str
    against: str
    diff: str = ""
    problem: str = ""


class Check(_Told, kw_only=True):
    """A static check. holds: None where there is nothing to say."""

    name: str
    holds: bool | None
    said: str


class Value(_Told, kw_only=True):
    """A named value of one program. values: of at most 64 lanes in row-major order, as text."""

    name: str
    line: int
    type: str
    function: str = ""
    shape: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


class Access(_Told, kw_only=True):
    """One memory operation of one program. elements: by lane in row-major order (at most 64), "-" where masked off,
    as "x[3]"; values: what was loaded or stored there."""

    program: Program
    line: int
    function: str
    operation: str
    elements: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    lanes: int = 0
    active: int = 0


class ProgramCard(_Told, kw_only=True):
    """What one program did. read: numbers in memory of the elements that it read, by array, at most 4,096 of each."""

    program: Program
    values: tuple[Value, ...] = ()
    accesses: tuple[Access, ...] = ()
    read: dict[str, tuple[int, ...]] = {}


class Operand(_Told, kw_only=True):
    """What an operation was given. step: the number of the step that made it, -1 for arguments and constants."""

    step: int
    values: tuple[str, ...]


class Step(_Told, kw_only=True):
    """One operation on the way to an element. lanes: of its result that matter, at most 16, of `count`. role: what for.
    text: the line of the source. place: in memory. note: what else there is to say (masked off, undefined)."""

    number: int
    line: int
    function: str
    text: str
    operation: str
    role: Literal["value", "mask", "address"]
    lanes: tuple[int, ...]
    count: int
    type: str
    values: tuple[str, ...]
    operands: tuple[Operand, ...] = ()
    place: str = ""
    note: str = ""


class Touch(_Told, kw_only=True):
    """An access of the element."""

    program: Program
    lane: int
    line: int
    operation: str
    before: str
    after: str


class ElementCard(_Told, kw_only=True):
    """How one element came about. index: logical. interpreted: what the interpreter computes. expected: by oracle.
    recorded: what the finding's backend gave, "" where nobody recorded it."""

    buffer: str
    index: tuple[int, ...]
    dtype: str
    interpreted: str = ""
    expected: dict[str, str] = {}
    recorded: str = ""
    writes: tuple[Touch, ...] = ()
    reads: tuple[Touch, ...] = ()
    steps: tuple[Step, ...] = ()
    left_out: int = 0
    problem: str = ""


class Written(_Told, kw_only=True):
    """How often elements of one output were written. never, twice: numbers in memory, at most 64. outside: written
    although no element lies there. programs: by element in memory order, the number of the program
    (linear) that wrote last, -1 for nobody; at most 4,096."""

    buffer: str
    elements: int
    never: tuple[int, ...] = ()
    twice: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    programs: tuple[int, ...] = ()


class Conflict(_Told, kw_only=True):
    """Two accesses of the same elements with no order between them."""

    kind: str
    buffer: str
    elements: tuple[int, ...]
    programs: tuple[Program | None, Program]
    lines: tuple[int, int]


class Undefined(_Told, kw_only=True):
    """A use of an undefined value."""

    use: str
    program: Program | None
    line: int
    lanes: int
    place: str = ""


class Frame(_Told, kw_only=True):
    """A line on the way to an exception."""

    function: str
    file: str
    line: int
    text: str


class Fault(_Told, kw_only=True):
    """An exception that ended the interpreted launch, outermost frame first."""

    kind: str
    problem: str
    program: Program | None = None
    frames: tuple[Frame, ...] = ()


class Branch(_Told, kw_only=True):
    """A decision in the source and how many programs took which way; taken, passed: programs that entered the body, and
    that went past it."""

    line: int
    function: str
    text: str
    taken: int
    passed: int


class LineCount(_Told, kw_only=True):
    """How many programs ran a line; 0 for a statement that none ran."""

    file: str
    line: int
    programs: int


class Memory(_Told, kw_only=True):
    """What an interpreted launch did to memory. accesses: memory operations checked against the buffers."""

    programs: int = 0
    accesses: int = 0
    table: tuple[Access, ...] = ()
    written: tuple[Written, ...] = ()
    fault: Fault | None = None
    conflicts: tuple[Conflict, ...] = ()
    undefined: tuple[Undefined, ...] = ()
    lines: tuple[LineCount, ...] = ()
    branches: tuple[Branch, ...] = ()
    verdict: str = ""
    left_out: int = 0
    problem: str = ""


class Command(_Told, kw_only=True):
    """A command that does one thing."""

    does: str
    command: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of one case. case: as lines. launches: kernels that the case launches, in order; `launch`: which of
    them this is about. program: a program card, of the program that wrote the element unless one was chosen."""

    title: str
    about: dict[str, str] = {}
    case: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    launches: tuple[str, ...] = ()
    launch: int = 0
    source: Source = Source()
    specialisation: Specialisation = Specialisation()
    stages: Stages = Stages()
    against: tuple[Difference, ...] = ()
    memory: Memory = Memory()
    program: ProgramCard | None = None
    element: ElementCard | None = None
    blame: tuple[Blame, ...] = ()
    checks: tuple[Check, ...] = ()
    commands: tuple[Command, ...] = ()
