"""The arrays that belong to a program, which cases are valid, and how programs become simpler."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import msgspec
import numpy as np
from msgspec.structs import replace

from tridiff.fuzz.records import ArraySpec, Case, Content, Layout, Mixture
from tridiff.fuzz.statements.meaning.memory import Memory
from tridiff.fuzz.statements.meaning.run import typed
from tridiff.fuzz.statements.text import source
from tridiff.kernels.language.call import Result
from tridiff.kernels.language.script import Node, Script

MOST_ROWS = 64


def script_of(case: Case) -> Script:
    """The case's program; ValueError for a case without one."""
    if not isinstance(case.program, Script):
        raise ValueError(f"{case.target} needs a program of statements")
    return case.program


def elements(script: Script, name: str) -> int:
    """Elements of one row of an array, "x0" or "out0"."""
    if name.startswith("out"):
        return script.results[int(name[3:])].elements
    operand = script.operands[int(name[1:])]
    return Result(dtype=operand.dtype, shape=operand.shape).elements


def arrays_in(script: Script) -> dict[str, str]:
    """Element types of the arrays, inputs first."""
    inputs = {f"x{number}": one.dtype for number, one in enumerate(script.operands) if one.given}
    return inputs | {f"out{number}": one.dtype for number, one in enumerate(script.results)}


def _length(name: str) -> str:
    return "m" + name[3:] if name.startswith("out") else "n" + name[1:]


def _is_block(script: Script, name: str) -> bool:
    shape = script.results[int(name[3:])].shape if name.startswith("out") else script.operands[int(name[1:])].shape
    return bool(shape)


def sizes_of(script: Script, programs: int) -> dict[str, int]:
    """Axis lengths: `rows` programs, of operand k n<k> elements each, of result k m<k>."""
    return {"rows": programs} | {
        _length(name): elements(script, name) for name in arrays_in(script) if _is_block(script, name)}


def arrays_of(script: Script, given: dict[str, Content],
              offsets: dict[str, int] | None = None) -> tuple[ArraySpec, ...]:
    """Inputs with their contents, and outputs."""
    found = []
    for name, dtype in arrays_in(script).items():
        dims = ("rows", _length(name)) if _is_block(script, name) else ("rows",)
        layout = Layout(offset=(offsets or {}).get(name, 0))
        content = None if name.startswith("out") else given[name]
        found.append(ArraySpec(name=name, dtype=dtype, dims=dims, content=content, layout=layout))
    return tuple(found)


def given_of(case: Case) -> dict[str, Content]:
    return {spec.name: spec.content for spec in case.arrays if spec.content is not None}


def arguments_of(script: Script) -> dict[str, int | float | bool]:
    """Parameters beside the arrays: distances between rows, and constexprs."""
    found: dict[str, int | float | bool] = {
        f"{name}_pitch": elements(script, name) if _is_block(script, name) else 1 for name in arrays_in(script)}
    return found | {f"C{number}": one.value for number, one in enumerate(script.operands) if one.kind == "constexpr"}


def problem(script: Script) -> str:
    """Why a kernel of the program would be refused, "" if it is legal."""
    return _typed(msgspec.json.encode(script))[0]


def types(script: Script) -> dict[str, str]:
    """Element types of the variables that the kernel of a legal program assigns; {} for a program that is not."""
    return _typed(msgspec.json.encode(script))[1]


def _fuses(script: Script) -> bool:
    """Whether a product of floats may be fused with a sum, where the compiler has leave to."""
    of_floats = _typed(msgspec.json.encode(script))[2]
    return not of_floats.isdisjoint("*/") and not of_floats.isdisjoint("+-")


@lru_cache(maxsize=1 << 12)
def _typed(encoded: bytes) -> tuple[str, dict[str, str], frozenset[str]]:
    script = msgspec.json.decode(encoded, type=Script)
    if len(script.stored) != len(script.results) or not script.stored:
        return "results without types", {}, frozenset()
    if not all(one.number or one.given for one in script.operands):
        return "a number without a value", {}, frozenset()
    memories = {f"{name}_ptr": Memory(np.ones(elements(script, name), bool), dtype,
                                      written=name.startswith("out")) for name, dtype in arrays_in(script).items()}
    try:
        return typed(source(script), memories, arguments_of(script))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        return f"no text: {error}", {}, frozenset()


def valid(case: Case) -> bool:
    """Whether a kernel can be made of the program and everything else in the case follows from it. Products and sums
    are rounded one by one: whether they are fused is not judged here."""
    script = case.program
    if not isinstance(script, Script) or case.params or problem(script):
        return False
    if any(one.enable_fp_fusion for one in (case.options, *case.variants)) and _fuses(script):
        return False
    programs, given = case.sizes.get("rows", 0), given_of(case)
    if not 1 <= programs <= MOST_ROWS or case.sizes != sizes_of(script, programs):
        return False
    offsets = {spec.name: spec.layout.offset for spec in case.arrays}
    return tuple(replace(spec, first_row=0) for spec in case.arrays) == arrays_of(script, given, offsets)


_PLAIN = ("name", "number", "assign", "block", "binary", "cast", "pass", "text", "define", "row_pointer", "return")


def nodes(parts: tuple[Node, ...]) -> Iterator[Node]:
    """All constructs, outermost first."""
    for one in parts:
        yield one
        yield from nodes(one.parts)


def every(case: Case) -> Iterator[Node]:
    """All constructs of a case's functions and kernel, outermost first."""
    script = script_of(case)
    return nodes((*script.functions, *script.body))


def rewritten(case: Case, change: Callable[[Node], Node]) -> Case | None:
    """The case with every construct changed, innermost first; None if the program is not legal."""

    def visit(one: Node) -> Node:
        return change(replace(one, parts=tuple(map(visit, one.parts))))

    script = script_of(case)
    return with_script(case, replace(script, body=tuple(map(visit, script.body)),
                                     functions=tuple(map(visit, script.functions))))


def types_of_variables(case: Case) -> dict[str, str]:
    """Variables of loops that run on the device, with the types that they have there."""
    return {one.word("name"): one.word("dtype") for one in every(case) if one.row == "for" and "dtype" in one.words}


def label(case: Case) -> str:
    """What tells findings apart: the first passage, or else the first statement that does more than assign."""
    script = script_of(case)
    every = [one for one in nodes((*script.body, *script.functions)) if one.row not in _PLAIN]
    passage = next((one for one in every if one.row in ("idiom", "record", "operated")), None)
    if passage is None:
        return next((one.row for one in every), "assign")
    return passage.word("name") if passage.row == "idiom" else passage.row


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts: constructs, each with its operator, and in what it stands."""
    found: dict[str, None] = {}

    def visit(one: Node, within: str) -> None:
        word = next((one.word(key) for key in ("op", "loop", "function", "kind") if key in one.words), "")
        word = one.word("name") if one.row == "idiom" else word
        if one.row == "record":
            for choice in ("form", "turn", "carry", "take"):
                found[f"statement=record {choice}={one.word(choice)}"] = None
        if one.row == "operated":
            found[f"statement=operated {one.word('left')} {one.word('right')}"] = None
        found[f"statement={one.row} {word}".strip()] = None
        if within and one.row in ("if", "for", "while", "augment"):
            found[f"statement={one.row} in={within}"] = None
        for part in one.parts:
            visit(part, one.row if one.row in ("if", "for", "while") else within)

    for top in (*script_of(case).functions, *script_of(case).body):
        visit(top, "")
    return tuple(found)


def size(case: Case) -> tuple[int, ...]:
    """Constructs, results, operands, what rows are told."""
    script = script_of(case)
    every = list(nodes((*script.functions, *script.body)))
    return len(every), len(script.stored), len(script.operands), sum(len(one.words) for one in every)


def _simpler_node(one: Node) -> Iterator[Node]:
    """A construct replaced by one inside of it, or with simpler insides."""
    if one.row == "block":
        for number in range(len(one.parts)):
            yield replace(one, parts=one.parts[:number] + one.parts[number + 1:])
    elif one.row == "if" and len(one.parts) > 2:
        yield replace(one, parts=one.parts[:2], words={})
    else:
        yield from (part for part in one.parts if part.row != "block")
    for word in ("elif", "apart", "function", "wrapped", "list", "bitcast", "num_stages", "loop_unroll_factor",
                 "flatten", "disable_licm", "disallow_acc_multi_buffer"):
        if word in one.words and isinstance(one.words[word], bool | int):
            yield replace(one, words={key: value for key, value in one.words.items() if key != word})
    if one.row not in ("number", "name", "block") and one.row in _EXPRESSIONS:
        yield Node(row="number", words={"value": "1"})
    for number, part in enumerate(one.parts):
        for less in _simpler_node(part):
            yield replace(one, parts=(*one.parts[:number], less, *one.parts[number + 1:]))


_EXPRESSIONS = ("binary", "compare", "cast", "like", "call", "fold", "logic", "ternary", "is_none", "tuple", "item",
                "length", "unary", "index", "walrus", "extent", "invoke", "idiom")


def _simpler_bodies(body: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    for number, one in enumerate(body):
        yield body[:number] + body[number + 1:]
        for part in one.parts:
            if part.row == "block":
                yield (*body[:number], *part.parts, *body[number + 1:])
    for number, one in enumerate(body):
        for less in _simpler_node(one):
            if less.row not in _EXPRESSIONS and less.row not in ("name", "number", "block"):
                yield (*body[:number], less, *body[number + 1:])


def _simpler_functions(functions: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """One function fewer, or with a simpler body."""
    for number, one in enumerate(functions):
        yield functions[:number] + functions[number + 1:]
        for body in _simpler_bodies(one.parts[0].parts):
            changed = replace(one, parts=(replace(one.parts[0], parts=body),))
            yield (*functions[:number], changed, *functions[number + 1:])


def steps(case: Case) -> Iterable[Case]:
    """Cases with a result, a statement or a construct fewer."""
    script = script_of(case)
    found: list[Script] = []
    if len(script.stored) > 1:
        for number in range(len(script.stored)):
            found.append(replace(script, stored=script.stored[:number] + script.stored[number + 1:],
                                 results=script.results[:number] + script.results[number + 1:]))
    found += [replace(script, functions=functions) for functions in _simpler_functions(script.functions)]
    found += [replace(script, body=body) for body in _simpler_bodies(script.body)]
    yield from (one for simpler in found if (one := with_script(case, simpler)) is not None)


def with_script(case: Case, script: Script) -> Case | None:
    """The case with another program of the same operands; None if it is not legal. Contents stay."""
    if problem(script):
        return None
    rows, given = case.sizes["rows"], given_of(case)
    kept = {name: given[name] if name in given else Content(base=Mixture()) for name in arrays_in(script)
            if name.startswith("x")}
    return replace(case, program=script, sizes=sizes_of(script, rows), arrays=arrays_of(script, kept))
