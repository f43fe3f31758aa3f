"""What is said of an operation in more than its record: where a new one, or a new group of them, must be known."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tridiff.fuzz.kinds.graphs import draft, swarm
from tridiff.fuzz.kinds.graphs.operations import choices
from tridiff.kernels.codegen.graph import Pointwise
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.by_numpy import bounded_ops
from tridiff.oracles.by_numpy.bounded import Real
from tridiff.oracles.dtypes import FLOATS, NAMES
from tridiff.oracles.pointwise import rule_of

each = pytest.mark.parametrize
EXACT = ("BIT", "NUM", "NUM0", "SET")
NEVER_BOUNDED = {"lgamma"}
"""Operations whose result is open as soon as an operand has an error: nobody wrote a bound of the derivative down."""
OF_FLOATS = sorted(name for name, op in OPS.items() if op.group not in ("conversion", "bit cast")
                        and ("fp32",) * op.arity in op.signatures)


@each("name", NAMES)
def test_every_group_that_is_drawn_may_be_stressed(name: str):
    assert {one.group for one in choices(name)} <= {*swarm.GROUPS}


@each("name", FLOATS)
def test_what_no_rule_compares_exactly_counts_as_inexact(name: str):
    """`Entry.inexact` goes by groups; values it misses are drawn where their bits are asked for."""
    missed = [one.op for one in choices(name) if one.result in FLOATS
              and rule_of(one.op, (name,) * one.arity, one.result).kind not in EXACT
              and not draft._rounds(Pointwise(op=one.op, args=tuple(range(one.arity))), name)]
    assert missed == [], f"add their groups to {draft.__name__}._INEXACT_GROUPS"


def _open(op: str) -> bool:
    """Whether nothing is known of any result if operands have small errors."""
    x: npt.NDArray[Any] = np.array([0.3, 0.7, 1.3, 2.6, 17.0])
    found = bounded_ops.apply(op, [Real("fp32", x + 0.01 * k, np.full(x.shape, 1e-4)) for k in range(OPS[op].arity)])
    return not np.isfinite(found.error).any() if isinstance(found, Real) else bool(found.open.all())


def test_every_operation_says_how_the_errors_of_operands_carry():
    """What `course`, `slope` and `bounded_functions` leave out would be open in all programs, and judged nowhere but
    right behind a load."""
    assert {op for op in OF_FLOATS if _open(op)} == NEVER_BOUNDED
