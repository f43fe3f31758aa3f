"""Scene: one way to use Triton, with what may be drawn and what the contract says about what is observed."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tridiff.fuzz.records import Scalar
from tridiff.fuzz.target import Path

ROOM = "tridiff.fuzz.launching."
SCENES = f"{ROOM}scenes."

Topic = Literal["arguments", "options", "caches", "events", "tuning", "refusals", "sources", "descriptors", "host",
                "layouts", "front_end", "interpreted", "translator"]
Choices = Mapping[str, Scalar]
"""What was drawn, by name."""
EVERY = "every one"
"""What a case says of the choice that its scene makes in turn (`Scene.each`)."""
Answers = dict[str, str]
"""What was observed, by name; lists with "; " between their members."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """play: drives Triton, in a worker: a function below `SCENES`, of the choices and the backend, that returns
    `Answers`. due: what the contract says: a function below `ROOM`, of the choices and Triton's version, of as many of
    the answers as it speaks of; the others are only compared between builds. vocabulary: what may be drawn, simplest
    first. since: the first version that has what it drives. legal: which combinations of choices are one."""

    name: str
    topic: Topic
    vocabulary: Mapping[str, Collection[Scalar]]
    play: Path
    due: Path = ""
    since: str = ""
    each: str = ""
    """A choice of which a case makes every one in turn, because one alone costs next to nothing."""
    newer: Mapping[str, str] = field(default_factory=dict)
    """Choices whose values beyond the first need a later version than the scene itself."""
    legal: Callable[[Choices], bool] = lambda choices: True
