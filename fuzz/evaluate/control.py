"""Loops, branches and calls."""

import re
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import BlockCondition, NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.table import means
from tridiff.fuzz.evaluate.types import split

BRANCHES = frozenset({"cf.br", "cf.cond_br"})
"""Operations that go on in another block of their region."""

_FOR = re.compile(r"(?:unsigned )?(%[\w$.-]+) = (\S+) to (\S+) step (\S+)")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")


def true(value: Any) -> bool:
    """A condition. Raises BlockCondition for one of several elements."""
    if np.size(value) != 1:
        raise BlockCondition
    return bool(np.asarray(value).reshape(()))


def successor(machine: Any, operation: Operation) -> tuple[str, tuple[str, ...]]:
    """The block that a branch goes to, and the names of what it hands on."""
    head = operation.head
    if operation.name == "cf.cond_br":
        # Weights are numbers in front of the first comma.
        condition, *targets = split(head)
        chosen = targets[0 if true(machine[re.findall(r"%[\w$.-]+(?:#\d+)?", condition)[0]]) else 1].strip()
    else:
        chosen = head.strip()
    found = re.match(r"(\^[\w$.-]+)(?:\((.*)\))?", chosen)
    assert found is not None
    return found[1], tuple(re.findall(r"%[\w$.-]+(?:#\d+)?", split(found[2] or "", " : ")[0]))


@means("scf.for")
def loop(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """From the lower bound up to the upper one, which is left out; the carried values behind the last turn."""
    found = _FOR.match(operation.head)
    if not found:
        raise NotEvaluated(f"op scf.for {operation.head[:40]}")
    name, *bounds = found.groups()
    lower, upper, step = (machine[one] for one in bounds)
    kind = np.asarray(lower).dtype
    if operation.head.startswith("unsigned"):
        lower, upper, step = (np.asarray(one).view(f"u{kind.itemsize}") for one in (lower, upper, step))
    carried = _CARRIED.findall(operation.head[found.end():].partition("->")[0])
    state = tuple(machine[initial] for _, initial in carried)
    if int(step) <= 0:
        raise NotEvaluated("op scf.for with a step of no size")
    body = operation.regions[0]
    body.blocks[0].arguments = (name, *(inside for inside, _ in carried))
    for number in range(int(lower), int(upper), int(step)):
        _, state = machine.region(body, (np.asarray(number).astype(kind), *state))
    return _results(operation, state)


def _results(operation: Operation, state: tuple[Any, ...]) -> Any:
    return state[0] if len(operation.results) == 1 else state


@means("scf.if")
def branch(machine: Any, operation: Operation, values: list[Any]) -> Any:
    condition = true(machine[operation.operands[0]])
    if not condition and len(operation.regions) < 2:
        return None
    _, state = machine.region(operation.regions[0 if condition else 1], ())
    return _results(operation, state)


@means("scf.while")
def turns(machine: Any, operation: Operation, values: list[Any]) -> Any:
    carried = _CARRIED.findall(operation.head.partition(" : ")[0])
    state = tuple(machine[initial] for _, initial in carried)
    before, body = operation.regions
    before.blocks[0].arguments = before.blocks[0].arguments or tuple(inside for inside, _ in carried)
    while True:
        _, (condition, *handed) = machine.region(before, state)
        if not true(condition):
            return _results(operation, tuple(handed))
        _, state = machine.region(body, tuple(handed))


@means("tt.call")
def call(machine: Any, operation: Operation, values: list[Any]) -> Any:
    found = re.match(r'@("[^"]*"|[\w$.-]+)', operation.head)
    name = found[1].strip('"') if found else ""
    function = machine.module.functions.get(name)
    if function is None:
        raise NotEvaluated(f"op tt.call of {name or operation.head[:40]}")
    return _results(operation, machine.call(function, values))


@means("scf.execute_region")
def inside(machine: Any, operation: Operation, values: list[Any]) -> Any:
    _, state = machine.region(operation.regions[0], ())
    return _results(operation, state)
