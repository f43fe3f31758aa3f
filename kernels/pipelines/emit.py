"""From a plan to the source text of a Gluon kernel, in the installed version's spelling."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tridiff.kernels.gluon.dialect import GL_DTYPES, IMPORTS, NVIDIA_IMPORTS, Dialect
from tridiff.kernels.pipelines import layouts
from tridiff.kernels.pipelines.plan import Dot, Fold, Plan, TmaStore, even_share
from tridiff.kernels.pipelines.steps import FoldEnd, Kernel, Partition
from tridiff.kernels.pipelines.text import Lines, Names, Writer

_PREPARE = '''
@gluon.jit
def prepare(initial_ptr, out_ptr, width, pitch, BLOCK: gl.constexpr):
    """out = initial, one program per row."""
    columns = gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [WARPS], [0]))
    row = gl.program_id(0)
    values = gl.load(initial_ptr + row * pitch + columns, mask=columns < width)
    gl.store(out_ptr + row * pitch + columns, values, mask=columns < width)
'''
_SCAN = '''
@gluon.jit
def add(left, right):
    return left + right
'''


@dataclass(frozen=True)
class Emitted:
    """A module: its text, and the kernel's name and parameters."""

    source: str
    name: str
    parameters: tuple[str, ...]


def emit(kernel: Kernel, dialect: Dialect, *, name: str = "pipeline") -> Emitted:
    """The module that holds `kernel` as a Gluon function called `name`.

    Raises NotImplementedError where the version has no function for what the plan asks.
    """
    plan = kernel.plan
    if isinstance(plan.sink, TmaStore) and plan.sink.reduce and not dialect.tma_atomics:
        raise NotImplementedError("this version has no Gluon function for TMA reductions")
    text = Lines()
    text.add(_summary(plan), "")
    scan = _SCAN.splitlines() if any(op.kind == "scan" for op in plan.ops) else []
    bodies = [Writer(kernel, dialect, Names(plan, part.role, part.warps)).steps(part.steps)
              for part in kernel.partitions]
    main = Lines(depth=1)
    parameters = _setup(kernel, dialect, main)
    code = Lines()
    code.add(*scan)
    if plan.workers:
        _specialised(kernel, dialect, bodies, code, main)
    else:
        main.extend(bodies[0])
    _teardown(kernel, dialect, main)
    used = tuple(p for p in parameters if any(re.search(rf"\b{p}\b", line) for line in main.lines))
    code.add("", "", "@gluon.jit", f"def {name}({', '.join(used)}):")
    code.extend(main)
    if isinstance(plan.sink, TmaStore) and plan.sink.reduce:
        code.add("", *_PREPARE.replace("WARPS", str(plan.warps)).splitlines())
    words = set(re.findall(r"\w+", "\n".join(code.lines)))
    for constant, value in _constants(kernel).items():
        if constant in words:
            text.add(f"{constant} = gl.constexpr({value})")
    text.extend(code)
    return Emitted(IMPORTS + NVIDIA_IMPORTS + "\n" + "\n".join(text.lines) + "\n", name, used)


def _summary(plan: Plan) -> str:
    copies = " and ".join(source.copy for source in plan.sources)
    sink = plan.sink.__struct_config__.tag
    roles = ", ".join(plan.roles) or "one partition"
    return (f"# {plan.tiles} tiles of {plan.rows} x {plan.columns} {plan.dtype} by {copies}, ring of {plan.ring}, "
            f"into {sink}; {roles}")


def _constants(kernel: Kernel) -> dict[str, str]:
    """Layouts by name: of tiles in the registers of every partition, and of shared memory."""
    plan = kernel.plan
    found: dict[str, str] = {}
    if plan.loop != "range":
        found["tiles"] = str(plan.tiles)
    for part in kernel.partitions:
        names = Names(plan, part.role, part.warps)
        for number in range(len(plan.sources)):
            main = layouts.blocked(plan, plan.tile_shape(number), part.warps)
            other = layouts.columnwise(plan.tile_shape(number), part.warps)
            found[names.tile(number)] = main.text
            found[names.other(number)] = other.text
            found[names.transposed(number, other=True)] = other.transposed.text
            found[names.transposed(number, other=False)] = main.transposed.text
        if isinstance(plan.sink, Dot) and part.role == "compute":
            accumulator = (f"gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{part.warps}, 1], "
                           f"instr_shape=[16, {plan.sink.n}, {256 // (8 * plan.itemsize)}])")
            found["ACCUMULATOR"] = accumulator
            found["OPERAND"] = f"gl.DotOperandLayout(0, {accumulator}, {4 // plan.itemsize})"
    for number in range(len(plan.sources)):
        found[f"SHARED{number}"] = layouts.ring_layout(plan, number)
    found["SHARED_OUT"] = (layouts.core_layout(plan, plan.sink.swizzle) if isinstance(plan.sink, TmaStore)
                           else layouts.PLAIN)
    found["STAGE"] = layouts.PLAIN
    return found


def _setup(kernel: Kernel, dialect: Dialect, main: Lines) -> list[str]:
    """Descriptors, shared memory and barriers; returns every parameter that a kernel may have."""
    plan = kernel.plan
    main.add("program = gl.program_id(0)")
    for number, source in enumerate(plan.sources):
        shape = plan.tile_shape(number)
        if source.copy == "tma":
            rows = "width" if source.across else str(shape[0])
            columns = str(shape[1]) if source.across else "width"
            main.add(f"x{number}_map = tma.make_tensor_descriptor(x{number}_ptr, [programs * {rows}, {columns}], "
                     f"[pitch{number}, 1], [{shape[0]}, {shape[1]}], SHARED{number})")
        main.add(f"x{number} = gl.allocate_shared_memory({GL_DTYPES[plan.dtype]}, "
                 f"[{plan.ring}, {shape[0]}, {shape[1]}], SHARED{number})")
    sink = plan.sink
    tile = f"{plan.rows}, {plan.columns}"
    if isinstance(sink, TmaStore):
        rows = str(plan.rows) if sink.reduce else f"programs * {plan.rows}"
        main.add(f"out_map = tma.make_tensor_descriptor(out_ptr, [{rows}, width], [out_pitch, 1], [{tile}], "
                 "SHARED_OUT)")
    if isinstance(sink, TmaStore) or plan.has("store"):
        slots = sink.buffers if isinstance(sink, TmaStore) else plan.ring
        main.add(f"staged = gl.allocate_shared_memory({GL_DTYPES[plan.dtype]}, [{slots}, {tile}], SHARED_OUT)")
    for stage, _ in kernel.stages:
        main.add(f"{stage} = gl.allocate_shared_memory({layouts.integer(plan)}, [{tile}], STAGE)")
    for ring in kernel.barriers:
        main.add(f"{ring.name} = gl.allocate_shared_memory(gl.int64, [{ring.depth}, 1], mbarrier.MBarrierLayout())")
    for ring in kernel.barriers:
        main.add(f"for k in gl.static_range({ring.depth}):", f"    mbarrier.init({ring.name}.index(k), count="
                 f"{ring.count * (plan.weight if ring.name.startswith('empty') else 1)})")
    if kernel.barriers and not plan.workers:
        main.add(dialect.barrier)
    pointers = [f"x{n}_ptr" for n in range(len(plan.sources))] + ["out_ptr", "second_ptr", "side_ptr"]
    numbers = ["programs", "width", *(f"pitch{n}" for n in range(len(plan.sources))), "out_pitch"]
    return pointers + numbers + (["tiles"] if plan.loop == "range" else [])


def _teardown(kernel: Kernel, dialect: Dialect, main: Lines) -> None:
    if kernel.barriers and not kernel.plan.workers:
        main.add(dialect.barrier)
    for ring in kernel.barriers:
        main.add(f"for k in gl.static_range({ring.depth}):", f"    mbarrier.invalidate({ring.name}.index(k))")


def registers_asked(kernel: Kernel, dialect: Dialect) -> list[int]:
    """What the worker partitions request per thread; [] where that is left to the compiler. A version that wants a
    request is asked for an even share of the 65536 registers, which every plan compiles with."""
    asked = [part.registers for part in kernel.partitions[1:]]
    if all(asked) or dialect.register_requests_optional:
        return asked if all(asked) else []
    return [even_share(kernel.plan)] * len(asked)


def _specialised(kernel: Kernel, dialect: Dialect, bodies: list[Lines], text: Lines, main: Lines) -> None:
    """One function per partition, taking what its body mentions, and the call that starts them."""
    plan = kernel.plan
    available = ["program", "programs", "width", "out_pitch", "out_ptr", "second_ptr", "side_ptr", "staged", "out_map"]
    for n in range(len(plan.sources)):
        available += [f"x{n}", f"x{n}_map", f"x{n}_ptr", f"pitch{n}"]
    available += [ring.name for ring in kernel.barriers] + [stage for stage, _ in kernel.stages]
    if plan.loop == "range":
        available.append("tiles")
    calls = []
    for part, body in zip(kernel.partitions, bodies, strict=True):
        used = [one for one in available if any(re.search(rf"\b{one}\b", line) for line in body.lines)]
        text.add("", "", "@gluon.jit", f"def {part.role}({', '.join(used)}):")
        text.extend(body if body.lines else Lines(lines=["    pass"]))
        calls.append(f"({part.role}, ({', '.join(used)}{',' if len(used) == 1 else ''}))")
    workers = kernel.partitions[1:]
    warps = [part.warps for part in workers]
    registers = registers_asked(kernel, dialect)
    asked = f", {registers}" if registers else ""
    result = "folded = " if _returns(kernel.partitions[0], plan) else ""
    main.add(f"{result}gl.warp_specialize([")
    main.add(*(f"    {call}," for call in calls))
    main.add(f"], {warps}{asked})")
    if result:
        names = Names(plan, kernel.partitions[0].role, kernel.partitions[0].warps)
        main.add(*names.coordinates(0), f"gl.store(out_ptr + (program * {plan.rows} + rows0) * out_pitch + columns0, "
                 "folded[0])")


def _returns(default: Partition, plan: Plan) -> bool:
    return isinstance(plan.sink, Fold) and plan.sink.returned and isinstance(default.steps[-1], FoldEnd)
