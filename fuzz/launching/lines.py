"""Single statements as kernels: each with just as much around it as it names, and the parts that are played."""

import ast
import re
import textwrap
from collections.abc import Set
from functools import cache, lru_cache

from tridiff.fuzz.launching import (
    fragments_amd,
    fragments_gluon,
    fragments_plain,
    lines_arguments,
    lines_further,
    lines_gluon,
    lines_plain,
    lines_statements,
)
from tridiff.fuzz.launching.vocabulary import GROUPS

PART = 32
"""Kernels of one case."""

EVERY = 24
"""Of so many statements one is translated."""

_SHOWN = 60
"""Characters of a statement in its answer's name."""

_KEPT = 1 << 11
"""Texts that are taken apart once: those around a statement are the same for all of them."""

_KERNEL = "kernel"
_WORD = re.compile(r"[^\W\d]\w*")
_LANGUAGES = {"plain": (fragments_plain.HEAD,
                        lines_plain.HELPERS + lines_further.PLAIN_HELPERS + lines_arguments.OPERATED,
                        (lines_plain.LINES, lines_statements.LINES, lines_further.PLAIN,
                         lines_arguments.lines("plain"))),
              "gluon": (fragments_gluon.HEAD, lines_gluon.HELPERS,
                        (lines_gluon.LINES, lines_further.GLUON, lines_arguments.lines("gluon"))),
              "amd": (fragments_amd.HEAD, "", (fragments_amd.LINES,))}


@cache
def parts() -> dict[str, tuple[str, ...]]:
    """Statements by part: "LANGUAGE: GROUP NUMBER". A line that is indented goes on with the one before it, one that
    an earlier part has is left out, and ";;" ends a line of a kernel."""
    found: dict[str, tuple[str, ...]] = {}
    for language, (_, _, tables) in _LANGUAGES.items():
        known: set[str] = set()
        for group, text in ((group, text) for table in tables for group, text in table.items()):
            lines = [line.replace(";;", "\n") for line in text.strip().replace("\n    ", " ").splitlines()
                     if line not in known]
            known.update(lines)
            for start in range(0, len(lines), PART):
                part = f"{language}: {group} {start // PART + 1}"
                assert part not in found, part
                found[part] = tuple(lines[start:start + PART])
    return found


@cache
def statements(part: str) -> dict[str, str]:
    """The statements of a part, each by its number and beginning."""
    return {f"line {number} {line[:_SHOWN]}".replace("\n", " "): line for number, line in enumerate(parts()[part], 1)}


def translatable(group: int) -> dict[str, str]:
    """Texts of kernels by name that are translated together: of the pieces, the calls with all of their arguments, and
    one of several other statements. Behind the groups comes one of what differs most between chips."""
    if group == GROUPS:
        return statements("plain: large products 1") | {
            name: fragments_plain.FRAGMENTS[name] for name in ("descriptor of numbers", "gather and scatter")}
    found = {f"piece {name}": text for name, text in fragments_plain.FRAGMENTS.items()}
    for part in (one for one in parts() if one.startswith("plain")):
        lines = statements(part)
        calls = " arguments of " in part
        if part.endswith(" 1") or not calls:
            found |= {f"{part} {name}": lines[name] for name in list(lines)[:1 if calls else None:EVERY]}
    return dict(list(found.items())[group::GROUPS])


@cache
def module(language: str, line: str) -> str:
    """`trimmed`, of a statement of a part."""
    return trimmed(language, line)


@cache
def helper_names(part: str) -> str:
    """The names in the functions and classes that the statements of a part use, which do not stand in its text."""
    language = part.partition(": ")[0]
    head, helpers, _ = _LANGUAGES[language]
    # Members count as well: what has their names says a little more, and nothing has to be parsed.
    wanted = {name for line in parts()[part] for name in _WORD.findall(line)}
    kept = _needed([*_pieces(head)[:-1], *_pieces(helpers)], wanted)
    return " ".join(dict.fromkeys(name for piece in kept for name in _said(piece)))


@cache
def _said(piece: str) -> tuple[str, ...]:
    """The names in a function or a class, members and arguments among them."""
    return tuple(dict.fromkeys(
        str(getattr(word, "attr", "") or getattr(word, "id", "") or getattr(word, "arg", ""))
        for word in ast.walk(ast.parse(piece))))


def showing(language: str, body: str) -> str:
    """Statements, and behind them one that prints at compile time what each name has that they give a value: what is
    no block stands in no source IR, and most names are never used. In Gluon what the types are called as well: layouts
    are a part of them."""
    names = dict.fromkeys(
        name.id for node in ast.parse(body).body
        if isinstance(node, ast.Assign) or (isinstance(node, ast.AnnAssign) and node.value is not None)
        for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))
    every = ", ".join(names)
    printed = every if language == "plain" else f"{every}, kinds({every})"
    return "\n".join((body.strip("\n"), *((f"tl.static_print({printed}, sep=' ')",) if names else ())))


def trimmed(language: str, body: str) -> str:
    """A module with one kernel that ends in the statements of a text. What they do not name, directly or through what
    they name, is left out: it would take most of the time, and what a version does not have would hide the rest."""
    head, helpers, _ = _LANGUAGES[language]
    # Helpers stand behind the imports and in front of the kernel.
    pieces = _pieces(head)
    kernel, others = pieces[-1], [*pieces[:-1], *_pieces(helpers)]
    head_of_kernel = kernel.splitlines()
    start = next(number for number, one in enumerate(head_of_kernel, 1) if one.startswith("def "))
    first, scope = "\n".join(head_of_kernel[:start]), head_of_kernel[start:]
    values = ["\n".join(f"    {one}" for one in piece.splitlines())
              for piece in _pieces("\n".join(one.removeprefix("    ") for one in scope))]
    wanted = _names(body)
    kept = _needed(values, wanted)
    # Parameters and decorators name functions and types as well.
    around = _needed(others, {name for one in kept for name in _names(one)} | wanted | _names(f"{first}\n    pass"))
    return "\n\n".join((*around, "\n".join((first, *kept, textwrap.indent(body.strip("\n"), "    "))))) + "\n"


@lru_cache(maxsize=_KEPT)
def _pieces(text: str) -> tuple[str, ...]:
    """The statements of a text, with decorators."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        start = min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno)
        found.append("\n".join(lines[start - 1:node.end_lineno]))
    return tuple(found)


@lru_cache(maxsize=_KEPT)
def _names(text: str) -> frozenset[str]:
    """Every name that a text has, whatever for."""
    return frozenset({node.id for node in ast.walk(ast.parse(_flush(text))) if isinstance(node, ast.Name)})


def _flush(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return "\n".join(one[indent:] for one in text.splitlines())


@lru_cache(maxsize=_KEPT)
def _given(text: str) -> frozenset[str]:
    """The names that a statement defines."""
    found: set[str] = set()
    for node in ast.parse(_flush(text)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {one.asname or one.name for one in node.names}
        else:
            found |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return frozenset(found)


def _needed(texts: list[str], wanted: Set[str]) -> list[str]:
    """The statements that define what is wanted, or what those name, in their order."""
    wanted, kept = frozenset(wanted), dict.fromkeys(range(len(texts)), False)
    for place in reversed(range(len(texts))):
        if _given(texts[place]) & wanted:
            kept[place] = True
            wanted |= _names(texts[place])
    return [text for place, text in enumerate(texts) if kept[place]]
