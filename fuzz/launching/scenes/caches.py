"""Kernels kept in memory and on disk: what must be compiled again, and what must not."""

import os
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import triton

from tridiff.fuzz.launching.apart import answered, tried
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes import front_end
from tridiff.fuzz.launching.scenes.arguments import HEAD, kernel
from tridiff.fuzz.launching.words import Arguments
from tridiff.kernels.generated import load

# A file that is edited keeps its name.
_TEXT = """
from triton.language.core import _aggregate as aggregate

__name__ = "user"

GLOBAL = tl.constexpr({constant})
UNUSED = tl.constexpr({unused})

@triton.jit
def given(value):
    return value + {given}

@triton.jit{noinline}
def inner(value):
    return value + {callee}

@triton.constexpr_function
def counted(number):
    return number + {counted}

@aggregate
class Held:
    value: tl.{field}

    @triton.constexpr_function
    def __init__(self, value):
        self.value = value{init}

    @triton.jit
    def more(self):
        return self.value + {method}

@triton.jit
def kernel(x, n, C: tl.constexpr, F: tl.constexpr = inner):
    at = tl.arange(0, 16)
    tl.store(x + at, at * GLOBAL + C + F(inner(n)) + Held(n).more() + counted(2){body})
"""
_LONG = "kernel" * 50
_PLAIN = {"constant": "3", "unused": "5", "callee": "1", "noinline": "", "body": "", "method": "1",
          "counted": "1", "given": "1", "field": "tensor", "init": ""}
_OTHER = {"callee": {"callee": "2"}, "constant": {"constant": "4"}, "unused": {"unused": "6"},
          "noinline": {"noinline": "(noinline=True)"}, "body": {"body": " + 1"},
          "method": {"method": "2"}, "counted": {"counted": "2"}, "given": {"given": "2"},
          "field": {"field": "core.base_value"}, "init": {"init": ";"}}
_OPTIONS: dict[str, dict[str, Any]] = {
    "option": {"num_warps": 8}, "stages": {"num_stages": 2}, "fusion": {"enable_fp_fusion": False},
    "registers": {"maxnreg": 64}}

# One that is an option as well, one that is none, and another value of it.
_IEEE = {"TRITON_F32_DEFAULT": "ieee"}
_ENVIRONMENTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "environment": ({}, {"TRITON_DEFAULT_FP_FUSION": "0"}), "variable": ({}, _IEEE),
    "variable's value": ({"TRITON_F32_DEFAULT": "tf32"}, _IEEE)}


def disk(choices: Choices, backend: str) -> Answers:
    """A kernel compiled, and compiled once more with something changed: from the cache on disk or anew."""
    change = str(choices["change"])
    before, then = _ENVIRONMENTS.get(change, ({}, {}))
    # Files of most file systems have at most 255 characters in their names.
    long = f"{_TEXT.replace('def kernel(', f'def {_LONG}(')}\nkernel = {_LONG}\n"
    form = long if change.endswith("long name") else _TEXT
    with bench() as there:
        with mock.patch.dict(os.environ, before):
            first = _compiled(kernel(form.format(**_PLAIN)), {})
        names = [path.name for path in _files(there)]
        text = form.format(**(_PLAIN | _OTHER.get(change, {})))
        text = {"line": "\n" + text, "comment below": text + "\n# the end\n",
                "comment inside": text.replace("    at =", "    # lanes\n    at =")}.get(change, text)
        options = _OPTIONS.get(change, {})
        if change == "always":
            triton.knobs.compilation.always_compile = True
        if change in ("file gone", "group cut off"):
            _spoil(there, change)
        with mock.patch.dict(os.environ, then):
            second = _compiled(kernel(text), options, value=4 if change == "constexpr" else 3,
                               size="int 33" if change == "hint" else "int 16")
        hits = there.compiled
        folders = str(sum(path.is_dir() for path in there.folder.rglob("*")))
    return {"hits": "; ".join(map(str, hits)), "files": "; ".join(sorted(Path(name).suffix or name for name in names)),
            "longest name": str(max(map(len, names), default=0)),
            "folders": folders, "same hash": str(first.hash == second.hash),
            "same code": str(first.asm["ptx"] == second.asm["ptx"]),
            "same metadata": str(first.metadata == second.metadata)}


def _compiled(user: Any, options: dict[str, Any], *, value: int = 3, size: str = "int 16") -> Any:
    made = Arguments()
    return user[(1,)](made.make("tensor i32 0"), made.make(size), value, user.fn.__globals__["given"], **options)


def _files(there: Bench) -> list[Path]:
    return [path for path in (there.folder / "cache").rglob("*") if path.is_file()]


def _spoil(there: Bench, change: str) -> None:
    for path in _files(there):
        if change == "file gone" and path.suffix == ".cubin":
            path.unlink()
        if change == "group cut off" and path.name.startswith("__grp__"):
            path.write_text(path.read_text()[:10])


_GLOBALS = """
USED = tl.constexpr(3)
DEFAULT = tl.constexpr(3)
PLAIN = TYPED = FIRST = TURN = 3
UNUSED = tl.constexpr(3)
INNER = tl.constexpr(3)
OTHER = 3
KIND = tl.float32

@triton.jit
def inner(value):
    return value + INNER

@triton.jit
def kernel(x, UNUSED, more=DEFAULT):
    PLAIN = 5
    TYPED: tl.constexpr = 5
    FIRST, at = 5, tl.arange(0, 16)
    for TURN in tl.static_range(2):
        at += TURN
    tl.store(x + at, (inner(at) * USED{plain} + PLAIN + TYPED + FIRST).to(KIND))
"""


def captured(choices: Choices, backend: str) -> Answers:
    """A global value that a kernel reads, changed or gone between two launches of it."""
    plain = " + OTHER" if choices["plain"] else ""
    module = load(HEAD + _GLOBALS.format(plain=plain), name="user")
    kernel(_GLOBALS.format(plain=plain))
    name, kept = str(choices["name"]), vars(module)[str(choices["name"])]
    found: Answers = {}
    with bench():
        try:
            made = Arguments()
            first = module.kernel[(1,)](made.make("tensor fp32 0"), 7)
            if choices["other"] == "gone":
                del vars(module)[name]
            elif choices["other"] == "in place":
                kept.value = 4
            elif choices["other"]:
                vars(module)[name] = triton.language.int32 if name == "KIND" else triton.language.constexpr(4)
            second = module.kernel[(1,)](made.make("tensor fp32 0"), 7)
            found["second"] = "the same kernel" if second is first else "another kernel"
            found["noted"] = "; ".join(sorted(key[0] for key in module.kernel.used_global_vals))
        except Exception as error:
            found["second"] = f"refused {type(error).__name__}"
            found["named"] = str(name in str(error))
        finally:
            vars(module)[name] = kept
            if choices["other"] == "in place":
                kept.value = 3
    return found


_HIDING = """
SAME = tl.constexpr(3)

@triton.jit
def inner(value, *, SAME=1):
    return value + SAME

@triton.jit
def kernel(x{parameters}):
    at = tl.arange(0, 16)
    {body}
"""
_HIDDEN = {
    "nothing": ("", "tl.store(x + at, at + SAME)"), "by name only": (", *, SAME=7", "tl.store(x + at, at + SAME)"),
    "by place only": (", SAME=7, /", "tl.store(x + at, at + SAME)"),
    "the rest": (", *SAME", "tl.store(x + at, at + len(SAME))"),
    "a constant": (", *, SAME: tl.constexpr = 7", "tl.store(x + at, at + SAME)"),
    "default": (", n=SAME", "tl.store(x + at, at + n)"), "default by name": (", *, n=SAME", "tl.store(x + at, at + n)"),
    "member": ("", "tl.store(x + at, at + [SAME + 1 for SAME in (1, 2)][1])"),
    "in an expression": ("", "tl.store(x + at, at + (SAME := 2) + SAME)"),
    "inside of a tuple": ("", "a, (SAME, b) = 1, (2, 3); tl.store(x + at, at + SAME)"),
    "later": ("", "tl.store(x + at, at + SAME); SAME = 2"), "added": ("", "SAME += 2; tl.store(x + at, at + SAME)"),
    "argument": ("", "tl.store(x + at, inner(at, SAME=2))"), "helper": ("", "tl.store(x + at, inner(at))"),
    "loop": ("", "for SAME in range(2): tl.store(x + at, at + SAME)"),
    "loop inside of a tuple": ("", "for a, (b, SAME) in ((1, (2, 3)),): tl.store(x + at, at + SAME)"),
    "annotated": ("", "SAME: tl.constexpr = 2; tl.store(x + at, at + SAME)"),
    "attribute": ("", "tl.store(x + at, at + x.SAME)"), "branch": ("", "if SAME == 3: tl.store(x + at, at)")}
"""Parameters and a statement in which a name of the module is another thing, or the same, by words for it."""


def hidden(choices: Choices, backend: str) -> Answers:
    """A global value by the name of what may be a local one, changed between two launches, and for a kernel that was
    not launched before: what a kernel reads, and what it is kept by."""
    parameters, body = _HIDDEN[str(choices["way"])]
    text = HEAD + _HIDING.format(parameters=parameters, body=body)
    one, other = load(text, name="user", fresh=True), load(text, name="user", fresh=True)
    vars(other)["SAME"] = triton.language.constexpr(4)
    with bench() as there:
        x = Arguments().make("tensor i32 0")
        found = [tried(lambda: one.kernel[(1,)](x).asm["ptx"])]
        vars(one)["SAME"] = triton.language.constexpr(4)
        found += [tried(lambda made=made: made.kernel[(1,)](x).asm["ptx"]) for made in (one, other)]
        return {"kinds": " ".join(str(found.index(code)) for code in found), "refused": "; ".join(
            str(code)[:120] for code in found if str(code).startswith("refused")),
            "noted": " ".join(sorted(key[0] for key in one.kernel.used_global_vals)),
            "one key": str(one.kernel.cache_key == other.kernel.cache_key), "hits": "; ".join(map(str, there.compiled))}


_HELPED = """
def inner(value):
    return value

@triton.jit
def kernel(x):
    at = tl.arange(0, 16)
    tl.store(x + at, inner(at))
"""
_HELPER = """
@triton.jit
def inner(value):
    return value + {callee}
"""


def mended(choices: Choices, backend: str) -> Answers:
    """Two kernels of one name and text whose helpers differ; where they are refused first, because the helper is a
    plain function of Python, it is replaced by one that is not, as in a notebook."""
    codes, refused = [], []
    with bench() as there:
        for callee in (1, 2):
            module = load(HEAD + _HELPED, name="user", fresh=True)
            made = Arguments()
            if choices["refused"]:
                try:
                    module.kernel[(1,)](made.make("tensor i32 0"))
                except Exception as error:
                    refused.append(type(error).__name__)
            vars(module)["inner"] = load(HEAD + _HELPER.format(callee=callee), name="helper", fresh=True).inner
            codes.append(module.kernel[(1,)](made.make("tensor i32 0")).asm["ptx"])
        hits = there.compiled
    return {"hits": "; ".join(map(str, hits)), "refused": "; ".join(refused), "same code": str(codes[0] == codes[1])}


_CALLING = """
@triton.jit
def kernel(x, n):
    tl.store(x, tl.extra.libdevice.ffs(n))
"""
_LIBRARY = """define i32 @__nv_ffs(i32 %a) {{
  %b = mul i32 %a, {number}
  ret i32 %b
}}
"""
_ASSEMBLER = """#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 12.{number}, V12.{number}.9"
else exec "{real}" "$@"; fi
"""


def files(choices: Choices, backend: str) -> Answers:
    """A file that compilations read (`CUDAOptions.hash`), with other content, and with its first again, each time in a
    process that has not read it yet: what is compiled anew, and which code comes of it."""
    from triton.backends.nvidia import compiler

    which = str(choices["file"])
    with bench() as there:
        path = there.folder / f"own {which}"
        named = {"libdevice": ("LIBDEVICE",), "assembler": ("PTXAS", "PTXAS_BLACKWELL")}.get(which, ())
        options = {"extern_libs": {"libdevice": str(path)}} if which == "library" else {}
        text = _ASSEMBLER if which == "assembler" else _LIBRARY
        real = compiler.get_ptxas(there.arch).path

        def compiled(number: int) -> str:
            path.write_text(text.format(number=number, real=real))
            path.chmod(0o755)
            compiler.get_ptxas_version.cache_clear()
            with mock.patch.dict(os.environ, {f"TRITON_{name}_PATH": str(path) for name in named}):
                made = kernel(_CALLING).warmup(
                    Arguments().make("tensor i32 0"), 16, grid=(1,), ptx_version=84, **options)
            return f"{there.compiled[-1]} {made.asm['ptx']}"

        told = [answered([partial(compiled, number)])[0].partition(" ") for number in (4, 5, 4)]
    codes = [code for _, _, code in told]
    return {"compiled": "; ".join(hit for hit, _, _ in told), "codes": "; ".join(
        str(codes.index(code)) for code in codes)}


_MARK = "773377377"
"""A number by which an edited stage is known again in the PTX, where paths and hashes stand as well."""


def stages(choices: Choices, backend: str) -> Answers:
    """What is written where, and stages taken from elsewhere."""
    knob = str(choices["knob"])
    made = Arguments()
    user = kernel(_TEXT.format(**_PLAIN))
    with bench() as there:
        knobs = triton.knobs
        knobs.cache.dump_dir, knobs.cache.override_dir = str(there.folder / "dump"), str(there.folder / "override")
        before = user[(1,)](made.make("tensor i32 0"), 16, 3)
        extension = str(choices["stage"])
        edited = before.asm[extension].replace("dense<3>", f"dense<{_MARK}>")
        edited += f"\n// {_MARK}\n" if extension == "ptx" else ""
        options: dict[str, Any] = {}
        if knob == "dump":
            knobs.compilation.dump_ir = True
        if knob == "binary only":
            knobs.compilation.store_binary_only = True
        if knob == "override":
            knobs.compilation.override = True
            folder = there.folder / "override" / _folder_of(before)
            folder.mkdir(parents=True)
            (folder / f"kernel.{extension}").write_text(edited)
        if knob == "option":
            path = there.folder / f"other.{extension}"
            path.write_text(edited)
            options["ir_override"] = str(path)
        knobs.compilation.always_compile = True
        user.device_caches.clear()
        knobs.cache.dir = str(there.folder / "other")
        after = user[(1,)](made.make("tensor i32 0"), 16, 3, **options)
        dumped = sorted(path.name for path in (there.folder / "dump").rglob("*") if path.is_file())
        # Another chip's stages are taken from the same folder.
        foreign = () if knob in ("override", "option") else triton.compile(before.src, front_end.target("gfx942")).asm
    return {"stages": "; ".join(sorted(after.asm)), "dumped": "; ".join(dumped), "of AMD": "; ".join(sorted(foreign)),
            "taken": str(_MARK in after.asm.get("ptx", ""))}


def _folder_of(compiled: Any) -> str:
    from triton.runtime.cache import _base32

    return _base32(compiled.src.hash())
