"""A trial: one run of a case under one change of the compiler, and what it showed. Plain data between processes."""

from typing import Annotated, Literal

from msgspec import Meta

from tridiff.fuzz.records import Case, Outcome, Record

Texts = dict[str, str]


class Trial(Record, kw_only=True):
    """name: the change in a few words. environment: variables of the process. drop: passes left out, each as
    "make_ttgir add_pipeline" (all of that name) or "make_ttgir#12" (the one at that place of the stage). stepped: the
    passes run one at a time, and the step in hand is noted before it runs. evaluated: instead of the device, the
    evaluator runs the IR behind every pass; source: the front end's IR of another build, to hold that of this one
    against. right: right cases in place of the case (`fuzz.blame.right`). calls: what the functions of Triton's Python
    layer make is wanted (`fuzz.blame.calls`). plant: a planted fault (`fuzz.blame.planted`). texts: the IR behind every
    pass is wanted back. repairs: of the interpreter; strict refuses truth values of blocks whatever the subject.
    seconds: the longest it may take.
    """

    name: str
    case: Case
    subject: str
    backend: str
    environment: dict[str, str] = {}
    drop: tuple[str, ...] = ()
    stepped: bool = False
    evaluated: bool = False
    source: str = ""
    plant: str = ""
    texts: bool = False
    repairs: Literal["usual", "none", "strict"] = "usual"
    right: bool = False
    calls: bool = False
    seconds: float = 60.0


class Step(Record, kw_only=True, array_like=True):
    """A pass that ran. place: its number in its stage. changed: whether the IR is another behind it."""

    stage: str
    place: int
    name: str
    changed: bool

    @property
    def title(self) -> str:
        return f"{self.stage} {self.name}"

    @property
    def key(self) -> str:
        return f"{self.stage}#{self.place}"


class Values(Record, kw_only=True):
    """What the IR computes at one point. behind: the step in front of it, None for the IR that the front end made.
    outcome: None where it could not be evaluated, for the reason `problem`. operation: where it departs from the point
    before (`fuzz.blame.departing`)."""

    behind: Step | None
    outcome: Outcome | None = None
    problem: str = ""
    operation: str = ""


class Frame(Record, kw_only=True, array_like=True):
    """A function on the stack of an error, or one that the code generator was reading. file: below Triton's folder.
    line: in which it was. lines: of the function, where that line is there to raise."""

    file: str
    line: int
    function: str
    lines: tuple[int, ...] = ()


class Call(Record, kw_only=True, array_like=True):
    """function: "FILE FUNCTION", the file below Triton's folder. given, made: digests of what it was given and of what
    came of that."""

    function: str
    given: int
    made: int


class Result(Record, kw_only=True):
    """outcome: None where the process did not live to tell; `ended` says how then ("SIGABRT", "time"). entered: the
    step that was running when it ended, or the last one (see `stepping.FRONT_END`). refused: why the case was not run.
    texts: IR by step key, "source" first. ptx: what ptxas was given. library: functions of Triton's library, written in
    its language, that were compiled with the kernel; inside: the innermost that an exception left. stack: of Triton's
    functions when the case failed with an error. lines: of Triton's files that right cases run. calls: of Triton's
    functions, in the order in which they end."""

    outcome: Outcome | None = None
    ended: str = ""
    entered: Annotated[str, Meta(max_length=300)] = ""
    refused: str = ""
    steps: tuple[Step, ...] = ()
    values: tuple[Values, ...] = ()
    texts: Texts = {}
    ptx: str = ""
    library: tuple[str, ...] = ()
    inside: str = ""
    stack: tuple[Frame, ...] = ()
    lines: dict[str, tuple[int, ...]] = {}
    calls: tuple[Call, ...] = ()
    log: str = ""
    triton: str = ""
    seconds: float = 0.0
