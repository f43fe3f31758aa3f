"""Weak mutation: small wrong alternatives evaluated beside the expressions of Triton's Python layer while cases run.

An alternative that never came to anything else than the expression in its place is a slip that none of these cases can
show, whoever judges them. One that did may be missed all the same: what became of it is asked by `tridiff faults`.
"""

import ast
import copy
import marshal
import mmap
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from tridiff.fuzz.backends.beside import differ
from tridiff.fuzz.backends.watched import Finder
from tridiff.fuzz.builds.compared import PARTS, WHOLE, looks
from tridiff.fuzz.planted.alternatives import alternatives
from tridiff.fuzz.planted.places import SHOWN_ONLY
from tridiff.kernels.record import Record

ONE_VALUE = "the value that it always has"
"""In place of an alternative: where something is passed on, what nobody ever sets to anything else may be lost."""

OFTEN = 1000
"""Evaluations of an expression in one process behind which its alternatives are not evaluated any more."""

_ASKED = "__tridiff_weak__"
_CODE, _SEEN = "code", "seen"
_LEFT = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete, ast.Match, ast.Lambda,
         *WHOLE)
"""Syntax in which nothing is put: texts of errors are other tests' matter, and lambdas cannot see what binds there."""
_ASKING = ("isinstance", "issubclass", "getattr", "hasattr", "super")
"""Calls whose arguments are looked at as one."""
_ALWAYS = ("self", "cls", "_semantic", "_generator", "_builder", "builder")
"""Names of what a function works with and never of what it is given."""


class Alternative(Record, kw_only=True):
    """A wrong expression. file: below the package; function: its qualified name; line, before: of the expression;
    after: what stands in its place, or ONE_VALUE."""

    file: str
    line: int
    function: str
    before: str
    after: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.before} -> {self.after}"


Asked = list[tuple[int, bool, bool]]
"""Of one expression, the numbers of its alternatives, with whether only their truth matters, and whether it is
ONE_VALUE."""


def prepare(package: Path, files: Iterable[str], folder: Path) -> list[tuple[Alternative, int]]:
    """Write into a folder what `watch` and `seen` need: files of the package with the questions in them. Returns the
    alternatives by their numbers, each with the number of its expression."""
    found: list[tuple[Alternative, int]] = []
    asked: list[Asked] = []
    codes: dict[str, CodeType] = {}
    for file in files:
        path = package / file
        tree = ast.parse(path.read_bytes(), str(path))
        _Put(file, found, asked).visit(tree)
        codes[str(path)] = compile(tree, str(path), "exec", dont_inherit=True)
    (folder / _CODE).write_bytes(marshal.dumps((codes, asked)))
    (folder / _SEEN).write_bytes(bytes(len(found) + len(asked) or 1))
    return found


def seen(folder: Path, found: Sequence[tuple[Alternative, int]]) -> tuple[list[Alternative], list[Alternative],
                                                                           list[Alternative]]:
    """Alternatives that came to something else in any process, those that ran and never did, and those that no process
    ran."""
    data = (folder / _SEEN).read_bytes()
    several: tuple[list[Alternative], list[Alternative], list[Alternative]] = ([], [], [])
    for number, (one, group) in enumerate(found):
        several[0 if data[number] else 1 if data[len(found) + group] else 2].append(one)
    return several


def watch(folder: Path) -> None:
    """Ask the questions in a folder in modules that this process, or one forked from it, imports from now on."""
    codes, asked = marshal.loads((folder / _CODE).read_bytes())
    with open(folder / _SEEN, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 0)
    sys.meta_path.insert(0, Finder(codes.get, {_ASKED: asking(asked, shared)}))


def asking(asked: Sequence[Asked], seen: Any) -> Callable[..., Any]:
    """What is called in place of an expression: with its number, a function that evaluates it, and one that gives
    functions for its alternatives. seen: a byte for each alternative, set if it came to something else, and behind
    these one for each expression, set if it ran."""
    number_of = sum(map(len, asked))
    often = [0] * len(asked)
    first: dict[int, Any] = {}
    busy = False

    def ask(place: int, mine: Callable[[], Any], others: Callable[[], tuple[Callable[[], Any], ...]]) -> Any:
        nonlocal busy
        value = mine()
        if busy or often[place] > OFTEN:
            return value
        often[place] += 1
        seen[number_of + place] = 1
        left = [(other, one) for other, one in zip(others(), asked[place], strict=True) if not seen[one[0]]]
        if not left:
            often[place] = OFTEN + 1
        busy = True  # what an alternative runs is nobody's case
        try:
            for other, (number, truth, always) in left:
                if _apart(value, (lambda: first.setdefault(place, _kept(value))) if always else other, truth):
                    seen[number] = 1
        finally:
            busy = False
        return value

    return ask


def _apart(value: Any, other: Callable[[], Any], truth: bool) -> bool:
    try:
        found = other()
        return bool(value) is not bool(found) if truth else differ(value, found)
    except Exception:  # operands that the alternative does not take
        return True


def _kept(value: Any) -> Any:
    """A value as it is now."""
    return copy.copy(value) if isinstance(value, list | dict | set) else value


class _Put(ast.NodeTransformer):
    """Puts questions into the functions of a file but kernels, which nobody runs. found, asked: where alternatives and
    expressions are added."""

    def __init__(self, file: str, found: list[tuple[Alternative, int]], asked: list[Asked]) -> None:
        self._file, self._found, self._asked = file, found, asked
        self._names: tuple[str, ...] = ()
        self._bound: frozenset[str] | None = None
        """Names that the functions around bind; None outside of any."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name not in SHOWN_ONLY and not any(
                word in ast.unparse(one) for one in node.decorator_list for word in ("jit", "overload")):
            before, self._names = (self._names, self._bound), (*self._names, node.name)
            every = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
            self._bound = (self._bound or frozenset()) | {one.arg for one in every} | {
                one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
            self._statements(node.body)
            self._names, self._bound = before
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        before, self._names = self._names, (*self._names, node.name)
        # What stands in a class's own body is out of sight for what is put there.
        self._statements([one for one in node.body if isinstance(one, ast.FunctionDef | ast.ClassDef)])
        self._names = before
        return node

    def _statements(self, body: Iterable[ast.stmt]) -> None:
        for one in body:
            self.visit(one)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _LEFT) or (
                self._bound is None and isinstance(node, ast.Assign | ast.Expr | ast.AnnAssign)):
            return node
        return super().visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        passed = isinstance(node, ast.Call | ast.Return | ast.Assign | ast.keyword)
        for field, value in ast.iter_fields(node):
            if field == "annotation":
                continue
            truth = field == "test" or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
            if isinstance(value, list):
                value[:] = [self._placed(one, truth, passed) for one in value]
            elif isinstance(value, ast.AST):
                setattr(node, field, self._placed(value, truth, passed and field != "func"))
        return node

    def _placed(self, node: Any, truth: bool, passed: bool) -> Any:
        """What stands in the place of a node: itself, if it is no expression that can be asked."""
        if not isinstance(node, ast.expr) or self._bound is None:
            return self.visit(node) if isinstance(node, ast.AST) else node
        if isinstance(node, PARTS):
            return self.generic_visit(node)
        if isinstance(node, (*_LEFT, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) or not isinstance(
                getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        plain = copy.deepcopy(node)
        self._inside(node, truth)
        if not looks(plain):
            return node
        every: list[ast.expr | None] = [*alternatives(plain, truth=truth)]
        if passed and self._given(plain):
            every.append(None)
        return self._question(plain, node, every, truth) if every else node

    def _inside(self, node: ast.expr, truth: bool) -> None:
        """Put questions into the parts of an expression."""
        match node:
            case ast.BoolOp(values=values):
                values[:] = [self._placed(one, truth, False) for one in values]
            case ast.IfExp():
                node.test = self._placed(node.test, True, False)
                node.body, node.orelse = (self._placed(one, truth, False) for one in (node.body, node.orelse))
            case ast.Compare(comparators=[ast.Tuple() | ast.List() | ast.Set() | ast.Constant()]):
                node.left = self._placed(node.left, False, False)
            case ast.Call(func=ast.Name(id=name)) if name in _ASKING:
                pass
            case ast.Subscript(slice=ast.Constant()):
                node.value = self._placed(node.value, False, False)
            case _:
                self.generic_visit(node)

    def _given(self, node: ast.expr) -> bool:
        """Whether it is what the function was given or made of it, and not a name of the module's."""
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            return root.id in (self._bound or ()) and (root is not node or root.id not in _ALWAYS)
        return isinstance(root, ast.Compare | ast.BoolOp | ast.IfExp | ast.Call)

    def _question(self, plain: ast.expr, node: ast.expr, every: list[ast.expr | None], truth: bool) -> ast.expr:
        place, asked = len(self._asked), list[tuple[int, bool, bool]]()
        for one in every:
            asked.append((len(self._found), truth and one is not None, one is None))
            self._found.append((Alternative(
                file=self._file, line=plain.lineno, function=".".join(self._names), before=ast.unparse(plain),
                after=ONE_VALUE if one is None else ast.unparse(one)), place))
        self._asked.append(asked)
        others = ast.Tuple([_function(one or ast.Constant(None)) for one in every], ast.Load())
        call = ast.Call(ast.Name(_ASKED, ast.Load()), [
            ast.Constant(place), _function(node), _function(others)], [])
        return ast.fix_missing_locations(ast.copy_location(call, plain))


def _function(body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)
