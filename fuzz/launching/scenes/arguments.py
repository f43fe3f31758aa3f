"""Arguments of kernels: bound, specialised, compiled and handed over."""

import re
from typing import Any

from tridiff.fuzz.launching.apart import answered
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes import front_end
from tridiff.fuzz.launching.words import Arguments
from tridiff.kernels.generated import load

HEAD = "import triton\nimport triton.language as tl\n\n"
FLAGS = {"": "", "not specialised": '(do_not_specialize=["b"])', "by number": "(do_not_specialize=[1])",
         "not aligned": '(do_not_specialize_on_alignment=["b"])',
         "not aligned by number": "(do_not_specialize_on_alignment=[1])"}
_PARAMETER = re.compile(r"\.param\s+\.(\w+)[^,\n]*?_param_\d+")
_FUNCTION = re.compile(r"tt\.func public @\w+\((.*?)\) attributes", re.DOTALL)
_PLACE = re.compile(r"\s*loc\([^()]*(?:\([^()]*\))?[^()]*\)")


def kernel(text: str, name: str = "user") -> Any:
    """The object `kernel` that a module's text defines, never that of an earlier scene."""
    module = load(HEAD + text, name=name)
    # Kernels remember what they compiled; the next scene begins without a memory.
    for one in vars(module).values():
        if hasattr(one, "device_caches"):
            one.device_caches.clear()
            one.hash = None
            one.used_global_vals = {}
    return module.kernel


def in_ir(text: str) -> str:
    """A kernel's parameters in Triton's IR, without names and places."""
    found = _FUNCTION.search(text)
    inside = _PLACE.sub("", found[1]) if found else ""
    return "; ".join(one.split(": ", 1)[1].strip() for one in re.split(r",\s*(?=%)", inside) if ": " in one)


def in_ptx(text: str) -> str:
    """A kernel's parameters in PTX."""
    return "; ".join(_PARAMETER.findall(text))


def launched(there: Bench, made: Arguments) -> Answers:
    """What the last launch handed over."""
    seen = there.launches[-1]
    return {"grid": str(seen.grid), "stream": str(seen.stream),
            "parameters": "; ".join(f"{kind} {made.told(value)}" for kind, value in seen.parameters)}


def arguments(choices: Choices, backend: str) -> Answers:
    """One launch of a kernel with two arguments, a constant and two defaults."""
    flag, grid, call = str(choices["flag"]), str(choices["grid"]), choices["call"]
    user = kernel(f"@triton.jit{FLAGS[flag]}\ndef kernel(a, b, c: tl.constexpr, d=48, e: tl.constexpr = 2):\n"
                  f"    tl.static_assert(e == 2)\n")
    made = Arguments()
    a, b, c = (made.make(str(choices[name])) for name in "abc")
    extents: Any = tuple(int(one) for one in grid.split() if one.isdigit())
    if grid.startswith("list"):
        extents = list(extents)
    if grid == "callable":
        extents = lambda given: (given["d"] % 16 + 2, 3 if given["e"] == 2 else 0)  # noqa: E731
    with bench(int(choices["arch"])) as there:
        if call == "positional":
            compiled = user[extents](a, b, c, 48, 2)
        elif call == "keywords":
            compiled = user[extents](e=2, d=48, c=c, b=b, a=a)
        elif call == "mixed":
            compiled = user[extents](a, b, e=2, c=c)
        else:
            compiled = user[extents](a, b, c)
        found = launched(there, made)
    source = compiled.src
    attributes = {place: told for place, told in source.attrs.items() if told}
    return found | {
        "signature": "; ".join(f"{name}: {_spelled(kind)}" for name, kind in source.signature.items()),
        "constants": "; ".join(f"{place}: {made.told(value)}" for place, value in sorted(source.constants.items())),
        "attributes": "; ".join(str(place) for place in sorted(attributes)),
        "ttir": in_ir(compiled.asm["ttir"]), "ptx": in_ptx(compiled.asm["ptx"])}


def constants(choices: Choices, backend: str) -> Answers:
    """A constant, and a member of it where it has some, as a kernel prints them while it is compiled."""
    word = str(choices["constant"])
    member = {"pair": "c.left", "tuple": "c[0]"}.get(word.partition(" ")[0], "c")
    text = f"{HEAD}@triton.jit\ndef kernel(c: tl.constexpr):\n    tl.static_print(c, {member})\n"
    return {"told": answered([lambda: front_end.told(text, {"c": Arguments().make(word)})])[0]}


def _spelled(kind: Any) -> str:
    return f"({', '.join(kind)})" if isinstance(kind, tuple) else str(kind)


def shared(choices: Choices, backend: str) -> Answers:
    """Two or three launches of one kernel: which of them are compiled anew, and what each hands over."""
    user = kernel(f"@triton.jit{FLAGS[str(choices['flag'])]}\ndef kernel(a, b):\n    pass\n")
    made = Arguments()
    words = [str(choices["first"]), str(choices["second"])]
    words += words[:1] if choices["again"] else []
    with bench() as there:
        kernels = []
        for number, word in enumerate(words):
            name, _, value = str(choices["option"] if number == len(words) - 1 else "").partition(" ")
            options = {name: int(value)} if name else {}
            kernels.append(user[(1,)](7, made.make(word), **options))
        parameters = [" ".join(f"{kind} {made.told(value)}" for kind, value in seen.parameters)
                      for seen in there.launches]
    order = list(dict.fromkeys(map(id, kernels)))
    return {"kernels": "; ".join(str(order.index(id(one))) for one in kernels),
            "compilations": str(len(there.compiled)), "parameters": "; ".join(parameters)}


def annotated(choices: Choices, backend: str) -> Answers:
    """A parameter whose type is annotated."""
    name = str(choices["annotation"])
    text = {"object": f"tl.{name}", "text": f'"{name}"', "pointer": f'"*{name}"', "const": f'"const {name}*"'}[
        str(choices["style"])]
    user = kernel(f"@triton.jit\ndef kernel(a: {text}, b):\n    pass\n")
    made = Arguments()
    pointer = choices["style"] in ("pointer", "const")
    word = "tensor fp32 0" if pointer else str(choices["value"])
    value = made.make(word)
    if not pointer and ("float" in name):
        value = float(value)
    with bench() as there:
        try:
            compiled = user[(1,)](value, 3)
        except Exception as error:
            return {"refused": type(error).__name__}
        found = launched(there, made)
    return found | {"signature": str(compiled.src.signature["a"]), "ttir": in_ir(compiled.asm["ttir"]),
                    "ptx": in_ptx(compiled.asm["ptx"])}
