"""Every walk over a kind of program handles every class of which such programs are made.

A walk dispatches on classes in a language whose checker does not see all of it. Whoever adds a node, a step, a sink or
a form runs this file and reads the list of places that do not know it yet.
"""

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.walks import made, told_apart
from tridiff.fuzz.kinds.graphs.dead_code import buffers_of
from tridiff.kernels.codegen import domains, graph
from tridiff.kernels.gluon import chain
from tridiff.kernels.pipelines import loop_programs, plan, steps
from tridiff.kernels.ttgir import text

each = pytest.mark.parametrize
_WHOLE = "is taken away whole, or an operand stands for it"


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Modules that handle all classes together. without: classes that it leaves alone, each with the reason."""

    files: tuple[str, ...]
    without: Mapping[str, str] = field(default_factory=dict)
    makes: bool = False
    """Whether the modules make instances, instead of telling them apart."""

    def lacks(self, classes: set[str]) -> set[str]:
        known = set().union(*map(made if self.makes else told_apart, self.files))
        return classes - known - self.without.keys()


def _in(room: str, *files: str, makes: bool = False, **without: str) -> Walk:
    return Walk(files=tuple(f"{room}/{name}.py" for name in files), without=without, makes=makes)


def _why(names: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


GRAPHS = {
    "drawing": _in("fuzz/kinds/graphs", "addresses", "arithmetic", "contents", "conversions", "draft", "draw",
                   "expressions", "folding", "memory", "operands", "operations", "workspaces", makes=True),
    "reference in numpy": _in("fuzz/kinds/graphs", "evaluate"),
    "reference in torch": _in("fuzz/kinds/graphs", "by_torch"),
    "kernel text": _in("kernels/codegen", "kernel_text"),
    "domains": _in("kernels/codegen", "domains"),
    "legality": _in("kernels/codegen", "legality"),
    "program under torch.compile": _in("fuzz/inductor/programs", "expressible", "text"),
    "coverage": _in("fuzz/kinds/graphs", "coverage", Part="is counted with the node whose part it is"),
    "simpler graphs": _in("fuzz/kinds/graphs", "steps",
                          **_why("Asm Bucketize Pointwise Random Reduce Scan Sort", _WHOLE)),
}
CHAINS = {
    "drawing": _in("fuzz/kinds/chains", "buffers", "draft", "registers", "views", makes=True),
    "reference": _in("fuzz/kinds/chains", "evaluate"),
    "kernel text": _in("kernels/gluon", "emit"),
    "types": _in("kernels/gluon", "rules_buffers", "rules_tensors"),
    "expected operations": _in("kernels/gluon", "operations", **_why(
        "Barrier Combine Load Out Ramp Regroup Transpose", "brings no operation that nothing else brings")),
    "simpler chains": _in("fuzz/kinds/chains", "steps", **_why(
        "Combine Convert Fp4 Permute Reduce Regroup Reinterpret Reshape Scan Take Transpose", _WHOLE)),
}
STEPS = {
    "building": _in("kernels/pipelines", "build", makes=True),
    "kernel text": _in("kernels/pipelines", "text"),
    "model of schedules": _in("kernels/pipelines", "model", **_why(
        "DotBegin FoldBegin Side ZeroOutside", "waits for nothing and nothing waits for it")),
}
SINKS = {
    "drawing": _in("fuzz/kinds/plans", "draw", makes=True),
    "legality": _in("kernels/pipelines", "legal"),
    **{name: _in(room, file, Store="is what is done where nothing else is asked for") for name, room, file in (
        ("answers", "fuzz/kinds/plans", "answers"), ("simpler plans", "fuzz/kinds/plans", "cases"),
        ("building", "kernels/pipelines", "build"), ("kernel text", "kernels/pipelines", "text"))},
}
LOOPS = {name: _in("fuzz/kinds/loops", name) for name in ("answers", "cases", "draw", "launching")}
TEXTS = {"answers": _in("fuzz/kinds/texts", "answers"), "drawing": _in("fuzz/kinds/texts", "draw", makes=True),
         "launching": _in("fuzz/kinds/texts", "launching")}
KINDS: dict[str, tuple[Any, dict[str, Walk]]] = {
    "nodes of graphs": (graph.Node, GRAPHS), "steps of chains": (chain.Step, CHAINS),
    "steps of pipelines": (steps.Step, STEPS), "sinks of plans": (plan.Sink, SINKS),
    "loops": (loop_programs.Loop, LOOPS), "forms of texts": (text.Form, TEXTS)}


def classes(kind: str) -> set[str]:
    return {one.__name__ for one in typing.get_args(KINDS[kind][0])}


def missing(kind: str, wanted: set[str]) -> dict[str, list[str]]:
    """Walks that lack some of the classes, with the files and the classes."""
    walks = KINDS[kind][1]
    return {f"{name} ({', '.join(walk.files)})": sorted(lacking) for name, walk in walks.items()
            if (lacking := walk.lacks(wanted))}


@each("kind", KINDS)
def test_every_walk_handles_every_class(kind: str):
    found = missing(kind, classes(kind))
    assert not found, "\n".join(f"{walk} does not know {', '.join(lacking)}" for walk, lacking in found.items())


@each("kind", KINDS)
def test_a_class_that_nobody_knows_is_missing_everywhere(kind: str):
    found = missing(kind, {*classes(kind), "Trial"})
    assert len(found) == len(KINDS[kind][1]) and {*map(tuple, found.values())} == {("Trial",)}


@each("kind", KINDS)
def test_what_a_walk_leaves_alone_exists_and_is_left_alone(kind: str):
    for name, walk in KINDS[kind][1].items():
        known = set().union(*map(made if walk.makes else told_apart, walk.files))
        assert walk.without.keys() <= classes(kind) - known, (name, walk.without.keys() & known)


def _holds(hint: Any, kind: Any) -> bool:
    return hint == kind or any(_holds(one, kind) for one in typing.get_args(hint))


@each("node", typing.get_args(graph.Node))
def test_operands_expressions_and_buffers_of_every_node_are_known(node: type):
    """Domains, renumbering and the taking away of dead nodes go by fields: those that hold operands or index
    expressions or name buffers must be among them."""
    hints = typing.get_type_hints(node, include_extras=True)
    operands = {name for name, hint in hints.items() if _holds(hint, graph.Value)}
    assert operands == {*filter(None, [domains.VALUES.get(node)])} | {"mask"} & hints.keys()
    expressions = {name for name, hint in hints.items() if _holds(hint, graph.Apply)}
    assert expressions == {*filter(None, [domains.EXPRESSIONS.get(node)])}
    # What buffers_of looks for, asked of a node that has every field that names one.
    named = {name: name for name, hint in hints.items() if name != "op" and _holds(hint, graph.Name)}
    assert buffers_of(types.SimpleNamespace(**named)) == set(named)
