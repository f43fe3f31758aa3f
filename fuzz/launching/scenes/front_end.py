"""Many small kernels through the front end alone: each to its source IR, or to the text of its refusal.

Nothing is compiled any further, which is a tenth of the work, and nothing is judged: two builds of one release must
give the same. Calls of the language's rows as they are drawn elsewhere, and each spoilt in some places.
"""

import hashlib
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from functools import partial
from io import StringIO
from random import Random
from typing import Any, TypeVar

from hypothesis.errors import UnsatisfiedAssumption
from triton.backends.compiler import GPUTarget

from tridiff.fuzz.backends.compile import Pointer, pointer_to, source_of, target_of
from tridiff.fuzz.backends.device_errors import refusal
from tridiff.fuzz.backends.source import source_ir
from tridiff.fuzz.judge.observed import normalised
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.choices import Choices as Drawn
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.launching import module_of
from tridiff.fuzz.language.row import Row, installed
from tridiff.fuzz.launching import fragments_amd, fragments_gluon, fragments_plain
from tridiff.fuzz.launching.apart import answered
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.lines import showing, statements, trimmed
from tridiff.fuzz.launching.named import by_name
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.spoil import spoilt, variants
from tridiff.fuzz.target import Limits
from tridiff.fuzz.versions import warn_again
from tridiff.kernels.generated import load
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.emit import assigned, parameters

T = TypeVar("T")
CALLS, SPOILT = 2, 2
"""Calls of a case, and changed texts of each."""
CHANGED = 10
"""Changed texts of a piece of Gluon."""
_WARPS = 4
_PLAIN = {"num_warps": _WARPS}
_OPTIONS: dict[str, dict[str, Any]] = {
    "": _PLAIN, "debug": {**_PLAIN, "debug": True},
    "overflow": {**_PLAIN, "sanitize_overflow": True, "debug": True, "maxnreg": 64,
                 "default_dot_input_precision": "ieee"},
    "addresses": {**_PLAIN, "debug": True, "instrumentation_mode": "iisan"},
    "floats": {**_PLAIN, "instrumentation_mode": "fpsan"}, "blocks": {**_PLAIN, "num_ctas": 2},
    "warps": {"num_warps": 8, "num_stages": 1, "maxnreg": 64}}
"""Options that the front end looks at, by the words of `launching.vocabulary`."""
_TRIES = 40
_WARNED = 80
"""Characters of a warning."""
_PRINTED = 160
"""Characters of what is printed; of a longer text a digest is kept."""
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]+")
_PLACE = re.compile(r'loc\("<generated[^"]*>":(\d+:\d+)')
_OPERATION = re.compile(r'(?:^|= )"?([a-z]\w*(?:\.\w+)+)', re.MULTILINE)


class _Seeded(Drawn):
    """Choices of a call by a generator of numbers, without Hypothesis."""

    def __init__(self, luck: Random) -> None:
        self._luck, self.limits = luck, Limits(elements=1 << 10, rows=1 << 5)

    def one(self, values: Sequence[T]) -> T:
        return self._luck.choice(values)

    def whole(self, low: int, high: int) -> int:
        return self._luck.randint(low, high)

    def flag(self) -> bool:
        return self._luck.random() < 0.5

    def order(self, number: int) -> list[int]:
        return self._luck.sample(range(number), number)


def call_of(row: Row, luck: Random) -> Call | None:
    """One legal call of a row that the installed version takes; None where some draws gave none."""
    for _ in range(_TRIES):
        try:
            call = row.draw(_Seeded(luck))
        except UnsatisfiedAssumption:
            continue
        if cases.legal(call) and not row.declined(call, installed(), "compile:sm_90"):
            return call
    return None


def calls(choices: Choices, backend: str) -> Answers:
    """Calls of one row, and changed ones."""
    row = rows()[str(choices["row"])]
    luck = Random(f"{row.name} {choices['draw']}")
    asked: dict[str, Callable[[], str]] = {}
    for number in range(CALLS):
        call = call_of(row, luck)
        if call is None:
            return {"none": f"no call for {installed()}"}
        text = row.text(call)
        asked[f"call {number}"] = partial(told, _module(row, call, text), _arguments(call))
        for other in range(SPOILT):
            changed = spoilt(textwrap.dedent(text), luck, [f"x{place}" for place in range(len(call.operands))])
            if changed:
                asked[f"call {number} changed {other}"] = partial(
                    told, _module(row, call, changed, legal=False), _arguments(call))
    return dict(zip(asked, answered(tuple(asked.values())), strict=True))


def _module(row: Row, call: Call, text: str, *, legal: bool = True) -> str:
    """The kernel of a call. legal: whether its results are known, and therefore stored."""
    if row.stores and not legal and not row.gluon:
        text = "\n".join(assigned(text, len(row.results(call, installed()))))
    return module_of(row, call, text, installed(), warps=_WARPS, stores=row.stores and legal)


def _arguments(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in parameters(call):
        if name.endswith("_ptr"):
            place = int(name[1:-4]) if name.startswith("x") else int(name[3:-4])
            kind = call.operands[place].dtype if name.startswith("x") else call.stored[place]
            found[name] = pointer_to(kind, aligned=True)
        elif name.endswith("_pitch"):
            found[name] = 48
        else:
            found[name] = call.operands[int(name[1:])].value
    return found


def told(module: str, arguments: dict[str, Any], *, chip: str = "sm_90", options: dict[str, Any] = _PLAIN) -> str:
    """What the front end makes of a module's kernel: a digest of the source IR, and of the lines and columns that it
    gives its operations, with these, or the refusal; behind it what is printed meanwhile, and the warnings that a user
    is shown. options: of the compiler."""
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(StringIO()) as printed:
        warnings.simplefilter("always")
        warn_again()
        found = _told(module, arguments, chip, options)
    # Those of knobs are about the environment, and the same for every kernel.
    shown = dict.fromkeys(str(one.message).partition("\n")[0][:_WARNED] + _line_of(one) for one in warned
                          if not one.filename.endswith("knobs.py"))
    text = _ADDRESS.sub("", normalised(printed.getvalue(), "ttir"))
    if len(text) > _PRINTED:
        text = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return "; warned: ".join((f"{found}; printed: {text}" if text else found, *shown))


def _line_of(warning: warnings.WarningMessage) -> str:
    """The line of a kernel at which a warning points. What Triton's own lines say moves with every comment there."""
    return f" in line {warning.lineno}" if warning.filename.startswith("<generated") else ""


def _told(module: str, arguments: dict[str, Any], chip: str, options: dict[str, Any]) -> str:
    try:
        text = source(module, arguments, chip, options)
    except Exception as error:
        return refusal(error)
    # How often each operation stands there says more to a reader than the digest.
    operations = Counter(name.rpartition(".")[2] for name in _OPERATION.findall(text))
    digest = hashlib.blake2b(f"{normalised(text, 'ttir')}{places(text)}".encode(), digest_size=6).hexdigest()
    return f"{digest} " + " ".join(f"{name} {number}" for name, number in operations.most_common(6))


def source(module: str, arguments: dict[str, Any], chip: str, options: dict[str, Any]) -> str:
    kernel: Any = load(module, name="kernel").kernel
    return source_ir(source_of(kernel, arguments), target(chip), options)


def places(text: str) -> list[str]:
    """Lines and columns of the module that a source IR gives its operations. Those of Triton's own library move with
    every comment there."""
    return sorted(set(_PLACE.findall(text)))


def target(chip: str) -> GPUTarget:
    # No kernel is compiled to the end for most of AMD's: they are none of `backends`.
    return GPUTarget("hip", chip, 64 if chip.startswith("gfx9") else 32) if chip.startswith("gfx") else target_of(chip)


def _device(chip: str) -> AbstractContextManager[Bench]:
    """What Triton takes for the device while its front end works for a chip."""
    return bench(int(chip.removeprefix("sm_")) if chip.startswith("sm_") else 90)


def kernel_of(piece: str, changed: str = "") -> tuple[str, dict[str, Any]]:
    """The module and the arguments of a piece's kernel. changed: a text in its place."""
    language, _, name = piece.partition(": ")
    texts, _, given = _PIECES[language]
    return trimmed(language, showing(language, changed or texts[name])), given


def pieces(choices: Choices, backend: str) -> Answers:
    """One piece of a kernel, and changed ones."""
    piece = str(choices["piece"])
    language, _, name = piece.partition(": ")
    texts, names, _ = _PIECES[language]
    luck = Random(f"{name} {choices['draw']}")
    changed = variants(texts[name], luck, names, changed=CHANGED)
    chip, options = str(choices["chip"]), _OPTIONS[str(choices["option"])]
    with _device(chip):
        text, given = kernel_of(piece)
        found = answered([partial(told, *kernel_of(piece, text), chip=chip, options=options)
                          for text in changed.values()] + [partial(told, _inside(text), given, chip=chip,
                                                                   options=options)])
    return dict(zip((*changed, "inside"), found, strict=True))


def _inside(module: str) -> str:
    """A module whose functions do not stand at the left: these have columns of their own."""
    return f"if True:\n{textwrap.indent(module, '    ')}"


def lines(choices: Choices, backend: str) -> Answers:
    """Statements of one part, each a kernel of its own; the call that others of a part are made of with each option,
    and assertions where they are kept."""
    part, chosen = str(choices["part"]), str(choices["option"])
    language = part.partition(": ")[0]
    chip, given = str(choices["chip"]), _PIECES[language][2]
    asked = {name: partial(_line, language, line, given, chip, _OPTIONS[chosen])
             for name, line in statements(part).items()}
    asked |= {f"{name} debugged": partial(_line, language, line, given, chip, _OPTIONS["debug"])
              for name, line in statements(part).items() if line.startswith("assert")}
    every = [*statements(part).items()]
    asked |= {f"{name} with {word or 'no'} option": partial(_line, language, line, given, chip, options)
              for name, line in (every if " with every option " in part else every[:" arguments of " in part])
              for word, options in _OPTIONS.items() if word != chosen}
    # One of each function, and one that some refuse.
    asked |= {f"{name} by name": partial(_by_name, language, line, given, chip, _OPTIONS[chosen])
              for name, line in (every if "names" in part else (every[0], every[-1]))}
    with _device(chip):
        found = answered(tuple(asked.values()))
    return dict(zip(asked, found, strict=True))


def _by_name(language: str, line: str, *about: Any) -> str:
    known = vars(load(trimmed(language, line), name="kernel"))

    def called(text: str) -> tuple[Any, int]:
        first = re.split(r"\W", text)[0]
        if first in known:
            return eval(text, known), 0
        return eval(f"{_HELD.get(first, 'tl.tensor')}.{text.rpartition('.')[2]}", known), 1

    text = by_name(line, called)
    return f"{_line(language, text, *about)} of {text}"


def _line(language: str, line: str, given: dict[str, Any], chip: str, options: dict[str, Any]) -> str:
    return told(_inside(trimmed(language, showing(language, line))), given, chip=chip, options=options)


def _pointers(**kinds: str) -> dict[str, Any]:
    return {f"{name}_ptr": Pointer(dtype=kind, aligned=True) for name, kind in kinds.items()}


_GLUON = _pointers(x="i32", f="fp32", h="fp16") | {"n": 48}
_PIECES: dict[str, tuple[dict[str, str], Sequence[str], dict[str, Any]]] = {
    "plain": (fragments_plain.FRAGMENTS, fragments_plain.NAMES,
              _pointers(**fragments_plain.ARRAYS) | fragments_plain.NUMBERS),
    "gluon": (fragments_gluon.FRAGMENTS, fragments_gluon.NAMES, _GLUON),
    "amd": (fragments_amd.FRAGMENTS, fragments_amd.NAMES, _GLUON)}
"""By language: pieces, names in scope, arguments of the kernel."""
_HELD = {"d": "tma.tensor_descriptor", "TV": "blackwell.tensor_memory_descriptor",
         **dict.fromkeys("stqb", "tl.shared_memory_descriptor")}
"""Classes of names in scope that are no tensors."""
