"""Benchmark scripts: a kernel with the code that makes its arguments, launches it, and times it (codegen.md §12)."""

from tridiff.kernels.codegen.constants import TORCH_NAMES
from tridiff.kernels.codegen.graph import Buffer, Graph
from tridiff.kernels.codegen.kernel import Kernel
from tridiff.kernels.pointwise.record import WIDTHS

_STORED = TORCH_NAMES | {"i1": "int8"}


def _tensor(buffer: Buffer) -> str:
    """Text of a tensor for a buffer: random, but 0 and 1 for Booleans and small for integers, which may be indices."""
    dtype = f"torch.{_STORED[buffer.dtype]}"
    if buffer.role == "out":
        return f"torch.empty({buffer.length}, dtype={dtype}, device=DEVICE)"
    if buffer.dtype[0] in "iu":
        return f"torch.randint(0, 2, ({buffer.length},), device=DEVICE).to({dtype})"
    return f"torch.rand({buffer.length}, device=DEVICE).to({dtype})"


def script(graph: Graph, kernel: Kernel) -> str:
    """Text of a script that runs and times `kernel`, the plan of `graph`. It prints milliseconds, gigabytes moved and
    GB/s. Without a GPU it runs in the interpreter, if TRITON_INTERPRET=1 is set."""
    buffers = {buffer.name: buffer for buffer in graph.buffers}
    workspaces = {one.name: one for one in kernel.workspaces}
    entries = []
    for one in kernel.arguments:
        if one.kind == "buffer":
            text = _tensor(buffers[str(one.value)])
        elif one.kind == "workspace":
            space = workspaces[str(one.value)]
            text = f"torch.zeros({space.length}, dtype=torch.{_STORED[space.dtype]}, device=DEVICE)"
        else:
            text = repr(one.value)
        entries.append(f'        "{one.name}": {text},')
    moved = sum(buffer.length * max(WIDTHS[buffer.dtype], 8) // 8 * (2 if buffer.role == "inout" else 1)
                for buffer in graph.buffers)
    mutated = [one.name for one in kernel.arguments if one.value in kernel.mutated and (
        one.kind == "workspace" or (one.kind == "buffer" and buffers[str(one.value)].role == "inout"))]
    options = f"num_warps={kernel.num_warps}, num_stages={kernel.num_stages}"
    if kernel.cooperative:
        options += ", launch_cooperative_grid=True"
    return _TEMPLATE.format(
        source=kernel.source.rstrip("\n"), entries="\n".join(entries), mutated=mutated, grid=kernel.grid,
        name=kernel.name, options=options, moved=moved, key=kernel.key)


_TEMPLATE = '''\
import pathlib
import time

import torch
{source}


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BYTES = {moved}
# Written in place: every run needs them as they were before.
MUTATED = {mutated}


def get_args():
    torch.manual_seed(0)
    return {{
{entries}
    }}


def fresh(args):
    """The arguments, with copies of what a launch changes."""
    return {{name: value.clone() if name in MUTATED else value for name, value in args.items()}}


def call(args):
    """One launch; the compiled kernel, or None in the interpreter."""
    options = dict({options}) if DEVICE == "cuda" else {{}}
    if 0 not in {grid}:
        return {name}[{grid}](**args, **options)


def milliseconds(function, repeats):
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3 / repeats


def benchmark(args, repeats=20, cache=None):
    """Milliseconds per launch, the cost of copying taken off; infinite for a kernel that fails or spills. cache: a
    folder in which the result is kept under the digest of the kernel."""
    kept = pathlib.Path(cache, "{key}.ms") if cache else None
    if kept and kept.exists():
        return float(kept.read_text())
    try:
        compiled = call(fresh(args))
        if getattr(compiled, "n_spills", 0) > 8:
            spent = float("inf")
        else:
            spent = milliseconds(lambda: call(fresh(args)), repeats) - milliseconds(lambda: fresh(args), repeats)
            spent = max(spent, 1e-6)
    except Exception as error:
        print(f"failed: {{error}}")
        spent = float("inf")
    if kept:
        kept.write_text(repr(spent))
    return spent


if __name__ == "__main__":
    ms = benchmark(get_args(), repeats=20 if DEVICE == "cuda" else 1)
    print(f"{{ms:.3f}}ms    {{BYTES / 1e9:.6f}}GB    {{BYTES / 1e6 / ms:.2f}}GB/s")
'''
