"""Constants."""

import re
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.table import gives
from tridiff.fuzz.evaluate.types import Type, is_float, split


@gives("arith.constant")
def constant(operation: Operation) -> Any:
    """A scalar, or a block as `dense<...>`."""
    cached = operation.__dict__.get("constant")
    if cached is None:
        text, *kinds = split(operation.head, " : ")
        text = re.sub(r"^\{[^}]*\}\s*", "", text.strip())
        kind = operation.type if kinds else Type("i1")
        cached = operation.__dict__["constant"] = _read(text, kind)
    return cached


def _read(text: str, kind: Type) -> Any:
    dense = re.fullmatch(r"dense<(.*)>", text, re.DOTALL)
    if not dense:
        return _scalar(text, kind)
    inside = dense[1].strip()
    if inside.startswith('"0x'):
        raw = np.frombuffer(bytes.fromhex(inside[3:-1]), dtype=kind.dtype)
        return np.broadcast_to(raw, kind.shape) if raw.size == 1 else raw.reshape(kind.shape)
    numbers = [_scalar(one.strip(), kind) for one in re.sub(r"[\[\]]", "", inside).split(",")]
    if len(numbers) == 1:
        return np.full(kind.shape, numbers[0])
    return np.array(numbers).reshape(kind.shape)


def _scalar(text: str, kind: Type) -> Any:
    if text in ("true", "false"):
        return np.asarray(text == "true")
    if is_float(kind.element):
        if text.startswith("0x"):
            width = kind.dtype.itemsize
            return np.asarray(np.array(int(text, 16), dtype=f"u{width}").view(kind.dtype))
        return np.asarray(np.array(float(text)).astype(kind.dtype))
    try:
        number = int(text, 0)
    except ValueError:
        raise NotEvaluated(f"constant {text[:40]}") from None
    return np.asarray(number != 0) if kind.element == "i1" else np.asarray(number).astype(kind.dtype)


@gives("ub.poison")
def poison(operation: Operation) -> Any:
    return undefined(operation.type)


def undefined(kind: Type) -> Any:
    """What stands for values that nothing defines: 0xAB in every byte, a NaN for floats."""
    value = np.nan if is_float(kind.element) else filler(kind.dtype)
    return np.full(kind.shape, value).astype(kind.dtype)


def filler(dtype: np.dtype) -> Any:
    """What an undefined integer holds: 0xAB in every byte; a truth value is true."""
    return True if dtype == np.bool_ else np.frombuffer(b"\xab" * dtype.itemsize, dtype=dtype)[0]
