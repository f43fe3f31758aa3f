"""Which functions of Triton's Python layer differ between two builds.

Two texts of a function are the same if their syntax trees are: comments, docstrings, places and line breaks do not
count. A default, a decorator or an annotation belongs to its function. What stands outside of functions concerns those
that use the names that it binds; methods of a class, where it stands in the class.
"""

import ast
import collections
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from tridiff.fuzz.backends.beside import Compared
from tridiff.fuzz.backends.watched import Function, Watch, functions
from tridiff.fuzz.builds.compared import added, compared
from tridiff.fuzz.builds.words import helps, of_change
from tridiff.kernels.record import Record

MOST_FILES = 40
"""Files of Python beyond which two builds differ everywhere, as two releases do: nothing is watched then."""

MOST = 100
"""Changes beyond which it is so too."""

SPECIFIC = 8
"""Letters of a name from which on it is taken for the same function in other files."""

MOST_CALLERS, MOST_MAKERS = 16, 4
"""Functions of other files that call one, and such of its own that make objects of a class, beyond which they are no
words about it."""

MOST_USERS = 40
"""Functions that are watched for a name that is bound outside of functions."""


class Change(Record, kw_only=True):
    """One function that differs, or one name that is bound outside of functions. file: below the folder of the
    package. users: functions that are watched for it, by file; none where nothing but the import runs it."""

    file: str
    name: str
    users: dict[str, tuple[str, ...]] = {}
    places: dict[str, tuple[Compared, ...]] = {}
    """Where in a function its statements differ (`watched.Watch`), each with its expressions that are evaluated beside
    those of the other build, if that tells whether they do; none where it is not a matter of statements."""
    near: tuple[str, ...] = ()
    """Other words that cases may have about it: the class of a special method, the function around an inner one, and
    what calls it in its file and, if that is few, in others."""
    words: tuple[str, ...] = ()
    """What kernels may say that its statements speak of (`builds.words`): what matters more, more often."""

    @property
    def told(self) -> str:
        """As a record names it."""
        return f"{self.file}:{self.name}"


def changes(baseline: Path, candidate: Path, files: Iterable[str]) -> tuple[Change, ...]:
    """What differs in the Python files, by their paths below both packages, of what the baseline has. Nothing where
    they differ everywhere, and where no function uses what differs."""
    texts = [name for name in files if name.endswith(".py") and (baseline / name).exists()
             and (candidate / name).exists()]
    if len(texts) > MOST_FILES:
        return ()
    found: list[Change] = []
    for name in texts:
        found += _of_file(baseline, name, (candidate / name).read_bytes())
        if len(found) > MOST:
            return ()
    return tuple(found) if any(one.users for one in found) else ()


def watch(package: Path, found: tuple[Change, ...]) -> Watch:
    """What workers of the baseline have to note: the place of each change in `found`."""
    numbers: dict[str, dict[str, tuple[int, ...]]] = {}
    for number, one in enumerate(found):
        for file, names in one.users.items():
            of_file = numbers.setdefault(file, {})
            for name in names:
                of_file[name] = (*of_file.get(name, ()), number)
    kernels = set(_kernels(package, numbers))
    places: dict[str, dict[str, dict[str, int]]] = {}
    beside: dict[str, dict[str, dict[str, tuple[Compared, ...]]]] = {}
    for number, one in enumerate(found):
        if one.places and (one.file, one.name) not in kernels:
            places.setdefault(one.file, {})[one.name] = dict.fromkeys(one.places, number)
            beside.setdefault(one.file, {})[one.name] = one.places
    return Watch(package=str(package), functions=numbers, places=places, compared=beside, read=bool(kernels))


def _kernels(package: Path, numbers: dict[str, dict[str, tuple[int, ...]]]) -> Iterator[tuple[str, str]]:
    """Which of the functions are such as the compiler reads, by file and name."""
    for file, names in numbers.items():
        for name, node in functions(ast.parse((package / file).read_bytes())):
            if name in names and any("jit" in _names(one) for one in node.decorator_list):
                yield file, name


def _of_file(package: Path, name: str, after: bytes) -> list[Change]:
    text = (package / name).read_bytes()
    try:
        old, new = _Meaning(ast.parse(text)), _Meaning(ast.parse(after))
    except (SyntaxError, ValueError):
        return []  # it cannot be imported, which is told elsewhere
    tree = ast.parse(text)
    mine, theirs = (dict(functions(one)) for one in (tree, ast.parse(after)))
    found = []
    for one in (one for one, meaning in old.functions.items() if new.functions.get(one) != meaning):
        ways = places(mine[one], theirs.get(one))
        found.append(Change(file=name, name=one, users={name: (one,)}, places=ways,
                            near=tuple(dict.fromkeys((*_near(mine, one), *_callers(package, name, one)))),
                            words=tuple(of_change(one, mine[one], theirs.get(one), ways, text.decode(), mine))))
    for within in old.outside.keys() | new.outside.keys():
        before, now = (collections.Counter(one.outside.get(within, {}).keys()) for one in (old, new))
        bound = dict.fromkeys(
            bound for source, gone in ((old, before - now), (new, now - before))
            for statement in gone for bound in source.outside[within][statement] or ("",))
        for one in bound:
            told = f"{within}{one}" if one else f"{within or 'module'} statement".replace(". ", " ")
            found.append(Change(file=name, name=told, users=_users(package, name, tree, within, one)))
    return sorted(found, key=lambda change: change.name)


def _near(known: dict[str, Function], name: str) -> tuple[str, ...]:
    """Words about a function (`Change.near`). known: all functions of its file. What calls a function that begins with
    an underscore, or that helps visitors, is as unknown to cases: its callers count as well."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting and len(found) < MOST_USERS:
        whole = waiting.pop()
        around, _, last = whole.rpartition(".")
        owner = around.rpartition(".")[2]
        if around and (around in known or last.startswith("__")):
            found[owner] = None
        # What makes objects of a class has its special methods called, which says something where few do.
        if last.startswith("__") and owner and sum(owner in _called(node) for node in known.values()) <= MOST_MAKERS:
            last = owner
        for other, node in known.items():
            if other == whole or last not in _called(node):
                continue
            # An inner function is known by the one around it.
            while (around := other.rpartition(".")[0]) in known:
                other = around
            word = other.rpartition(".")[2]
            if word not in found:
                found[word] = None
                waiting += [other] if word.startswith("_") or helps(word) else []
    # Whoever calls what is decorated runs them.
    decorated = [one for one, node in known.items() for by in node.decorator_list if name.split(".")[0] in _names(by)]
    return (*found, *decorated * (len(decorated) <= MOST_USERS))


def _callers(package: Path, file: str, name: str) -> list[str]:
    """The last names of functions in other files that call one, which says nothing where they are many."""
    last = name.rpartition(".")[2]
    found: dict[str, None] = {}
    if len(last) < SPECIFIC or last.startswith("__"):
        return []
    for other in sorted(package.rglob("*.py")):
        text = other.read_bytes()
        if f"{last}(".encode() in text and other != package / file:
            for whole, called in _calls(text).items():
                if last in called:
                    found[whole.rpartition(".")[2]] = None
    return [one for one in found if not one.startswith("__")] if len(found) <= MOST_CALLERS else []


@lru_cache(maxsize=256)  # a file calls many of the functions that differ
def _calls(text: bytes) -> dict[str, set[str]]:
    """What each function of a file calls, by its whole name."""
    return {whole: _called(node) for whole, node in functions(ast.parse(text))}


def _called(node: ast.AST) -> set[str]:
    """The last names of what a function calls."""
    return {getattr(one.func, "attr", getattr(one.func, "id", "")) for one in ast.walk(node)
            if isinstance(one, ast.Call)}


def places(old: Function, new: Function | None) -> dict[str, tuple[Compared, ...]]:
    """In front of which statements of a function another text of it differs, each as the way there ("body.2.orelse.0"),
    with what can be asked there; nothing where it differs elsewhere (arguments, decorators)."""
    if new is None or ast.dump(old.args) != ast.dump(new.args) or list(map(ast.dump, old.decorator_list)) != list(
            map(ast.dump, new.decorator_list)):
        return {}
    return dict(_places(old, new, ""))


def _places(old: ast.AST, new: ast.AST, way: str) -> Iterator[tuple[str, tuple[Compared, ...]]]:
    for field, value in ast.iter_fields(old):
        other = getattr(new, field)
        if not _holds_statements(value, other):
            continue
        for number, (one, two) in enumerate(zip(value, other, strict=False)):
            if _same(one, two):
                continue
            here = f"{way}{field}.{number}"
            inner = list(_places(one, two, here + ".")) if _same_head(one, two) else []
            if not inner and len(value) == len(other) + 1 and _same(value[number + 1], two):
                inner = [(_missed(one, here), ())]
            elif not inner and isinstance(one, ast.stmt) and isinstance(two, ast.stmt):
                more = len(other) == len(value) + 1 and all(map(_same, value[number:], other[number + 1:]))
                inner = [(here, added(two) if more else compared(one, two) if len(value) == len(other) else ())]
            yield from inner
            if len(value) != len(other):
                break
        else:
            if len(value) != len(other) and (not value or isinstance(value[0], ast.stmt)):
                here = f"{way}{field}.{min(len(value), len(other))}"
                more = len(other) == len(value) + 1 and isinstance(other[-1], ast.stmt)
                yield (_missed(value[-1], here), ()) if len(value) == len(other) + 1 else (
                    here, added(other[-1]) if more else ())


def _missed(gone: ast.AST, here: str) -> str:
    """Where a statement that is gone is missed: a condition where it was met, with nothing else to do where it was
    not."""
    return f"{here}.body.0" if isinstance(gone, ast.If) and not gone.orelse else here


def _holds_statements(value: object, other: object) -> bool:
    return isinstance(value, list) and isinstance(other, list) and any(
        isinstance(one, ast.stmt | ast.ExceptHandler | ast.match_case) for one in (*value, *other))


def _same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two statements are alike; functions and classes speak for themselves."""
    if isinstance(one, Function | ast.ClassDef) and type(one) is type(other):
        return one.name == getattr(other, "name", "")
    return ast.dump(one) == ast.dump(other)


def _same_head(one: ast.AST, other: ast.AST) -> bool:
    """Whether two statements differ in the statements inside of them only."""
    if type(one) is not type(other):
        return False
    fields = [(value, getattr(other, field)) for field, value in ast.iter_fields(one)]
    return any(_holds_statements(*both) for both in fields) and all(
        _holds_statements(*both) or _dumped(both[0]) == _dumped(both[1]) for both in fields)


def _dumped(value: object) -> object:
    if isinstance(value, list):
        return [_dumped(one) for one in value]
    return ast.dump(value) if isinstance(value, ast.AST) else value


class _Meaning:
    """Syntax trees of one module, piece by piece. functions: by name, without the functions inside of it. outside: by
    the class that statements stand in ("" for the module, a point behind it else), the names that each binds."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[str, str] = {}
        self.outside: dict[str, dict[str, tuple[str, ...]]] = {}
        self._names = {id(node): name for name, node in functions(tree)}
        self._stripped(tree, "")

    def _stripped(self, node: ast.AST, within: str) -> None:
        """Note the functions and classes in a node, and leave their names in their places."""
        for _, value in ast.iter_fields(node):
            if not (isinstance(value, list) and value and isinstance(value[0], ast.stmt)):
                for child in value if isinstance(value, list) else (value,):
                    if isinstance(child, ast.AST) and not isinstance(child, ast.expr):
                        self._stripped(child, within)
                continue
            for place, child in enumerate(value):
                if isinstance(child, Function):
                    self._stripped(child, within)
                    name = self._names[id(child)]
                    self.functions[name] = _dump(child)
                    value[place] = ast.Expr(ast.Constant(f"def {child.name}"))
                elif isinstance(child, ast.ClassDef):
                    inner = f"{within}{child.name}."
                    self._stripped(child, inner)
                    self._note(inner, [one for one in child.body if not _is_text(one)])
                    head = [ast.Expr(one) for one in (*child.bases, *(key.value for key in child.keywords),
                                                      *child.decorator_list)]
                    self._note(inner, head)
                    value[place] = ast.Expr(ast.Constant(f"class {child.name}"))
                else:
                    self._stripped(child, within)
        if isinstance(node, ast.Module):
            self._note("", [one for one in node.body if not _is_text(one)])

    def _note(self, within: str, statements: Iterable[ast.stmt]) -> None:
        outside = self.outside.setdefault(within, {})
        for one in statements:
            outside[ast.dump(one)] = tuple(dict.fromkeys(_bound(one)))


def _dump(node: Function) -> str:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    parts = [ast.dump(node.args), *map(ast.dump, node.decorator_list), *map(ast.dump, body)]
    return " ".join((*parts, ast.dump(node.returns) if node.returns else ""))


def _is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring, or stands for a function or a class."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, and the one of which it changes a part or calls a method."""
    part = next(ast.iter_child_nodes(statement), None)
    while isinstance(part, ast.Subscript | ast.Attribute | ast.Call):
        part = part.func if isinstance(part, ast.Call) else part.value
    if isinstance(part, ast.Name):
        yield part.id
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _names(node: ast.AST) -> set[str]:
    """Names and members in a node, those in functions inside of it as well."""
    return {one.id if isinstance(one, ast.Name) else one.attr for one in ast.walk(node)
            if isinstance(one, ast.Name | ast.Attribute)}


def _users(package: Path, file: str, tree: ast.Module, within: str, name: str) -> dict[str, tuple[str, ...]]:
    """Functions that use what is bound there: in the file, and in others that have the word. Of a class, its methods
    and whoever names it, too."""
    words = {word for word in (name, within.rstrip(".").rpartition(".")[2]) if word}
    if not words:
        return {}
    found = {file: tuple(one for one, node in functions(tree)
                         if (within and one.startswith(within)) or words & _names(node))}
    if not found[file]:
        del found[file]
    if not within.rstrip(".") or not found:
        found |= _elsewhere(package, file, words, left=MOST_USERS)
    return {one: names[:MOST_USERS] for one, names in found.items()}


def _elsewhere(package: Path, file: str, words: set[str], *, left: int) -> dict[str, tuple[str, ...]]:
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in sorted(words)).encode())
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(package.rglob("*.py")):
        other = path.relative_to(package).as_posix()
        text = path.read_bytes()
        if other == file or left <= 0 or not pattern.search(text):
            continue
        names = tuple(one for one, node in functions(ast.parse(text)) if words & _names(node))[:left]
        left -= len(names)
        if names:
            found[other] = names
    return found
