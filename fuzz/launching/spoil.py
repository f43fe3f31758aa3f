"""Kernels that are nearly legal: one small change in the text of one that is.

What a changed text means is nobody's contract: it may be refused, or be another legal kernel. Two builds of one
release must make the same of it, the same code or the same refusal; that is how checks that nobody wrote a row for
are looked at.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from random import Random

Change = Callable[[ast.AST, Random, Sequence[str]], Iterator[ast.AST]]
"""What a node may become. The names are those in scope that a value may be replaced with."""

_WORDS = ("other", "", "evict_last", "acq_rel", "ieee", "rtz")
_TYPES = ("int1", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
          "float64", "float8e5", "float8e4nv", "void")


def _constant(node: ast.AST, luck: Random, names: Sequence[str]) -> Iterator[ast.AST]:
    """Another number, word or flag."""
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        for other in (value + 1, -value - 1, 2 * value, 3, 2**31 + value, 2**63 + value, 1.5):
            yield ast.Constant(other)
    elif isinstance(value, float):
        yield from (ast.Constant(other) for other in (-value, 2, 1e300))
    elif isinstance(value, str):
        yield from (ast.Constant(other) for other in _WORDS if other != value)
    elif value is None:
        yield ast.Constant(1)


def _argument(node: ast.AST, luck: Random, names: Sequence[str]) -> Iterator[ast.AST]:
    """A call with an argument fewer, one more, two of them in each other's place, or another value for one."""
    if not isinstance(node, ast.Call):
        return
    for place in range(len(node.args)):
        fewer = copy.deepcopy(node)
        del fewer.args[place]
        yield fewer
        other = copy.deepcopy(node)
        other.args[place] = _value(luck, names)
        yield other
    for place in range(len(node.args) - 1):
        swapped = copy.deepcopy(node)
        swapped.args[place:place + 2] = reversed(swapped.args[place:place + 2])
        yield swapped
    for place in range(len(node.keywords)):
        fewer = copy.deepcopy(node)
        del fewer.keywords[place]
        yield fewer
        other = copy.deepcopy(node)
        other.keywords[place].value = _value(luck, names)
        yield other
    more = copy.deepcopy(node)
    more.args.append(_value(luck, names))
    yield more


def _type(node: ast.AST, luck: Random, names: Sequence[str]) -> Iterator[ast.AST]:
    """Another element type."""
    if isinstance(node, ast.Attribute) and node.attr in _TYPES:
        yield ast.Attribute(node.value, luck.choice([one for one in _TYPES if one != node.attr]), node.ctx)


def _operand(node: ast.AST, luck: Random, names: Sequence[str]) -> Iterator[ast.AST]:
    """An operation between other values."""
    if isinstance(node, ast.BinOp | ast.Compare):
        other = copy.deepcopy(node)
        if isinstance(other, ast.BinOp):
            other.right = _value(luck, names)
        else:
            other.comparators[0] = _value(luck, names)
        yield other


def _members(node: ast.AST, luck: Random, names: Sequence[str]) -> Iterator[ast.AST]:
    """A list with one member fewer, one more, or in another order."""
    if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load) and node.elts:
        for elements in (node.elts[1:], [*node.elts, node.elts[-1]], node.elts[::-1]):
            yield type(node)(elts=list(elements), ctx=ast.Load())


_CHANGES: tuple[Change, ...] = (_constant, _argument, _type, _operand, _members)


def _value(luck: Random, names: Sequence[str]) -> ast.expr:
    """A name in scope, half of the time, or a plain value."""
    if names and luck.random() < 0.6:
        return ast.Name(luck.choice(list(names)), ast.Load())
    texts = ("1", "0", "-1", "2.5", "None", "True", "(1, 2)", "'other'", "tl.int8", "tl.float16", "2 ** 40", "tl")
    return ast.parse(luck.choice(texts), mode="eval").body


def spoilt(text: str, luck: Random, names: Sequence[str]) -> str:
    """Python statements with one change drawn from all that are possible; "" where there is none. The kind of change
    is drawn before its place: a text has more arguments than words."""
    tree = ast.parse(text)
    kinds, counts = list(_CHANGES), _counts(tree)
    while kinds:
        kind = kinds.pop(luck.randrange(len(kinds)))
        found = [(node, changed) for node in ast.walk(tree) for changed in kind(node, luck, names)
                 if ast.unparse(changed) != ast.unparse(node) and not (id(node) in counts and _large(changed))]
        if found:
            node, changed = luck.choice(found)
            return ast.unparse(ast.fix_missing_locations(_Replaced(node, changed).visit(tree)))
    return ""


def variants(text: str, luck: Random, names: Sequence[str], *, changed: int) -> dict[str, str]:
    """The text as it is and with a change, by words for them; as it is again where no change is possible. changed: how
    many with a change."""
    return {"as it is": text} | {f"changed {number}": spoilt(text, luck, names) or text for number in range(changed)}


def _counts(tree: ast.AST) -> set[int]:
    """The nodes by which something is repeated while the kernel is compiled: exponents, factors, bounds of loops."""
    return {id(part) for node in ast.walk(tree) for part in ast.walk(node)
            if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift | ast.Mult))
            or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("range"))}


def _large(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Constant) and isinstance(one.value, int) and abs(one.value) > 1 << 10
               for one in ast.walk(node)) or any(isinstance(one, ast.Pow) for one in ast.walk(node))


class _Replaced(ast.NodeTransformer):
    """A tree with another node in the place of one."""

    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self._node, self._other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        return self._other if node is self._node else self.generic_visit(node)
