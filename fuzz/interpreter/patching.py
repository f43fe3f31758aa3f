"""Replace attributes of Triton's interpreter and put every one of them back; know what was not there to be replaced."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Call = Callable[..., Any]
_ABSENT = object()


class Patches:
    """Attribute replacements in the order made; `undo` reverts them last to first.

    The attributes are private to Triton and may be gone in a release that nobody has looked at: `missing` then names
    them, each with what it was to be replaced for. apply: whether to replace anything, or only to look.
    """

    def __init__(self, *, apply: bool = True) -> None:
        self._undo: list[tuple[object, str, object]] = []
        self._apply = apply
        self._purpose = ""
        self._missing: dict[str, None] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """What was not found, as "purpose: owner.name", in the order of looking."""
        return tuple(self._missing)

    @contextmanager
    def purpose(self, word: str) -> Iterator[None]:
        """What the replacements in the block are for. An attribute that is looked up in vain there is missing, and what
        the block had still to do is left undone."""
        before, self._purpose = self._purpose, word
        try:
            yield
        except AttributeError as error:
            self._lacks(f"{getattr(error.obj, '__name__', type(error.obj).__name__)}.{error.name}")
        finally:
            self._purpose = before

    def _lacks(self, name: str) -> None:
        self._missing[f"{self._purpose}: {name}" if self._purpose else name] = None

    def set(self, owner: object, name: str, value: object, *, new: bool = False) -> None:
        """Set `owner.name`. An inherited attribute is shadowed and appears again after `undo`. new: some versions have
        no such attribute and need it."""
        if not new and not hasattr(owner, name):
            self._lacks(f"{getattr(owner, '__name__', type(owner).__name__)}.{name}")
        if self._apply:
            self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
            setattr(owner, name, value)

    def wrap(self, owner: object, name: str, wrapper: Call, *, optional: bool = False) -> bool:
        """Have calls of the function `owner.name` go to `wrapper`, which is given the function in front of their
        arguments; whether it was there. optional: some supported versions have no such function and nothing that would
        need the repair."""
        original = getattr(owner, name, None)
        if original is None:
            if not optional:
                self._lacks(f"{getattr(owner, '__name__', type(owner).__name__)}.{name}")
            return False

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return wrapper(original, *args, **kwargs)

        if self._apply:
            self.set(owner, name, wrapped)
        return True

    def undo(self) -> None:
        """Restore everything."""
        while self._undo:
            owner, name, value = self._undo.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
