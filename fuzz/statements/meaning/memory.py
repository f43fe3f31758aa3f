"""Pointers into the arrays of a case, and what loads and stores do with them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tridiff.fuzz.statements.meaning.types import TypeName
from tridiff.fuzz.statements.meaning.values import Illegal, Run, Value, is_number, together
from tridiff.oracles.dtypes import dtype


def _torch_bits() -> ModuleType:
    """Only where arrays are tensors of torch, which the process that draws cases does not import."""
    from tridiff.oracles import bits

    return bits


class Memory:
    """One array, flat, of an element type. written: whether kernels may store there."""

    def __init__(self, flat: Any, name: str, *, written: bool = False) -> None:
        self.flat, self.name, self.written = flat, name, written
        # torch cannot index every unsigned type: it gets the bits.
        self._bits = flat if isinstance(flat, np.ndarray) else _torch_bits().to_bits(flat)

    def take(self, places: list[int], shape: tuple[int, ...]) -> Any:
        """The elements there, as an array of one block."""
        taken = self._bits[places].reshape((1, *shape))
        return taken if isinstance(taken, np.ndarray) else _torch_bits().from_bits(taken, self.name)

    def put(self, places: list[int], values: Any) -> None:
        """Overwrite elements, in order. values: a flat array."""
        given = values if isinstance(values, np.ndarray) else _torch_bits().to_bits(values)
        for number, place in enumerate(places):
            if place >= 0:
                self._bits[place] = given[number]


class Pointer:
    """A tensor of addresses: elements of type `name`, counted from the start of an array."""

    takes_over = True
    """Whether an operator between a tensor and this is for this to answer."""

    def __init__(self, run: Run, memory: Memory, places: Value) -> None:
        self.run, self.memory, self.places, self.name = run, memory, places, memory.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.places.shape

    def _moved(self, offset: Any, symbol: str) -> Pointer:
        if isinstance(offset, bool) or not (isinstance(offset, int) or (
                type(offset) is Value and not dtype(offset.name).is_float)):
            raise Illegal(f"a pointer {symbol} {type(offset).__name__}")
        if isinstance(offset, Value):
            together(self.shape, offset.shape)
            offset = offset.to(TypeName("i64"))
        return Pointer(self.run, self.memory, self.places + offset if symbol == "+" else self.places - offset)

    def __add__(self, offset: Any) -> Pointer:
        return self._moved(offset, "+")

    __radd__ = __add__

    def __sub__(self, offset: Any) -> Pointer:
        return self._moved(offset, "-")

    def to(self, to: PointerType) -> Pointer:
        """The same addresses; of elements of another type of the same width, whose bits they are."""
        name = to.element_ty.name
        if dtype(name).bits != dtype(self.name).bits or self.memory.written:
            raise Illegal(f"a pointer to {self.name} as one to {name}")
        flat = self.memory.flat
        if self.run.decide is None:
            flat = self.run.lib.bitcast(flat, to=name)
        return Pointer(self.run, Memory(flat, name), self.places)

    def __getitem__(self, index: Any) -> Pointer:
        return Pointer(self.run, self.memory, self.places[index])

    @property
    def dtype(self) -> PointerType:
        return PointerType(TypeName(self.name))

    @property
    def type(self) -> PointerType:
        return self.dtype


class PointerType:
    """`tl.pointer_type(T)`, and what `ptr.dtype` is."""

    def __init__(self, element_ty: TypeName) -> None:
        self.element_ty = element_ty

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointerType) and other.element_ty == self.element_ty

    def __hash__(self) -> int:
        return hash(self.element_ty)

    @property
    def scalar(self) -> PointerType:
        return self

    def is_ptr(self) -> bool:
        return True


def _flat_places(pointer: Pointer, mask: Value | None) -> tuple[list[int], list[bool], tuple[int, ...]]:
    """Where each lane points, and whether it takes part."""
    shape = pointer.shape if mask is None else together(pointer.shape, mask.shape)
    if shape != pointer.shape:
        raise Illegal("a mask with more elements than its pointers")
    places = [int(one) for one in pointer.places.data.reshape(-1).tolist()]
    lanes = [True] * len(places)
    if mask is not None:
        lib = pointer.run.lib
        lanes = [bool(one) for one in lib.broadcast(lifted(mask, len(shape)).data, shape=shape).reshape(-1).tolist()]
    length = len(pointer.memory.flat)
    if any(taken and not 0 <= place < length for place, taken in zip(places, lanes, strict=True)):
        if pointer.run.decide is None:
            raise Illegal("an access outside of its array")
        places = [place % length for place in places]
    return places, lanes, shape


def lifted(x: Value, rank: int) -> Value:
    """x with axes of length 1 in front."""
    return Value(x.run, x.run.lib.reshape(x.data, shape=(1,) * (rank - len(x.shape)) + x.shape), x.name)


def load(run: Run, pointer: Pointer, mask: Any = None, other: Any = None) -> Value:
    """As `tl.load`; what a masked-off lane gives without an other value is open."""
    mask = None if mask is None else run.tensor(mask)
    places, lanes, shape = _flat_places(pointer, mask)
    if other is None and not all(lanes):
        run.open = True
    taken = pointer.memory.take([place if lane else 0 for place, lane in zip(places, lanes, strict=True)], shape)
    found = Value(run, taken, pointer.name)
    if mask is None or other is None:
        return found
    filler = run.constant(other, pointer.name) if is_number(other) else other.to(TypeName(pointer.name))
    return Value(run, run.lib.where(mask.data, found.data, filler.data, computed=pointer.name), pointer.name)


def store(run: Run, pointer: Pointer, value: Any, mask: Any = None) -> None:
    """As `tl.store`: converted to the type that is pointed to."""
    mask = None if mask is None else run.tensor(mask)
    places, lanes, shape = _flat_places(pointer, mask)
    if not pointer.memory.written:
        raise Illegal("a store to an input")
    wide = run.tensor(value).to(TypeName(pointer.name))
    together(shape, wide.shape)
    flat = run.lib.broadcast(lifted(wide, len(shape)).data, shape=shape).reshape(-1)
    pointer.memory.put([place if lane else -1 for place, lane in zip(places, lanes, strict=True)], flat)
