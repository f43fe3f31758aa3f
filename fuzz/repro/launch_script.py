"""Standalone scripts for what lies between a kernel and its launch: a scene in its short form (`launching.shown`)."""

import re

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.launching.cases import choices_of, scene_of
from tridiff.fuzz.launching.shown import Shown, shown
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro import frame
from tridiff.fuzz.repro.request import Candidate, Candidates, Request, no_script
from tridiff.fuzz.repro.template import fits, too_long
from tridiff.fuzz.repro.wrap import wrapped
from tridiff.fuzz.target import Target

_DRIVER = """\
class Driver:  # in the place of a GPU: kernels are compiled and not launched
    get_current_target = staticmethod(lambda: GPUTarget("cuda", {arch}, 32))
    get_current_device = get_current_stream = staticmethod(lambda *_: 0)

triton.runtime.driver.set_active(Driver())
""".splitlines()


def candidates(request: Request, target: Target) -> Candidates | None:
    """The script of a finding about launching; None where the target is no scene's."""
    if target.family != "launch":
        return None
    scene = scene_of(request.case).name
    found = shown(scene, choices_of(request.case))
    if found is None:
        raise no_script(f"the scene {scene!r} has no short script for these choices")
    text = _text(request, found)
    if not request.bundle and not fits(text):
        raise TridiffError(too_long(text), fix="write it whole with --long")
    return Candidates(scripts=(Candidate(text=text, faithful=True),))


def _text(request: Request, found: Shown) -> str:
    # An error of the compiler or the loader is searched for in a child's output, as for every other script.
    signs = frame.Signs(texts=(found.unexpected,)) if found.unexpected else frame.signs(
        way for way in request.ways if way.verdict is not Verdict.DISAGREE)
    used = "\n".join((found.right, *found.lines))
    modules = {"os": True, "re": signs.isolated or "re." in used, "subprocess": signs.isolated, "sys": True,
               "tempfile": found.folder}
    lines = [*frame.heading(request.title, request.note, ""),
             f"import {', '.join(name for name, needed in modules.items() if needed)}"]
    if signs.isolated:
        lines += ["", *frame.isolation(signs), ""]
    if found.folder:
        lines.append('os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()')
    lines += [frame.HOOK, *found.imports, *(["import torch"] if "torch." in used else []), "import triton",
              "import triton.language as tl", "from triton.backends.compiler import GPUTarget", "",
              *found.functions.splitlines(), "", *(line.format(arch=found.arch) for line in _DRIVER),
              *frame.running(signs), *found.lines]
    lines += frame.ending(found.right) if found.right else [frame.survived()]
    return wrapped(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n")
