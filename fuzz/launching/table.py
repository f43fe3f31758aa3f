"""The table of scenes. Nothing here imports Triton."""

from functools import cache

from tridiff.fuzz.launching.scene import Scene
from tridiff.fuzz.launching.vocabulary import (
    CONSTANTS,
    DTYPES,
    GRIDS,
    NUMBERS,
    WORDS,
)

_SCENES = "tridiff.fuzz.launching.scenes"
_DUE = "tridiff.fuzz.launching.due"
_ARCHITECTURES = (90, 80)

SCENES: tuple[Scene, ...] = (
    Scene(name="arguments", topic="arguments", play=f"{_SCENES}.arguments:arguments", due=f"{_DUE}:arguments",
          vocabulary={"a": WORDS, "b": WORDS, "c": CONSTANTS, "grid": GRIDS, "arch": _ARCHITECTURES,
                      "flag": ("", "not specialised", "not aligned", "by number"),
                      "call": ("positional", "keywords", "mixed", "without defaults")},
          # A tuple's members are specialised whatever is said about the tuple: the contract is silent.
          legal=lambda choices: (not choices["flag"] or not str(choices["b"]).startswith(("tuple", "pair"))) and (
              choices["arch"] != 80 or not any("fp8e4nv" in str(choices[name]) for name in "ab"))),
    Scene(name="shared", topic="arguments", play=f"{_SCENES}.arguments:shared", due=f"{_DUE}:shared",
          vocabulary={"first": WORDS, "second": WORDS, "flag": ("", "not specialised", "not aligned"),
                      "again": (0, 1), "warps": (0, 8)},
          legal=lambda choices: not choices["flag"] or not any(
              str(choices[name]).startswith(("tuple", "pair")) for name in ("first", "second"))),
    Scene(name="annotated", topic="arguments", play=f"{_SCENES}.arguments:annotated",
          vocabulary={"annotation": DTYPES, "value": NUMBERS, "style": ("object", "text", "pointer", "const")}),
)


@cache
def scenes() -> dict[str, Scene]:
    """All scenes by name."""
    found = {scene.name: scene for scene in SCENES}
    assert len(found) == len(SCENES)
    return found
