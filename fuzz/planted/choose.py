"""All edits that can be planted into a Triton, and a seeded choice among them."""

import collections
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.planted.edit import Edit, Replacement, Source
from tridiff.fuzz.planted.harmless import HARMLESS, renamed_local
from tridiff.fuzz.planted.operators import OPERATORS
from tridiff.fuzz.planted.places import Place, places

FILES = (
    "language/core.py", "language/semantic.py", "language/standard.py", "language/math.py", "language/random.py",
    "compiler/code_generator.py", "compiler/compiler.py", "runtime/jit.py", "runtime/interpreter.py",
    "backends/nvidia/compiler.py", "backends/nvidia/driver.py", "experimental/gluon/_runtime.py",
    "experimental/gluon/language/_core.py", "experimental/gluon/language/_semantic.py",
    "experimental/gluon/language/_layouts.py", "experimental/gluon/language/_standard.py",
    "experimental/gluon/language/_math.py", "experimental/gluon/language/nvidia/ampere/*.py",
    "experimental/gluon/language/nvidia/hopper/*.py", "experimental/gluon/nvidia/hopper.py",
    "tools/tensor_descriptor.py")
"""Globs of the files of Triton's Python layer that a kernel for an NVIDIA GPU runs through; those that a version lacks
are left out."""


def edits(package: Path, *, only: Sequence[str] = ()) -> list[Edit]:
    """All faults and harmless edits for the package in a folder (that of `triton/__init__.py`), by file and line.

    The same for the same text of the files. only: globs of names or files, as for `choose`; files that none of them
    fits are not read. Raises TridiffError where the folder holds no Triton."""
    files = [path for pattern in FILES for path in sorted(package.glob(pattern))]
    if not files:
        raise TridiffError(f"{package} holds no Python layer of Triton", fix="name the folder of triton/__init__.py")
    wanted = [glob.partition(":")[0] for glob in only]
    named = [(path.relative_to(package).as_posix(), path) for path in files]
    return [edit for name, path in named if not wanted or any(fnmatchcase(name, one) for one in wanted)
            for edit in edits_of(name, path.read_bytes())]


def edits_of(file: str, data: bytes) -> list[Edit]:
    """All edits of one file, by line."""
    source = Source(file, data)
    numbers: collections.Counter[tuple[int, str]] = collections.Counter()
    found = []
    for place, operator, parts in _changes(source):
        harmless = operator not in OPERATORS
        if harmless or source.changes_meaning(parts, place.owner):
            first = min(parts, key=lambda one: one.start)
            line = data.count(b"\n", 0, first.start) + 1
            numbers[line, operator] += 1
            found.append(Edit(
                file=file, line=line, operator=operator, function=place.function, replacements=parts,
                number=numbers[line, operator], harmless=harmless,
                before=_one_line(data[first.start:first.end].decode()), after=_one_line(first.text)))
    return sorted(found, key=lambda one: (one.line, one.operator, one.number))


def _changes(source: Source) -> Iterator[tuple[Place, str, tuple[Replacement, ...]]]:
    for place in places(source.tree):
        for name, operator in (*OPERATORS.items(), *HARMLESS.items()):
            for part in operator(place, source):
                yield place, name, (part,)
        for parts in renamed_local(place, source):
            yield place, renamed_local.__name__, parts


def _one_line(text: str) -> str:
    return " ".join(text.split())


def choose(found: Sequence[Edit], *, number: int, seed: int, only: Sequence[str] = (),
           public: bool = False) -> list[Edit]:
    """`number` faults and no harmless edit, spread over files (by the root of how many each has), functions and
    operators; fewer where there are fewer. only: globs of names, `language/*` for instance. public: one of each
    function at most, and none of functions and classes whose names begin with an underscore.

    The same for the same edits and seed, and the first n of a larger choice are a choice of n. Raises TridiffError for
    a glob that fits nothing."""
    faults = _fitting([one for one in found if not one.harmless], only)
    sizes = collections.Counter(one.file for one in faults)
    if public:
        faults = [one for one in faults if not any(part.startswith("_") for part in one.function.split("."))]
    return _spread(faults, number, seed, group=lambda one: one.file, due=lambda file: math.sqrt(sizes[file]),
                   once=public)


def choose_harmless(found: Sequence[Edit], *, number: int, seed: int) -> list[Edit]:
    """As `choose`, of the edits that change nothing; the operators take turns."""
    return _spread([one for one in found if one.harmless], number, seed, group=lambda one: one.operator,
                   due=lambda operator: 1.0)


def _fitting(found: Sequence[Edit], only: Sequence[str]) -> list[Edit]:
    for glob in only:
        if not any(_fits(one, glob) for one in found):
            raise TridiffError(f"no fault is named {glob!r}", fix="see `tridiff faults --triton --list`; a name is "
                               "file:line:operator, and globs such as 'language/*' are names as well")
    return [one for one in found if not only or any(_fits(one, glob) for glob in only)]


def _fits(edit: Edit, glob: str) -> bool:
    return fnmatchcase(edit.name, glob) or fnmatchcase(edit.file, glob)


def _spread(found: Iterable[Edit], number: int, seed: int, *, group: Callable[[Edit], str],
            due: Callable[[str], float], once: bool = False) -> list[Edit]:
    """One after the other: of the group that has least of its due, the edit whose function, then whose operator was
    taken least often; ties by a hash of seed and name. once: no function gives a second edit."""
    groups: dict[str, list[Edit]] = {}
    for one in found:
        groups.setdefault(group(one), []).append(one)
    luck = {one.name: hashlib.blake2b(f"{seed} {one.name}".encode(), digest_size=8).digest()
            for members in groups.values() for one in members}
    taken: collections.Counter[str] = collections.Counter()
    functions: collections.Counter[tuple[str, str]] = collections.Counter()
    operators: collections.Counter[str] = collections.Counter()
    chosen: list[Edit] = []
    while len(chosen) < number and any(groups.values()):
        name = min((one for one, members in groups.items() if members),
                   key=lambda one: ((taken[one] + 1) / due(one), one))
        edit = min(groups[name], key=lambda one: (functions[one.file, one.function], operators[one.operator],
                                                  luck[one.name]))
        groups[name] = [one for one in groups[name]
                        if one is not edit and not (once and one.function == edit.function)]
        taken[name] += 1
        functions[edit.file, edit.function] += 1
        operators[edit.operator] += 1
        chosen.append(edit)
    return chosen
