"""From a chain to the text of one Gluon kernel that a person can read."""

import math
from collections.abc import Mapping

from msgspec import UNSET

from tridiff.kernels.gluon import chain as c
from tridiff.kernels.gluon.chain import Chain, Limit, Step
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.dialect import GL_DTYPES, IMPORTS, Dialect
from tridiff.kernels.gluon.layouts import Distributed, Shared, Slice, constructor, strides, untransposed
from tridiff.kernels.gluon.values import Tensor, Type

KERNEL = "chain"
"""Name of the kernel in the emitted module."""

_INFIX = {"add": "+", "xor": "^", "and": "&", "or": "|"}
_CALLED = {"min": "gl.minimum", "max": "gl.maximum"}


class Unsupported(Exception):
    """The installed Triton has no such operation."""


def emit(chain: Chain, dialect: Dialect, *, planted: str = "") -> str:
    """The module that defines the kernel `chain`. planted: a defect of `faults.WRITTEN` to write in.

    Raises Illegal for a chain that `check` refuses, Unsupported for one that needs what the dialect lacks.
    """
    return _Writer(chain, dialect, planted).module()


def scalars(chain: Chain) -> Mapping[str, int]:
    """Values of the kernel's integer arguments, which come after its pointers."""
    found: dict[str, int] = {}
    for number, step in enumerate(chain.steps):
        if isinstance(step, c.Index) and step.running:
            found[f"slot{number}"] = step.slot
        elif isinstance(step, c.Ring):
            found[f"tiles{number}"] = step.tiles
    return found


def combined(op: str, left: str, right: str) -> str:
    """The expression for `left op right`."""
    if op in _INFIX:
        return f"{left} {_INFIX[op]} {right}"
    return f"{_CALLED[op]}({left}, {right}).to({left}.dtype)"  # which promotes bf16


class _Writer:
    def __init__(self, chain: Chain, dialect: Dialect, planted: str) -> None:
        self.chain, self.dialect, self.planted = chain, dialect, planted
        self.types: tuple[Type, ...] = typed(chain)
        self.layouts: dict[Distributed | Shared, str] = {}
        self.lines: list[str] = []
        self.places: dict[tuple[object, ...], str] = {}
        self.functions: dict[str, str] = {}

    def module(self) -> str:
        for number, step in enumerate(self.chain.steps):
            text = self.text(number, step)
            self.lines.append(f"v{number} = {text}" if self.types[number] is not None else text)
        constants = "".join(f"{name} = gl.constexpr({constructor(layout)})\n" for layout, name in self.layouts.items())
        running = tuple(scalars(self.chain))
        names = ", ".join((*(f"{array.name}_ptr" for array in self.chain.arrays), *running))
        decorator = f"@gluon.jit(do_not_specialize={list(running)})" if running else "@gluon.jit"
        body = "\n".join("    " + line for text in self.lines for line in text.splitlines())
        functions = "".join(f"\n\n@gluon.jit\ndef {name}(a, b):\n    return {body}\n"
                            for name, body in self.functions.items())
        return f"{IMPORTS}\n{constants}{functions}\n\n{decorator}\ndef {KERNEL}({names}):\n{body}\n"

    def layout(self, layout: Distributed | Shared) -> str:
        """The name of a layout. Slices are written out, which shows what they are slices of."""
        if isinstance(layout, Slice):
            return f"gl.SliceLayout({layout.dim}, {self.layout(layout.parent)})"
        if layout not in self.layouts:
            register = isinstance(layout, Distributed)
            same = [one for one in self.layouts.values() if one.startswith("L" if register else "S")]
            self.layouts[layout] = f"{'L' if register else 'S'}{len(same)}"
        return self.layouts[layout]

    def tensor(self, number: int) -> Tensor:
        found = self.types[number]
        assert isinstance(found, Tensor)
        return found

    def arange(self, shape: tuple[int, ...], layout: Distributed, axis: int) -> str:
        """Indices along one axis, with the other axes of extent 1."""
        own = layout
        for other in reversed([k for k in range(len(shape)) if k != axis]):
            own = Slice(other, own)
        text = f"gl.arange(0, {shape[axis]}, layout={self.layout(own)})"
        if len(shape) == 1:
            return text
        return text + "[" + ", ".join(":" if k == axis else "None" for k in range(len(shape))) + "]"

    def weighted(self, shape: tuple[int, ...], layout: Distributed, strides: tuple[int, ...]) -> str:
        """Sum of indices times strides, over all axes, so that the result has the full shape."""
        terms = []
        for axis, stride in enumerate(strides):
            line = self.arange(shape, layout, axis)
            terms.append(line if stride == 1 else f"{line} * {stride}")
        return " + ".join(terms)

    def offsets(self, shape: tuple[int, ...], layout: Distributed, order: tuple[int, ...]) -> str:
        """A variable with the offsets of a tensor of `shape` that is an array transposed by `order`."""
        order = () if self.planted == "order_not_transposed" else order
        own = strides(untransposed(shape, order))
        own = tuple(own[axis] for axis in order) or own
        key = (shape, layout, own)
        if key not in self.places:
            name = f"at{len(self.places)}"
            self.lines.append(f"{name} = {self.weighted(shape, layout, own)}")
            self.places[key] = name
        return self.places[key]

    def mask(self, mask: Limit, shape: tuple[int, ...], layout: Distributed) -> str:
        return f"{self.arange(shape, layout, mask.axis)} < {mask.count}"

    def function(self, op: str) -> str:
        name = f"combine_{op}"
        self.functions[name] = combined(op, "a", "b")
        return name

    def text(self, number: int, step: Step) -> str:
        """Of a step with a value the expression, of others the statement."""
        if not self.dialect.atomics and (
                isinstance(step, c.Atomic) or (isinstance(step, c.Gather | c.Scatter) and not self.dialect.gathers) or
                (isinstance(step, c.Scatter) and self.tensor(step.source).shape != self.tensor(step.index).shape)):
            raise Unsupported("this Triton has no such gather, scatter or atomic on shared memory")
        match step:
            case c.Load():
                return self.load(number, step)
            case c.Ramp():
                return self.ramp(step)
            case c.Convert():
                return self.converted(f"v{step.source}", step.layout)
            case c.Transpose():
                return self.converted(f"gl.permute(v{step.source}, {step.order})", step.layout)
            case c.Regroup():
                return self.converted(f"gl.reshape(v{step.source}, {list(step.shape)})", step.layout)
            case c.Fp4():
                packed = f"v{step.source}"
                if self.planted == "fp4_nibbles_swapped":
                    packed = f"(({packed} >> 4) & 15) | ({packed} << 4)"
                return self.converted(f"gl.fp4_to_fp({packed}, {GL_DTYPES[step.dtype]}, {step.axis})", step.layout)
            case c.Combine():
                return combined(step.op, f"v{step.left}", f"v{step.right}")
            case c.Reduce():
                return self.converted(f"gl.reduce(v{step.source}, {step.axis}, {self.function(step.op)})",
                                      self.tensor(number).layout)
            case c.Scan():
                reverse = ", reverse=True" if step.reverse else ""
                return self.converted(
                    f"gl.associative_scan(v{step.source}, {step.axis}, {self.function(step.op)}{reverse})",
                    self.tensor(number).layout)
            case c.Take():
                return f"gl.gather(v{step.source}, v{step.index}, {step.axis})"
            case c.Out():
                return self.out(step)
            case c.Alloc():
                shape = (step.slots, *step.shape) if step.slots else step.shape
                source = () if step.source is UNSET else (f"v{step.source}",)
                return self.allocated(step.dtype, shape, step.layout, *source)
            case c.Store():
                stores = [k for k, one in enumerate(self.chain.steps) if isinstance(one, c.Store)]
                missing = self.planted == "store_missing" and number == stores[-1]
                return "pass" if missing else f"v{step.view}.store(v{step.source})"
            case c.Read():
                return f"v{step.view}.load({self.layout(step.layout)})"
            case c.Index():
                return f"v{step.view}.index({f'slot{number}' if step.running else step.slot})"
            case c.Subslice():
                return f"v{step.view}.slice({step.start}, {step.length}, dim={step.axis})"
            case c.Permute():
                return f"v{step.view}.permute({step.order})"
            case c.Reshape():
                return f"v{step.view}.reshape({step.shape})"
            case c.Reinterpret():
                return (f"v{step.view}.{self.dialect.reinterpret}({GL_DTYPES[step.dtype]}, {list(step.shape)}, "
                        f"{self.layout(step.layout)})")
            case c.Gather():
                return f"v{step.view}.gather(v{step.index}, {step.axis})"
            case c.Scatter():
                return f"v{step.view}.scatter(v{step.source}, v{step.index}, {step.axis})"
            case c.Atomic():
                made, mask = self.tensor(number), ""
                if step.mask is not UNSET:
                    assert made.layout is not None
                    mask = f", {self.mask(step.mask, made.shape, made.layout)}"
                return f"v{step.view}.atomic_scatter_{step.op}(v{step.source}, v{step.index}, {step.axis}{mask})"
            case c.Barrier():
                return self.dialect.barrier
            case c.Dealloc():
                return f"v{step.view}.{self.dialect.keep_alive}()"
            case c.Ring():
                return self.ring(number, step)

    def converted(self, text: str, layout: Distributed | None) -> str:
        """A tensor in a layout; None for a scalar, which has none."""
        return text if layout is None else f"gl.convert_layout({text}, {self.layout(layout)})"

    def allocated(self, dtype: str, shape: tuple[int, ...], layout: Shared, *source: str) -> str:
        parts = (GL_DTYPES[dtype], str(list(shape)), self.layout(layout), *source)
        return f"gl.allocate_shared_memory({', '.join(parts)})"

    def load(self, number: int, step: c.Load) -> str:
        made = self.tensor(number)
        array = self.chain.arrays[step.array]
        there = step.layout if step.pointers is UNSET else step.pointers
        pointers = f"{array.name}_ptr + {self.offsets(made.shape, there, step.order)}"
        if step.pointers is not UNSET:
            pointers = self.converted(pointers, step.layout)
        rest = ""
        if step.mask is not UNSET:
            # No integer becomes an 8-bit float, and no boolean is loaded as one.
            other = f"{step.other}.0" if "fp" in array.dtype or array.dtype == "bf16" else step.other
            rest = f", mask={self.mask(step.mask, made.shape, step.layout)}, other={other}"
        return f"gl.load({pointers}{rest})" + (" != 0" if array.dtype == "i1" else "")

    def ramp(self, step: c.Ramp) -> str:
        text = self.weighted(step.shape, step.layout, step.strides)
        if step.start:
            text += f" + {step.start}"
        if step.flip:
            text = f"({text}) ^ {step.flip}"
        if step.mask != -1:
            text = f"({text}) & {step.mask}"
        return text if step.dtype == "i32" else f"({text}).to({GL_DTYPES[step.dtype]})"

    def out(self, step: c.Out) -> str:
        source = self.tensor(step.source)
        name = f"{self.chain.arrays[step.array].name}_ptr"
        value = f"v{step.source}" + (".to(gl.int8)" if source.dtype == "i1" else "")
        if source.layout is None:
            return f"gl.store({name}, {value})"
        return f"gl.store({name} + {self.offsets(source.shape, source.layout, step.order)}, {value})"

    def ring(self, number: int, step: c.Ring) -> str:
        source, target = (self.chain.arrays[one] for one in (step.source, step.target))
        written = self.offsets(step.shape, step.written, ())
        read = self.offsets(step.shape, step.read, ())
        size = math.prod(step.shape)
        slots, ahead, tiles = step.slots, step.ahead, f"tiles{number}"
        filled = f"t + {ahead}" if ahead else "t"
        looked = "(t + 1)" if self.planted == "ring_slot_off_by_one" else "t"

        def fill(tile: str) -> str:
            loaded = f"gl.load({source.name}_ptr + {_factor(tile)} * {size} + {written})"
            return f"r{number}.index({_factor(tile)} % {slots}).store({loaded})"

        lines = [f"r{number} = {self.allocated(source.dtype, (slots, *step.shape), step.layout)}"]
        if ahead:
            lines += [f"for t in range({ahead}):", f"    {fill('t')}"]
        lines += [f"for t in range({tiles}):"]
        if ahead:
            lines += [f"    if {filled} < {tiles}:", f"        {fill(filled)}"]
        else:
            lines += [f"    {fill('t')}"]
        lines += [f"    gl.store({target.name}_ptr + t * {size} + {read}, "
                  f"r{number}.index({looked} % {slots}).load({self.layout(step.read)}))"]
        return "\n".join(lines)


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text
