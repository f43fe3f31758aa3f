"""Putting functions in place of their calls, and variables in place of their names, in the trees of jit functions.

As in `fuzz.repro.simplify`, the meaning stays; nothing here imports Triton. An expression may move to where it is used,
unless it would pass a store, an atomic operation or an assertion on the way.
"""

import ast
import re
from collections.abc import Callable, Collection, Mapping

from tridiff.fuzz.repro.simplify import Substitute, assign, assigned, copied, loaded, parameters

_ACTS = re.compile(r"(^|[._])(store|atomic_\w+|inline_asm\w*|device_assert|device_print|debug_barrier|barrier)$")
_READS = re.compile(r"(^|[._])load\w*$")


def _calls(node: ast.AST) -> list[str]:
    return [_dotted(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]


def _dotted(function: ast.expr) -> str:
    """As `ast.unparse`, without its effort for what most calls are of: a name, or attributes of one."""
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return ast.unparse(function)


def acting_functions(functions: Mapping[str, ast.FunctionDef]) -> frozenset[str]:
    """Functions that do more than compute, themselves or through others."""
    called = {name: _calls(node) for name, node in functions.items()}
    acting: set[str] = set()
    while True:
        more = {name for name, names in called.items() if name not in acting and _act(names, acting)}
        if not more:
            return frozenset(acting)
        acting |= more


def _acts(node: ast.AST, acting: Collection[str]) -> bool:
    """Whether evaluating the node changes anything, so that its place matters."""
    return _act(_calls(node), acting)


def _act(called: Collection[str], acting: Collection[str]) -> bool:
    return any(name in acting or _ACTS.search(name) for name in called)


def _pure(node: ast.AST, acting: Collection[str], functions: Collection[str]) -> bool:
    """Whether the node neither changes nor reads memory. A call of one of `functions` may read."""
    return not _acts(node, acting) and not any(_READS.search(name) or name in functions for name in _calls(node))


def expression_of(function: ast.FunctionDef) -> ast.expr | None:
    """What the function returns if returning is all it does; None where its parameters have no names for callers, which
    is what a script about it shows."""
    if function.args.posonlyargs:
        return None
    match function.body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
    return None


def _arguments(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """Parameter to argument; None for a call that spells something unusual."""
    names = parameters(function)
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given.update({one.arg: one.value for one in call.keywords if one.arg})
    if len(call.args) > len(names) or any(isinstance(one, ast.Starred) for one in call.args) or (
            function.args.posonlyargs):
        return None
    defaults = function.args.defaults
    for name, default in zip(names[len(names) - len(defaults):], defaults, strict=True):
        given.setdefault(name, default)
    return given if set(given) == set(names) else None


def _simple(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Constant) or (
        isinstance(node, ast.Attribute | ast.UnaryOp) and _simple(node.value if isinstance(node, ast.Attribute)
                                                                  else node.operand))


def _cheap(node: ast.expr) -> bool:
    """Whether evaluating the expression twice is harmless: arithmetic on names, which the compiler merges."""
    match node:
        case ast.BinOp():
            return _simple(node.left) and _simple(node.right)
        case ast.Compare(comparators=[right]):
            return _simple(node.left) and _simple(right)
    return _simple(node)


class InlineExpressions(ast.NodeTransformer):
    """Put a function that only returns an expression in place of its calls, where no argument is evaluated twice
    and no name changes its meaning."""

    def __init__(self, callees: Mapping[str, ast.FunctionDef], caller: ast.FunctionDef,
                 functions: Mapping[str, ast.FunctionDef]) -> None:
        self._callees = callees
        self._functions = functions
        self._acting = acting_functions(functions)
        self._locals = assigned(caller.body) | set(parameters(caller))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        callee = self._callees.get(node.func.id) if isinstance(node.func, ast.Name) else None
        value = expression_of(callee) if callee is not None else None
        given = _arguments(node, callee) if callee is not None else None
        if callee is None or value is None or given is None:
            return node
        names = loaded(value)
        if any(names.count(name) > 1 and not _cheap(argument) for name, argument in given.items()):
            return node
        if (set(names) - set(given)) & self._locals:
            return node
        moving = any(_acts(one, self._acting) for one in (value, *given.values()))
        if moving and not all(_pure(one, self._acting, self._functions) for one in given.values()):
            return node
        result = Substitute(given).visit(copied(value))
        assert isinstance(result, ast.expr)
        return result


def _straight(function: ast.FunctionDef) -> bool:
    """Whether control leaves the function at its end only."""
    *first, last = function.body
    inner = [node for one in first for node in ast.walk(one)]
    if not isinstance(last, ast.Return):
        inner += ast.walk(last)
    return not any(isinstance(node, ast.Return | ast.FunctionDef | ast.Lambda) for node in inner)


def inline_statement(
    statement: ast.stmt, callee: ast.FunctionDef, *, taken: Collection[str], reserved: Collection[str],
    dead: Collection[str], functions: Mapping[str, ast.FunctionDef],
) -> list[ast.stmt] | None:
    """The callee's statements in place of `targets = callee(...)`, `return callee(...)` or a bare call; None if that
    cannot be done. taken: variables of the caller, which the callee's variables and globals must not meet.
    reserved: names of functions and modules, which its variables must not meet either. dead: variables of the
    caller that nothing behind the statement reads, so that the callee may assign them. functions: the whole program."""
    call = getattr(statement, "value", None)
    given = _arguments(call, callee) if isinstance(call, ast.Call) else None
    if given is None or not _straight(callee) or not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
        return None
    own = assigned(callee.body)
    acting = acting_functions(functions)
    acts = any(_acts(one, acting) for one in (callee, *given.values()))
    if (set(loaded(callee)) - own - set(given)) & set(taken):
        return None
    renamed = _returned_as(statement, callee, given, own, taken)
    read = [name for argument in given.values() for name in loaded(argument)]
    for name in sorted(own - set(renamed)):
        argument = given.get(name)
        if (isinstance(argument, ast.Name) and argument.id in dead and read.count(argument.id) == 1
                and argument.id not in renamed.values()):
            renamed[name] = argument.id
        else:
            used = (*taken, *reserved, *renamed.values())
            renamed[name] = _fresh(name, used) if name in used else name
    before: list[ast.stmt] = []
    values: dict[str, ast.expr] = {}
    for name, argument in given.items():
        if name in own:
            before.append(assign(ast.Name(renamed[name], ast.Store()), argument))
        elif _simple(argument) or (loaded(callee).count(name) <= 1 and (
                _pure(argument, acting, functions) or (not acts and loaded(callee).count(name) == 1))):
            values[name] = argument
        else:
            used = (*taken, *reserved, *renamed.values(), *(set(given) - {name}))
            fresh = _fresh(name, used) if name in used else name
            before.append(assign(ast.Name(fresh, ast.Store()), argument))
            values[name] = ast.Name(fresh, ast.Load())
    body = [Substitute(values, renamed).visit(copied(one)) for one in callee.body]
    last = body[-1]
    if not isinstance(last, ast.Return):
        return _tidy([*before, *body]) if isinstance(statement, ast.Expr) else None
    if isinstance(statement, ast.Return):
        return _tidy([*before, *body])
    if isinstance(statement, ast.Assign) and last.value is not None:
        return _tidy([*before, *body[:-1], *_assignments(statement.targets[0], last.value)])
    return None


def _returned_as(statement: ast.stmt, callee: ast.FunctionDef, given: Mapping[str, ast.expr], own: set[str],
                 taken: Collection[str]) -> dict[str, str]:
    """Variables of the callee that can bear from the start the name under which the caller takes them."""
    value = callee.body[-1].value if isinstance(callee.body[-1], ast.Return) else None
    if not isinstance(statement, ast.Assign) or value is None:
        return {}
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    read = {name for argument in given.values() for name in loaded(argument)} | set(given) | own
    if len(targets) != len(values):
        return {}
    pairs = [(one.id, name.id) for name, one in zip(targets, values, strict=True)
             if isinstance(name, ast.Name) and isinstance(one, ast.Name)]
    return {inner: outer for inner, outer in pairs if inner in own and [i for i, _ in pairs].count(inner) == 1
            and (outer not in read or (outer == inner and inner not in given))}


def _assignments(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """`target = value`, one by one where both are tuples and the order does not matter."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
        names = [name.id for name, _ in pairs if isinstance(name, ast.Name)]
        if len(names) == len(pairs) and not any(
                name in loaded(later) and ast.unparse(one) != name
                for number, (name, one) in enumerate(zip(names, value.elts, strict=True))
                for later in value.elts[number + 1:]):
            return [assign(name, one) for name, one in pairs]
    return [assign(target, value)]


def _tidy(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without statements such as `x = x`."""
    return [one for one in body if not (isinstance(one, ast.Assign)
                                        and ast.unparse(one.targets[0]) == ast.unparse(one.value))]


def drop_aliases(function: ast.FunctionDef) -> None:
    """Where `x = y` and neither is assigned again, say y for x; drop `x = x`."""
    while True:
        function.body = _tidy(function.body)
        stores = [node.id for one in function.body for node in ast.walk(one)
                  if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        names = parameters(function)
        for number, one in enumerate(function.body):
            match one:
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Name(id=name)) if (
                        stores.count(alias) == 1 and alias not in names
                        and stores.count(name) == (0 if name in names else 1)):
                    rest = function.body[:number] + function.body[number + 1:]
                    function.body = [Substitute({}, {alias: name}).visit(other) for other in rest]
                    break
        else:
            return


def squeeze(function: ast.FunctionDef, *, width: int, functions: Mapping[str, ast.FunctionDef]) -> None:
    """Put a variable that is assigned once and read once, in the very next statement, in place of its name there,
    and make `x = a; x = f(x)` one statement, while the line stays within `width` columns. functions: all of the
    program."""
    acting = acting_functions(functions)

    def movable(value: ast.expr, behind: ast.stmt) -> bool:
        last = behind.value if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Call) else None
        # What a bare call does, it does after its arguments are known.
        parts = (*last.args, *(one.value for one in last.keywords)) if last is not None else (behind,)
        return _pure(value, acting, functions) or not any(_acts(one, acting) for one in (value, *parts))

    for _ in range(2):  # a chain made one statement leaves a variable that is assigned once
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        stores = [node.id for node in names if isinstance(node.ctx, ast.Store)]
        loads = [node.id for node in names if isinstance(node.ctx, ast.Load)]
        single = {name for name in stores if stores.count(name) == loads.count(name) == 1} - set(parameters(function))
        todo: list[tuple[list[ast.stmt], int]] = [(function.body, 4)]
        while todo:
            body, indent = todo.pop()
            _squeeze_body(body, single, width - indent, movable)
            todo += [(inner, indent + 4) for one in body if isinstance(one, ast.If | ast.While | ast.For)
                     for inner in (one.body, one.orelse) if inner]


def _squeeze_body(body: list[ast.stmt], single: Collection[str], width: int,
                  movable: Callable[[ast.expr, ast.stmt], bool]) -> None:
    number = 0
    while number + 1 < len(body):
        match body[number], body[number + 1]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value), (
                    ast.Assign() | ast.Return() | ast.Expr()) as behind if (
                        loaded(behind).count(name) == 1 and (name in single or _reassigns(behind, name))):
                changed = Substitute({name: value}).visit(copied(behind))
                if movable(value, behind) and len(ast.unparse(changed)) <= width:
                    body[number:number + 2] = [changed]
                    number = max(number - 1, 0)
                    continue
        number += 1


def _reassigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name


def call_sites(function: ast.FunctionDef, name: str) -> list[ast.Call]:
    """Calls of the function called `name`."""
    return [node for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name]


def common_constants(callee: ast.FunctionDef, calls: list[ast.Call]) -> dict[str, ast.expr]:
    """Parameters to which every call gives the same compile-time constant."""
    given = [_arguments(call, callee) for call in calls]
    common: dict[str, ast.expr] = {}
    for name in parameters(callee):
        values = [one[name] for one in given if one is not None]
        if len(values) == len(given) and len({ast.unparse(one) for one in values}) == 1 and _constant(values[0]):
            common[name] = values[0]
    return common


def _constant(node: ast.expr) -> bool:
    """A literal, a type such as `tl.int32`, or a tuple of these."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Attribute(value=ast.Name(id="tl")):
            return True
        case ast.Tuple(elts=parts):
            return all(map(_constant, parts))
    return False


def drop_arguments(call: ast.Call, callee: ast.FunctionDef, names: Collection[str]) -> None:
    """Remove the arguments for the parameters `names`; `callee` still has all its parameters."""
    order = parameters(callee)
    call.args = [one for name, one in zip(order, call.args, strict=False) if name not in names]
    call.keywords = [one for one in call.keywords if one.arg not in names]


def _fresh(name: str, taken: Collection[str]) -> str:
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"
