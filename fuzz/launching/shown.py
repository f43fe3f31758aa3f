"""Scenes as short scripts: what a person would write to show what one of them finds.

A scene plays many things and notes all of them; a script does the one that was found wrong, with a class in the place
of Triton's driver, so that no GPU is needed. Every script ends with the value of its expression `right`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tridiff.fuzz.launching import texts_unusual
from tridiff.fuzz.launching.scene import Choices
from tridiff.fuzz.launching.scenes.options import KNOBS, TEXTS


@dataclass(frozen=True)
class Shown:
    """functions: definitions of kernels. lines: statements. right: the expression that is true where Triton is right.
    arch: of the chip. folder: whether the cache on disk must be one of its own. imports: lines beyond those of every
    script. unexpected: a regular expression for the error that is the finding, "" if none is."""

    functions: str
    lines: tuple[str, ...]
    right: str = ""
    arch: int = 90
    folder: bool = False
    imports: tuple[str, ...] = ()
    unexpected: str = ""


_ADD = """\
@triton.jit
def kernel(x):
    at = tl.arange(0, 16)
    tl.store(x + at, at)
"""
_MENDED = """\
@triton.jit
def first(value):
    return value + 1

@triton.jit
def second(value):
    return value + 2

def plain(value):  # no kernel may call it
    return value

def kernel(x):
    at = tl.arange(0, 16)
    tl.store(x + at, helper(at))
"""
_CAPTURED = """\
INNER = tl.constexpr(3)

@triton.jit
def inner(value):
    return value + INNER

@triton.jit
def kernel(x):
    at = tl.arange(0, 16)
    tl.store(x + at, inner(at))
"""
_CONSTANT = """\
@triton.jit
def kernel(x, C: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(x + at, at)
"""


def _mended(choices: Choices) -> Shown | None:
    if not choices["refused"]:
        return None
    return Shown(functions=_MENDED, lines=(
        "codes = []",
        "for one in (first, second):",
        "    helper, fresh = plain, triton.jit(kernel)",
        "    try:",
        "        fresh.warmup(torch.int32, grid=(1,))  # refused",
        "    except Exception:",
        "        helper = one  # mended, as a cell of a notebook",
        '    codes.append(fresh.warmup(torch.int32, grid=(1,)).asm["ptx"])'),
        right="codes[0] != codes[1]", folder=True)


def _captured(choices: Choices) -> Shown | None:
    if not choices["other"] or choices["plain"]:
        return None
    return Shown(functions=_CAPTURED, lines=(
        "first = kernel.warmup(torch.int32, grid=(1,))",
        "INNER, refused = tl.constexpr(4), False",
        "try:",
        "    second = kernel.warmup(torch.int32, grid=(1,))",
        '    print("the same kernel" if second is first else "another kernel")',
        "except RuntimeError as error:",
        '    refused = "INNER" in str(error)'), right="refused")


_SPOILING = {
    "file gone": ('next(pathlib.Path(os.environ["TRITON_CACHE_DIR"]).rglob("*.cubin")).unlink()', "KeyError.*cubin"),
    "group cut off": ('next(pathlib.Path(os.environ["TRITON_CACHE_DIR"]).rglob("__grp__*")).write_text("{")  '
                      "# as a full disk leaves it", "JSONDecodeError|Expecting")}


def _spoilt(choices: Choices) -> Shown | None:
    change = _SPOILING.get(str(choices["change"]))
    if change is None:
        return None
    return Shown(functions=_ADD, folder=True, imports=("import pathlib",), unexpected=change[1], lines=(
        "kernel.warmup(torch.int32, grid=(1,))",
        change[0],
        "kernel.device_caches.clear()",
        'again = kernel.warmup(torch.int32, grid=(1,)).asm["cubin"]  # compiled anew'))


def _ahead(choices: Choices) -> Shown | None:
    constant = {"int 3": "3", "none": "None", "text abc": '"abc"', "dtype float32": "tl.float32",
                "tuple int 1, int 2": "(1, 2)"}[str(choices["constant"])]
    if choices["spoilt"]:
        return None
    return Shown(functions=_CONSTANT, folder=True, lines=(
        "told = []",
        'triton.knobs.runtime.jit_cache_hook = lambda **about: told.append(about["compile"]["specialization_data"])',
        f"first = kernel.warmup(torch.int32, {constant}, grid=(1,))",
        "triton.knobs.runtime.jit_cache_hook = None",
        "second = triton.jit(kernel.fn).preload(told[0])",
        "print(first.hash, second.hash)"), right="first.hash == second.hash")


def _asked(choices: Choices) -> str:
    return f"num_warps={choices['num_warps']}, num_stages={choices['num_stages']}, num_ctas={choices['num_ctas']}"


_ARRAYS = "*3 * [torch.float32]"
_WITHOUT_LINES = r're.sub(r"//.*|\s+\.(?:loc|file|section|version)\b.*", "", {})'
"""An expression: PTX without comments, places in the source and paths."""


def _repeated(choices: Choices) -> Shown:
    ptx = _WITHOUT_LINES.format('one.asm["ptx"]')
    return Shown(functions=TEXTS[str(choices["kernel"])], arch=int(choices["arch"]), folder=True, lines=(
        "codes = set()",
        "triton.knobs.compilation.always_compile = True",
        "triton.knobs.compilation.disable_line_info = True",
        "for _ in range(9):",
        f"    one = triton.jit(kernel.fn).warmup({_ARRAYS}, 65, 130, grid=(1,), {_asked(choices)})",
        f"    codes.add({ptx})",
        'print(len(codes), "codes of one kernel")'), right="len(codes) == 1")


def _from_text(choices: Choices) -> Shown:
    stage = choices["stage"]
    options = ('"num_stages": ' + str(choices["num_stages"])) if stage != "ttir" else ", ".join(
        f'"{name}": {choices[name]}' for name in ("num_warps", "num_stages", "num_ctas"))
    return Shown(functions=TEXTS[str(choices["kernel"])], arch=int(choices["arch"]), folder=True, lines=(
        "triton.knobs.compilation.always_compile = True",
        "triton.knobs.compilation.disable_line_info = True",
        f"first = kernel.warmup({_ARRAYS}, 65, 130, grid=(1,), {_asked(choices)})",
        f'path = os.path.join(os.environ["TRITON_CACHE_DIR"], "kernel.{stage}")',
        'with open(path, "w") as file:',
        f'    file.write(first.asm["{stage}"])',
        "codes = set()",
        f"for one in (first, *(triton.compile(path, options={{{options}}}) for _ in range(9))):",
        f"    codes.add({_WITHOUT_LINES.format('''one.asm['ptx']''')})",
        'print(len(codes), "codes of one kernel")'), right="len(codes) == 1")


def _text_of_ptx(choices: Choices) -> Shown:
    return Shown(functions=_ADD, folder=True, unexpected="IRSource.*module", lines=(
        "first = kernel.warmup(torch.int32, grid=(1,))",
        'path = os.path.join(os.environ["TRITON_CACHE_DIR"], "kernel.ptx")',
        'with open(path, "w") as file:',
        '    file.write(first.asm["ptx"])',
        'again = triton.compile(path).asm["cubin"]'))


_DEFAULTS: dict[str, object] = {"maxnreg": 0, "debug": False, "num_warps": 4, "num_stages": 3, "num_ctas": 1,
                                "enable_fp_fusion": True, "launch_cooperative_grid": False, "launch_pdl": False,
                                "sanitize_overflow": False, "enable_reflect_ftz": True}


def _options(choices: Choices) -> Shown:
    knob = [f"triton.knobs.{one[0]}.{one[1]} = {one[2]!r}" for name, one in KNOBS.items() if name == choices["knob"]]
    given = "".join(f", {name}={choices[name]}" for name, value in _DEFAULTS.items() if choices[name] != value)
    return Shown(functions=TEXTS[str(choices["kernel"])], arch=int(choices["arch"]), folder=True, lines=(
        *knob, f"kernel.warmup({_ARRAYS}, 64, 128, grid=(1,){given})"))


def _unusual(choices: Choices) -> Shown | None:
    if choices["way"] != "closure":
        return None
    return Shown(functions=texts_unusual.TEXTS["closure"], lines=(
        "kernel.warmup(torch.int32, 5, grid=(1,))",
        "refused = False",
        "try:",
        "    made(tl.constexpr(5), twice).warmup(torch.int32, 5, grid=(1,))  # another C",
        "except triton.CompilationError as error:",
        '    refused = type(error).__name__ == "CompileTimeAssertionFailure"'), right="refused")


_SCENES: Mapping[str, Callable[[Choices], Shown | None]] = {
    "mended": _mended, "captured by a callee": _captured, "spoilt": _spoilt, "ahead": _ahead, "repeated": _repeated,
    "text": _from_text, "text of ptx": _text_of_ptx, "options": _options, "unusual 1": _unusual}


def shown(scene: str, choices: Choices) -> Shown | None:
    """The script of a scene's case; None where none is written for what it chose."""
    made = _SCENES.get(scene)
    found = made(choices) if made is not None else None
    return None if found is None else replace(found, functions=found.functions.strip("\n"))
