"""What a case came to, where tests say it."""

from tridiff.fuzz.kinds.graphs.arrays import arrays_of
from tridiff.fuzz.records import Case, Content, Explicit, Outcome, Signature, Verdict
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
    verdict = Verdict.DISAGREE if failed else Verdict.AGREE
    signature = Signature(target=case.target, subject=subject, verdict=verdict, kind=kind, where=where)
    return Outcome(case_digest=case.digest, target=case.target, subject=subject, backend="cuda", verdict=verdict,
                   signature=signature if failed else None, explained_by=explained)
