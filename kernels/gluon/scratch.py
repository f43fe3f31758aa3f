"""TTGIR text of a kernel whose threads pass values to one another through global scratch memory.

`ttg.global_scratch_alloc` has no Gluon function of its own, so the kernel is written in the compiler's language. Every
program has scratch of its own; its content is undefined at first, and a barrier must stand between a write and a read
by other threads (contract: ttg_ops.md §3, global_scratch_alloc).
"""

from dataclasses import dataclass

from tridiff.kernels.gluon.dialect import TextDialect
from tridiff.kernels.gluon.values import WIDTH

MLIR = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "fp16": "f16", "bf16": "bf16", "fp32": "f32",
        "fp64": "f64", "fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}

FAULTS = {name: name for name in ("barrier_missing", "place_not_exchanged")}


@dataclass(frozen=True, kw_only=True)
class Mailbox:
    """A kernel with one argument per array, both of the shape (programs, size).

    Every program sends its row through one scratch box after the other: element i of the row behind box k is element
    `i ^ flips[k]` of the row before it. size: a power of two. written, read: elements per thread of the layouts in
    which boxes are written and read. alignments: of each box, powers of two.
    """

    dtype: str
    size: int
    flips: tuple[int, ...]
    alignments: tuple[int, ...]
    written: int
    read: int
    warps: int


def text(mailbox: Mailbox, dialect: TextDialect, *, arch: int, planted: str = "") -> str:
    """The module. arch: compute capability, such as 90. planted: one of FAULTS."""
    element, width = MLIR[mailbox.dtype], WIDTH[mailbox.dtype] // 8
    n, rows = mailbox.size, f"tensor<{mailbox.size}x"
    lines: list[str] = []

    def pointers(name: str, base: str, places: str, layout: str) -> None:
        lines.append(f"%{name}s = tt.splat {base} : !tt.ptr<{element}> -> {rows}!tt.ptr<{element}>, {layout}>")
        lines.append(f"%{name} = tt.addptr %{name}s, {places} : {rows}!tt.ptr<{element}>, {layout}>, "
                     f"{rows}i32, {layout}>")

    for layout in ("w", "r"):
        lines.append(f"%at_{layout} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : {rows}i32, #{layout}>")
    lines += ["%program = tt.get_program_id x : i32", f"%size = arith.constant {n} : i32",
              "%first = arith.muli %program, %size : i32",
              f"%x_row = tt.addptr %x, %first : !tt.ptr<{element}>, i32",
              f"%y_row = tt.addptr %y, %first : !tt.ptr<{element}>, i32"]
    for number, alignment in enumerate(mailbox.alignments):
        size = f"{{nbytes = {n * width} : i32, alignment = {alignment} : i32}}"
        lines += [f"%raw{number} = ttg.global_scratch_alloc {size} : !tt.ptr<i8>",
                  f"%box{number} = tt.bitcast %raw{number} : !tt.ptr<i8> -> !tt.ptr<{element}>"]
    pointers("x_at", "%x_row", "%at_w", "#w")
    lines.append(f"%v0 = tt.load %x_at : {rows}!tt.ptr<{element}>, #w>")
    for number, flip in enumerate(mailbox.flips):
        box = f"%box{number}"
        pointers(f"in{number}", box, "%at_w", "#w")
        lines.append(f"tt.store %in{number}, %v{number} : {rows}!tt.ptr<{element}>, #w>")
        if planted != "barrier_missing":
            lines.append(dialect.barrier)
        flipped = 0 if planted == "place_not_exchanged" else flip
        lines += [f"%flip{number} = arith.constant dense<{flipped}> : {rows}i32, #r>",
                  f"%from{number} = arith.xori %at_r, %flip{number} : {rows}i32, #r>"]
        pointers(f"out{number}", box, f"%from{number}", "#r")
        last = number == len(mailbox.flips) - 1
        name = "%result" if last else f"%u{number}"
        lines.append(f"{name} = tt.load %out{number} : {rows}!tt.ptr<{element}>, #r>")
        if not last:
            lines.append(f"%v{number + 1} = ttg.convert_layout {name} : {rows}{element}, #r> -> {rows}{element}, #w>")
    pointers("y_at", "%y_row", "%at_r", "#r")
    lines += [f"tt.store %y_at, %result : {rows}!tt.ptr<{element}>, #r>", "tt.return"]
    body = "\n".join("    " + line for line in lines)
    argument = f"!tt.ptr<{element}> {{tt.divisibility = 16 : i32}}"
    return f"""{_layout('w', mailbox.written, mailbox.warps)}
{_layout('r', mailbox.read, mailbox.warps)}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {mailbox.warps} : i32, ttg.target = "cuda:{arch}",
                   "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @mailbox(%x: {argument}, %y: {argument}) {{
{body}
  }}
}}
"""


def _layout(name: str, elements: int, warps: int) -> str:
    return (f"#{name} = #ttg.blocked<{{sizePerThread = [{elements}], threadsPerWarp = [32], warpsPerCTA = [{warps}], "
            "order = [0]}>")
