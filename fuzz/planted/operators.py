"""The operators of planted faults: each makes one small wrong change out of one node of a syntax tree."""

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from tridiff.fuzz.planted.edit import Replacement, Source
from tridiff.fuzz.planted.places import Place

Operator = Callable[[Place, Source], Iterable[Replacement]]
"""The changes that an operator can make at a place, each an edit of its own."""

_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.Pow)
"""Arithmetic whose operands do not commute."""

_OPPOSITE = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
             ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}

_ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "//",
               ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|", ast.LShift: ">>", ast.RShift: "<<"}

_OTHER_TYPE = {
    "int1": "int8", "int8": "int16", "int16": "int8", "int32": "int64", "int64": "int32", "uint8": "int8",
    "uint16": "int16", "uint32": "int32", "uint64": "int64", "float16": "bfloat16", "bfloat16": "float16",
    "float32": "float64", "float64": "float32", "is_fp16": "is_bf16", "is_bf16": "is_fp16", "is_fp32": "is_fp64",
    "is_fp64": "is_fp32", "is_int": "is_floating", "is_int_signed": "is_int_unsigned", "is_bool": "is_int_signed",
    "is_int_unsigned": "is_int_signed", "is_floating": "is_standard_floating", "is_fp8": "is_fp16",
    "get_int_max_value": "get_int_min_value", "get_int_min_value": "get_int_max_value",
    "get_int32": "get_int64", "get_int32_ty": "get_int64_ty",
    "get_int64_ty": "get_int32_ty", "get_float_ty": "get_double_ty", "get_int1_ty": "get_int8_ty"}
"""Another type, or another question about a type, for a name after a dot."""

_PAIRS = (
    ("fcmpO", "fcmpU"), ("icmpS", "icmpU"), ("s", "u"), ("lshr", "ashr"), ("and", "or"), ("fadd", "fsub"),
    ("add", "sub"), ("fdiv", "frem"), ("fp_to_si", "fp_to_ui"), ("si_to_fp", "ui_to_fp"), ("minnumf", "minimumf"),
    ("maxnumf", "maximumf"), ("exp2", "exp"), ("log2", "log"), ("cos", "sin"), ("floor", "ceil"), ("rsqrt", "sqrt"))

_OTHER_INSTRUCTION = (
    *_PAIRS, *((second, first) for first, second in _PAIRS), ("fmul", "fadd"), ("mul", "add"), ("fp_ext", "fp_trunc"),
    ("fp_trunc", "fp_to_fp"), ("bitcast", "int_cast"))
"""Beginnings of the names of a builder's methods after `create_`, and what takes their place; another method is called
only if the file names it."""

_LIBRARY = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "exp": "exp2", "exp2": "exp",
    "log": "log2", "log2": "log", "sin": "cos", "cos": "sin", "floor": "ceil", "ceil": "floor", "sum": "max",
    "any": "all", "all": "any", "less_than": "less_equal", "less_equal": "less_than", "greater_than": "greater_equal",
    "greater_equal": "greater_than", "equal": "not_equal", "not_equal": "equal", "zeros": "ones", "umulhi": "mul"}
"""Another function of a library for the one that is called."""

_ENUMERATION = re.compile(r"^(?:ir|tl|core|ttgl|gluon_ir|_ir)\.[A-Z][A-Z_]+$")

_CONVERSIONS = frozenset({"to", "cast", "broadcast_to", "to_ir", "bitcast", "_cast_to_computation_type"})


def swapped_operands(place: Place, source: Source) -> Iterator[Replacement]:
    """`a - b` becomes `b - a`, `f(a, b)` becomes `f(b, a)`."""
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        pair: tuple[ast.expr, ast.expr] = (node.left, node.right)
    elif isinstance(node, ast.Call) and len(node.args) >= 2 and _name(node.func) not in (
            "isinstance", "getattr", "hasattr", "setattr", "range", "zip", "max", "min", "append"):
        pair = (node.args[0], node.args[1])
    else:
        return
    if any(isinstance(one, ast.Starred) for one in pair):
        return
    (start, _), (_, end) = source.span(pair[0]), source.span(pair[1])
    between = source.data[source.span(pair[0])[1]:source.span(pair[1])[0]].decode()
    if isinstance(node, ast.BinOp):
        # Parentheses around an operand belong to the operation, not to the operand.
        start, end = source.span(node)
        symbol = {ast.Sub: "-", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
                  ast.Pow: "**"}[type(node.op)]
        yield Replacement(start=start, end=end,
                          text=f"({source.text(node.right)}) {symbol} ({source.text(node.left)})")
    elif between.strip() == ",":
        yield Replacement(start=start, end=end, text=f"{source.text(pair[1])}{between}{source.text(pair[0])}")


def dropped_statement(place: Place, source: Source) -> Iterator[Replacement]:
    """A call for its effect, a changed variable or an attribute is left out."""
    node = place.node
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield source.replace(node, "pass")
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        bound = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
        used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
        arguments = {one.arg for one in (*place.owner.args.args, *place.owner.args.kwonlyargs)}
        if isinstance(target, ast.Attribute | ast.Subscript) or bound <= used | arguments:
            yield source.replace(node, "pass")


def dropped_keyword(place: Place, source: Source) -> Iterator[Replacement]:
    """`f(a, flag=b)` becomes `f(a)`."""
    node = place.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in ("_semantic", "_generator", "_builder"):
                kept = [source.text(one) for one in (*node.args, *node.keywords) if one is not keyword]
                yield source.replace(node, f"{source.text(node.func)}({', '.join(kept)})")


def dropped_conversion(place: Place, source: Source) -> Iterator[Replacement]:
    """`x.to(dtype)` and `self.cast(x, dtype)` become `x`."""
    node = place.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERSIONS:
        if node.func.attr == "to" and node.args:
            yield source.replace(node, source.text(node.func.value))
        elif len(node.args) >= 2:
            yield source.replace(node, source.text(node.args[0]))


def off_by_one(place: Place, source: Source) -> Iterator[Replacement]:
    """`n` becomes `n + 1`; not an index into a tuple of results, which would be an exception at once."""
    node = place.node
    if (isinstance(node, ast.Constant) and type(node.value) is int and not _is_default(place)
            and not isinstance(place.parent, ast.Subscript)):
        yield source.replace(node, str(node.value + 1))


def wrong_type(place: Place, source: Source) -> Iterator[Replacement]:
    """Another dtype, or another question about one."""
    node = place.node
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in _OTHER_TYPE:
        yield source.replace(node, f"{source.text(node.value)}.{_OTHER_TYPE[node.attr]}")


def negated_condition(place: Place, source: Source) -> Iterator[Replacement]:
    """The other branch of an `if`, a conditional expression or a `while`; not of an `if` that only raises."""
    node = place.node
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not _only_raises(node):
        yield source.replace(node.test, f"(not ({source.text(node.test)}))")


def ignored_branch(place: Place, source: Source) -> Iterator[Replacement]:
    """The condition of an `if` is never true: its case is treated like the others."""
    node = place.node
    if isinstance(node, ast.If) and not _only_raises(node):
        yield source.replace(node.test, "False")


def dropped_check(place: Place, source: Source) -> Iterator[Replacement]:
    """What must be refused is not: an `if` that only raises never does."""
    node = place.node
    if isinstance(node, ast.If) and _only_raises(node):
        yield source.replace(node.test, "False")


def other_comparison(place: Place, source: Source) -> Iterator[Replacement]:
    """`<` becomes `<=`, `==` becomes `!=`, `is` becomes `is not`."""
    node = place.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and not (
            isinstance(place.parent, ast.If) and _only_raises(place.parent)):
        yield source.replace(node, f"{source.text(node.left)} {_OPPOSITE[type(node.ops[0])]} "
                                   f"{source.text(node.comparators[0])}")


def other_connective(place: Place, source: Source) -> Iterator[Replacement]:
    """`and` becomes `or`, or the reverse."""
    node = place.node
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield source.replace(node, "(" + word.join(f"({source.text(one)})" for one in node.values) + ")")


def other_default(place: Place, source: Source) -> Iterator[Replacement]:
    """Another default of an argument: a flag flipped, a number one larger."""
    if _is_default(place) and isinstance(place.node, ast.Constant):
        value = place.node.value
        if isinstance(value, bool):
            yield source.replace(place.node, str(not value))
        elif isinstance(value, int):
            yield source.replace(place.node, str(value + 1))


def flipped_flag(place: Place, source: Source) -> Iterator[Replacement]:
    """`True` becomes `False` wherever it is passed, assigned or returned; not which files a child inherits."""
    inherits = isinstance(place.parent, ast.keyword) and place.parent.arg == "close_fds"
    if isinstance(place.node, ast.Constant) and isinstance(place.node.value, bool) and not (
            inherits or _is_default(place)):
        yield source.replace(place.node, str(not place.node.value))


def other_arithmetic(place: Place, source: Source) -> Iterator[Replacement]:
    """`+` becomes `-`, `&` becomes `|`, `//` becomes `*`; not of texts."""
    node = place.node
    if (isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC
            and not any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple)
                        or (isinstance(one, ast.Constant) and isinstance(one.value, str)) for one in ast.walk(node))):
        yield source.replace(node, f"(({source.text(node.left)}) {_ARITHMETIC[type(node.op)]} "
                                   f"({source.text(node.right)}))")


def other_instruction(place: Place, source: Source) -> Iterator[Replacement]:
    """Another method of the builder: signed for unsigned, unordered for ordered, maximum for minimum."""
    node = place.node
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr.startswith("create_"):
        for beginning, other in _OTHER_INSTRUCTION:
            name = f"create_{other}" + node.attr.removeprefix(f"create_{beginning}")
            if node.attr.startswith(f"create_{beginning}") and name != node.attr and f".{name}".encode() in source.data:
                yield source.replace(node, f"{source.text(node.value)}.{name}")
                return


def other_function(place: Place, source: Source) -> Iterator[Replacement]:
    """Another function of a library is called: `min` for `max`, `exp2` for `exp`."""
    node = place.node
    if isinstance(node, ast.Call) and _name(node.func) in _LIBRARY:
        other = _LIBRARY[_name(node.func)]
        qualifier = f"{source.text(node.func.value)}." if isinstance(node.func, ast.Attribute) else ""
        yield source.replace(node.func, qualifier + other)


def other_member(place: Place, source: Source) -> Iterator[Replacement]:
    """Another member of an enumeration of the compiler (`ir.MEM_SEMANTIC.RELAXED`): the next that the file names."""
    node = place.node
    if isinstance(node, ast.Attribute) and _ENUMERATION.match(source.text(node.value)):
        base = source.text(node.value)
        members = list(dict.fromkeys(re.findall(rf"(?<![\w.]){re.escape(base)}\.([A-Z]\w*)", source.data.decode())))
        if node.attr in members and len(members) > 1:
            yield source.replace(node, f"{base}.{members[(members.index(node.attr) + 1) % len(members)]}")


def dropped_sign(place: Place, source: Source) -> Iterator[Replacement]:
    """`-x`, `~x` and `not x` become `x`."""
    node = place.node
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield source.replace(node, source.text(node.operand))


def returned_argument(place: Place, source: Source) -> Iterator[Replacement]:
    """`return f(x)` becomes `return x` for the first argument x of the function: the work is left out."""
    node = place.node
    arguments = [one.arg for one in place.owner.args.args if one.arg not in ("self", "cls", "builder")]
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call) and arguments:
        used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
        if arguments[0] in used:
            yield source.replace(node.value, arguments[0])


OPERATORS: Mapping[str, Operator] = {one.__name__: one for one in (
    swapped_operands, dropped_statement, dropped_keyword, dropped_conversion, off_by_one, wrong_type,
    negated_condition, ignored_branch, dropped_check, other_comparison, other_connective, other_default, flipped_flag,
    other_arithmetic, other_instruction, other_function, other_member, dropped_sign, returned_argument)}
"""By name; the first line of each docstring says what it does."""


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_default(place: Place) -> bool:
    return isinstance(place.parent, ast.arguments)


def _only_raises(node: ast.AST) -> bool:
    body = node.body if isinstance(node, ast.If) and not node.orelse else ()
    return bool(body) and all(isinstance(one, ast.Raise) for one in itertools.chain(body))
