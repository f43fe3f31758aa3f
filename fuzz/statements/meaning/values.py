"""Tensors of one program instance, with the operators of the language (contract: language.md §1).

A Python number stands for a constexpr: it takes part in operations as `tridiff.fuzz.language.promotion` says. What
the contract leaves undefined marks the whole run as open.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.language.promotion import of_number, promoted, same_signedness
from tridiff.fuzz.statements.meaning.types import TensorType, TypeName
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.language.call import Operand
from tridiff.oracles.dtypes import dtype

_OPERATIONS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv_operator", "%": "mod_operator",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}
_DIVISIONS, _COMPARISONS, _SHIFTS = ("/", "//", "%"), ("==", "!=", "<", "<=", ">", ">="), ("<<", ">>")
_BITWISE = ("&", "|", "^", *_SHIFTS)


Decide = Callable[[tuple[int, ...]], bool]
"""An answer to a condition of run time, by the numbers of the unrolled loops around it."""


class Illegal(Declined):
    """The language refuses this, by its contract, or its contract says nothing of what happens then: a case whose
    program turns out so with its values is not checked."""


class Run:
    """What all tensors of one run share.

    lib: `tridiff.oracles.by_numpy.language` or `tridiff.oracles.by_torch.language`. decide: answers conditions known
    only at run time, for runs that only find out types; None: their values do. open: whether something was undefined.
    """

    def __init__(self, lib: ModuleType, *, program: int = 0, decide: Decide | None = None) -> None:
        self.lib, self.program, self.decide, self.open = lib, program, decide, False
        self.kinds: dict[str, tuple[str, tuple[int, ...]]] = {}
        """Types of variables of the kernel, so that no branch changes one."""
        self.of_floats: set[str] = set()
        """Operators between floats."""
        self.either_zero = False
        """Whether an extremum was taken of zeros of both signs: which one it gives is open."""
        self.steps = 0
        self.running: set[int] = set()
        """Loops that go on, by their lines, where types are found out."""
        self.unrolled: list[int] = []
        """Numbers of the unrolled loops that are run, the outermost first."""

    def afresh(self) -> None:
        """Begin anew: what was left in the middle, by an error or a return, is not gone on with."""
        self.steps, self.running, self.unrolled = 0, set(), []

    def constant(self, value: float, name: str = "") -> Value:
        """A Python number as a scalar tensor, in the type that it has by itself or another one."""
        name = name or type_of_number(value)
        checked(value, name)
        return Value(self, self.lib.constant(value, to=name), name)

    def tensor(self, x: Any) -> Value:
        """A tensor as it is, a number as a scalar."""
        if isinstance(x, Value):
            return x
        if is_number(x):
            return self.constant(x)
        raise Illegal(f"{type(x).__name__} is no tensor")

    def note(self, defined: Any) -> None:
        """Mark the run as open where an operation was undefined."""
        self.open = self.open or not bool(defined.all())

    def note_zeros(self, *operands: Value) -> None:
        """Operands of an extremum: whether there are zeros of both signs among them."""
        if self.decide is not None:
            return
        positive = negative = False
        for one in operands:
            whole = f"i{dtype(one.name).bits}"
            zero = self.lib.pointwise("eq", one.name, one.data, 0)
            minus = zero & self.lib.pointwise("lt", whole, self.lib.bitcast(one.data, to=whole), 0)
            negative, positive = negative or bool(minus.any()), positive or bool((zero & ~minus).any())
        self.either_zero = self.either_zero or (positive and negative)

    def step(self) -> None:
        """Count what is done, so that nothing goes on for ever."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Illegal("the program does not end")


MOST_STEPS = 20_000


def is_number(x: object) -> bool:
    return isinstance(x, bool | int | float)


def type_of_number(x: float) -> str:
    """The type that a Python number has by itself."""
    try:
        return of_number(x)
    except TridiffError as error:
        raise Illegal(str(error)) from None


def checked(x: Any, computed: str) -> None:
    """Refuse a number that cannot be written in the integer type that is computed in."""
    info = dtype(computed)
    if is_number(x) and not info.is_float and (isinstance(x, float) or not info.min <= x <= info.max):
        raise Illegal(f"{x} is out of range for {computed}")


def _kind(x: Any) -> Operand:
    """What promotion looks at: whether a number or a tensor, and its type."""
    return Operand(kind="number", dtype=type_of_number(x)) if is_number(x) else Operand(kind="block", dtype=x.name)


def together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of operands together: of equal rank, or a scalar beside a block; extents equal or 1."""
    rank = max(len(one) for one in shapes)
    lifted = [(1,) * (rank - len(one)) + one for one in shapes]
    found = tuple(max(extents) for extents in zip(*lifted, strict=True))
    if any(extent not in (1, full) for one in lifted for extent, full in zip(one, found, strict=True)):
        raise Illegal(f"shapes {shapes} do not fit")
    return found


def computed_in(symbol: str, a: Any, b: Any) -> str:
    """The type that an operator computes in; Illegal where the language refuses the pair."""
    if not all(is_number(one) or type(one) is Value for one in (a, b)):
        raise Illegal(f"{symbol} of {type(a).__name__} and {type(b).__name__}")
    division, left, right = symbol in _DIVISIONS, _kind(a), _kind(b)
    if division and ("i1" in (left.dtype, right.dtype) or not same_signedness(left, right)):
        raise Illegal(f"{symbol} of {left.dtype} and {right.dtype}")
    computed = promoted(left, right, division=division)
    if dtype(computed).is_float and (symbol in _BITWISE or symbol == "//"):
        raise Illegal(f"{symbol} of floats")
    if computed == "i1" and symbol in ("+", "-", "*", *_SHIFTS):
        raise Illegal(f"{symbol} of truth values")
    checked(a, computed)
    checked(b, computed)
    return computed


def binary(run: Run, symbol: str, a: Any, b: Any) -> Value:
    """An operator of Python between tensors and numbers, at least one of them a tensor."""
    run.step()
    computed, op, lib = computed_in(symbol, a, b), _OPERATIONS[symbol], run.lib
    together(*(one.shape for one in (a, b) if type(one) is Value))
    operands = tuple(one.data if type(one) is Value else one for one in (a, b))
    if computed == "i1" and symbol in _COMPARISONS:
        computed = "u8"  # truth values in order: False, True
    if dtype(computed).is_float or symbol == "/":
        run.of_floats.add(symbol)
    if symbol in (*_DIVISIONS, *_SHIFTS):
        run.note(lib.pointwise_defined(f"{op}_operator" if symbol in _SHIFTS else op, computed, *operands))
    found = lib.pointwise(op, computed, *operands)
    if symbol in _COMPARISONS:
        return Value(run, found, "i1")
    if symbol == "/":
        result = computed if dtype(computed).is_float else "fp32"
        return Value(run, lib.cast(found, to=result), result)
    return Value(run, found, computed)


class Value:
    """A tensor: `data` is an array of the library, with an axis of length 1 in front of the block's."""

    def __init__(self, run: Run, data: Any, name: str) -> None:
        self.run, self.data, self.name = run, data, name

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(one) for one in self.data.shape[1:])

    @property
    def numel(self) -> int:
        return self.type.numel

    @property
    def dtype(self) -> TypeName:
        return TypeName(self.name)

    @property
    def type(self) -> TensorType:
        return TensorType(self.name, self.shape)

    @property
    def T(self) -> Value:
        if len(self.shape) != 2:
            raise Illegal("only matrices are transposed")
        return Value(self.run, self.run.lib.permute(self.data, order=(1, 0)), self.name)

    def to(self, to: TypeName, bitcast: bool = False) -> Value:
        """As `tensor.to`; beyond the range of the type the run is open."""
        run, name = self.run, to.name
        if bitcast:
            if dtype(name).bits != dtype(self.name).bits:
                raise Illegal(f"bits of {self.name} as {name}")
            self._note_bits()
            return Value(run, run.lib.bitcast(self.data, to=name), name)
        if name == "i1":
            return Value(run, run.lib.pointwise("ne", self.name, self.data, 0), "i1")
        run.note(run.lib.cast_defined(self.data, to=name))
        return Value(run, run.lib.cast(self.data, to=name), name)

    def _note_bits(self) -> None:
        """The bits of a computed NaN, and which zeros are negative, are not promised."""
        if dtype(self.name).is_float:
            lib = self.run.lib
            bits = lib.bitcast(self.data, to=f"i{dtype(self.name).bits}")
            self.run.note(lib.pointwise("eq", self.name, self.data, self.data))
            known = lib.pointwise("ne", self.name, self.data, 0)
            self.run.note(known if self.run.either_zero else known | lib.pointwise(
                "eq", f"i{dtype(self.name).bits}", bits, 0))

    def __getitem__(self, index: Any) -> Value:
        """None adds an axis, a bare colon keeps one."""
        places = index if isinstance(index, tuple) else (index,)
        shape, left = [], list(self.shape)
        for one in places:
            if one is None:
                shape.append(1)
            elif one == slice(None) and left:
                shape.append(left.pop(0))
            else:
                raise Illegal(f"index {one}")
        return Value(self.run, self.run.lib.reshape(self.data, shape=(*shape, *left)), self.name)

    def __bool__(self) -> bool:
        self.run.step()
        if self.numel != 1:
            raise Illegal("a block has no single truth value")
        if self.run.decide is not None:
            return self.run.decide((*self.run.unrolled,))
        return bool(self.to(TypeName("i1")).data.all())

    def __neg__(self) -> Value:
        if self.name == "i1":
            raise Illegal("- of truth values")
        return Value(self.run, self.run.lib.pointwise("neg_operator", self.name, self.data), self.name)

    def __invert__(self) -> Value:
        if dtype(self.name).is_float:
            raise Illegal("~ of floats")
        return Value(self.run, self.run.lib.pointwise("bitwise_not", self.name, self.data), self.name)

    def negated(self) -> Value:
        """Python's `not`."""
        if self.name != "i1":
            raise Illegal(f"not of {self.name}")
        return Value(self.run, self.run.lib.pointwise("logical_not", "i1", self.data), "i1")

    def logical_and(self, other: Any) -> Value:
        return self._logical("&", other)

    def logical_or(self, other: Any) -> Value:
        return self._logical("|", other)

    def _logical(self, symbol: str, other: Any) -> Value:
        other = self.run.tensor(other)
        if (self.name, other.name) != ("i1", "i1"):
            raise Illegal(f"and, or of {self.name} and {other.name}")
        return binary(self.run, symbol, self, other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return binary(self.run, "==", self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return binary(self.run, "!=", self, other)

    __hash__ = object.__hash__


class Unsettled:
    """A tensor whose type depends on the version: whichever it is, a conversion to the type that it has by now gives
    the same value. `name`: that type; anything else that is done with the tensor is refused."""

    def __init__(self, value: Value) -> None:
        self.name, self._value = value.name, value

    def to(self, to: TypeName, bitcast: bool = False) -> Value:
        if bitcast or to.name != self.name:
            raise Illegal("a type that depends on the version")
        return self._value


def _both_sides(symbol: str, name: str) -> None:
    setattr(Value, f"__{name}__", lambda self, other: binary(self.run, symbol, self, other)
            if not hasattr(other, "takes_over") else NotImplemented)
    setattr(Value, f"__r{name}__", lambda self, other: binary(self.run, symbol, other, self))


for _symbol, _name in {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "&": "and",
                       "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}.items():
    _both_sides(_symbol, _name)
for _symbol, _name in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}.items():
    setattr(Value, f"__{_name}__", lambda self, other, symbol=_symbol: binary(self.run, symbol, self, other)
            if not hasattr(other, "takes_over") else NotImplemented)
