"""Draws that do not repeat each other.

Hypothesis follows every fresh example by up to five that copy parts of it, and starts each run with small ones. For a
function that costs microseconds that finds bugs; a case here costs a compilation. Of 300 draws, 190 programs of
`codegen.mixed` were different, and 102 kernels of `helpers.welford_reduce`; drawn independently 300 and 294. An
alternative backend of Hypothesis is asked for each example afresh, and this one draws as Hypothesis itself does.
Shrinking is Hypothesis's own either way.
"""

from typing import Any

BACKEND = "hypothesis"
"""The value for `hypothesis.settings(backend=...)`."""

try:
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, CONSTANTS_CACHE, HypothesisProvider
    from hypothesis.internal.constants_ast import Constants
except ImportError:  # a Hypothesis whose backends are registered elsewhere: its own way of drawing then
    pass
else:
    class Independent(HypothesisProvider):
        """Hypothesis's own choices, but for the constants of imported modules: these differ from process to process,
        and a seed would stand for other cases in each."""

        _local_constants = Constants()
        _allowed = type(CONSTANTS_CACHE)(1024)

        def _maybe_draw_constant(self, *args: Any, **kwargs: Any) -> Any:
            # Hypothesis keeps which constants a draw may take for all backends together, those of modules among them.
            shared, providers.CONSTANTS_CACHE = providers.CONSTANTS_CACHE, self._allowed
            try:
                return super()._maybe_draw_constant(*args, **kwargs)
            finally:
                providers.CONSTANTS_CACHE = shared

    AVAILABLE_PROVIDERS["tridiff"] = f"{__name__}.Independent"
    BACKEND = "tridiff"
