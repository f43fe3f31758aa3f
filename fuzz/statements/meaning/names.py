"""What kernels that run as Python call `tl`, and what rewritten statements call `_run`."""

import inspect
import operator
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

from tridiff.fuzz.language.promotion import of_types
from tridiff.fuzz.statements.meaning import memory
from tridiff.fuzz.statements.meaning.memory import Pointer, PointerType
from tridiff.fuzz.statements.meaning.types import TypeName
from tridiff.fuzz.statements.meaning.values import (
    Illegal,
    Run,
    Unsettled,
    Value,
    computed_in,
    is_number,
    type_of_number,
)
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype

Later = Callable[[], Any]
_COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
            ">=": operator.ge}
MOST_TRIPS = 64


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Value]]:
    """The tensors of a variable with their names: itself, or those of a tuple or an aggregate."""
    if isinstance(value, Value):
        yield name, value
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _leaves(part, f"{name}.{place}")
    elif hasattr(type(value), "takes_over"):
        for field, part in vars(value).items():
            yield from _leaves(part, f"{name}.{field}")


def _told(argument: Any) -> str:
    """What a function is compiled for: types of tensors, numbers, and which function or type another argument is."""
    if isinstance(argument, Value | Pointer):
        return f"{type(argument).__name__} {argument.name} {argument.shape}"
    if isinstance(argument, tuple):
        return f"{type(argument).__name__}({', '.join(map(_told, argument))})"
    if hasattr(type(argument), "takes_over"):
        return f"{type(argument).__name__}({', '.join(map(_told, vars(argument).values()))})"
    return str(getattr(argument, "__name__", repr(argument)))


class Statements:
    """`_run`: what assignments, conditions and operators of Python mean in a kernel."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._variant: dict[str, str] = {}

    def assigned(self, value: Any, name: str | tuple[Any, ...], nested: bool) -> Any:
        """What a variable holds, or several that a tuple is unpacked into: numbers become tensors. A branch or loop
        leaves the type of a variable as it is."""
        found = self._tensors(value)
        if isinstance(name, tuple):
            for part, one in zip(found, name, strict=True):
                self.assigned(part, one, nested)
            return found
        if isinstance(found, Unsettled):
            raise Illegal(f"the type of {name} depends on the version")
        if name:
            variant = self._variant.get(name.partition(".")[0], "")
            for place, one in _leaves(found, name):
                key, kind = variant + place, (one.name, one.shape)
                if nested and self.run.kinds.setdefault(key, kind) != kind:
                    raise Illegal(f"{place} changes its type")
                self.run.kinds[key] = kind
        return found

    def entered(self, function: str, arguments: dict[str, Any]) -> str:
        """A call of a function, which is compiled once for all calls with arguments of the same types and numbers: its
        variables have the same types in all of them. What tells those calls from others."""
        variant = self._variant[function] = " ".join(map(_told, arguments.values()))
        for name, value in arguments.items():
            self.assigned(value, f"{function}.{name}", False)
        return variant

    def returned(self, value: Any, function: str, variant: str) -> Any:
        """What a function gives: of the same types wherever it returns."""
        for place, one in _leaves(self._tensors(value), f"{function}.returned"):
            kind = one.name, one.shape
            if self.run.kinds.setdefault(variant + place, kind) != kind:
                raise Illegal(f"{function} returns several types")
        return value

    def leaves(self, *conditions: Any) -> bool:
        """Whether a return in these branches ends its function. Where types are found out the front end goes on behind
        one that is taken for sure."""
        return self.run.decide is None or any(isinstance(one, Value) for one in conditions)

    def _tensors(self, value: Any) -> Any:
        if is_number(value):
            return self.run.constant(value)
        if isinstance(value, tuple):
            parts = [self._tensors(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value

    def again(self, condition: Any, loop: int) -> bool:
        """Whether a loop goes on; where types are found out, once at most, and also where its condition is a number."""
        self.run.step()
        decide, goes_on = self.run.decide, bool(condition)
        if decide is not None and loop in self.run.running:
            goes_on = False
        elif decide is not None and not goes_on and not isinstance(condition, Value):
            goes_on = decide((*self.run.unrolled,))  # the body is compiled whatever the number is
        if not goes_on:
            self.run.running.discard(loop)
            return False
        self.run.running.add(loop)
        return True

    def either(self, condition: Any, then: Later, otherwise: Later) -> Any:
        """A conditional expression; with a condition of run time both sides are tensors of one type."""
        if not isinstance(condition, Value):
            return then() if condition else otherwise()
        taken, other = self.run.tensor(then()), self.run.tensor(otherwise())
        if (taken.name, taken.shape) != (other.name, other.shape):
            raise Illegal("sides of different types")
        return taken if condition else other

    def _combined(self, values: tuple[Later, ...], method: str, stops: bool) -> Any:
        kept, last = [], None
        for later in values:
            last = later()
            if isinstance(last, Value):
                kept.append(last)
            elif bool(last) is stops:
                return last
        if not kept:
            return last
        found = kept[0]
        for one in kept[1:]:
            found = getattr(found, method)(one)
        return found

    def all_of(self, *values: Later) -> Any:
        return self._combined(values, "logical_and", False)

    def any_of(self, *values: Later) -> Any:
        return self._combined(values, "logical_or", True)

    def negated(self, value: Any) -> Any:
        return value.negated() if isinstance(value, Value) else not value

    def chain(self, symbols: list[str], *operands: Later) -> Any:
        """a < b < c, as (a < b) and (b < c)."""
        pairs = zip(symbols, operands[:-1], operands[1:], strict=True)
        return self.all_of(*(lambda s=symbol, a=left, b=right: _COMPARE[s](a(), b()) for symbol, left, right in pairs))

    def asserted(self, condition: Any) -> None:
        """An assertion of a generated kernel holds."""
        if self.run.decide is None and not bool(condition):
            raise Illegal("a failed assertion")

    def loop(self, first: Any, second: Any = None, step: Any = 1, **hints: Any) -> Iterator[Any]:
        """`range` and `tl.range`: the variable is of the type of both bounds and the step together."""
        run = self.run
        low, high = (0, first) if second is None else (first, second)
        if isinstance(step, int) and step < 0:
            bounds = [run.tensor(one) for one in (low, high, -step)]
        else:
            bounds = [run.tensor(one) for one in (low, high, step)]
        if any(dtype(one.name).is_float or one.shape for one in bounds):
            raise Illegal("bounds of a loop are whole numbers")
        kind = computed_in("|", Value(run, bounds[0].data, bounds[0].name), bounds[1])
        kind = computed_in("|", run.constant(0, kind), bounds[2])
        places = [int(run.lib.cast(one.data, to=kind).item()) for one in bounds]
        signed = -places[2] if isinstance(step, int) and step < 0 else places[2]
        if run.decide is not None:
            places, signed = [0, 1, 1] if run.decide((*run.unrolled,)) else [0, 0, 1], 1
        if signed == 0 or (signed < 0 and not isinstance(step, int)):
            raise Illegal("a step of run time is positive")
        numbers = range(places[0], places[1], signed)
        if len(numbers) > MOST_TRIPS:
            raise Illegal("too many trips")
        for number in numbers:
            yield run.constant(number, kind)

    def unrolled_loop(self, *bounds: int, **hints: Any) -> Iterator[int]:
        """`tl.static_range`: its numbers are constants, and every trip has statements of its own."""
        unrolled = self.run.unrolled
        depth = len(unrolled)
        for number in range(*bounds):
            unrolled[depth:] = [number]
            yield number
        del unrolled[depth:]


def _decorated(*args: Any, **options: Any) -> Any:
    """`@triton.jit`, with and without options."""
    return args[0] if args else lambda function: function


def _static_assert(condition: Any, message: str = "") -> None:
    if condition is not True:
        raise Illegal(f"static assertion: {message}")


def _hinted(x: Any, values: Any) -> Any:
    return x


def namespace(run: Run) -> dict[str, Any]:
    """The globals of a kernel's module."""
    statements = Statements(run)
    lib = run.lib

    def arange(start: int, end: int) -> Value:
        data = lib.rows_of(None, 1, list(range(start, end)), to="i32", shape=(end - start,))
        return Value(run, data, "i32")

    def full(shape: Any, value: Any, to: TypeName) -> Value:
        shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        one = value.to(to) if isinstance(value, Value) else run.constant(
            int(value) if value == 0 and not to.is_floating() else value, to.name)
        return Value(run, lib.broadcast(one.data, shape=shape), to.name)

    def where(condition: Any, x: Any, y: Any) -> Value:
        condition = run.tensor(condition).to(TypeName("i1"))
        kind = _common(run, x, y)
        operands = [one.data if isinstance(one, Value) else one for one in (x, y)]
        return Value(run, lib.where(condition.data, *operands, computed=kind), kind)

    def extremum(kind: str) -> Callable[[Any, Any], Value | Unsettled]:
        def function(x: Any, y: Any) -> Value | Unsettled:
            computed = _common(run, x, y)
            operands = [one.data if isinstance(one, Value) else one for one in (x, y)]
            if computed == "i1":
                raise Illegal("the larger of truth values")
            if dtype(computed).is_float:
                run.note_zeros(*(one.to(TypeName(computed)) if isinstance(one, Value) else run.constant(one, computed)
                                 for one in (x, y)))
            found = Value(run, lib.pointwise("fmin" if kind == "min" else "fmax", computed, *operands), computed)
            return found if _before(x, y, computed) == computed else Unsettled(found)

        return function

    def builtin(kind: str) -> Callable[[Any, Any], Value | Unsettled]:
        found = extremum(kind)

        def function(x: Any, y: Any) -> Value | Unsettled:
            if is_number(x) and is_number(y):
                raise Illegal("Python's extremum of two numbers is one, which has no methods")
            return found(x, y)

        return function

    def fold(kind: str) -> Callable[..., Value]:
        def function(x: Value, axis: int | None = None, keep_dims: bool = False) -> Value:
            wide = x
            info = dtype(x.name)
            if not x.shape:
                raise Illegal("a scalar has no axis to fold")
            if not info.is_float and info.bits < 32:
                wide = x.to(TypeName("i32" if info.kind == "int" or kind != "sum" else "u32"))
            elif info.is_float and kind == "sum":
                raise Illegal("sums of floats have no single answer")
            elif info.bits < 32:
                wide = x.to(TypeName("fp32"))
            if info.is_float:
                run.note_zeros(wide)
            return Value(run, lib.fold(wide.data, kind=kind, axis=axis, keep=keep_dims), wide.name)

        return function

    def to_tensor(x: Any) -> Value:
        return run.tensor(x)

    tl = SimpleNamespace(
        constexpr=SimpleNamespace, tensor=Value, arange=arange, full=full, where=where,
        zeros=lambda shape, to: full(shape, 0, to),
        program_id=lambda axis: run.constant(run.program if axis == 0 else 0, "i32"),
        load=lambda pointer, mask=None, other=None: memory.load(run, pointer, mask, other),
        store=lambda pointer, value, mask=None: memory.store(run, pointer, value, mask),
        minimum=extremum("min"), maximum=extremum("max"), sum=fold("sum"), max=fold("max"), min=fold("min"),
        cast=lambda x, to, bitcast=False: run.tensor(x).to(to, bitcast), static_assert=_static_assert,
        static_print=lambda *args, **options: None, device_print=lambda *args, **options: None,
        device_assert=lambda condition, message="", mask=None: statements.asserted(condition),
        static_range=statements.unrolled_loop, range=statements.loop, assume=lambda condition: None,
        multiple_of=_hinted, max_contiguous=_hinted, max_constancy=_hinted, pointer_type=PointerType,
        broadcast_to=lambda x, *shape: _broadcast(run, x, shape), reshape=lambda x, *shape: _reshaped(run, x, shape),
        expand_dims=lambda x, axis: x[(slice(None),) * axis + (None,)], trans=lambda x: x.T,
        cdiv=lambda a, b: (a + b - 1) // b, condition=lambda condition, disable_licm=False: condition,
        **{spelled.removeprefix("tl."): TypeName(name) for name, spelled in TRITON_NAMES.items()})
    tl.constexpr = lambda value: value
    tl.core = SimpleNamespace(_aggregate=_aggregate, to_tensor=to_tensor)
    triton = SimpleNamespace(jit=_decorated, constexpr_function=_decorated)
    return {"tl": tl, "triton": triton, "_run": statements, "range": statements.loop, "print": tl.device_print,
            "NamedTuple": NamedTuple, "min": builtin("min"), "max": builtin("max")}


def _aggregate(kind: Any) -> Any:
    """A class whose fields that are tensors take no numbers."""
    made = kind.__init__
    tensors = [name for one in kind.__mro__ for name, field in inspect.get_annotations(one).items()
               if field is Value]

    def initialise(self: Any, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        if any(is_number(getattr(self, name, None)) for name in tensors):
            raise Illegal("a number for a field that is a tensor")

    kind.takes_over, kind.__init__ = True, initialise
    return kind


def _common(run: Run, x: Any, y: Any) -> str:
    """The type of two operands together, as of an addition that every type has."""
    if isinstance(x, Pointer) or isinstance(y, Pointer):
        raise Illegal("where of pointers")
    if is_number(x) and is_number(y):
        return computed_in("==", run.constant(x), run.constant(y))
    return computed_in("==", x, y)


def _before(x: Any, y: Any, computed: str) -> str:
    """The type of an extremum before 3.9.0: numbers count as tensors, bf16 is widened (contract: language.md §1)."""
    if is_number(x) and is_number(y):
        return computed
    return of_types(*("fp32" if one == "bf16" else one for one in (
        type_of_number(one) if is_number(one) else one.name for one in (x, y))))


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape


def _broadcast(run: Run, x: Value, shape: tuple[Any, ...]) -> Value:
    return Value(run, run.lib.broadcast(x.data, shape=_shape(shape)), x.name)


def _reshaped(run: Run, x: Value, shape: tuple[Any, ...]) -> Value:
    return Value(run, run.lib.reshape(x.data, shape=_shape(shape)), x.name)
