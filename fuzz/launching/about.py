"""What tridiff's own text says of what a scene plays: where no text of Triton's stands in a case, the names that it
uses and the words of what it does stand there. Nothing here imports Triton."""

import ast
import re
from functools import cache
from pathlib import Path

from tridiff.fuzz.launching.cases import scene_of, text
from tridiff.fuzz.launching.scene import EVERY, ROOM, SCENES, Scene
from tridiff.fuzz.launching.table import scenes
from tridiff.fuzz.records import Case, Scalar

_OF_SCENES = (SCENES, f"{ROOM}texts_")
"""Modules whose text counts: what all scenes use tells none from another."""
_WORD = re.compile(r"[A-Za-z]\w+")


def about(case: Case) -> str:
    """The words of what is played, in a line for each that a case plays in turn; "" of a case that has a text."""
    return "" if text(case) else _about(scene_of(case).name, case.params.get(scene_of(case).each, ""))


@cache
def _about(name: str, choice: Scalar) -> str:
    scene = scenes()[name]
    played = scene.vocabulary[scene.each] if choice == EVERY else (choice,)
    return "\n".join(dict.fromkeys(_words(scene, value) for value in played))


def _words(scene: Scene, played: Scalar) -> str:
    """The words of a scene with one of what it plays in turn, if it does."""
    drawn: set[object] = {value for name, values in scene.vocabulary.items() for value in (
        (played,) if name == scene.each else values)}
    module, _, first = f"{SCENES}{scene.play}".partition(":")
    known: set[tuple[str, str]] = set()
    waiting, words = [(module, first)], dict[str, None]()
    while waiting:
        one = waiting.pop()
        defined, _ = _module(one[0])
        if one in known or one[1] not in defined:
            continue
        known.add(one)
        said, used = _said(_chosen(defined[one[1]], drawn), one[0])
        words |= dict.fromkeys(said)
        waiting += used
    return " ".join(words)


@cache  # most of what a scene does it does for each that it plays in turn
def _said(node: ast.AST, module: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a statement of a module, and what it names: (module, name)."""
    imported, used = _module(module)[1], list[tuple[str, str]]()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            used.append((".".join(imported.get(inner.value.id, ("", ""))), inner.attr))
        elif isinstance(inner, ast.Name):
            used.append(imported.get(inner.id, (module, inner.id)))
    # A literal is a kernel's text, or a name of what is looked at.
    return _WORD.findall(ast.unparse(node)), used


def _chosen(node: ast.stmt, drawn: set[object]) -> ast.AST:
    """A table of ways without those that the scene does not have; anything else as it is."""
    table = getattr(node, "value", None)
    if isinstance(table, ast.Dict):
        pairs = [(key, value) for key, value in zip(table.keys, table.values, strict=True)
                 if isinstance(key, ast.Constant) and key.value in drawn]
        if pairs:
            return ast.Dict(keys=[key for key, _ in pairs], values=[value for _, value in pairs])
    return node


@cache
def _module(name: str) -> tuple[dict[str, ast.stmt], dict[str, tuple[str, str]]]:
    """What a module of this package defines, and what it has from others of it: (module, name)."""
    file = Path(__file__).parent.joinpath(*name.removeprefix(ROOM).split(".")).with_suffix(".py")
    defined: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[str, str]] = {}
    if not name.startswith(_OF_SCENES) or not file.exists():
        return defined, imported
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {one.id: node for one in targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    return defined, imported
