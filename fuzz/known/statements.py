"""Known issues of statements: what Triton's interpreter makes of them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from typing import Any

from msgspec.structs import replace

from tridiff.fuzz.known.bounds import converts_bounds, counted_with_a_sign, counts_otherwise, with_converted_bounds
from tridiff.fuzz.known.carried import loses_a_variable, with_values_of_their_own
from tridiff.fuzz.known.contents import tamed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements import records
from tridiff.fuzz.statements.cases import every, nodes, rewritten, types_of_variables
from tridiff.fuzz.statements.draft import literal, node
from tridiff.kernels.language.script import Node, Script

_OF_PYTHON = {"min": "tl.minimum", "max": "tl.maximum"}


def having(pattern: Callable[[Node], bool]) -> Callable[[Case], bool]:
    """Whether a case is a program of statements with a node that has the pattern."""
    return lambda case: isinstance(case.program, Script) and any(map(pattern, every(case)))


def replacing(pattern: Callable[[Node], bool], other: Callable[[Node], Node]) -> Callable[[Case], Case | None]:
    """Gives the case with another node for each that has the pattern; None if the program is not legal then."""
    return lambda case: rewritten(case, lambda one: other(one) if pattern(one) else one)


def _less(one: Node, word: str) -> Node:
    """The node without one of its words."""
    return replace(one, words={key: value for key, value in one.words.items() if key != word})


def _converted(one: Node) -> bool:
    return one.row == "cast" and bool(one.words.get("function"))


def _uses_variables(case: Case) -> bool:
    """Whether a variable of a loop is used as it is, without a conversion by `tl.cast`."""
    if not isinstance(case.program, Script):
        return False
    types = types_of_variables(case)
    return any(_asks_a_variable(one) or any(part.row == "name" and part.word("name") in types for part in one.parts)
               for one in every(case) if not _converted(one))


def _asks_a_variable(one: Node) -> bool:
    """Whether it is the idiom that adds up `i.to(...)` of a loop over 5, 2 and -1."""
    return one.row == "idiom" and one.word("name") == "range_of_numbers"


def _with_converted_variables(case: Case) -> Case | None:
    """Variables of loops are converted to the type that they have where they are used; the idiom that asks one for
    such a conversion adds the sum of its loop."""
    types = types_of_variables(case)

    def change(one: Node) -> Node:
        if _converted(one):
            return one
        if _asks_a_variable(one):
            added = node("binary", *one.parts, literal(6), op="+")
            return node("assign", added, name=one.word("names").split()[0])
        return replace(one, parts=tuple(
            node("cast", part, to=types[part.word("name")], function=True)
            if part.row == "name" and part.word("name") in types else part for part in one.parts))

    return rewritten(case, change)


def _with_bounds_and_variables(case: Case) -> Case | None:
    """Bounds, too, have the type that the variable has."""
    converted = with_converted_bounds(case)
    return None if converted is None else _with_converted_variables(converted)


def _is_of_python(one: Node) -> bool:
    return one.row == "call" and one.word("function") in _OF_PYTHON


def _function_of_triton(one: Node) -> Node:
    return replace(one, words={"function": _OF_PYTHON[one.word("function")]})


def _is_word(one: Node) -> bool:
    """Whether Python's `not`, `and` or `or` is in it; `a < b < c` is `a < b and b < c`."""
    return one.row == "logic" or (one.row == "unary" and one.word("op") == "not ") or (
        one.row == "compare" and len(one.parts) > 2)


def _operator(one: Node) -> Node:
    """`&`, `|` and `== False` in place of Python's words, of truth values: numbers are compared with 0. A number that
    decides is what the compiler takes."""
    if one.row == "unary":
        return node("compare", *one.parts, literal(False), op="==")
    if one.row == "compare":
        return _joined(_singly(one))
    deciding = ("False", "0") if one.word("op") == "and" else ("True", "1")
    for part in one.parts:
        if part.row == "number" and part.word("value") in deciding:
            return part
    return _joined(map(_truth, one.parts), {"and": "&", "or": "|"}[one.word("op")])


def _truth(part: Node) -> Node:
    """An operand of `and` or `or` as a truth value."""
    if _is_word(part) or part.row == "compare" or (part.row, part.word("value")) in (
            ("number", "True"), ("number", "False")):
        return part
    return node("compare", part, literal(0), op="!=")


_METHODS = {"aggregate_method": ("+", ""), "aggregate_changed": ("-", "1"), "aggregate_constant": ("+", "3")}
"""What the methods of idioms do with the first field: the operator, and the number beside it, "" for the second field.
"""


def _has_method(one: Node) -> bool:
    if one.row == "record":
        return "method" in (one.word("turn"), one.word("take"))
    return one.row == "operated" or (one.row == "idiom" and one.word("name") in _METHODS)


def _with_field(one: Node) -> Node:
    """Fields and functions in place of methods, operators of tensors in place of those of aggregates."""
    if one.row == "record":
        changed = {word: "function" for word in ("turn", "take") if one.word(word) == "method"}
        if one.word("form") == "Further" and len(changed) == 2:  # what it inherits subtracts a part that stays in place
            changed["take"] = "first"
        return replace(one, words=one.words | changed)
    if one.row == "operated":
        return node("assign", _of_tensors(one), name=one.word("name"))
    op, value = _METHODS[one.word("name")]
    field = replace(one, words={"name": "aggregate"}, parts=(one.parts[0], one.parts[-1]))
    second = node("number", value=value) if value else one.parts[1]
    return node("binary", field, second, op=op)


def _of_tensors(one: Node) -> Node:
    """An operator of tensors that gives the type of an aggregate's operator."""
    left, right, symbol = one.word("left"), one.word("right"), one.word("op")
    first, second = one.parts
    if symbol in records.OPERATORS:
        if right == "Backward" and records.reflects(left, right, symbol):
            return node("compare", first, first, op="<")
        return node("binary", first, second, op=symbol)
    made = node("compare", first, second, op=symbol)
    asked = right if records.reflects(left, right, symbol) else left
    return node("cast", made, to="i8") if asked == "Backward" else made


def _asks_an_heir(one: Node) -> bool:
    return one.row == "operated" and (one.word("left"), one.word("right")) == ("Number", "Backward")


def _beside_a_tensor(one: Node) -> Node:
    """A tensor, which knows no aggregates, on the left of the heir."""
    return replace(one, words=one.words | {"left": "tensor"})


_BACKWARDS = ("offset_back", "offset_subtracted")


def _goes_back(one: Node) -> bool:
    return one.row == "idiom" and one.word("name") in _BACKWARDS and one.parts[1].word("to") != "i64"


def _by_a_wide_offset(one: Node) -> Node:
    wide = node("cast", one.parts[1], to="i64")
    return replace(one, parts=(one.parts[0], wide, *one.parts[2:]))


def _is_pending(one: Node) -> bool:
    return "apart" in one.words or (one.row == "idiom" and one.word("name") == "pending")


def _annotated_at_once(one: Node) -> Node:
    if one.row == "idiom":  # the passage with the same operands whose constant is annotated where it is assigned
        return replace(one, words=one.words | {"name": "number_reflected"})
    return _less(one, "apart")


_UNNAMED = ("positional_only", "positional_only_beside_keyword", "positional_only_default")


def _is_unnamed(one: Node) -> bool:
    return one.row == "idiom" and one.word("name") in _UNNAMED


def _with_names(one: Node) -> Node:
    """The same call of a function whose parameters may be given by name; where the second was 3 by default, it is."""
    return replace(one, words={"name": "number_argument" if len(one.parts) == 1 else "positional"})


def _is_wrapped(one: Node) -> bool:
    return one.row == "while" and bool(one.words.get("wrapped"))


def _may_know_its_condition(one: Node) -> bool:
    """Whether the condition of a loop may be known when the kernel is compiled."""
    return one.row == "while" and (one.parts[0].row, one.parts[0].word("function")) != ("call", "tl.to_tensor")


def _with_a_tensor_for_condition(one: Node) -> Node:
    condition, *rest = one.parts
    return replace(one, parts=(node("call", condition, function="tl.to_tensor"), *rest))


def _may_be_a_number(one: Node) -> bool:
    """Whether a choice on the device has a Python number on one of its sides."""
    return one.row == "ternary" and any(part.row == "number" for part in one.parts[1:])


def _by_where(one: Node) -> Node:
    """`tl.where`, which makes tensors of numbers, in place of the choice."""
    return replace(one, row="call", words={"function": "tl.where"})


def _negates(one: Node) -> bool:
    return one.row == "unary" and one.word("op") == "-"


def _small_of_16_bits(case: Case) -> Case:
    """Small numbers in the inputs of signed 16 bits."""
    return tamed(case, names=tuple(one.name for one in case.arrays if one.dtype == "i16"))


def _is_a_number(one: Node) -> bool:
    """Whether an expression may be a number that is known when the kernel is compiled."""
    return one.row in _OF_NUMBERS and all(
        part.row != "name" or part.word("name")[0] in _KNOWN + "a" for part in nodes((one,)))


def _as_a_tensor(one: Node) -> Node:
    """A choice between a number and itself: the interpreter has a tensor then, and knows no `tl.core.to_tensor`."""
    return node("call", _EITHER[0], one, one, function="tl.where") if _is_a_number(one) else one


def _names_a_number(one: Node) -> bool:
    return one.row == "walrus" and _is_a_number(one.parts[0])


def _unpacks_a_number(one: Node) -> bool:
    return one.row == "unpack" and one.parts[0].row == "tuple" and any(map(_is_a_number, one.parts[0].parts))


def _unpacking_tensors(one: Node) -> Node:
    values = one.parts[0]
    return replace(one, parts=(replace(values, parts=tuple(map(_as_a_tensor, values.parts))),))


_KNOWN = "Cni"
"""First letters of constants and of variables of loops, which the interpreter has as numbers; parameters of functions,
such as a1, are where they are given some."""
_OF_NUMBERS = ("number", "name", "binary", "unary", "compare", "logic", "ternary", "length", "item")


def _naming_a_tensor(one: Node) -> Node:
    return replace(one, parts=(_as_a_tensor(one.parts[0]),))


def _compares_tensors(one: Node) -> bool:
    return one.row == "compare" and any(part.row != "number" and (
        part.row != "name" or part.word("name")[0] not in _KNOWN) for part in one.parts)


_EITHER = literal(True), literal(False)


def _uses_a_comparison(one: Node) -> bool:
    """Whether a comparison stands in it by itself, not as what `tl.where` chooses True or False by."""
    chosen = one.row == "call" and one.word("function") == "tl.where" and one.parts[1:] == _EITHER
    return not chosen and any(map(_compares_tensors, one.parts))


def _by_choices(one: Node) -> Node:
    """`tl.where(a < b, True, False)` in place of comparisons, joined by `&` where they are chained."""
    return _joined(node("call", each, *_EITHER, function="tl.where") for each in _singly(one))


def _singly(one: Node) -> Iterator[Node]:
    """Each comparison of a chain by itself."""
    pairs = zip(one.word("op").split(), one.parts, one.parts[1:], strict=False)
    return (node("compare", *pair, op=op) for op, *pair in pairs)


def _joined(several: Iterable[Node], op: str = "&") -> Node:
    """Operands with one operator between them."""
    return reduce(lambda joined, other: node("binary", joined, other, op=op), several)


def _flattens(one: Node) -> bool:
    """Whether a loop is to become one with a loop inside it."""
    return one.row == "for" and bool(one.words.get("flatten")) and any(
        part.row == "for" for part in nodes(one.parts))


def _unrolls_steps(one: Node) -> bool:
    """Whether a loop is unrolled that has a step other than 1 and bounds that may leave no trip."""
    if len(one.parts) < 4 or "loop_unroll_factor" not in one.words or one.parts[2] == literal(1):
        return False
    bounds = [int(part.word("value")) for part in one.parts[:3] if part.row == "number"]
    return len(bounds) < 3 or not range(*bounds)


def _gives_bits(one: Node) -> bool:
    """Whether a function that is not inlined is given some bits of a number of 64: by itself, or in a record."""
    called = one.row == "idiom" and one.word("name").startswith("not_inlined")
    carried = one.row == "record" and "apart" in (one.word("turn"), one.word("take"))
    return (called or carried) and any(map(_is_of_bits, nodes(one.parts)))


def _handed_bits(case: Case) -> frozenset[str]:
    """Functions of the program, not inlined, that are handed bits of a number of 64, or what is made of them."""
    if not isinstance(case.program, Script):
        return frozenset()
    apart = {one.word("name") for one in case.program.functions if one.words.get("noinline")}
    if not apart:
        return frozenset()
    named: set[str] = set()

    def made_of_bits(one: Node) -> bool:
        return any(_is_of_bits(part) or (part.row == "name" and part.word("name") in named)
                   for part in nodes(one.parts))

    known = -1
    while len(named) > known:
        known = len(named)
        named.update(name for one in every(case) if one.row in ("assign", "augment", "walrus", "unpack")
                     and made_of_bits(one) for name in (one.word("names") or one.word("name")).split())
    return frozenset(one.word("name") for one in every(case) if one.row == "invoke" and made_of_bits(one)) & apart


def _without_calls_of_bits(case: Case) -> Case | None:
    """Conversions in place of those bits, and the functions inlined that are handed some."""
    inlined = _handed_bits(case)
    return rewritten(case, lambda one: _given_numbers(one) if _gives_bits(one) else
                     _less(one, "noinline") if one.row == "define" and one.word("name") in inlined else one)


def _is_of_bits(one: Node) -> bool:
    return one.row == "cast" and bool(one.words.get("bitcast")) and one.word("to") in ("i64", "u64")


def _given_numbers(one: Node) -> Node:
    """Conversions in place of those bits."""
    return replace(one, parts=tuple(map(_converting, one.parts)))


def _converting(one: Node) -> Node:
    plain = _less(one, "bitcast") if _is_of_bits(one) else one
    return replace(plain, parts=tuple(map(_converting, one.parts)))


def by(pattern: Callable[[Node], bool], other: Callable[[Node], Node]) -> dict[str, Any]:
    """What an issue says of nodes that have its pattern, and of the node that its control has for each."""
    return {"match": having(pattern), "relative": replacing(pattern, other)}


_NO_TENSOR = "TypeError: Expected * for attribute *"
"""What an aggregate says of a Python number for a field that is a tensor."""

_defect = partial(KnownIssue, where=(("language.*", "own"),))
_front_end = partial(_defect, stage="front-end")
interpreter = partial(_defect, stage="interpreter", backends=("interpreter",))
_compiled = partial(_defect, backends=("cuda",))
_TAKEN_FOR_A_TENSOR = ("AttributeError*", "ValueError*", _NO_TENSOR, "another_type", "another_shape")
"""What is said of a Python number where a tensor is wanted."""

ISSUES = (
    _compiled(
        name="flattened-loop-reads-the-inner-value", stage="ttgir",
        title="what stands in front of the inner loop of a flattened one reads what the inner loop has made",
        entries=("language.statements/value-a31fac3621",), **by(_flattens, partial(_less, word="flatten"))),
    _compiled(
        name="unrolled-loop-of-no-trips", stage="ttir",
        title="an unrolled loop with a step makes a trip between bounds that leave none",
        entries=("language.statements/value-a31fac3621-beside",),
        **by(_unrolls_steps, partial(_less, word="loop_unroll_factor"))),
    _compiled(
        name="stored-half-of-a-double-is-converted", stage="ptxas",
        title="the lower half of a double's bits, as a parameter of a call, is the double as an integer",
        entries=("language.functions/value-e1a29528c6", "language.functions/value-a265306b06"),
        match=lambda case: having(_gives_bits)(case) or bool(_handed_bits(case)), relative=_without_calls_of_bits),
    _compiled(
        name="negated-16-bit-integer-not-cut", stage="ptxas", kinds=("value",),
        title="-x of 16 bits is extended as a number of 32 bits, in programs of statements",
        where=(("language.statements", "own"), ("language.functions", "own"), ("language.pointers", "own")),
        entries=("language.statements/value-f0caa24195",),
        match=lambda case: having(_negates)(case) and _small_of_16_bits(case) != case, relative=_small_of_16_bits,
        explains="tridiff.fuzz.known.predictions.pointers:beside_the_lowest_of_16_bits"),
    _front_end(
        name="positional-only-parameters-are-dropped",
        title="parameters before a `/` of a jit function do not exist when it is compiled",
        entries=("language.functions/a-is-not-defined-39fbd289b4",), **by(_is_unnamed, _with_names),
        errors=("a is not defined*", "list index out of range*"), kinds=()),
    interpreter(
        name="interpreter-forgets-pending-annotations",
        title="in the interpreter a variable annotated as constexpr before it is assigned becomes a tensor",
        entries=("language.statements/another-type-57f1fa3761",), **by(_is_pending, _annotated_at_once),
        errors=("AttributeError*", "ValueError*", "another_type", "another_shape")),
    _front_end(
        name="pointer-minus-unsigned-offset",
        title="an unsigned offset that is subtracted from a pointer is negated in its own type and moves it forward",
        entries=("language.pointers/out-of-bounds-757be6f29f", "language.pointers/value-2c80d38c1b"),
        **by(_goes_back, _by_a_wide_offset),
        errors=("out_of_bounds", "illegal_address", "wrong_address_space")),
    _front_end(
        name="while-of-a-constant",
        title="a condition that is known when a kernel is compiled ends the compiler with an error of its own",
        entries=("language.statements/constexpr--object-has-n-21d71fc307",),
        **by(_may_know_its_condition, _with_a_tensor_for_condition),
        errors=("'constexpr' object has no attribute 'handle'*",), kinds=()),
    _front_end(
        name="unsigned-bounds-are-negative", backends=("cuda",),
        title="loops count in signed numbers: u8 is extended with its sign, u32 and u64 are compared with one",
        entries=("language.statements/value-843ef4b6ee", "language.pointers/value-b087a21ae9",
                 "language.statements/value-45b5e0e3b0"), match=counts_otherwise, relative=counted_with_a_sign,
        # Steps of 2 towards 2^31 - 1 go past it, and on from -2^31.
        errors=("launch",)),
    _front_end(
        name="copy-in-a-loop-not-carried", backends=("cuda", "evaluated"),
        title="a variable that takes the value of another one in a loop, which it equals before, keeps its first one",
        entries=("language.statements/value-d54c947035",), match=loses_a_variable, instead=with_values_of_their_own,
        explains="tridiff.fuzz.known.predictions.statements:lost_in_loops"),
    _front_end(
        name="aggregates-ask-heirs-last",
        title="an heir on the right with reflected operators of its own is not asked before its base on the left",
        entries=("language.functions/another-type-76a050c38b",), **by(_asks_an_heir, _beside_a_tensor),
        errors=("another_type", "another_shape", "Cannot bitcast*", "*object has no attribute*", "*type*",
                "Cannot use *, #, or %*")),
    interpreter(
        name="interpreter-aggregates-have-no-methods", title="in the interpreter aggregates lack their jit methods",
        entries=("language.functions/attributeerror---both--o-6379ed8ce0",),
        **by(_has_method, _with_field), errors=("AttributeError*", "TypeError*"), kinds=()),
    interpreter(
        name="interpreter-truth-values-are-pythons",
        title="in the interpreter `not`, `and`, `or` and chains are Python's own: a bool, or one of the operands",
        entries=("language.statements/attributeerror---bool--o-76512cba24",), **by(_is_word, _operator),
        errors=("AttributeError*", _NO_TENSOR, "TypeError: Cannot use /, #, or %*", "BlockTruthValue", "another_type",
                "another_shape")),
    interpreter(
        name="interpreter-loop-variables-are-numbers",
        title="in the interpreter the variable of a loop is a Python number, without a type, without methods",
        entries=("language.statements/attributeerror---int--ob-a655b212da",),
        match=lambda case: _uses_variables(case) or converts_bounds(case), relative=_with_bounds_and_variables,
        errors=("AttributeError*", "ValueError*", "OverflowError*", _NO_TENSOR, "BlockTruthValue", "another_type",
                "another_shape")),
    interpreter(
        name="interpreter-conditions-are-true",
        title="in the interpreter `while tl.condition(...)` never ends: the object is true whatever it holds",
        entries=("language.statements/launch-6e7987d24d",),
        **by(_is_wrapped, partial(_less, word="wrapped")), errors=("launch",), kinds=()),
    interpreter(
        name="interpreter-choices-are-numbers",
        title="in the interpreter `x if c else 5` gives the number itself, without a type, without methods",
        entries=("language.statements/attributeerror---int--ob-720ace84fa",),
        **by(_may_be_a_number, _by_where), errors=_TAKEN_FOR_A_TENSOR),
    interpreter(
        name="interpreter-walrus-names-numbers",
        title="in the interpreter `(x := 5)` is the number itself, without a type, without methods",
        entries=("language.statements/attributeerror---int--ob-03cb7d9b12",),
        **by(_names_a_number, _naming_a_tensor), errors=_TAKEN_FOR_A_TENSOR),
    interpreter(
        name="interpreter-unpacks-numbers",
        title="in the interpreter `a, b = 5, x` leaves a the number itself, without a type, without methods",
        entries=("language.statements/attributeerror---int--ob-d32d488478",),
        **by(_unpacks_a_number, _unpacking_tensors), errors=_TAKEN_FOR_A_TENSOR),
    interpreter(
        name="interpreter-comparisons-of-floats-are-floats",
        title="in the interpreter a comparison of scalar floats becomes floats where it meets a block",
        entries=("language.statements/typeerror--ufunc--bitwis-e6e021e7e8",), match=having(_uses_a_comparison),
        relative=replacing(_compares_tensors, _by_choices), errors=("TypeError: ufunc 'bitwise_*",), kinds=()),
    interpreter(
        name="interpreter-min-and-max-are-pythons",
        title="in the interpreter `min` and `max` are Python's own, which ask blocks for a truth value",
        entries=("language.statements/blocktruthvalue-6b507995f3",), **by(_is_of_python, _function_of_triton),
        errors=("BlockTruthValue", "AttributeError*", "ValueError*", "TypeError: Cannot use *", _NO_TENSOR,
                "another_type", "another_shape")),
)
