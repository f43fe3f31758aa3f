"""What to type next: the commands that lead from an explanation into the kernel."""

import shlex
from collections.abc import Iterator

from tridiff.fuzz.backends import ARCHITECTURES
from tridiff.fuzz.explain.model import Command, Program


def commands(what: str, *, entry: bool, own: str = "", arch: str, program: Program, subject: str,
             subjects: tuple[str, ...], stages: bool, target: str = "") -> Iterator[Command]:
    """what: as given to `tridiff explain`. entry: whether it is a saved finding. own: the options that describe a
    launch of a kernel of the user's. program: that wrote the element. stages: whether the kernel can be compiled."""
    named = f"tridiff explain {shlex.quote(what)}{own}"
    if stages:
        place = ",".join(map(str, program))
        yield Command(does="stop in pdb at the first line of the program that wrote the element",
                      command=f"{named} --pdb --program {place}")
        yield Command(does="see what one pass after the other changes", command=f"{named} --passes")
        yield Command(does="write every stage into a folder", command=f"{named} --arch {arch} --save stages")
        other = next(one for one in ARCHITECTURES if one != arch)
        yield Command(does="compile for another target", command=f"{named} --arch {other}")
        yield Command(does="hold it against a launch of which the compiler is told nothing",
                      command=f"{named} --against specialisation")
    if entry:
        yield Command(does="run it in the interpreter", command=f"tridiff repro {what} --backend interpreter")
        yield Command(does="run it on a GPU", command=f"tridiff repro {what} --backend cuda")
        for one in subjects:
            if one != subject:
                yield Command(does=f"run the subject {one}", command=f"tridiff repro {what} --subject {one}")
        yield Command(does="find the pass that goes wrong, and ways round it",
                      command=f"tridiff blame {what} --way-round")
        yield Command(does="write what an issue needs", command=f"tridiff repro {what} --bundle {what}-bundle")
    elif target:
        yield Command(does="fuzz the target", command=f"tridiff fuzz --target {target}")
