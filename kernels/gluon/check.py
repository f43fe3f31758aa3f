"""Whether a chain is one that Triton accepts and whose result is defined, and what its values are.

A chain is walked once; the first step that breaks a rule raises Illegal. The rules are those of the compiler
(measured, ttg_ops.md §5) and those that make a result defined: nothing is read before it was written, no element is
the target of two scattered values, sums of floats are exact.
"""

from msgspec import UNSET

from tridiff.kernels.gluon import rules_buffers, rules_tensors
from tridiff.kernels.gluon.chain import Chain, Step
from tridiff.kernels.gluon.layouts import power_of_two
from tridiff.kernels.gluon.values import Illegal, State, Type

_RULES = {**rules_tensors.RULES, **rules_buffers.RULES}


def add(state: State, step: Step) -> Type:
    """Take one more step; returns the type of its value, None for a step without one. Raises Illegal, and then the
    state is as before."""
    try:
        made = _RULES[type(step)](state, step)
    except Illegal as error:
        raise Illegal(f"step {len(state.types)} ({step.__struct_config__.tag}): {error}") from None
    state.types.append(made)
    return made


def typed(chain: Chain) -> tuple[Type, ...]:
    """The type of every step's value. Raises Illegal."""
    state = State(chain.warps, chain.arrays)
    if not power_of_two(chain.warps):
        raise Illegal(f"{chain.warps} warps, not a power of two")
    names = [array.name for array in chain.arrays]
    if len(set(names)) != len(names):
        raise Illegal("two arrays have one name")
    for array in chain.arrays:
        if array.between is not UNSET and array.between[0] > array.between[1]:
            raise Illegal(f"array {array.name} lies between {array.between[0]} and less")
    for step in chain.steps:
        add(state, step)
    missing = [array.name for number, array in enumerate(chain.arrays) if array.output and number not in state.outputs]
    if missing:
        raise Illegal(f"nothing is stored to {missing[0]}")
    return tuple(state.types)


def problem(chain: Chain) -> str:
    """Why the chain must not be launched, in one line; "" if it may."""
    try:
        typed(chain)
    except Illegal as error:
        return str(error)
    return ""
