"""In which order nodes are computed: straight through, or in several loops over r (codegen.md §5, §6).

A loop makes the values that fold to a result; what depends on that result and on r again needs another loop, in which
the nodes it reads are computed anew. Values without r are computed between the loops.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tridiff.kernels.codegen.accesses import lifted, mask_axes
from tridiff.kernels.codegen.domains import R
from tridiff.kernels.codegen.graph import Load, Reduce, Store
from tridiff.kernels.codegen.state import Emitter


@dataclass(frozen=True)
class Pass:
    """One loop. before: nodes without r that it needs, not computed yet. body: nodes of the loop. reduces: those among
    the body whose folds are complete after it. stores: made in it."""

    before: tuple[int, ...]
    body: tuple[int, ...]
    reduces: tuple[int, ...]
    stores: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """The loops, then what is computed and stored after them."""

    passes: tuple[Pass, ...]
    after: tuple[int, ...]
    stores: tuple[int, ...]


def moving(emitter: Emitter) -> list[bool]:
    """For each node whether it must be computed in a loop: it depends on r, or is active under a mask that does."""
    analysis, nodes = emitter.analysis, emitter.graph.nodes
    found = [False] * len(nodes)
    for position, node in enumerate(nodes):
        if isinstance(node, Reduce):
            continue
        inside = R in analysis.domains[position] or R in mask_axes(analysis, position)
        found[position] = inside or any(found[k] for k in analysis.operands[position])
    return found


def plan(emitter: Emitter) -> Plan:
    """The passes of a looped kernel. With `lift_loads` off, loads without r are made in the loop."""
    analysis, nodes = emitter.analysis, emitter.graph.nodes
    in_loop = moving(emitter)
    live = [position not in analysis.dead for position in range(len(nodes))]
    stage = [0] * len(nodes)
    """Of a node in a loop: the pass that can compute it; of another: the number of passes that must come before."""
    for position, node in enumerate(nodes):
        stage[position] = max((stage[k] for k in analysis.operands[position]), default=0) + isinstance(node, Reduce)
    count = max([stage[k] for k, node in enumerate(nodes) if isinstance(node, Reduce) and live[k]]
                + [stage[k] + 1 for k in range(len(nodes)) if in_loop[k] and isinstance(nodes[k], Store)], default=0)
    # What overwrites its own input is stored in the last pass, after every reader.
    made_in = {k: count - 1 if emitter.overwrites(node) else stage[k]
               for k, node in enumerate(nodes) if isinstance(node, Store) and in_loop[k]}
    needed = [_closure(emitter, [k for k, node in enumerate(nodes) if live[k] and (
        (isinstance(node, Reduce) and stage[k] == number + 1) or made_in.get(k) == number)], in_loop)
        for number in range(count)]
    computed: set[int] = set()
    passes = []
    for number, nodes_needed in enumerate(needed):
        loop = [k for k in nodes_needed if in_loop[k] and not isinstance(nodes[k], Store)]
        free = _closure_free(emitter, [k for k in nodes_needed if not in_loop[k] and not isinstance(nodes[k], Reduce)]
                             + [o for k in nodes_needed for o in analysis.operands[k] if not in_loop[o]], in_loop)
        kept = {k for k in free if (not emitter.schedule.lift_loads and isinstance(nodes[k], Load))
                or not lifted(analysis, k)}
        inside = _spread(emitter, kept, free) - computed
        before = free - inside - computed
        computed |= before
        reduces = [k for k, node in enumerate(nodes) if live[k] and isinstance(node, Reduce) and stage[k] == number + 1]
        stores = tuple(k for k, made in made_in.items() if made == number)
        body = in_order(emitter, {*loop, *inside, *reduces})
        passes.append(Pass(in_order(emitter, before), body, tuple(reduces), stores))
    stores = tuple(k for k, node in enumerate(nodes) if isinstance(node, Store) and not in_loop[k])
    after = _closure_free(emitter, [o for k in stores for o in analysis.operands[k]], in_loop) - computed
    return Plan(tuple(passes), in_order(emitter, after), stores)


def in_order(emitter: Emitter, positions: Iterable[int]) -> tuple[int, ...]:
    """The nodes in the order of the graph, but a mask before the body that is computed under it."""
    wanted = set(positions)
    done: dict[int, None] = {}

    def visit(position: int) -> None:
        if position in wanted and position not in done:
            for one in _below(emitter, position):
                visit(one)
            done[position] = None

    for position in sorted(wanted):
        visit(position)
    return tuple(done)


def _below(emitter: Emitter, position: int) -> tuple[int, ...]:
    """What a node reads, and the masks under which it is evaluated."""
    return *emitter.analysis.operands[position], *emitter.analysis.masks(position)


def _closure(emitter: Emitter, roots: list[int], in_loop: list[bool]) -> set[int]:
    """The roots and the nodes of the loop that they need."""
    found = set(roots)
    waiting = list(roots)
    while waiting:
        position = waiting.pop()
        for operand in _below(emitter, position):
            if in_loop[operand] and operand not in found:
                found.add(operand)
                waiting.append(operand)
    return found


def _closure_free(emitter: Emitter, roots: list[int], in_loop: list[bool]) -> set[int]:
    """Nodes without r that the roots need, folds of earlier loops left out."""
    nodes = emitter.graph.nodes
    waiting = [k for k in roots if not in_loop[k]]
    found: set[int] = set()
    while waiting:
        position = waiting.pop()
        if position in found or isinstance(nodes[position], Reduce | Store):
            continue
        found.add(position)
        waiting += [k for k in _below(emitter, position) if not in_loop[k]]
    return found


def _spread(emitter: Emitter, kept: set[int], free: set[int]) -> set[int]:
    """Nodes that are computed in the loop because they read a load that is."""
    found = set(kept)
    for position in in_order(emitter, free):
        if not found.isdisjoint(_below(emitter, position)):
            found.add(position)
    return found
