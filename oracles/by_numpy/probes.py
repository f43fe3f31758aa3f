"""Expectations for the type probes and for device_assert_then (contract: helpers.md §3, §8)."""


import numpy as np

from tridiff.oracles.dtypes import NAMES, Array, dtype, name_of_array

# promote_to_tensor keeps the type; is_floating is a compile-time bool.
PROMOTED: dict[str, str] = {name: name for name in NAMES}
IS_FLOATING: dict[str, bool] = {name: dtype(name).is_float for name in NAMES}

# Subjects known to deviate (helpers.md §3, §16 row 4): the reference implementations return bf16 as fp32.
PROMOTED_BY_REFERENCE: dict[str, str] = {**PROMOTED, "bf16": "fp32"}


def promote_to_tensor(x: Array) -> Array:
    """Same values, same type, rank at least 1; rule BIT."""
    return np.atleast_1d(np.array(x, copy=True))


def device_assert_then(condition: Array, result: Array) -> Array:
    """`result` bit for bit, whatever the condition, as long as the launch survives; rule BIT."""
    return np.array(np.broadcast_to(result, np.broadcast_shapes(np.shape(condition), np.shape(result))), copy=True)


def assertion_fails(condition: Array, active: Array | None = None) -> bool:
    """True if an enabled assertion must stop the launch: some active lane of the condition is False."""
    live = np.ones(np.shape(condition), dtype=bool) if active is None else np.asarray(active, dtype=bool)
    return bool((live & ~np.asarray(condition, dtype=bool)).any())


def promote_facts(x: Array, *, scalar: bool) -> Array:
    """Facts of the driver `promote`: the type is kept, the rank (scalars get 1, blocks keep 2), the bit width."""
    width = 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize
    return np.array([1, 1 if scalar else 2, width], dtype=np.int32)


def is_floating(x: Array) -> Array:
    """1 for a float type, else 0, as one i8; whatever the values."""
    return np.array([IS_FLOATING[name_of_array(x)]], dtype=np.int8)
