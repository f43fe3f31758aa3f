"""Shared memory of a simulation: words, accesses, and how far a load may lag behind.

Two memories in one. Sequentially consistent: every load sees the newest value. Reordering: each word keeps
the history of its values, each program remembers per word the oldest value it may still see, and a load may
return any value from there on. A store or exchange with release ordering hands the writer's knowledge on with
the value; an acquiring load that sees the value takes it over. Read-modify-write accesses always act on the
newest value, and pass on the knowledge that came with it. This is the release/acquire fragment of the C++ and
PTX memory models in its operational form (views and messages; Kang et al., A promising semantics for
relaxed-memory concurrency, POPL 2017, without promises).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["load", "store", "exchange", "add"]
Order = Literal["plain", "relaxed", "acquire", "release", "acq_rel"]
Address = tuple[str, int]
View = Mapping[Address, int]


@dataclass(frozen=True, slots=True)
class Access:
    """One access to one word. value: what is stored, exchanged or added; words are unsigned ints."""

    kind: Kind
    address: Address
    value: int = 0
    order: Order = "plain"

    @property
    def writes(self) -> bool:
        """Whether it can change memory. Adding 0 cannot: the compiler emits a load for it."""
        return self.kind != "load" and not (self.kind == "add" and self.value == 0)

    @property
    def acquires(self) -> bool:
        return self.order in ("acquire", "acq_rel")

    @property
    def releases(self) -> bool:
        return self.order in ("release", "acq_rel")


@dataclass(frozen=True, slots=True)
class Buffer:
    """Initial words and the width of each in bits."""

    words: tuple[int, ...]
    bits: int

    def __post_init__(self) -> None:
        if any(not 0 <= word < 2**self.bits for word in self.words):
            raise ValueError(f"a word of the buffer is no unsigned {self.bits}-bit number: mask it")


@dataclass(frozen=True, slots=True)
class Message:
    """A value that was written to a word, and what its writer released along with it."""

    value: int
    released: View


@dataclass(frozen=True, slots=True)
class Outcome:
    """value: what the access returned, the old value for exchange and add. newest: nothing newer exists."""

    value: int
    newest: bool


class Memory:
    """The words of all buffers. `reorders` selects the memory in which loads may lag."""

    def __init__(self, buffers: Mapping[str, Buffer], *, reorders: bool = False) -> None:
        self._buffers = dict(buffers)
        self._reorders = reorders
        self._history: dict[Address, list[Message]] = {}
        self._views: dict[int, dict[Address, int]] = {}

    def perform(self, program: int, access: Access, choose_version: Callable[[int], int]) -> Outcome:
        """Carries out one access of one program.

        choose_version: given the number of values a load may see, says how many writes it lags behind (0 is
        the newest). Raises IndexError for an address outside its buffer.
        """
        history = self._history_of(access.address)
        view = self._views.setdefault(program, {})
        newest = len(history) - 1
        if access.kind == "store":
            self._write(program, access, access.value, {})
            return Outcome(0, True)
        if access.writes:
            seen = newest
        else:
            oldest = view.get(access.address, 0) if self._reorders else newest
            seen = newest if oldest == newest else newest - choose_version(newest - oldest + 1)
        message = history[seen]
        if self._reorders:
            view[access.address] = seen
            if access.acquires:
                _join(view, message.released)
        if access.writes:
            changed = access.value if access.kind == "exchange" else message.value + access.value
            self._write(program, access, changed, message.released)
        return Outcome(message.value, seen == newest)

    def words(self) -> Mapping[str, tuple[int, ...]]:
        """The newest value of every word, by buffer."""
        return {
            name: tuple(
                self._history[name, index][-1].value if (name, index) in self._history else word
                for index, word in enumerate(buffer.words)
            )
            for name, buffer in self._buffers.items()
        }

    def state(self) -> tuple[object, ...]:
        """Hashable; equal states have equal futures."""
        if not self._reorders:
            return tuple(sorted((address, history[-1].value) for address, history in self._history.items()))
        histories = tuple(
            (address, tuple((message.value, tuple(sorted(message.released.items()))) for message in history))
            for address, history in sorted(self._history.items())
        )
        views = tuple((program, tuple(sorted(view.items()))) for program, view in sorted(self._views.items()))
        return (histories, views)

    def _history_of(self, address: Address) -> list[Message]:
        history = self._history.get(address)
        if history is None:
            name, index = address
            buffer = self._buffers[name]
            if not 0 <= index < len(buffer.words):
                raise IndexError(f"{name}[{index}] is outside the buffer of {len(buffer.words)} words")
            history = self._history[address] = [Message(buffer.words[index], {})]
        return history

    def _write(self, program: int, access: Access, value: int, inherited: View) -> None:
        history = self._history[access.address]
        wrapped = value % 2 ** self._buffers[access.address[0]].bits
        if not self._reorders:
            history[0] = Message(wrapped, {})
            return
        view = self._views[program]
        view[access.address] = len(history)
        released = dict(inherited)
        if access.releases:
            _join(released, view)
        history.append(Message(wrapped, released))


def _join(view: dict[Address, int], other: View) -> None:
    """Whatever either of the two must not miss, view must not miss."""
    for address, index in other.items():
        if view.get(address, 0) < index:
            view[address] = index
