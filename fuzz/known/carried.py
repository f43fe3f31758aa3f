"""Variables that Triton's front end takes for the same in every trip of a loop although they are not.

Before it compiles a loop it visits the body once, with the values from before the loop, and takes a variable for
carried if it holds another value afterwards (`CodeGenerator._find_carries`). Where two names hold one value before the
loop, `a = b` leaves `a` as it was in that first trip, whatever becomes of `b` in the next one. Such an `a` has its
value from before the loop at the beginning of every trip and behind the loop.

What stands for one value is found out as the front end does it, statement by statement: a name, an item of a tuple, a
conversion to the type that a value has and the like hand a value on, everything else makes a new one.
"""

import ast
import copy
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import arguments_of, nodes, rewritten, types
from tridiff.fuzz.statements.text import source
from tridiff.kernels.language.script import Node, Script
from tridiff.kernels.pointwise.record import TRITON_NAMES

_HANDED_ON = ("tl.to_tensor", "tl.multiple_of", "tl.max_contiguous", "tl.max_constancy")
_TYPES = {spelled: name for name, spelled in TRITON_NAMES.items()}


class _Value:
    """A value of run time, which is the same as itself alone."""


class _Number:
    """A number that is known when the kernel is compiled."""

    def __init__(self, value: object) -> None:
        self.value = value


_Held = _Value | _Number | tuple["_Held", ...]
_Names = dict[str, _Held]


def _anew(held: _Held) -> _Held:
    """What a name holds that was given other values."""
    return tuple(map(_anew, held)) if isinstance(held, tuple) else held if isinstance(held, _Number) else _Value()


class _Unknown(Exception):
    """The number of trips of an unrolled loop is not found out here."""


class _Compiled:
    """Visits statements as the front end does. found: loops with a variable that is not carried although it should.

    types: element types of variables, as far as they are known.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types, self.found = types, 0

    def statements(self, body: list[ast.stmt], names: _Names, *, trial: bool = False) -> list[ast.stmt]:
        """The statements that behave in Python as these do once they are compiled. `names` is what names hold, before
        and then after them. trial: nothing comes of this visit."""
        return [made for one in body for made in self._statement(one, names, trial)]

    def _statement(self, one: ast.stmt, names: _Names, trial: bool) -> list[ast.stmt]:
        if isinstance(one, ast.For) and ast.unparse(one.iter).startswith("tl.static_range("):
            return self._unrolled(one, names, trial)
        if isinstance(one, ast.For | ast.While):
            return self._loop(one, names, trial)
        if isinstance(one, ast.If):
            return self._branches(one, names, trial)
        if isinstance(one, ast.Assign):
            held = self._held(one.value, names)
            for target in one.targets:
                _bind(target, held, names)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            known, value = _number(one.value, names)
            names[one.target.id] = _Number(value) if known else self._held(one.value, names)
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            self._held(one.value, names)
            names[one.target.id] = _Value()
        elif isinstance(one, ast.Expr):
            self._held(one.value, names)
        return [one]

    def _branches(self, one: ast.If, names: _Names, trial: bool) -> list[ast.stmt]:
        known, value = _number(one.test, names)
        if known:
            return self.statements(one.body if value else one.orelse, names, trial=trial)
        self._held(one.test, names)
        other = dict(names)
        made = copy.copy(one)
        made.body = self.statements(one.body, names, trial=trial) or [ast.Pass()]
        made.orelse = self.statements(one.orelse, other, trial=trial)
        for name in {*names, *other}:
            if names.get(name) != other.get(name):
                names[name] = _anew(names.get(name, other.get(name, _Value())))
        return [made]

    def _unrolled(self, one: ast.For, names: _Names, trial: bool) -> list[ast.stmt]:
        assert isinstance(one.iter, ast.Call) and isinstance(one.target, ast.Name)
        bounds = [_number(bound, names) for bound in one.iter.args]
        if not all(known and isinstance(value, int) for known, value in bounds):
            raise _Unknown
        found: list[ast.stmt] = []
        for number in range(*(value for _, value in bounds if isinstance(value, int))):
            names[one.target.id] = _Number(number)
            found.append(ast.AnnAssign(target=one.target, annotation=ast.parse("tl.constexpr", mode="eval").body,
                                       value=ast.Constant(number), simple=1))
            found += self.statements(one.body, names, trial=trial)
        return found or [ast.Pass()]

    def _loop(self, one: ast.For | ast.While, names: _Names, trial: bool) -> list[ast.stmt]:
        before = dict(names)
        first = self._in_body(one, dict(names))
        self.statements(one.body, first, trial=True)
        for name, held in before.items():
            if not isinstance(held, _Number) and first[name] != held:
                names[name] = _anew(held)
        entered = dict(names)
        inside = self._in_body(one, dict(names))
        body = self.statements(one.body, inside, trial=trial)
        lost = [name for name, held in entered.items()
                if held is before[name] and not isinstance(held, _Number) and inside[name] != held]
        if isinstance(one, ast.For) and isinstance(one.target, ast.Name):
            lost = [name for name in lost if name != one.target.id]
        made = copy.copy(one)
        made.body = body
        if not lost or trial:
            return [made]
        self.found += 1
        kept = {name: f"kept{self.found}{name}" for name in lost}
        made.body = [*_assigned(kept), *body]
        return [*_assigned({other: name for name, other in kept.items()}), made, *_assigned(kept)]

    def _in_body(self, one: ast.For | ast.While, names: _Names) -> _Names:
        if isinstance(one, ast.While):
            self._held(one.test, names)
        elif isinstance(one.target, ast.Name):
            names[one.target.id] = _Value()
        return names

    def _held(self, one: ast.expr, names: _Names) -> _Held:
        """What an expression comes to."""
        if isinstance(one, ast.Name):
            return names.get(one.id, _Value())
        if isinstance(one, ast.NamedExpr):
            held = self._held(one.value, names)
            _bind(one.target, held, names)
            return held
        if isinstance(one, ast.Tuple | ast.List):
            return tuple(self._held(part, names) for part in one.elts)
        parts = [self._held(part, names) for part in ast.iter_child_nodes(one) if isinstance(part, ast.expr)]
        if isinstance(one, ast.IfExp):
            known, value = _number(one.test, names)
            return parts[1 if value else 2] if known else _Value()
        if isinstance(one, ast.Subscript):
            return _item(parts[0], one.slice, names)
        if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.UAdd):
            return parts[0]
        return self._handed_on(one, names) if isinstance(one, ast.Call) else _Value()

    def _handed_on(self, call: ast.Call, names: _Names) -> _Held:
        function = ast.unparse(call.func)
        if function in _HANDED_ON and call.args:
            return self._held(call.args[0], names)
        if function == "tl.cast" and len(call.args) == 2:
            converted, to = call.args
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "to" and call.args:
            converted, to = call.func.value, call.args[0]
        else:
            return _Value()
        held, spelled = self._held(converted, names), ast.unparse(to)
        own = self._type(held, ast.unparse(converted), names)
        like = spelled.removesuffix(".dtype").removesuffix(".type.scalar").removesuffix(".type.element_ty")
        wanted = _TYPES.get(spelled) or (self.types.get(like, "") if like != spelled else "")
        return held if own and own == wanted else _Value()

    def _type(self, held: _Held, text: str, names: _Names) -> str:
        """The element type of a value, by its text or a name that holds it as well; "" where it is not known."""
        found = (self.types[name] for name, other in names.items() if other is held and name in self.types)
        return self.types.get(text) or next(found, "")


def _bind(target: ast.expr, held: _Held, names: _Names) -> None:
    if isinstance(target, ast.Name):
        names[target.id] = _Value() if isinstance(held, _Number) else held
    elif isinstance(target, ast.Tuple | ast.List):
        parts = held if isinstance(held, tuple) and len(held) == len(target.elts) else [_Value() for _ in target.elts]
        for one, part in zip(target.elts, parts, strict=True):
            _bind(one, part, names)


def _item(held: _Held, place: ast.expr, names: _Names) -> _Held:
    known, number = _number(place, names)
    if isinstance(held, tuple):
        inside = known and isinstance(number, int) and -len(held) <= number < len(held)
        return held[number] if inside and isinstance(number, int) else _Value()
    whole = place.elts if isinstance(place, ast.Tuple) else [place]
    return held if all(ast.unparse(one) == ":" for one in whole) else _Value()


_KNOWN = (ast.Constant, ast.Name, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop,
          ast.cmpop, ast.boolop, ast.expr_context)


def _number(one: ast.expr, names: _Names) -> tuple[bool, object]:
    """Whether an expression is a number that is known when the kernel is compiled, and which."""
    if not all(isinstance(part, _KNOWN) for part in ast.walk(one)):
        return False, None
    given: dict[str, object] = {}
    for part in ast.walk(one):
        if isinstance(part, ast.Name):
            held = names.get(part.id)
            if not isinstance(held, _Number):
                return False, None
            given[part.id] = held.value
    try:
        return True, eval(compile(ast.Expression(one), "<number>", "eval"), {"__builtins__": {}}, given)
    except (ArithmeticError, TypeError, ValueError):
        return False, None


def _assigned(names: Mapping[str, str]) -> list[ast.stmt]:
    return [ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Name(id=other, ctx=ast.Load()))
            for name, other in names.items()]


@lru_cache(maxsize=1 << 10)
def _as_compiled(encoded: bytes) -> str:
    script = msgspec.json.decode(encoded, type=Script)
    tree = ast.parse(source(script))
    known = {f"x{number}": one.dtype for number, one in enumerate(script.operands)} | types(script)
    compiler = _Compiled(known)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            names: _Names = {one.arg: _Value() for one in function.args.args}
            names |= {name: _Number(value) for name, value in arguments_of(script).items() if name.isupper()}
            try:
                function.body = compiler.statements(function.body, names)
            except _Unknown:
                return ""
    return ast.unparse(ast.fix_missing_locations(tree)) if compiler.found else ""


def loses_a_variable(case: Case) -> bool:
    """Whether a loop of the case takes a variable for the same in every trip that is not."""
    return isinstance(case.program, Script) and bool(as_compiled(case.program))


def with_values_of_their_own(case: Case) -> Case | None:
    """The case in which no two names stand for one value: `tl.where(True, x, x)` is one of its own."""

    def anew(one: Node) -> Node:
        if one.row == "name":
            return Node(row="call", words={"function": "tl.where"}, parts=(
                Node(row="number", words={"value": "True"}), one, one))
        handing = {"tuple": 0, "ternary": 1, "item": 0, "cast": 0, "unary": 0, "index": 0}
        if one.row not in handing:
            return one
        first = handing[one.row]
        return replace(one, parts=(*one.parts[:first], *map(anew, one.parts[first:])))

    def change(one: Node) -> Node:
        known = any(one.words.get(word) for word in ("annotation", "apart"))
        return replace(one, parts=tuple(map(anew, one.parts))) if (
            one.row in ("assign", "unpack", "walrus") and not known) else one

    return rewritten(case, change)


def as_compiled(script: Script) -> str:
    """Source that does in Python what the kernel of a program does once it is compiled, "" if no loop loses a variable
    or that is not found out."""
    loops = any(one.row in ("for", "while") for one in nodes((*script.functions, *script.body)))
    return _as_compiled(msgspec.json.encode(script)) if loops else ""
