"""At which operation the IR behind a pass departs from the IR before it: both run on the same arrays, and where they do
something else (a store, an assertion, an access that is not allowed), its operands are followed back to an operation
that was given what is right and made something else of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.ir import Operation

MOST = 64
"""Operations that are gone back."""

Made = tuple[str, tuple[bytes, ...], tuple[bytes, ...]]
"""An operation with its predicate, what it was given and what it made of that."""


def _key(value: Any) -> bytes:
    """The same for a value in any shape: a block of one value is that value."""
    flat = np.asarray(value).reshape(-1)
    return flat[:1].tobytes() if flat.size and (flat == flat[0]).all() else flat.tobytes()


def _title(operation: Operation) -> str:
    return " ".join((operation.name, *operation.words[:operation.name.startswith("arith.cmp")]))


class Trace:
    """What one run does. right: what it is held against, None for the right one itself."""

    def __init__(self, right: Trace | None = None) -> None:
        self._right = right
        self._made: Counter[Made] = Counter()
        self._values: set[bytes] = set()
        self._by: dict[str, tuple[Operation, Made, bytes]] = {}
        self._effects: list[tuple[Operation, Made]] = []
        """Of operations that have no result, or change memory beside."""
        self._begun: list[tuple[Operation, Made]] = []
        """Operations that have not come to their end, the innermost last."""

    def begin(self, operation: Operation, operands: Sequence[Any]) -> None:
        """An operation that is about to run."""
        self._begun.append((operation, (_title(operation), tuple(map(_key, operands)), ())))

    def end(self, results: Sequence[Any]) -> None:
        """What the innermost made."""
        operation, (title, operands, _) = self._begun.pop()
        keys = tuple(map(_key, results))
        made = title, operands, keys
        self._made[made] += 1
        self._values.update(keys)
        for name, key in zip(operation.results, keys, strict=False):
            self._by[name] = operation, made, key
        if not keys or "atomic" in title:
            self._effects.append((operation, made))

    @property
    def departed(self) -> str:
        """"RIGHT > WRONG", the operations that stand in one place; "" where both runs do the same."""
        right = self._right
        if right is None:
            return ""
        lost = right._made - self._made

        def often(made: Made) -> bool:
            return 0 < self._made[made] <= right._made[made]

        def rewritten(made: Made) -> bool:
            """Whether the right run comes from this to the same by another operation."""
            return any(made[2] == keys and made[0] != title and set(made[1]) < set(given)
                       for title, given, keys in lost)

        # What did not come to its end went wrong last.
        wrong = next((one for one in (*self._effects, *self._begun[-1:]) if not often(one[1])), None)
        if wrong is None:
            return ""
        operation, made = wrong
        for _ in range(MOST):
            behind = [self._by[name] for name in map(self._source, operation.operands) if name in self._by]
            inside = [self._by[name] for region in operation.regions for block in region.blocks
                      for inner in block.operations for name in inner.results if name in self._by]
            unknown = [one for one in behind if one[2] not in right._values] or sorted(
                (one for one in (*behind, *inside) if not often(one[1])), key=lambda one: rewritten(one[1]))
            if not unknown or any(title == made[0] and len(given) > len(made[1]) and set(given) >= set(made[1])
                                  for title, given, _ in lost):
                break  # Nothing is wrong in front of it, or it lost an operand itself.
            operation, made, _ = unknown[0]
        # What the right run does with these and this one does not; else whatever it does with them.
        given = sorted(made[1])
        alike = [one[0] for some in (lost, right._made) for one in some if given and sorted(one[1]) == given]
        return f"{alike[0] if alike else ''} > {made[0]}".strip()

    def _source(self, name: str) -> str:
        """The value that a value is, in another shape."""
        for _ in range(MOST):
            if name not in self._by:
                break
            operation, made, key = self._by[name]
            if made[1] != (key,) or operation.regions:
                break
            name = operation.operands[0]
        return name
