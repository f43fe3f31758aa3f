"""Lines that kernels of calls and programs share, in Triton and in Gluon: arrays loaded, results checked and stored."""

from collections.abc import Callable, Sequence

from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES

ANOTHER_TYPE = "the result has another type"
ANOTHER_SHAPE = "the result has another shape"
ASSERTED = {"another_type": ANOTHER_TYPE, "another_shape": ANOTHER_SHAPE}
"""What a kernel asserts of its results when it is compiled, by the kind of the finding that the assertion is."""

Index = Callable[[tuple[int, ...]], str]
"""Offsets of a contiguous block of a shape, as source."""


def arrays(operands: Sequence[Operand], results: int) -> list[str]:
    """Names of the parameters that point to operands and results, each with the pitch of its rows."""
    given = [f"x{number}" for number, one in enumerate(operands) if one.given]
    return [part for name in (*given, *(f"out{number}" for number in range(results)))
            for part in (f"{name}_ptr", f"{name}_pitch")]


def loaded(operands: Sequence[Operand], index: Index) -> list[str]:
    """x0, x1, ... of this program's row, of the operands that lie in memory."""
    lines = []
    for number, operand in enumerate(operands):
        if operand.given:
            place = f"x{number}_ptr + program * x{number}_pitch"
            if operand.kind == "block":
                place += f" + {index(operand.shape)}"
            # Truth values lie in memory as bytes.
            converted = ".to(tl.int1)" if operand.dtype == "i1" else ""
            lines.append(f"x{number} = tl.load({place}){converted}")
    return lines


def stored(results: Sequence[tuple[str, Result]], index: Index,
           placed: Callable[[str, Result], str] = lambda name, result: name) -> list[str]:
    """Each result, by the name that holds it: its type and shape asserted, then stored. placed: the value in the form
    in which it is stored."""
    lines = []
    for number, (name, result) in enumerate(results):
        lines += [f'tl.static_assert({name}.dtype == {TRITON_NAMES[result.dtype]}, "{ANOTHER_TYPE}")',
                  f'tl.static_assert(len({name}.shape) == {len(result.shape)}, "{ANOTHER_SHAPE}")']
        lines += [f'tl.static_assert({name}.shape[{axis}] == {extent}, "{ANOTHER_SHAPE}")'
                  for axis, extent in enumerate(result.shape)]
        place = f"out{number}_ptr + program * out{number}_pitch"
        if result.shape:
            place += f" + {index(result.shape)}"
        lines.append(f"tl.store({place}, {placed(name, result)})")
    return lines
