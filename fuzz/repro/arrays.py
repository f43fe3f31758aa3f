"""Statements of a script that place its arrays in memory as the case lays them out."""

import itertools
import math
import re

from tridiff.fuzz.backends import kind
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.repro import formulas, literals
from tridiff.fuzz.repro.checks import Expected

_FILL = 77
"""What outputs hold before the launch, so that an element never written shows."""


def held_once(buffer: Buffer) -> tuple[int, ...]:
    """The array's shape with one element along axes that repeat theirs."""
    repeated = buffer.spec.layout.broadcast
    return tuple(1 if dim in repeated else n for dim, n in zip(buffer.spec.dims, buffer.shape, strict=True))


def placed(buffer: Buffer, expected: Expected | None, *, backend: str, guarded: bool) -> list[str]:
    """Statements that place one array as the case lays it out. guarded: keep the memory around it in sight."""
    spec, shape, strides = buffer.spec, buffer.shape, buffer.strides
    once = held_once(buffer)
    taken = set() if expected is None else set(expected.values.double().reshape(-1).tolist())
    fill = next(number for number in range(_FILL, 128) if number not in taken or number == 127)
    dense = tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    plain = strides == dense or math.prod(shape) == 1
    device = _device(backend)
    stored, view = literals.storage_dtype(spec.dtype), literals.view(spec.dtype)
    if buffer.is_output:
        if plain and not spec.layout.offset and not guarded:
            return [f"{spec.name} = torch.full({shape}, {fill}, dtype={stored}{device}){view}"]
        start = spec.layout.offset + (16 if guarded else 0)
        size = start + _span(shape, strides) + (16 if guarded else 0)
        memory = f"torch.full(({size},), {fill}, dtype={stored}{device})"
        if guarded:
            return [f"{spec.name}_memory = {memory}",
                    f"{spec.name} = {spec.name}_memory.as_strided({shape}, {strides}, {start}){view}"]
        return [f"{spec.name} = {memory}.as_strided({shape}, {strides}, {start}){view}"]
    assert buffer.values is not None
    values = buffer.values.as_strided(once, buffer.values.stride()) if once != shape else buffer.values
    value = literals.torch_expression(values.contiguous(), spec.dtype, device=device)
    if plain and not spec.layout.offset and once == shape:
        formula = formulas.of_content(spec, values.contiguous()) if len(value) > literals.READABLE else ""
        if formula and len(formula) < len(value):
            return [f"{spec.name} = {formula}{'.cuda()' if device else ''}"]
        return [f"{spec.name} = {value}{view}"]
    size = spec.layout.offset + _span(once, strides)
    start = spec.layout.offset
    return [f"{spec.name} = torch.zeros({size}, dtype={stored}{device}).as_strided({once}, {strides}, {start})"
            f".copy_({value}){view}"]


def _device(backend: str) -> str:
    """What a constructor of tensors is given to place one."""
    return ', device="cuda"' if kind(backend) == "cuda" else ""


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


_PLAIN = re.compile(r"(\w+) = torch\.(tensor|full)\((.*?)(, dtype=torch\.\w+[^()]*\))$")


def grouped(lines: list[str]) -> list[str]:
    """Arrays of one type and of the same layout, one behind the other, as one statement. Each stays a tensor of its
    own, with the alignment of its own allocation."""
    result: list[str] = []
    for _, group in itertools.groupby(lines, key=_alike):
        members = list(group)
        found = [match for line in members if (match := _PLAIN.match(line))]
        if len(found) < 2:
            result += members
            continue
        names, last = ", ".join(one[1] for one in found), found[-1]
        if last[2] == "tensor":
            result.append(f"{names} = (torch.tensor(v{last[4]} for v in ({', '.join(one[3] for one in found)}))")
        else:
            result.append(f"{names} = (torch.full({last[3]}{last[4]} for _ in range({len(found)}))")
    return result


def _alike(line: str) -> tuple[str, ...]:
    """What lines must have in common to be one statement."""
    match = _PLAIN.match(line)
    if match is None:
        return (line,)
    return (match[2], match[4]) if match[2] == "tensor" else (match[2], match[3], match[4])
