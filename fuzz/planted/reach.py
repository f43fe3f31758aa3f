"""Parts of Triton's Python layer that no case of a machine with an sm_90 chip can take or show, with the reasons."""

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("unreachable.toml")
"""Tables with `why` and, by file, `branches`: what `Branch.key` says behind the file, or the beginning of that in front
of a *; and `statements`, which are run and whose change nobody sees, in the same way (`fuzz.planted.hidden.keys`)."""


@cache
def table() -> dict[str, str]:
    """Reasons by key."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))["group"]
    return {f"{file} {key}": str(one["why"]) for one in found for kind in ("branches", "statements")
            for file, keys in one.get(kind, {}).items() for key in keys}


def reason(key: str) -> str:
    """Why a branch cannot be taken or a statement cannot show, "" if it can."""
    known = table()
    if key in known:
        return known[key]
    return next((why for one, why in known.items() if one.endswith("*") and key.startswith(one[:-1])), "")
