"""From the text of a module, as MLIR prints it without locations, to operations.

MLIR prints an operation on a line; only regions make it longer: a line that ends in `{` opens one, one that begins
with `}` closes it. Dictionaries of attributes stay on their line.
"""

import re

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Block, Function, Module, Operation, Region, _braces
from tridiff.fuzz.evaluate.types import parse_type, split

_RESULTS = re.compile(r"((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
_NAME = re.compile(r'"?([a-z_]\w*(?:\.\w+)+)"?')
_FUNCTION = re.compile(r"tt\.func (?P<visibility>public |private )?@(?P<name>\"[^\"]*\"|[\w$.-]+)\(")
_PARTITION = re.compile(r"default \{|partition\d+\((?P<arguments>.*)\) num_warps\((?P<warps>\d+)\) \{")


def parse(text: str) -> Module:
    """The module's functions. Raises NotEvaluated where the text is none that it knows."""
    top = Region()
    stack: list[tuple[Operation, Region]] = []
    region = top
    attributes: dict[str, str] = {}
    layouts: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "//", "{-#")):
            name, _, layout = line.partition(" = ")
            layouts[name] = layout
            continue
        if line.startswith("module"):
            for inside in _braces(line.removesuffix("{")):
                attributes |= {key.strip().strip('"'): value.strip() for key, _, value in
                               (one.partition("=") for one in split(inside))}
            stack.append((Operation("module", (), ""), region))
            continue
        if line.startswith("^"):
            region.blocks.append(_block(line))
            if len(region.blocks) == 2 and not region.blocks[0].operations and not region.blocks[0].label:
                region.blocks.pop(0)
            continue
        if line.startswith("}"):
            operation, outer = stack.pop()
            rest = line[1:].strip().removeprefix(",")
            if rest.endswith("{"):
                region = Region()
                operation.regions.append(region)
                stack.append((operation, outer))
            else:
                operation.tail, region = rest.removeprefix(")").strip(), outer
            continue
        partition = _PARTITION.fullmatch(line)
        if partition:
            operation = region.blocks[-1].operations[-1]
            stack.append((operation, region))
            region = Region([Block("", _arguments(partition["arguments"] or ""))], int(partition["warps"] or 0))
            operation.regions.append(region)
            continue
        operation = _operation(line)
        region.blocks[-1].operations.append(operation)
        if line.endswith("{"):
            stack.append((operation, region))
            region = Region()
            operation.regions.append(region)
    if stack:
        raise NotEvaluated("text that ends inside a region")
    functions = [_function(one) for one in top.blocks[0].operations if one.name == "tt.func"]
    return Module({one.name: one for one in functions}, attributes, layouts)


def _block(line: str) -> Block:
    found = re.match(r"(\^[\w$.-]+)(?:\((.*)\))?:", line)
    if not found:
        raise NotEvaluated(f"block {line[:40]}")
    return Block(found[1], _arguments(found[2] or ""))


def _arguments(text: str) -> tuple[str, ...]:
    """The names of `%a: i32, %b: f32`."""
    return tuple(one.partition(":")[0].strip() for one in split(text) if one.strip())


def _operation(line: str) -> Operation:
    found = _RESULTS.match(line)
    names: list[str] = []
    if found:
        line = line[found.end():]
        for one in found[1].split(","):
            name, _, many = one.strip().partition(":")
            names += [f"{name}#{place}" for place in range(int(many))] if many else [name]
    named = _NAME.match(line)
    if not named:
        raise NotEvaluated(f"text {line[:40]}")
    head = line[named.end():]
    if head.endswith("{"):
        head = head[:-1].rstrip().removesuffix("(").rstrip()
    if named[1] == "tt.func":
        head = line.removesuffix("{")
    return Operation(named[1], tuple(names), head.strip())


def _function(operation: Operation) -> Function:
    found = _FUNCTION.match(operation.head)
    if not found:
        raise NotEvaluated(f"function {operation.head[:60]}")
    inside, depth = found.end(), 1
    end = inside
    quoted = False
    while depth:
        one = operation.head[end]
        quoted ^= one == '"'
        if not quoted:
            depth += (one in "({[<") - (one in ")}]>")
        end += 1
    parameters = []
    for one in split(operation.head[inside:end - 1]):
        if one.strip():
            name, _, kind = one.partition(":")
            parameters.append((name.strip(), parse_type(re.sub(r"\s*\{.*\}\s*$", "", kind.strip()))))
    body = operation.regions[0] if operation.regions else Region()
    return Function(found["name"].strip('"'), tuple(parameters), body, found["visibility"] != "private ")
