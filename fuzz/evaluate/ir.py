"""Parsed IR: operations in blocks in regions in functions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.types import Type, parse_type, split

VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")


@dataclass
class Block:
    """label: "^bb1", "" for the one that a region begins with. arguments: names of values."""

    label: str = ""
    arguments: tuple[str, ...] = ()
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Region:
    blocks: list[Block] = field(default_factory=lambda: [Block()])
    warps: int = 0
    """Of a partition."""

    def block(self, label: str) -> Block:
        return next(one for one in self.blocks if one.label == label)


@dataclass
class Operation:
    """results: names of values, as they are used. head: its text behind the name, up to the first region. tail: the
    text behind the last region."""

    name: str
    results: tuple[str, ...]
    head: str
    tail: str = ""
    regions: list[Region] = field(default_factory=list)

    @cached_property
    def _parts(self) -> tuple[str, str]:
        """The text in front of the types, and the types."""
        before, *types = split(f" {self.head} {self.tail}", " : ")
        return before, types[-1] if types else ""

    @property
    def before(self) -> str:
        """The text in front of the types."""
        return self._parts[0]

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """Names of values, in order."""
        return tuple(VALUE.findall(_without_braces(self._parts[0])))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Bare words in front of the types: predicates, axes, kinds."""
        return tuple(re.findall(r"(?<![%@#\w.\"])[A-Za-z_]\w*", _without_braces(self._parts[0])))

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The dictionary's entries, values as text without their types."""
        found: dict[str, str] = {}
        for inside in _braces(self._parts[0]):
            for one in split(inside):
                name, _, value = one.partition("=")
                found[name.strip()] = split(value.strip(), " : ")[0].strip()
        return found

    def number(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        value = self.attributes.get(name)
        if value is None:
            if default is None:
                raise NotEvaluated(f"op {self.name} without {name}")
            return default
        return int(value)

    def numbers(self, name: str) -> tuple[int, ...]:
        """An attribute `array<i32: 1, 0>`."""
        return tuple(int(one) for one in re.findall(r"-?\d+", self.attributes.get(name, "").partition(":")[2]))

    def flag(self, name: str, default: bool = False) -> bool:
        """A Boolean attribute; one that is only named is true."""
        value = self.attributes.get(name)
        return default if value is None else value != "false"

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """Every type behind the colon, in order."""
        _, types = self._parts
        found: list[Type] = []
        for side in split(types, "->"):
            for part in split(side, " to "):
                for one in split(part, " * "):
                    inside = one.strip()
                    if inside.startswith("(") and inside.endswith(")"):
                        inside = inside[1:-1]
                    found += [parse_type(text) for text in split(inside) if text.strip()]
        return tuple(found)

    @property
    def type(self) -> Type:
        """The last type: of the (last) result for operations that say it."""
        if not self.types:
            raise NotEvaluated(f"op {self.name} without a type")
        return self.types[-1]


def _braces(text: str) -> list[str]:
    """The insides of dictionaries `{...}` that are in no other bracket, `<{...}>` among them."""
    found, depth, start, quoted = [], 0, 0, False
    for place, one in enumerate(text):
        if one == '"':
            quoted = not quoted
        if quoted:
            continue
        if one == "{":
            depth += 1
            start = place + 1 if depth == 1 else start
        elif one == "}":
            depth -= 1
            if depth == 0:
                found.append(text[start:place])
    return found


def _without_braces(text: str) -> str:
    for inside in _braces(text):
        text = text.replace("{" + inside + "}", " ")
    return re.sub(r'"(?:[^"\\]|\\.)*"', " ", text)


@dataclass
class Function:
    """parameters: names and types."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    body: Region
    public: bool


@dataclass
class Module:
    functions: dict[str, Function]
    attributes: dict[str, str] = field(default_factory=dict)
    layouts: dict[str, str] = field(default_factory=dict)
    """By their names in the text."""

    @property
    def kernel(self) -> Function:
        """The one that is launched."""
        found = [one for one in self.functions.values() if one.public]
        if len(found) != 1:
            raise NotEvaluated(f"a module with {len(found)} public functions")
        return found[0]
