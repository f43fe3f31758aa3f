"""Rewrites of a jit function's syntax tree that keep its meaning for one known launch.

Used to cut the source of a failing kernel down to what a script of 40 lines can hold: compile-time constants are
filled in, branches that this launch does not compile are dropped, small functions are put in place of their calls.
Everything works on the tree of the `def`; nothing here imports Triton.
"""

import ast
import copy
from collections.abc import Collection, Mapping

ConstantValue = None | bool | int | float | str

_DROPPED_CALLS = ("tl.static_assert", "tl.static_print")
_UNKNOWN = object()
_NOT_NONE = object()
"""What is known of a function or an array: that it is there."""


def constant_node(value: ConstantValue) -> ast.expr:
    """The expression that denotes `value` inside a kernel; infinities and NaN as `float("inf")`."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(repr(value))], [])
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of the parameters in order."""
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def assigned(nodes: Collection[ast.stmt]) -> set[str]:
    """Names bound anywhere inside."""
    return {node.id for one in nodes for node in ast.walk(one)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def loaded(node: ast.AST) -> list[str]:
    """Names read anywhere inside, with repetitions."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]


class Substitute(ast.NodeTransformer):
    """Put expressions in place of names that are read, and give others a new name, both at once: a new name may be
    one of those that are replaced."""

    def __init__(self, values: Mapping[str, ast.expr], names: Mapping[str, str] | None = None) -> None:
        self._values = values
        self._names = names or {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._values:
            return copy.deepcopy(self._values[node.id])
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


class DropConversions(ast.NodeTransformer):
    """`tl.where(True, x, x)` becomes x: right wherever x is no literal."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(attr="where"), args=[ast.Constant(value=True), one, other]) if (
                    ast.unparse(one) == ast.unparse(other)):
                return one
        return node


class FoldArithmetic(ast.NodeTransformer):
    """`x * 1` and `x + 0` become x."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        neutral = {ast.Mult: 1, ast.Add: 0}.get(type(node.op))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Constant) and type(one.value) is int and one.value == neutral:
                return other
        return node


def bind(function: ast.FunctionDef, values: Mapping[str, ast.expr]) -> ast.FunctionDef:
    """The function without the parameters in `values`, which stand in the body instead."""
    result = copy.deepcopy(function)
    arguments = result.args
    arguments.args = [one for one in arguments.args if one.arg not in values]
    arguments.defaults = []
    # A parameter that is assigned cannot be replaced by an expression: it becomes a variable.
    kept = assigned(result.body) & set(values)
    Substitute({name: value for name, value in values.items() if name not in kept}).visit(result)
    result.body[:0] = [_assign(ast.Name(name, ast.Store()), values[name]) for name in sorted(kept)]
    return result


def _assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value, lineno=0)


def evaluate(node: ast.expr, present: Collection[str]) -> object:
    """The value of a constant expression, or a private marker. Names in `present` are known not to be None."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.Not()):
            value = evaluate(node.operand, present)
            return _UNKNOWN if value in (_UNKNOWN, _NOT_NONE) else not value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BoolOp():
            return _bool(node, present)
        case ast.Compare(ops=[operator], comparators=[right]):
            return _compare(evaluate(node.left, present), operator, evaluate(right, present))
        case ast.Name() if node.id in present:
            return _NOT_NONE
    return _UNKNOWN


def _bool(node: ast.BoolOp, present: Collection[str]) -> object:
    values = [_UNKNOWN if value is _NOT_NONE else value for value in (evaluate(one, present) for one in node.values)]
    decisive = isinstance(node.op, ast.Or)
    if any(value is not _UNKNOWN and bool(value) is decisive for value in values):
        return decisive
    return _UNKNOWN if _UNKNOWN in values else not decisive


def _compare(left: object, operator: ast.cmpop, right: object) -> object:
    if left is _UNKNOWN or right is _UNKNOWN:
        return _UNKNOWN
    match operator:
        case ast.Is():
            return left is right
        case ast.IsNot():
            return left is not right
    if _NOT_NONE in (left, right):
        return _UNKNOWN
    match operator:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
    if isinstance(left, int) and isinstance(right, int):
        match operator:
            case ast.Lt():
                return left < right
            case ast.LtE():
                return left <= right
            case ast.Gt():
                return left > right
            case ast.GtE():
                return left >= right
    return _UNKNOWN


class _Fold(ast.NodeTransformer):
    """Drop documentation, compile-time assertions, and branches that constants or liveness rule out."""

    def __init__(self, present: Collection[str], visited: Collection[int] | None) -> None:
        self._present = present
        self._visited = visited

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        if isinstance(node.value, ast.Constant):
            return None
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in _DROPPED_CALLS:
            return None
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt] | None:
        known = self._known(node.test)
        live = _UNKNOWN if known is not _UNKNOWN else self._live(node)
        self.generic_visit(node)
        for answer in (known, live):
            if answer is not _UNKNOWN:
                return node.body if answer else node.orelse
        if not node.body and not node.orelse:
            return None
        node.body = node.body or [ast.Pass()]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        known = self._known(node.test)
        return node if known is _UNKNOWN else node.body if known else node.orelse

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        left = [one for one in node.values if (known := self._known(one)) is _UNKNOWN or bool(known) is not neutral]
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left) if left else ast.Constant(neutral)

    def _known(self, test: ast.expr) -> object:
        value = evaluate(test, self._present)
        return _UNKNOWN if value is _NOT_NONE else value

    def _live(self, node: ast.If) -> object:
        """Which branch was compiled, if one and only one was. Of an `if` without `else` only the absence of its
        body says something: a body that was compiled may stand under a run-time condition."""
        if self._visited is None:
            return _UNKNOWN
        body, orelse = (any(one.lineno in self._visited for one in branch) for branch in (node.body, node.orelse))
        if body == orelse or (body and not node.orelse):
            return False if not body and not node.orelse else _UNKNOWN
        return body


def fold(function: ast.FunctionDef, *, present: Collection[str], visited: Collection[int] | None) -> ast.FunctionDef:
    """The function as this launch compiles it.

    present: names that are known not to be None (functions, arrays). visited: line numbers of the statements that the
    compiler's front end went through (see `fuzz.repro.liveness`); None when nothing is known.
    """
    result = copy.deepcopy(function)
    result.decorator_list = []
    result.returns = None
    folded = _Fold(present, visited).visit(result)
    assert isinstance(folded, ast.FunctionDef)
    folded.body = _collapse(folded.body) or [ast.Pass()]
    for argument in folded.args.args:
        if argument.annotation is not None and "constexpr" not in ast.unparse(argument.annotation):
            argument.annotation = None
    return folded


def _collapse(body: list[ast.stmt]) -> list[ast.stmt]:
    """Cut what follows a return; `x = value; return x` becomes `return value`."""
    for number, one in enumerate(body):
        if isinstance(one, ast.Return):
            body = body[:number + 1]
            break
    while len(body) >= 2:
        match body[-2], body[-1]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Return(value=ast.Name(id=returned)) if (
                    name == returned):
                body = [*body[:-2], ast.Return(value)]
            case _:
                break
    return body


def expression_of(function: ast.FunctionDef) -> ast.expr | None:
    """What the function returns if returning is all it does."""
    match function.body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
    return None


def _arguments(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """Parameter to argument; None for a call that spells something unusual."""
    names = parameters(function)
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given.update({one.arg: one.value for one in call.keywords if one.arg})
    if len(call.args) > len(names) or any(isinstance(one, ast.Starred) for one in call.args):
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

    def __init__(self, callees: Mapping[str, ast.FunctionDef], caller: ast.FunctionDef) -> None:
        self._callees = callees
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
        result = Substitute(given).visit(copy.deepcopy(value))
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
    dead: Collection[str],
) -> list[ast.stmt] | None:
    """The callee's statements in place of `targets = callee(...)`, `return callee(...)` or a bare call; None if that
    cannot be done. taken: variables of the caller, which the callee's variables and globals must not meet.
    reserved: names of functions and modules, which its variables must not meet either. dead: variables of the
    caller that nothing behind the statement reads, so that the callee may assign them."""
    call = getattr(statement, "value", None)
    given = _arguments(call, callee) if isinstance(call, ast.Call) else None
    if given is None or not _straight(callee) or not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
        return None
    own = assigned(callee.body)
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
            before.append(_assign(ast.Name(renamed[name], ast.Store()), argument))
        elif _simple(argument) or loaded(callee).count(name) <= 1:
            values[name] = argument
        else:
            fresh = _fresh(name, (*taken, *reserved, *renamed.values()))
            before.append(_assign(ast.Name(fresh, ast.Store()), argument))
            values[name] = ast.Name(fresh, ast.Load())
    body = [Substitute(values, renamed).visit(copy.deepcopy(one)) for one in callee.body]
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
            return [_assign(name, one) for name, one in pairs]
    return [_assign(target, value)]


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


def squeeze(function: ast.FunctionDef, *, width: int) -> None:
    """Put a variable that is assigned once and read once, in the very next statement, in place of its name there,
    and make `x = a; x = f(x)` one statement, while the line stays within `width` columns."""
    for _ in range(2):  # a chain made one statement leaves a variable that is assigned once
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        stores = [node.id for node in names if isinstance(node.ctx, ast.Store)]
        loads = [node.id for node in names if isinstance(node.ctx, ast.Load)]
        single = {name for name in stores if stores.count(name) == loads.count(name) == 1} - set(parameters(function))
        todo: list[tuple[list[ast.stmt], int]] = [(function.body, 4)]
        while todo:
            body, indent = todo.pop()
            _squeeze_body(body, single, width - indent)
            todo += [(inner, indent + 4) for one in body if isinstance(one, ast.If | ast.While | ast.For)
                     for inner in (one.body, one.orelse) if inner]


def _squeeze_body(body: list[ast.stmt], single: Collection[str], width: int) -> None:
    number = 0
    while number + 1 < len(body):
        match body[number], body[number + 1]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value), (
                    ast.Assign() | ast.Return() | ast.Expr()) as behind if (
                        loaded(behind).count(name) == 1 and (name in single or _reassigns(behind, name))):
                changed = Substitute({name: value}).visit(copy.deepcopy(behind))
                if len(ast.unparse(changed)) <= width:
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
    """A literal, or a type such as `tl.int32`."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Attribute(value=ast.Name(id="tl")):
            return True
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
