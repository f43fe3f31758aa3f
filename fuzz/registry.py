"""The registry of targets: every module of `tridiff.fuzz.targets` that defines TARGET or TARGETS contributes.

Importing a target file imports neither torch nor Triton. The target files lie above this module and are imported at
the first question.
"""

import importlib
import pkgutil
from functools import cache

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.target import Target

TARGETS = "tridiff.fuzz.targets"
"""The package of target files."""


@cache
def all_targets() -> dict[str, Target]:
    """Every target by name, sorted."""
    found: dict[str, Target] = {}
    package = importlib.import_module(TARGETS)
    for module_info in pkgutil.walk_packages(package.__path__, prefix=f"{TARGETS}."):
        module = importlib.import_module(module_info.name)
        declared = (*getattr(module, "TARGETS", ()), *((module.TARGET,) if hasattr(module, "TARGET") else ()))
        for target in declared:
            if target.name in found:
                raise TridiffError(f"two targets are called {target.name}", fix=f"rename one in {module_info.name}")
            found[target.name] = target
    return dict(sorted(found.items()))


def find(name: str) -> Target:
    """The target called `name`; TridiffError naming near ones otherwise."""
    targets = all_targets()
    if name in targets:
        return targets[name]
    raise TridiffError(f"unknown target {name[:80]!r}", fix=f"{_near(name)}; `tridiff targets` lists all")


def _near(name: str) -> str:
    """What to try in place of a name or a glob that fits nothing: targets of nearly that name, or the families."""
    import difflib

    plain = "".join(character for character in name if character not in "*?[]")
    short = {target.partition(".")[2]: target for target in all_targets()}
    near = difflib.get_close_matches(plain, all_targets(), n=3)
    near += [short[one] for one in difflib.get_close_matches(plain, short, n=3) if short[one] not in near]
    if near:
        return f"try {', '.join(near[:3])}"
    families = dict.fromkeys(f"{target.partition('.')[0]}.*" for target in all_targets())
    return f"try one of {' '.join(families)}"


def select(patterns: tuple[str, ...]) -> tuple[Target, ...]:
    """Targets whose name or family matches any glob pattern; all for no pattern."""
    import fnmatch

    targets = all_targets()
    if not patterns:
        return tuple(targets.values())
    chosen: dict[str, Target] = {}
    for pattern in patterns:
        hits = {n: t for n, t in targets.items() if fnmatch.fnmatchcase(n, pattern) or t.family == pattern}
        if not hits and any(character in pattern for character in "*?["):
            raise TridiffError(f"no target matches {pattern[:80]!r}",
                               fix=f"{_near(pattern)}; `tridiff targets` lists all")
        if not hits:
            chosen[pattern] = find(pattern)
        chosen |= hits
    return tuple(chosen.values())
