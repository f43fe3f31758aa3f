"""Which stage a step of the compiler belongs to; imports neither torch nor Triton."""

from tridiff.fuzz.records.blame import Stage

FRONT_END = "front-end"
"""The step before the first pass: from Python to IR."""

INLINED = "make_ttir add_inliner"
"""The pass behind which the IR of the front end is one function, whose values have one name each."""


def stage_of(entered: str) -> tuple[Stage, str]:
    """The stage of a step and the pass's name for a blame: ("ttir", "make_ttir add_combine").

    entered: what a compilation notes before a step: FRONT_END, "<function> <pass>", "llvm <function>", "stage <name>",
    "ptxas"; "compile" and "launch" are notes of the harness."""
    head, _, name = entered.partition(" ")
    if head == FRONT_END:
        return "front-end", ""
    if head == "ptxas":
        return "ptxas", ""
    if head == "llvm":
        return "llvm", entered
    if head == "make_ttir":
        return "ttir", entered
    if head.startswith(("make_", "gluon_to_ttgir")):
        return "ttgir", entered
    if head == "stage":
        of: dict[str, Stage] = {"ttir": "ttir", "ttgir": "ttgir", "glir": "ttgir", "llir": "ttgir", "ptx": "llvm",
                                "amdgcn": "llvm", "cubin": "ptxas", "hsaco": "llvm"}
        return of.get(name, "unknown"), ""
    if entered in ("launch", "judge"):
        return "runtime", ""
    return "unknown", ""
