"""Planted faults of the generator are found, and their counterexamples shrink to a handful of nodes and elements."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_fields

from tests.support.campaigns import campaign_options
from tests.support.nights import by_day
from tridiff.fuzz.campaign import hunt, shard
from tridiff.fuzz.campaign.faults import plan_faults
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.faults import families
from tridiff.fuzz.registry import find

LEAST = 14
"""Nodes of the smallest program that is drawn: three times what is left of it, and more."""


SHRINK_RUNS = 8
"""Few, since it is explicit minimisation that comes to the minimum. By runs and not by seconds, of which there are
plenty: the minimum must not depend on how busy the machine is."""


# By day one fault of a reduction and one of a mask.
MINIMA = [("tie_to_larger_index", 5, 2), ("wrong_tree_mask", 4, 3), ("all_is_any", 5, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("fault, nodes, elements", by_day(MINIMA, only=MINIMA[:2]))
def test_minima(fault: str, nodes: int, elements: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = find(f"codegen.{families(fault)[0]}")
    # What is drawn is large; what explicit minimisation proposes need not be.
    large = replace(target, draw=replace(target.draw, cases=lambda limits: target.draw.cases(limits).filter(
        lambda case: len(graph_of(case).nodes) >= LEAST)))
    monkeypatch.setattr(shard, "find", lambda name: large)
    monkeypatch.setattr(hunt, "SHRINK_RUNS", SHRINK_RUNS)
    options = campaign_options(seconds=3000, targets=(target.name,), backends=("interpreter",))
    (spec,) = (one for hunt in plan_faults(options) for one in hunt if one.subject == f"own+fault:{fault}")
    result = shard.run_shard(replace_fields(spec, shrink_seconds=600.0), str(tmp_path))
    (entry,), (drawn,) = result.findings, result.found_as
    assert result.error == "" and len(graph_of(drawn).nodes) >= LEAST
    assert len(graph_of(entry.case).nodes) <= nodes
    arrays = [array for array in entry.case.arrays if not array.name.startswith("work")]
    assert sum(array.span(entry.case.sizes) for array in arrays) <= elements
