"""Layouts of TTGIR as maps: which warp, lane and register holds which element."""

import re

from tridiff.fuzz.explain.model import Layout

MOST_ELEMENTS = 4096
"""Elements of a block for which owners are listed."""

_ALIAS = re.compile(r"^(#[\w$.-]+) = (#?ttg?n?g?\.[\w.]+<.*>)$", re.MULTILINE)
_RESULT = re.compile(r"= \"?([a-z_]+\.[a-z_0-9.]+)\"?.*tensor<((?:\d+x)+)[^,<>]*(?:<[^<>]*>)?[^,<>]*, (#[\w$.-]+)>")
_WARPS = re.compile(r'"ttg.num-warps" = (\d+)')


def of_text(ttgir: str) -> tuple[Layout, ...]:
    """The layouts of a kernel's tensors, each with the largest shape that it is used for."""
    defined = dict(_ALIAS.findall(ttgir))
    shapes: dict[str, tuple[int, ...]] = {}
    users: dict[str, dict[str, None]] = {}
    for line in ttgir.splitlines():
        found = _RESULT.search(line)
        if not found or found[3] not in defined:
            continue
        shape = tuple(map(int, found[2].rstrip("x").split("x")))
        if shape > shapes.get(found[3], ()):
            shapes[found[3]] = shape
        users.setdefault(found[3], {})[found[1]] = None
    warps = int(found_warps[1]) if (found_warps := _WARPS.search(ttgir)) else 4
    return tuple(_layout(name, defined[name], shape, warps, tuple(users[name])) for name, shape in shapes.items())


def _layout(name: str, text: str, shape: tuple[int, ...], warps: int, users: tuple[str, ...]) -> Layout:
    said = text.removeprefix("#")
    size = 1
    for extent in shape:
        size *= extent
    if size > MOST_ELEMENTS:
        return Layout(name=name, text=said, shape=shape, users=users,
                      problem=f"{size:,} elements: too many to list their owners")
    owners = owners_of(said, shape, warps)
    return Layout(name=name, text=said, shape=shape, users=users, owners=owners,
                  problem="" if owners else "no map is known for this kind of layout")


def owners_of(text: str, shape: tuple[int, ...], warps: int) -> tuple[tuple[int, int, int], ...]:
    """(warp, lane, register) by element in row-major order, of the first that holds it; () for a kind that is not
    known. text: as TTGIR spells a layout, without names for its parts."""
    if text.startswith("ttg.blocked<"):
        return _from_bases(_blocked_bases(text, shape), shape)
    if text.startswith("ttg.linear<"):
        parts = {name: [tuple(map(int, vector.split(","))) for vector in re.findall(r"\[([\d, ]+)\]", body)]
                 for name, body in re.findall(r"(register|lane|warp) = \[((?:\[[\d, ]+\](?:, )?)*)\]", text)}
        return _from_bases((parts.get("register", []), parts.get("lane", []), parts.get("warp", [])), shape)
    return ()


def _numbers(text: str, name: str) -> list[int]:
    found = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
    return [int(one) for one in found[1].split(",")] if found and found[1] else []


Bases = tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, ...]]]
"""What each bit of register, lane and warp adds to the coordinates."""


def _blocked_bases(text: str, shape: tuple[int, ...]) -> Bases:
    """Bits of registers, then lanes, then warps fill the axes in the layout's order; what is left of the shape goes
    to further registers, what is too much holds the same elements again."""
    order = _numbers(text, "order")
    at = [1] * len(shape)
    parts: list[list[tuple[int, ...]]] = []
    for name in ("sizePerThread", "threadsPerWarp", "warpsPerCTA"):
        extents, bases = _numbers(text, name), []
        for axis in order:
            step = 1
            while step < extents[axis]:
                inside = at[axis] < shape[axis]
                bases.append(tuple(at[axis] if one == axis and inside else 0 for one in range(len(shape))))
                at[axis] *= 2
                step *= 2
        parts.append(bases)
    for axis in order:
        while at[axis] < shape[axis]:
            parts[0].append(tuple(at[axis] if one == axis else 0 for one in range(len(shape))))
            at[axis] *= 2
    return parts[0], parts[1], parts[2]


def _from_bases(bases: Bases, shape: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    size = 1
    for extent in shape:
        size *= extent
    owners: list[tuple[int, int, int] | None] = [None] * size
    registers, lanes, warps = (_sums(one, len(shape)) for one in bases)
    for warp, by_warp in enumerate(warps):
        for lane, by_lane in enumerate(lanes):
            for register, by_register in enumerate(registers):
                number = 0
                for extent, *parts in zip(shape, by_warp, by_lane, by_register, strict=True):
                    number = number * extent + (parts[0] ^ parts[1] ^ parts[2]) % extent
                if owners[number] is None:
                    owners[number] = (warp, lane, register)
    return () if None in owners else tuple(one for one in owners if one is not None)


def _sums(bases: list[tuple[int, ...]], rank: int) -> list[tuple[int, ...]]:
    """Coordinates by number: the exclusive or of the bases whose bit is set."""
    found = [(0,) * rank]
    for basis in bases:
        found += [tuple(a ^ b for a, b in zip(one, basis, strict=True)) for one in found]
    return found
