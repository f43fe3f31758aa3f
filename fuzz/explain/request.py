"""What the children of an explanation are asked, and what they answer. Plain data."""

from tridiff.fuzz.explain.model import ElementCard, Memory, Program, ProgramCard, Source, Specialisation, Stages
from tridiff.fuzz.records import ArraySpec, Case, LaunchOptions, Record

Scalar = bool | int | float | str | None
"""A scalar argument; a string that begins with "tl." names a type of `triton.language`."""


class Own(Record, kw_only=True):
    """A kernel of the user's with the arguments of one launch. arrays: one by argument name; sizes: of their axes."""

    file: str
    kernel: str
    arrays: tuple[ArraySpec, ...] = ()
    sizes: dict[str, int] = {}
    scalars: dict[str, Scalar] = {}
    grid: Program = (1, 1, 1)
    options: LaunchOptions = LaunchOptions()


class Element(Record, kw_only=True):
    """An element of an output: its logical index, or where that is empty its number in row-major order."""

    buffer: str
    index: tuple[int, ...] = ()
    number: int = 0


class Setting(Record, kw_only=True):
    """How a kernel is compiled. arch: as in `backends.ARCHITECTURES`. options: other compile options than the launch's.
    values: other integer arguments. generic: tell the compiler nothing about alignment and divisibility. unaligned:
    arrays begin one element later. stage, text: take this text for the stage in place of the compiler's own."""

    arch: str = "sm_90"
    options: dict[str, Scalar] = {}
    values: dict[str, int] = {}
    generic: bool = False
    unaligned: bool = False
    stage: str = ""
    text: str = ""


class Twins(Record, kw_only=True):
    """A vector store that writes one register in several places. line: of the source. width: bytes of one place;
    places: in the vector; pairs: places that get the same register."""

    file: str
    line: int
    width: int
    places: int
    pairs: tuple[tuple[int, int], ...]


class Request(Record, kw_only=True):
    """What is explained: a case or a kernel of the user's. where: array that tells one of several launches; launch: its
    number, -1 for the first that is given `where`; schedule: under which of a program's they are made. passes: tell
    what each pass of the compiler changes; step: keep the IR around this one ("make_ttgir add_coalesce"). program,
    element: whose card is wanted. debug: stop there in the debugger. twins: to be held against what is stored."""

    case: Case | None = None
    own: Own | None = None
    subject: str = "own"
    where: str = ""
    launch: int = -1
    schedule: int = 0
    setting: Setting = Setting()
    passes: bool = False
    step: str = ""
    program: Program | None = None
    element: Element | None = None
    debug: bool = False
    twins: tuple[Twins, ...] = ()


class Compiled(Record, kw_only=True):
    """The compiling child's answer. problem: why there is nothing, fix: what to do."""

    launches: tuple[str, ...] = ()
    launch: int = 0
    source: Source = Source()
    specialisation: Specialisation = Specialisation()
    stages: Stages = Stages()
    problem: str = ""
    fix: str = ""


class Judged(Record, kw_only=True):
    """A pair of places of `Twins` for which the interpreter has different values. place: of the first such pair."""

    line: int
    pairs: tuple[tuple[int, int], ...]
    place: str
    values: tuple[str, str]


class Interpreted(Record, kw_only=True):
    """The interpreting child's answer. subnormal: inputs that hold a subnormal number. misjoined: stores that write one
    register to lanes with different values; joined: how many such stores are right."""

    launches: tuple[str, ...] = ()
    launch: int = 0
    source: Source = Source()
    memory: Memory = Memory()
    program: ProgramCard | None = None
    element: ElementCard | None = None
    subnormal: tuple[str, ...] = ()
    misjoined: tuple[Judged, ...] = ()
    joined: int = 0
    problem: str = ""
    fix: str = ""
