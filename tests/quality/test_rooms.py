"""The rooms of `tridiff.fuzz` lie one above the other: a room imports only from rooms below it."""

import ast
import functools
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

ROOMS = (
    "errors", "verdicts", "versions", "reasons", "crashes", "records", "content", "strategies", "interpreter",
    "evaluate", "backends", "target", "registry", "judge", "kinds", "language", "launching", "statements", "known",
    "inductor", "coverage", "shrink", "corpus", "builds", "workers", "pair", "campaign", "sweep", "gate", "repro",
    "blame", "explain", "report", "bench", "planted", "targets", "cli",
)
"""From the ground floor up."""

UPWARD: dict[tuple[str, str], str] = {}
"""Imports that run back up all the same, (room, room above) with the reason."""


@functools.cache
def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


def _room(module: str) -> str | None:
    parts = module.split(".")
    return parts[2] if parts[:2] == ["tridiff", "fuzz"] and len(parts) > 2 else None


def test_every_module_of_the_fuzzer_lies_in_a_room():
    present = {path.stem for path in (REPOSITORY / "fuzz").iterdir()
               if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert present - {"__init__", "__main__"} <= set(ROOMS)


def test_rooms_import_only_from_rooms_below():
    upward: dict[tuple[str, str], list[str]] = {}
    for path in sorted((REPOSITORY / "fuzz").rglob("*.py")):
        room = path.relative_to(REPOSITORY / "fuzz").parts[0].removesuffix(".py")
        if room not in ROOMS:
            continue
        for other in {_room(one) for one in _imports(path)} - {None, room}:
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
                upward.setdefault((room, other), []).append(path.name)
    assert upward.keys() == UPWARD.keys(), {arrow: upward.get(arrow) for arrow in upward.keys() ^ UPWARD.keys()}


def test_kernels_and_oracles_know_nothing_of_the_fuzzer():
    forbidden = {"kernels": ("tridiff.oracles", "tridiff.fuzz"), "oracles": ("tridiff.fuzz",)}
    strangers = {f"{folder}/{path.name}: {one}" for folder, others in forbidden.items()
                 for path in (REPOSITORY / folder).rglob("*.py") for one in _imports(path) if one.startswith(others)}
    assert strangers == set()


def test_the_old_top_level_names_are_imported_nowhere():
    old = {f"{path.relative_to(REPOSITORY)}: {one}" for folder in ("fuzz", "kernels", "oracles", "tests")
           for path in (REPOSITORY / folder).rglob("*.py") for one in _imports(path)
           if one.partition(".")[0] in ("fuzz", "kernels", "oracles")}
    assert old == set()
