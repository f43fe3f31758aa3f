"""A chain in the making: steps are drawn one by one and checked as they are added."""

import math
from collections.abc import Collection, Sequence
from typing import TypeVar

from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from tridiff.fuzz.kinds.chains import layouts
from tridiff.kernels.gluon.chain import MAX_ARRAYS, MAX_STEPS, Chain, Convert, DType, Global, Limit, Load, Out, Step
from tridiff.kernels.gluon.check import add
from tridiff.kernels.gluon.layouts import LANES, Distributed, untransposed
from tridiff.kernels.gluon.rules_buffers import bytes_of
from tridiff.kernels.gluon.values import MAX_SHARED_BYTES, WIDTH, Illegal, State, Tensor, View, as_tensor, most_elements

T = TypeVar("T", bound=str)

EVERY: tuple[DType, ...] = (
    "i32", "fp16", "i8", "fp32", "i64", "fp64", "bf16", "i16", "u8", "u16", "u32", "u64", "fp8e4nv", "fp8e5")
"""Element types that shared memory holds, simplest first."""

REGISTER_ONLY: tuple[DType, ...] = ("i1",)


class Draft:
    """Steps so far and what is known of their values."""

    def __init__(self, draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> None:
        self.draw = draw
        self.warps = draw(warps(only))
        self.only = only
        """Steps, layouts and element types (`coverage.features`) of which the chain is made, as far as it can be."""
        self.elements = min(elements, 16 * LANES * self.warps)
        """Most elements of one tensor."""
        self.arrays: list[Global] = []
        self.steps: list[Step] = []
        self.state = State(self.warps, self.arrays)

    def step(self, step: Step) -> int:
        """Take a step that must be legal; its number."""
        add(self.state, step)
        self.steps.append(step)
        return len(self.steps) - 1

    def fits(self, step: Step) -> bool:
        """Whether a step that changes no buffer is legal now."""
        try:
            add(self.state, step)
        except Illegal:
            return False
        self.state.types.pop()
        return True

    def undo(self) -> None:
        """Take back the last step, which changed no buffer."""
        self.state.types.pop()
        self.steps.pop()

    def readable(self, number: int) -> bool:
        """Whether a view is not too large and every byte that it sees was written."""
        view = self.view(number)
        written = self.state.memory[view.buffer].written
        return view.places.size <= most_elements(self.warps) and bool(written[bytes_of(view)].all())

    def tensor(self, number: int) -> Tensor:
        return as_tensor(self.state.types[number])

    def view(self, number: int) -> View:
        found = self.state.types[number]
        assert isinstance(found, View)
        return found

    def layout(self, shape: tuple[int, ...]) -> Distributed:
        """Any layout for a tensor of this shape."""
        return self.draw(layouts.distributed(shape=shape, warps=self.warps, only=self.only))

    def one(self, among: Sequence[T]) -> T:
        """An element type or the name of a step."""
        return self.draw(st.sampled_from([name for name in among if name in self.only] or among))

    def axis(self, shape: tuple[int, ...]) -> int:
        return self.draw(st.integers(0, len(shape) - 1))

    def limit(self, shape: tuple[int, ...]) -> Limit:
        """Any mask for a tensor of this shape."""
        axis = self.axis(shape)
        return Limit(axis, self.draw(st.integers(0, shape[axis])))

    def array(self, dtype: DType, shape: tuple[int, ...], *, output: bool = False,
              between: tuple[int, int] | UnsetType = UNSET) -> int:
        """A new array in global memory; its number."""
        letter = "out" if output else "in"
        count = sum(one.output == output for one in self.arrays)
        self.arrays.append(Global(f"{letter}{count}", dtype, shape, output, between))
        return len(self.arrays) - 1

    @property
    def room(self) -> bool:
        """Whether there may be two more arrays, and the steps that use them."""
        return len(self.arrays) + 2 <= MAX_ARRAYS and len(self.steps) + 8 <= MAX_STEPS

    @property
    def shared_bytes_left(self) -> int:
        """Of shared memory, beside the buffers so far."""
        return MAX_SHARED_BYTES - self.state.shared_bytes

    def bytes_of(self, dtype: DType, shape: tuple[int, ...]) -> int:
        """Bytes of a buffer without padding."""
        return math.prod(shape) * WIDTH[dtype] // 8

    def load(self, dtype: DType, shape: tuple[int, ...], *, layout: Distributed | None = None,
             between: tuple[int, int] | UnsetType = UNSET) -> int:
        """A tensor of a new array: whole or masked, at times transposed, at times with pointers made elsewhere."""
        made = self.layout(shape) if layout is None else layout
        order: tuple[int, ...] = ()
        mask: Limit | UnsetType = UNSET
        pointers: Distributed | UnsetType = UNSET
        other = 0
        kind = self.draw(st.sampled_from(("plain", "plain", "masked", "transposed", "pointers")))
        if kind == "transposed" and len(shape) > 1:
            order = tuple(self.draw(st.permutations(range(len(shape)))))
        elif kind == "masked":
            mask = self.limit(shape)
            least = 0 if dtype.startswith("u") or dtype == "i1" or between is not UNSET else -3
            most = 1 if dtype == "i1" else 3
            other = self.draw(st.integers(least, most)) if between is UNSET else max(0, between[0])
        elif kind == "pointers":
            pointers = self.layout(shape)
        number = self.array(dtype, untransposed(shape, order), between=between)
        return self.step(Load(number, made, order, mask, other, pointers))

    def out(self, value: int) -> None:
        """Store a tensor to a new array, at times transposed."""
        source = self.tensor(value)
        order: tuple[int, ...] = ()
        if source.settled and len(source.shape) > 1 and self.draw(st.integers(0, 5)) == 5:
            order = tuple(self.draw(st.permutations(range(len(source.shape)))))
        number = self.array(source.dtype, untransposed(source.shape, order) or (1,), output=True)
        self.step(Out(value, number, order))

    def converted(self, value: int, layout: Distributed | None = None) -> int:
        """The tensor in another layout."""
        source = self.tensor(value)
        return self.step(Convert(value, self.layout(source.shape) if layout is None else layout))

    def shape(self, *, most: int = 3, smallest: int = 1, elements: int | None = None) -> tuple[int, ...]:
        """Extents, powers of two."""
        rank = self.draw(st.integers(1, most))
        room = elements or self.elements
        extents: list[int] = []
        for _ in range(rank):
            allowed = [n for n in (16, 8, 32, 4, 64, 2, 1, 128, 256) if smallest <= n <= room]
            extents.append(self.draw(st.sampled_from(allowed or [1])))
            room //= extents[-1]
        return tuple(extents)

    def chain(self) -> Chain:
        return Chain(self.warps, tuple(self.arrays), tuple(self.steps))


def warps(only: Collection[str] = ()) -> st.SearchStrategy[int]:
    """Numbers of warps; four most often, or what `only` names (`coverage.features`)."""
    numbers = (4, 4, 1, 2, 8)
    return st.sampled_from([one for one in numbers if f"{one} warps" in only] or numbers)
