"""What a caller must know to launch a driver kernel, as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Grid = tuple[int, int, int]


def cdiv(numerator: int, denominator: int) -> int:
    """The quotient of non-negative ints, rounded up."""
    return -(-numerator // denominator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """One array of a driver: a pointer to element (0, 0) and one stride per axis, counted in elements.

    The arguments are `{name}_ptr`, then `{name}_stride_{axis}` for every axis. Strides may be 0 or negative.
    """

    name: str
    axes: tuple[str, ...] = ("row", "col")

    @property
    def pointer(self) -> str:
        return f"{self.name}_ptr"

    @property
    def strides(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_stride_{axis}" for axis in self.axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver kernel and its calling convention.

    kernel: the jit function (an interpreted function under TRITON_INTERPRET=1).
    inputs, outputs: its arrays. Boolean arrays are one byte per element (0 is False, anything else is True); set the
        constexpr BOOL where the driver has it. Boolean results are stored as 0 or 1 into an 8-bit array.
    integers: run-time ints that are no stride. scalars: run-time operands of a free type.
    constexprs: compile-time arguments, HELPER and FAULT among them.
    grid: from the values of all ints by argument name to the launch grid.
    """

    name: str
    kernel: Any
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    integers: tuple[str, ...]
    constexprs: tuple[str, ...]
    grid: Callable[[Mapping[str, int]], Grid]
    scalars: tuple[str, ...] = ()

    @classmethod
    def of(cls, kernel: Any, *outputs: str, grid: Callable[[Mapping[str, int]], Grid], scalars: tuple[str, ...] = (),
           name: str = "") -> "Driver":
        """The driver that the kernel's signature spells out: arrays as `Array` says, compile-time arguments by their
        annotation. outputs: the arrays that it writes only. name: the kernel's own without `_kernel`."""
        arguments = tuple(kernel.arg_names)
        annotated = kernel.fn.__annotations__
        constexprs = tuple(one for one in arguments if getattr(annotated.get(one), "__name__", "") == "constexpr")
        arrays = {}
        for pointer in arguments:
            if pointer.endswith("_ptr"):
                array = pointer.removesuffix("_ptr")
                axes = (one.removeprefix(f"{array}_stride_") for one in arguments if one.startswith(f"{array}_stride_"))
                arrays[array] = Array(name=array, axes=tuple(axes))
        known = {*constexprs, *scalars}.union(*((one.pointer, *one.strides) for one in arrays.values()))
        return cls(name=name or kernel.fn.__name__.removesuffix("_kernel"), kernel=kernel, grid=grid, scalars=scalars,
                   inputs=tuple(one for one in arrays.values() if one.name not in outputs),
                   outputs=tuple(arrays[one] for one in outputs), constexprs=constexprs,
                   integers=tuple(one for one in arguments if one not in known))

    @property
    def arguments(self) -> tuple[str, ...]:
        """All argument names in the kernel's order."""
        return tuple(self.kernel.arg_names)
