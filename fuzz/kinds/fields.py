"""Programs whose fields say which values they have: steps to simpler ones, and a measure of size.

A field with few values lists them in its type, simplest first; a number has its least value there. So the vocabulary
of a kind of program stands where its kernels are, once, for drawing, reading, shrinking and counting.
"""

import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec

P = TypeVar("P", bound=msgspec.Struct)


@cache
def _types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in msgspec.structs.fields(kind)}


def values(kind: type[msgspec.Struct], name: str) -> tuple[Any, ...]:
    """The values of a field, simplest first; () for one that does not list them."""
    return _listed(_types(kind)[name])


def _listed(hint: Any) -> tuple[Any, ...]:
    if hint is bool:
        return False, True
    return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def _least(hint: Any) -> tuple[int, int]:
    """The least value of a number and what it is a multiple of."""
    bounds = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, msgspec.Meta)]
    least = next((int(one.ge) for one in bounds if one.ge is not None), 0)
    return least, next((int(one.multiple_of) for one in bounds if one.multiple_of is not None), 1)


def misfit(program: msgspec.Struct) -> str:
    """Why a program made in code could not have been read from a file, "" if it could: a field outside of its type."""
    try:
        msgspec.json.decode(msgspec.json.encode(program), type=type(program))
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def size(program: msgspec.Struct) -> tuple[int, ...]:
    """The fields in their order, which is that of their importance; of two programs the smaller is the simpler one."""
    found: list[int] = []
    for name, hint in _types(type(program)).items():
        value = getattr(program, name)
        if isinstance(value, msgspec.Struct):
            found += size(value)
        elif listed := _listed(hint):
            found.append(listed.index(value) if value in listed else len(listed))
        elif isinstance(value, int):
            found.append(value)
        else:
            found.append(len(value))
            found += [sum(map(abs, value))] if isinstance(value, tuple) else []
    return tuple(found)


def simpler(program: P, *, kept: tuple[str, ...] = ()) -> Iterator[P]:
    """Programs with one field simpler, simplest first. kept: fields that stay, because they say what the program is
    about rather than how much of it there is."""
    for name, hint in _types(type(program)).items():
        value = getattr(program, name)
        if name not in kept:
            yield from (msgspec.structs.replace(program, **{name: less}) for less in _less(value, hint, kept))


def _less(value: Any, hint: Any, kept: tuple[str, ...]) -> Iterator[Any]:
    listed = _listed(hint)
    if isinstance(value, msgspec.Struct):
        yield from simpler(value, kept=kept)
    elif listed:
        yield from listed[:listed.index(value)] if value in listed else listed
    elif isinstance(value, int):
        least, step = _least(hint)
        smaller = {least, least + step, value // 2 // step * step, value - step}
        yield from (less for less in sorted(smaller) if least <= less < value)
    elif isinstance(value, tuple):
        (items,) = {one for one in typing.get_args(getattr(hint, "__origin__", hint)) if one is not Ellipsis}
        for place, was in enumerate(value):
            for less in dict.fromkeys((0, 1, int(was / 2))):
                if _least(items)[0] <= less and abs(less) < abs(was):
                    yield *value[:place], less, *value[place + 1:]


def words(program: msgspec.Struct) -> Iterator[tuple[str, object]]:
    """Fields with a list of values, and what they say: the vocabulary that a campaign counts."""
    for name, hint in _types(type(program)).items():
        value = getattr(program, name)
        if isinstance(value, msgspec.Struct):
            yield from words(value)
        elif _listed(hint):
            yield name, value


def members(union: Any) -> tuple[type[msgspec.Struct], ...]:
    """The kinds of programs that a union lists; of one kind, that one."""
    return typing.get_args(union) if isinstance(union, types.UnionType) else (union,)


def tag(program: msgspec.Struct) -> str:
    """The word by which a program's JSON says of which kind it is."""
    return str(program.__struct_config__.tag)
