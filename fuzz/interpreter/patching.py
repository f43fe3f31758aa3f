"""Replace attributes of Triton's interpreter and put every one of them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ABSENT = object()


class Patches:
    """Attribute replacements in the order made; `undo` reverts them last to first."""

    def __init__(self) -> None:
        self._undo: list[tuple[object, str, object]] = []

    def set(self, owner: object, name: str, value: object) -> None:
        """Set `owner.name`. An inherited attribute is shadowed and appears again after `undo`."""
        self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: object, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace the function `owner.name` by `wrapper(function)`; does nothing where `owner` has none."""
        original = getattr(owner, name, None)
        if original is not None:
            self.set(owner, name, wrapper(original))

    def undo(self) -> None:
        """Restore everything."""
        while self._undo:
            owner, name, value = self._undo.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
