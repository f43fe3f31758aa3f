"""Programs for torch.compile, and what cases came to on a GPU, where tests say it."""

from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.kinds.graphs.arrays import arrays_of
from tridiff.fuzz.records import Case, Content, Explicit, Outcome, Verdict
from tridiff.kernels.codegen.graph import Graph


def compiled(graph: Graph, family: str, *values: str) -> Case:
    """A program for torch.compile: in0 holds the values, if any are given, and every other input zeros."""
    contents = {one.name: Content() for one in graph.buffers}
    if values:
        contents["in0"] = Content(base=Explicit(values=values))
    arrays, sizes = arrays_of(graph, contents, {})
    return Case(target=f"inductor.programs_{family}", program=graph, sizes=sizes, arrays=arrays)


def outcome(case: Case, *, failed: bool = True, subject: str = "own", kind: str = "value", where: str = "out",
            explained: tuple[str, ...] = ()) -> Outcome:
    """An outcome on a GPU with something wrong that nothing predicts, or a good one."""
    return outcome_of(case, Verdict.DISAGREE if failed else Verdict.AGREE,
                      wrong_in(case, where, kind=kind, subject=subject) if failed else None, subject=subject,
                      backend="cuda", explained_by=explained)
