"""What the contract (launch.md) says of the answers of scenes."""

from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.versions import before
from tridiff.oracles import launching
from tridiff.oracles.launching import Argument


def _bound(choices: Choices) -> tuple[Argument | tuple[Argument, ...], ...]:
    flag = str(choices["flag"])
    return (launching.argument(str(choices["a"])),
            launching.argument(str(choices["b"]), specialised=flag not in ("not specialised", "by number"),
                               aligned=not flag.startswith("not aligned")),
            launching.argument("int 48"))


def _handed(found: list[Argument], numbers: list[int]) -> str:
    """Parameters with their values. numbers: of arrays, by the parameters that are one."""
    arrays = iter(numbers)
    return "; ".join(f"{one.kind} array {next(arrays)} + {one.value}" if one.kind.startswith("*") else
                     f"{one.kind} {one.value!r}" for one in found)


def arguments(choices: Choices, version: str) -> Answers:
    bound = _bound(choices)
    found = launching.parameters(iter(bound))
    arrays = [number for number, _ in enumerate(one for one in found if one.kind.startswith("*"))]
    a, b, d = (launching.signature(one) for one in bound)
    aligned = []
    for place, one in zip((0, 1, 3), bound, strict=True):
        if isinstance(one, tuple):
            aligned += [str((place, number)) for number, leaf in enumerate(one) if leaf.aligned]
        elif one.aligned:
            aligned.append(str((place,)))
    return {
        "grid": str(launching.grid(str(choices["grid"]), 0)), "parameters": _handed(found, arrays),
        "signature": f"a: {a}; b: {b}; c: constexpr; d: {d}; e: constexpr",
        "attributes": "; ".join(aligned), "ttir": "; ".join(map(launching.mlir, found)),
        "ptx": "; ".join(launching.ptx([one.kind for one in found]))}


def shared(choices: Choices, version: str) -> Answers:
    words = [str(choices["first"]), str(choices["second"])]
    words += words[:1] if choices["again"] else []
    keys, order, handed, arrays = [], [], [], 0
    for number, word in enumerate(words):
        one = launching.argument(word, specialised=choices["flag"] != "not specialised",
                                 aligned=choices["flag"] != "not aligned")
        option = choices["option"] if number == len(words) - 1 else ""
        told = tuple((leaf.kind, leaf.aligned, leaf.constant and repr(leaf.value)) for leaf in launching.leaves(one))
        key = (told, isinstance(one, tuple), word.partition(" ")[0] == "pair", option)
        if key not in order:
            order.append(key)
        keys.append(str(order.index(key)))
        found = launching.parameters(iter((launching.argument("int 7"), one)))
        pointers = sum(leaf.kind.startswith("*") for leaf in found)
        handed.append(_handed(found, list(range(arrays, arrays + pointers))).replace("; ", " "))
        arrays += pointers
    return {"kernels": "; ".join(keys), "parameters": "; ".join(handed)}


def options(choices: Choices, version: str) -> Answers:
    """What stands in metadata, module and PTX of the options that were asked for."""
    knob, warps, ctas = choices["knob"], int(choices["num_warps"]), int(choices["num_ctas"])
    if knob == "iisan" and before(version, "3.9.0"):
        knob = ""
    instrumented = knob in ("fpsan", "consan", "iisan")
    arch = 86 if knob == "other arch" else int(choices["arch"])
    # Instrumented kernels may need more registers than the limit, which 3.9.0 drops for that.
    registers = 0 if instrumented and not before(version, "3.9.0") else int(choices["maxnreg"])
    fused = bool(choices["enable_fp_fusion"])
    found = {name: choices[name] for name in (
        "num_warps", "num_stages", "num_ctas", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl",
        "sanitize_overflow", "enable_reflect_ftz")}
    if choices["maxnreg"]:
        found["maxnreg"] = registers or None  # type: ignore[assignment]
    if choices["debug"]:
        found["debug"] = True
    if knob in ("consan", "iisan") and not before(version, "3.7.0"):
        found["sanitize_overflow"] = False
    head = {"threads": str(warps * 32), "registers": str(registers or ""), "blocks": str(ctas if ctas > 1 else "")}
    debugged = bool(choices["debug"]) or knob in ("debug", "consan", "iisan")
    return {
        "asked": "; ".join(f"{name}={value}" for name, value in found.items()),
        **head, "module": f"cuda:{arch}; warps {warps}; blocks {ctas}; threads 32",
        "launch": f"cooperative={choices['launch_cooperative_grid']}; dependent={choices['launch_pdl']}",
        "debug": str(debugged),
        **({} if instrumented else {"fused": str(fused), "assertions": str(debugged)}),
        "line information": str(knob != "no lines"),
    }


def annotated(choices: Choices, version: str) -> Answers:
    """A pointer to what must not be written has a type of its own."""
    if choices["style"] != "const":
        return {}
    kinds = {"int32": "i32", "int64": "i64", "uint8": "u8", "float32": "fp32", "int1": "u1", "float64": "fp64",
             "bfloat16": "bf16"}
    return {"signature": f"*k{kinds[str(choices['annotation'])]}"}
