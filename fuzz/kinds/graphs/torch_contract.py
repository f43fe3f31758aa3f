"""What torch.compile must answer where the contract of generated code leaves the answer open, and eager torch does not.

Generated code may give an infinity or NaN for the mean of a row with an infinity (helpers.md §7), and may saturate
beyond fp8e5 (oracles.md §5). A compiled function returns what the function returns, so that of the targets `inductor.*`
more is asked, wherever eager torch and exact arithmetic have the same answer:

- mean of `var_mean` of a row whose one infinity comes last. Eager torch folds rows from the left, and an infinity
  that other elements follow makes its running mean NaN (oracles.md §6), where numpy has the infinity: those stay open.
- overflow to fp8e5, infinite in torch and in ml_dtypes.

Bessel functions of infinities are NaN in eager torch, and in scipy, to which torch's own tests compare them; generated
code has their limit 0.
"""

import numpy as np

from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Cast, Graph, Reduce, Store
from tridiff.oracles.by_numpy.bounded import Real, Value
from tridiff.oracles.dtypes import dtype

OVERFLOWS = 61440.0
"""Half-way between the largest fp8e5 and what would follow it: the even one of the two is infinity."""

BESSEL = ("j0", "j1", "y0", "y1")


def as_eager(case: Case) -> bool:
    """Whether the case asks for eager torch's answers."""
    return case.target.startswith("inductor.")


def beyond_own_contract(graph: Graph) -> str:
    """Why the subject `own`, run as a control, may rightly differ from eager torch; "" if it may not."""
    analysis = Analysis(graph)
    for node in graph.nodes:
        if isinstance(node, Reduce) and node.kind == "welford":
            return "generated code may give NaN for the mean of infinities, eager torch does not"
        narrowed = (isinstance(node, Cast) and node.dtype == "fp8e5" and not node.bitcast) or (
            isinstance(node, Store) and analysis.buffers[node.buffer] == "fp8e5"
            and analysis.dtype(node.value) != "fp8e5")
        if narrowed:
            return "generated code may saturate beyond fp8e5, eager torch does not"
    return ""


def bessel_at_infinity(found: Value, of: Value, value: float, error: float) -> Real:
    """The values of a Bessel function with those at infinities replaced; open where it is uncertain whether one is."""
    assert isinstance(found, Real) and isinstance(of, Real)
    infinite, certain = np.isinf(of.value) & ~found.nan, of.exact
    return Real(found.dtype, np.where(infinite & certain, value, found.value),
                np.where(infinite, np.where(certain, error, np.inf), found.error), found.fused)


class EagerInterpreter(Interpreter):
    """The numpy reference, with eager torch's answers where the two agree."""

    def _to(self, x: Value, name: str) -> Value:
        found = super()._to(x, name)
        if name != "fp8e5" or not isinstance(x, Real) or x.dtype == name:
            return found
        assert isinstance(found, Real)
        beyond = np.abs(x.value) - x.error >= OVERFLOWS
        return Real(name, np.where(beyond, np.copysign(np.inf, x.value), found.value),
                    np.where(beyond, 0.0, found.error))

    def _applied(self, op: str, args: list[Value]) -> Value:
        found = super()._applied(op, args)
        return bessel_at_infinity(found, args[0], np.nan, 0.0) if op in BESSEL else found

    def _welford(self, node: Reduce) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        names, (mean, *others) = super()._welford(node)
        row = self._wide_for_fold(node.args[0])
        if node.kind != "welford":
            return names, (mean, *others)
        assert isinstance(row, Real) and isinstance(mean, Real)
        rest, last = np.abs(row.value[..., :-1]) + row.error[..., :-1], row.value[..., -1:]
        # Far from overflow, and so regular: a sum of the others that is infinite itself has other answers.
        regular = rest.sum(-1, keepdims=True) < float(dtype(row.dtype).max) / 4
        infinite = np.isinf(last) & (row.error[..., -1:] == 0) & regular
        mean = Real(mean.dtype, np.where(infinite, last, mean.value), np.where(infinite, 0.0, mean.error))
        return names, (mean, *others)


def interpreter_of(case: Case) -> type[Interpreter]:
    """The numpy reference that judges a case."""
    return EagerInterpreter if as_eager(case) else Interpreter

