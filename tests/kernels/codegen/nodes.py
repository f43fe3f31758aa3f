"""Short ways to write a graph: nodes refer to earlier ones by position, expressions take numbers as they are.

Test support, importable without Triton.
"""

from typing import Any

from tridiff.kernels.codegen.graph import (
    Apply,
    Asm,
    Buffer,
    Cast,
    Constant,
    Expr,
    Function,
    Index,
    Load,
    Masked,
    Num,
    Part,
    Pointwise,
    Reduce,
    Scan,
    Schedule,
    Store,
    Sym,
)

X, Y, R = Sym("x0"), Sym("x1"), Sym("r")


def apply(function: Function, *args: Expr | int) -> Expr:
    """A function of expressions and numbers."""
    return Apply(function, tuple(Num(one) if isinstance(one, int) else one for one in args))


def buffer(name: str, dtype: str, length: int, role: Any = "in") -> Buffer:
    return Buffer(name=name, dtype=dtype, length=length, role=role)


def out(name: str, dtype: str, length: int) -> Buffer:
    return buffer(name, dtype, length, "out")


def tiles(*x_blocks: int, **more: Any) -> Schedule:
    return Schedule(x_blocks=x_blocks, **more)


def load(name: str, index: Expr = X, **more: Any) -> Load:
    return Load(buffer=name, index=index, **more)


def store(name: str, value: int, index: Expr = X, **more: Any) -> Store:
    return Store(buffer=name, value=value, index=index, **more)


def constant(value: str, dtype: str) -> Constant:
    return Constant(value=value, dtype=dtype)


def value_of(expr: Expr, dtype: str = "i64") -> Index:
    return Index(expr=expr, dtype=dtype)


def op(name: str, *args: int) -> Pointwise:
    return Pointwise(op=name, args=args)


def cast(arg: int, dtype: str, **more: Any) -> Cast:
    return Cast(arg=arg, dtype=dtype, **more)


def masked(mask: int, arg: int, **more: Any) -> Masked:
    return Masked(mask=mask, arg=arg, **more)


def asm(body: Any, *args: int, **more: Any) -> Asm:
    return Asm(body=body, args=args, **more)


def reduce(kind: Any, *args: int) -> Reduce:
    return Reduce(kind=kind, args=args)


def scan(combine: Any, *args: int) -> Scan:
    return Scan(combine=combine, args=args)


def part(of: int, item: int = 0) -> Part:
    return Part(of=of, item=item)
