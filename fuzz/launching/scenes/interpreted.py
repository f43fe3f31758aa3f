"""Kernels in Triton's interpreter as it is, without our repairs: what every name of theirs holds at the end.

Nothing is judged: two builds of one release must give the same values in the same types, or the same refusal.
"""

import hashlib
import io
import mmap
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from inspect import ismodule
from random import Random
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tridiff.fuzz.backends.device_errors import refusal
from tridiff.fuzz.interpreter import Repairs, repaired
from tridiff.fuzz.launching import fragments_plain
from tridiff.fuzz.launching.apart import answered
from tridiff.fuzz.launching.lines import module, statements, trimmed
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.spoil import variants
from tridiff.fuzz.launching.vocabulary import GIVEN
from tridiff.fuzz.launching.words import Arguments, placed_in
from tridiff.fuzz.verdicts import Declined
from tridiff.fuzz.versions import interpreter_module, interpreting
from tridiff.kernels.generated import load
from tridiff.oracles.dtypes import torch_dtype

_SECONDS = 1.5
"""Time of a core for one kernel: some do not end."""
_END = "\n    keep(locals())\n"
CHANGED = 3
"""Changed texts of a piece."""
_SHOWN, _WIDTH = 60, 40
_ELEMENTS, _ALIGNED = 2048, 1 << 16
_ADDRESS = re.compile(r"(?<![\d.])\d{14,15}(?![\d.])")
"""Integers that are not the same twice. No other has as many digits: those of extremes are more."""


class Memory:
    """Arrays of one kernel, and what the kernel keeps of its values, as text. arrays: whose addresses may appear."""

    def __init__(self, arrays: Sequence[torch.Tensor]) -> None:
        self._arrays = arrays
        self.kept: list[dict[str, str]] = []
        """By name, for each program."""

    def keep(self, names: dict[str, Any]) -> None:
        """What a kernel calls at its end."""
        self.kept.append({name: self.told(value) for name, value in names.items()})

    def told(self, value: Any) -> str:
        """A value as type and elements, or a digest of many; an address as a distance from the array before it."""
        if isinstance(value, tl.tensor):
            data = np.asarray(value.handle.data)
            shown = self._places(data) if value.dtype.is_ptr() else _elements(data)
            # Beside Triton's type stand numpy's and the shape that the data really has.
            return f"{value.type} {data.dtype} {data.shape} {shown}"
        if isinstance(value, tl.constexpr):
            return f"constant {self.told(value.value)}"
        if isinstance(value, tl.tuple | tuple | list):
            return f"{type(value).__name__} ({', '.join(self.told(one) for one in value)})"
        if isinstance(value, tl.tensor_descriptor):
            handle = value.handle
            return f"descriptor {self.told([handle.base, handle.shape, handle.strides])} {value.block_shape} " \
                   f"{handle.padding}"
        if isinstance(value, int | float | str | tl.dtype | None):
            return repr(value)
        if callable(value) or ismodule(value):
            # What else they hold is of the installation: folders, lines.
            return f"{type(value).__name__} {getattr(value, '__name__', '')}"
        if hasattr(value, "data"):
            data = np.asarray(value.data)
            return f"{value.dtype} {self._places(data) if value.dtype.is_ptr() else _elements(data)}"
        fields = sorted(getattr(value, "__dict__", {}).items())
        return f"{type(value).__name__} {({name: self.told(one) for name, one in fields})}"

    def _places(self, data: Any) -> str:
        """Addresses as number of an array and distance."""
        first = int(np.ravel(data)[0]) if np.size(data) else 0
        place = placed_in(first, self._arrays)
        if place is None:
            return "elsewhere"
        number, apart = place
        return f"array {number} {_elements(np.asarray(data).astype(np.int64) - (first - apart))}"

    def digest(self) -> str:
        """Of all arrays."""
        return _digest(b"".join(one.view(torch.uint8).numpy().tobytes() for one in self._arrays))


def _filled(values: str, dtype: torch.dtype) -> torch.Tensor:
    """The elements of an array. values: "small" for indexes, "wide" for signs, extremes and what is no number."""
    steps = torch.arange(_ELEMENTS, dtype=torch.int64)
    special: tuple[Any, ...]
    if values == "small":
        found = (steps * 7) % 16
        return found.to(dtype) / 2 if dtype.is_floating_point else found.to(dtype)
    if dtype.is_floating_point:
        wide = ((steps * 37) % 101 - 50).to(dtype) / 4
        special = (float("nan"), float("inf"), -float("inf"), -0.0, torch.finfo(dtype).tiny, torch.finfo(dtype).max)
    else:
        wide = ((steps * 37) % 101 - 50).to(dtype)
        special = (torch.iinfo(dtype).min, torch.iinfo(dtype).max, -1 if dtype.is_signed else 255)
    for place, value in enumerate(special):
        wide[2 + 3 * place::29] = value
    return wide


def _placed(array: torch.Tensor) -> torch.Tensor:
    """A copy at an address whose low bits are always the same: kernels may look at those of an address. It is mapped:
    addresses of the heap may be as short as other numbers."""
    room = torch.frombuffer(mmap.mmap(-1, array.numel() * array.element_size() + _ALIGNED), dtype=torch.uint8)
    start = -room.data_ptr() % _ALIGNED
    found = room[start:start + array.numel() * array.element_size()].view(array.dtype)
    return found.copy_(array)


@contextmanager
def _defined() -> Iterator[None]:
    """Masked lanes of an atomic operation's result, which are whatever memory held, are zero."""
    native = interpreter_module()._interpreter
    real = native.atomic_rmw

    def atomic_rmw(operation: Any, pointer: Any, value: Any, mask: Any, order: Any) -> Any:
        found = real(operation, pointer, value, mask, order)
        return np.where(mask, found, found.dtype.type(0))

    native.atomic_rmw = atomic_rmw
    try:
        yield
    finally:
        native.atomic_rmw = real


def _elements(data: Any) -> str:
    text = _ADDRESS.sub("address", " ".join(map(str, np.ravel(data).tolist())))
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}... {_digest(text.encode())}"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=6).hexdigest()


def values(choices: Choices, backend: str) -> Answers:
    """Statements of one part, each a kernel of its own."""
    part = str(choices["part"])
    language = part.partition(": ")[0]
    return _answers({name: partial(_left, module(language, line) + _END, str(choices["values"]))
                     for name, line in statements(part).items()})


def whole(choices: Choices, backend: str) -> Answers:
    """A piece of a kernel."""
    piece, luck = str(choices["piece"]), Random(f"{choices['piece']} {choices['draw']}")
    changed = variants(fragments_plain.FRAGMENTS[piece], luck, fragments_plain.NAMES, changed=CHANGED)
    return _answers({name: partial(_left, trimmed("plain", one) + _END, str(choices["values"]))
                     for name, one in changed.items()})


def given(choices: Choices, backend: str) -> Answers:
    """What a kernel is given of its arguments, and of its grid."""
    way = str(choices["way"])
    return _answers({word: partial(_given, word, str(choices["grid"]), way) for word in GIVEN})


def _left(text: str, values: str) -> str:
    """What a module's kernel leaves, or its refusal; what it changed in memory and printed either way."""
    arrays = {f"{name}_ptr": _placed(_filled(values, torch_dtype(dtype)))
              for name, dtype in fragments_plain.ARRAYS.items()}
    memory = Memory(tuple(arrays.values()))

    def start(made: Any) -> None:
        given = arrays | fragments_plain.NUMBERS
        made.kernel[(1,)](**{name: value for name, value in given.items() if name in made.kernel.arg_names})

    return _played(text, memory, start)


def _played(text: str, memory: Memory, start: Callable[[Any], None]) -> str:
    written = io.StringIO()
    try:
        made: Any = load(text, name="kernel", fresh=True)
        made.keep = memory.keep
        with redirect_stdout(written):
            start(made)
        everything = "; ".join(f"{name} {one}" for kept in memory.kept for name, one in sorted(kept.items()))
        shown = ", ".join(f"{name} {one}" for kept in memory.kept[-1:] for name, one in list(kept.items())[-2:])
        found = f"{_digest(everything.encode())} {len(memory.kept)} {shown[:_SHOWN]}"
    except Exception as error:
        found = f"{_ADDRESS.sub('address', refusal(error))}{_line(error)}"
    printed = _ADDRESS.sub("address", written.getvalue())
    told = f" printed {_digest(printed.encode())} {printed[:_WIDTH]!r}" if printed else ""
    return f"{found} [{memory.digest()}]{told}"


def _line(error: BaseException | None) -> str:
    """Where in a kernel or a helper of it, as the innermost such frame says; "" if there is none."""
    found = ""
    while error is not None:
        for frame, line in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name in ("kernel", "helper"):
                found = f" line {line}"
        error = error.__cause__
    return found


_KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(a, b=5, c: tl.constexpr = 3, *, e=16):
    i = tl.program_id(0) + 10 * tl.program_id(1) + 100 * tl.program_id(2)
    j = tl.num_programs(0) + 10 * tl.num_programs(1) + 100 * tl.num_programs(2)
    loaded = a.load([0, 8]) if isinstance(a, tl.tensor_descriptor) else 0
    before = a.load([-1, 0]) if isinstance(a, tl.tensor_descriptor) else 0
    keep(locals())
"""


def _given(word: str, grid: str, way: str) -> str:
    arguments = Arguments()
    value = _descriptor(word, arguments) if word.startswith("descriptor") else arguments.make(word)
    if way == "reinterpreted" and isinstance(value, torch.Tensor):
        value = triton.reinterpret(value, tl.int8)
    memory = Memory(arguments.arrays)
    sizes: Any = tuple(int(one) for one in grid.split())

    def start(made: Any) -> None:
        kernel = made.kernel
        kernel.add_pre_run_hook(lambda *given, **named: memory.kept.append({"hook": f"{len(given)} {sorted(named)}"}))
        size = (lambda names: (*sizes, len(names))) if way == "grid by function" else sizes
        if way == "by name":
            kernel[size](a=value, e=value, c=value, num_warps=4)
        elif way == "inside":
            kernel[size]((value, (3, value)), b=(value,))
        elif way == "constant":
            kernel[size](1, 2, value)
        elif way == "too few":
            kernel[size](b=value)
        elif way == "warm-up":
            kernel.warmup(value, grid=size)
        else:
            kernel[size](value, value)

    return _played(_KERNEL, memory, start)


def _descriptor(word: str, arguments: Arguments) -> Any:
    """Word: "descriptor DTYPE PADDING", and "rounded" behind it, which older versions have not."""
    _, dtype, padding, *more = word.split()
    array = arguments.make(f"tensor {dtype} 0")
    array.copy_(torch.arange(array.numel()).view(array.shape) * 1.0009765625)
    if dtype == "fp32":
        # Two that are no number, and infinity, which rounding must leave alone; half way above an even one, and below.
        array[3:8] = torch.tensor([0x7FFFFFFF, -0x7FFFFF, 0x7F800000, 0x3F801000, 0x3F800FFF],
                                  dtype=torch.int32).view(torch.float32)
    rounded = [one for one in ("round_f32_to_tf32",) if more and one in TensorDescriptor.__dataclass_fields__]
    return TensorDescriptor(array, [4, 16], [16, 1], [2, 16], padding=padding, **dict.fromkeys(rounded, True))


def _answers(asked: dict[str, Callable[[], str]]) -> Answers:
    """Answers of a copy of this process, without our repairs."""
    if not interpreting():
        raise Declined("Triton was imported to compile")
    with repaired(Repairs.none()), _defined(), np.errstate(all="ignore"):
        return dict(zip(asked, answered(tuple(asked.values()), seconds=_SECONDS), strict=True))
