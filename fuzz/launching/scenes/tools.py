"""Triton's tools: kernels compiled ahead of time to C, linked to one function, disassembled, translated to Gluon."""

import os
import re
import runpy
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from unittest import mock

import triton

from tridiff.fuzz.backends.device_errors import plainly, refusal
from tridiff.fuzz.launching.apart import answered, tried
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.lines import translatable
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes import front_end
from tridiff.kernels.generated import load

_KERNEL = """
from tabnanny import K
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, k, C: tl.constexpr, F: tl.constexpr):
    at = tl.arange(0, C)
    tl.store(x + at, tl.load(y + at) + n * k + F)
"""
_SIGNATURES = ("*fp32, *fp32, i32, i32, 16, 2", "*fp32:16, *fp32:16, i32:16, i32:1, 16, 2.5",
               "*fp32:16, *fp32, i64, i32:16, 32, 2", "*fp32, *fp32, i32:1, i32:1, 16, 2",
               "*fp16, *bf16, u8, i1, 16, 2", "*fp32:8, *fp32, i32, i32, 16, 2", "*fp32, *fp32, i32, i32, i32, 2")
_ARGUMENTS = "CUdeviceptr a, CUdeviceptr b, " + ", ".join(f"int32_t {name}" for name in "cdefghijk")
_DIRECTIVES = f"""
// tt-linker-backend: cuda
// tt-linker: add_1a2b_0d2d10c:{_ARGUMENTS}:16_warps4xstages3
// tt-linker: add_3c4d_1c:{_ARGUMENTS}:16_warps4xstages3
// tt-linker: add_5e6f_:{_ARGUMENTS}:32_warps8xstages3
"""
_SPOILT = ("nothing", "tt-linker-backend: hip", "add_:int32_t a:1", "add_1_3d:int32_t a:1", "add_1_0e:int32_t a:1",
           "add_1_0d:nothing:1", "add_1_0c:int64_t a, int32_t b:16_warps4xstages3")
_LISTING = """
\tcode for sm_90
\t\tFunction : other
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                     /* 0x00000a00ff017b82 */
                                                                              /* 0x000fe20000000800 */
        /*0010*/              @!P0 BRA 0x40 ;                                 /* 0x0000000000088947 */
                                                                              /* 0x003fda0003800000 */
        /*0020*/                   BRA.U UP0, 0x10;                           /* 0xfffffffc00fc7947 */
                                                                              /* 0x0ec41fffffc0383f */
        /*0030*/                   BRA 0x30;                                  /* 0xfffffffc00fc7947 */
                                                                              /* 0x000fc0000383ffff */
        /*0040*/                   EXIT ;                                     /* 0x000000000000794d */
                                                                              /* 0x03cfea0003800000 */
\t\t..........
"""
"""As `cuobjdump -sass` writes it."""
_DEFINED = "\n".join(f"define {result} @__nv_{name}({given}) #0 {{" for result, name, given in (
    ("i32", "sad", "i32 %x, i32 %y, i32 %z"), ("i32", "usad", "i32 %x, i32 %y, i32 %z"), ("float", "fmaf", "float %x"),
    ("double", "fma", "double %x"), ("i64", "umul64hi", "i64 %x, i64 %y"), ("internal i32", "own", "i32 %x"),
    ("i32", "ilogbf", "float %x"), ("i32", "ilogb", "double %x"), ("void", "sincosf", "float %x, float* %s"),
    ("float", "frexpf", "float %x, i32* %e"), ("float", "ieee_div", "float %x"), ("i64", "ullmax", "i64 %x, i64 %y")))
"""Functions of a library as LLVM writes them."""
_BYTES = re.compile(r"(?:0x[0-9a-f]{2}, ){9,}0x[0-9a-f]{2}|\[\d{3,}\]")


def _files(folder: Path) -> str:
    """What is in the files that a tool left, without binaries, which paths and places are part of."""
    return " ".join(f"{one.name}: {_BYTES.sub('BYTES', one.read_text())}" for one in sorted(folder.iterdir()))


def _ended(main: Callable[[], object]) -> object:
    """How a program ends: by itself, by its own code, by an error."""
    try:
        main()
    except SystemExit as end:
        return end.code
    except Exception as error:
        return refusal(error)
    return None


def _ahead(there: Bench) -> Iterator[object]:
    from triton.tools import compile as ahead

    user, folder = there.folder / "user.py", there.folder / "made"
    user.write_text(_KERNEL)
    folder.mkdir()
    # What stands beside it comes before what is installed.
    (there.folder / "tabnanny.py").write_text("K = 2")
    os.chdir(folder)
    for number, signature in enumerate((*_SIGNATURES, _SIGNATURES[0])):
        name, grid = "" if number else "named", ("n, 1, 2", "16,1,1", "1,1")[number % 4 % 3]
        words = [str(user), "-n", "kernel", "-s", signature, "-g", grid, *([
            "-o", str(folder / "out")] if number % 3 else []), *(["-w", str(1 << number % 3)] if number else [])]
        with mock.patch.object(sys, "argv", ["compile.py", *words, *(["-on", name, "-ns", "4"] if name else []), *(
                ["-t", "hip:gfx942:64" if number == 7 else "cuda:90:32"] if number != 1 else [])]):
            yield _ended(ahead.main), tried(_files, folder)
            for size in (1, 0):
                with mock.patch.object(triton, "compile", lambda *given, options, size=size, **more: mock.Mock(**{
                        "metadata.global_scratch_size": size,
                        "metadata.profile_scratch_size": options["num_stages"] - 3})):
                    yield _ended(ahead.main)
        headers = sorted(map(str, folder.glob("*.h")))
        linked = there.folder / f"linked {number}"
        linked.mkdir()
        with mock.patch.object(sys, "argv", ["link.py", *headers, "-o", str(linked / "all")]):
            yield _ended(partial(runpy.run_module, "triton.tools.link", run_name="__main__")), tried(_files, linked)


def _linked(there: Bench) -> Iterator[object]:
    from triton.tools import link

    for spoilt in _SPOILT:
        parser = link.HeaderParser()
        yield tried(parser.extract_linker_meta, f"{_DIRECTIVES}\n// tt-linker: {spoilt}\n// {spoilt}"), dict(
            parser.kernels), getattr(parser, "backend_name", "")
    kernels = parser.kernels
    for name, metas in kernels.items():
        for make in (link.make_algo_decls, link.make_kernel_hints_dispatcher):
            yield tried(make, name, metas)
        for make in (link.make_global_decl, link.make_default_algo_kernel, link.make_kernel_meta_const_dispatcher,
                     link.make_get_num_algos_decl, link.make_get_num_algos_def, link.gen_signature):
            yield tried(make, metas[0])
        for make in (link.make_func_pointers, link.make_kernel_load_def):
            yield tried(make, list(kernels), metas[0])


def _disassembled(there: Bench) -> Iterator[object]:
    from triton.tools import disasm

    asked = mock.Mock(return_value=(_LISTING + _LISTING.replace("other", "again")).encode())
    with mock.patch.object(subprocess, "check_output", asked), mock.patch.object(
            disasm, "path_to_cuobjdump", lambda: "cuobjdump"):
        for function in (None, "other"):
            yield tried(disasm.extract, "kernel.cubin", function), asked.call_args.args[0][1:]
        yield tried(disasm.get_sass, b"binary", "again"), [str(one)[:5] for one in asked.call_args.args[0][1:-1]]
        # Two ways to one label, an address of five digits, an end without a line behind it.
        other = _LISTING.replace("0x30;", "0x40;").replace("0040", "00040").replace("UP0, ", "")
        for text in ("nothing", other.partition("\t\t..")[0].rstrip()):
            asked.return_value = text.encode()
            yield tried(disasm.extract, "kernel.cubin", None), [*(there.folder / "temporary").iterdir()] == []
    yield [tried(disasm.parseCtrl, f"  /* 0x{one:016x} */") for one in (2**64 - 1, *(
        1 << number for number in range(64)))]


def _declared(there: Bench) -> Iterator[object]:
    """What Triton's writer of stubs makes of a library's functions."""
    from triton.tools import build_extern

    made = build_extern.Libdevice("library.bc")
    yield [one and vars(one) for one in map(made._extract_symbol, _DEFINED.splitlines())]
    with mock.patch.object(subprocess, "check_output", return_value=_DEFINED.encode()) as asked, mock.patch.object(
            subprocess, "Popen") as ran:
        yield [tried(build_extern.build, "llvm-dis", "library.bc", name, str(there.folder)) for name in (
            "libdevice", "other")], ran.mock_calls
        yield [(made.parse_symbols("library.ll"), made.symbols.keys()) for _ in range(2)], asked.mock_calls
        yield made._output_stubs() == (there.folder / "libdevice.py").read_text(), made._output_stubs()
        for text, formatted in (("text", True), ("text", False), ("", True)):
            with mock.patch.object(made, "_output_stubs", lambda text=text: text):
                made._format = formatted
                yield tried(made.generate_stub_file, str(there.folder)), len(ran.mock_calls), made.grouping, made.path


_PARTS: dict[str, Callable[[Bench], Iterator[object]]] = {
    "ahead of time": _ahead, "linked": _linked, "disassembled": _disassembled, "declared": _declared}


def _told(part: str, there: Bench) -> str:
    found = []
    try:
        with mock.patch.object(sys, "stdout", StringIO()):
            for one in _PARTS[part](there):
                found.append(plainly(repr(one)).replace(str(there.folder), "FOLDER"))
    except Exception as error:
        found.append(refusal(error))
    return "\v".join(found)


def tools(choices: Choices, backend: str) -> Answers:
    """Everything that one tool gives."""
    with bench() as there:
        [found] = answered([partial(_told, str(choices["part"]), there)], seconds=20)
    return {f"answer {number}": one for number, one in enumerate(found.split("\v"), 1)}


def translated(choices: Choices, backend: str) -> Answers:
    """Kernels as Triton's translator writes them in Gluon, and what the front end makes of that."""
    target, texts = str(choices["target"]), translatable(int(choices["group"]))
    chip = front_end.target(target.replace("sm", "sm_"))
    with bench(), mock.patch.object(triton.runtime.driver.active, "get_current_target", lambda: chip):
        return dict(zip(texts, answered([partial(_translated, text, target) for text in texts.values()]), strict=True))


def _translated(text: str, target: str) -> str:
    from triton.tools.triton_to_gluon_translator.target import TranslatorTarget
    from triton.tools.triton_to_gluon_translator.translator import convert_triton_to_gluon

    # What is translated must be a module that can be imported.
    module, given = front_end.kernel_of("plain: texts", text)
    user, package = load(module, name="user"), types.ModuleType("generated")
    setattr(package, user.__name__.rpartition(".")[2], user)
    sys.modules |= {user.__name__: user, "generated": package}
    try:
        made = convert_triton_to_gluon([user.kernel], TranslatorTarget(target))
    except Exception as error:
        return refusal(error)
    return f"{made}\n{front_end.told(made, given, chip=target.replace('sm', 'sm_'))}"
