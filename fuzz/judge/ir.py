"""TTGIR text to ledger cells: short words such as "ttg.local_load fp16 nvmma64>mma2 2d".

A cell is an operation with the element types, layout kinds and ranks of its operands and results, in their order, and
the attributes that choose between code paths (axis, order, kind). Shapes are left out: they are many and say little.
What synchronises has hardly a type: there the counts, whether phases and predicates are constants, and how many warps
of the block or of a partition take part make the cell.
The text is what Triton prints; a line that is not understood yields no cell, never an error.
"""

import re
from dataclasses import dataclass

MAX_TEXT = 1 << 22
"""Characters of one kernel's IR that are looked at."""

PREFIX = "ir "
"""Marks cells found in IR among the other cells of a campaign."""

_OPERATION = re.compile(
    r'^\s*(?:%[\w:, %]+= )?"?((?:ttg|ttng|nvg|gpu|tt)\.[a-z_0-9]+(?:\.[a-z_0-9]+)?)"?(?=[\s(<\[{]|$)')
_ALIAS = re.compile(r"^(#[\w$.-]+) = (.*)$")
_MEMORY = re.compile(r"^\d+(?:x\d+)*x")
_ELEMENTS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}
_RECORDED = ("ttg.", "ttng.", "nvg.", "gpu.barrier", "tt.reduce", "tt.scan", "tt.gather", "tt.dot", "tt.descriptor",
             "tt.make_tensor_descriptor", "tt.trans", "tt.reshape", "tt.load", "tt.store", "tt.experimental")
_ATTRIBUTES = re.compile(r"\b(axis|alignment|nbytes|reverse|num|pendings|isAsync|useC|cache|cacheModifier|evict|"
                         r"cache_modifier|eviction_policy|isVolatile|contiguity|bCluster|elem_type|swizzle_mode|"
                         r"inputPrecision) = ([\w.-]+)|\b(order) = array<i32: ([\d, ]+)>")
_PARTITION = re.compile(r"^\s*partition\d+\((.*)\) num_warps\((\d+)\)")
_SILENT = ("tt.reduce.return", "tt.scan.return")
_REQUESTED = re.compile(r"requestedRegisters = array<i32: ([\d, ]+)>")
_WARPS = re.compile(r'"ttg.num-warps" = (\d+)')
_SYNCHRONISING = ("ttg.async_wait", "ttng.init_barrier", "ttng.barrier_expect", "ttng.arrive_barrier",
                  "ttng.wait_barrier", "ttng.async_tma_store_wait", "ttng.fence_async_shared",
                  "ttng.warp_group_dot_wait")
_CONSTANT = re.compile(r"^%(?:c(?=-?\d)|(?=true|false))(-?\d+|true|false)(?:_i\d+)?(?:_\d+)?$")
_KIND_WORD = re.compile(r"local_atomic_scatter_rmw (\w+),|async_tma_reduce (\w+)|ttg\.barrier ([\w|]+)")


@dataclass(frozen=True)
class _Typed:
    """One type of an operation: element, layout kind, number of axes."""

    element: str
    layout: str
    axes: int


def operations(text: str) -> frozenset[str]:
    """Names of all operations in the text."""
    lines = text[:MAX_TEXT].splitlines()
    found = {match[1] for line in lines if (match := _OPERATION.match(line))}
    if any(_PARTITION.match(line) for line in lines):
        found.add("ttg.warp_specialize.partitions")
    return frozenset(found)


def missing(text: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the wanted operations that the text does not contain."""
    present = operations(text)
    return tuple(name for name in wanted if name not in present)


def cells(text: str) -> tuple[str, ...]:
    """Every distinct cell of one kernel, sorted, each with PREFIX."""
    aliases: dict[str, str] = {}
    found: set[str] = set()
    waiting: list[str] = []  # operations with regions: their types stand behind the region
    of_block = _WARPS.search(text)
    warps = place = f"warps={of_block[1]}" if of_block else ""
    for line in text[:MAX_TEXT].splitlines():
        alias = _ALIAS.match(line)
        if alias:
            aliases[alias[1]] = alias[2]
            continue
        partition = _PARTITION.match(line)
        if partition:  # the operation that holds the partitions is not printed by its name
            found.add(f"ttg.warp_specialize.partitions num_warps={partition[2]} captures={partition[1].count('%')}")
            place = f"warps={partition[2]} partition"
            continue
        if line.lstrip().startswith("default {"):
            place = f"{warps} default"
        elif line.startswith("    }") and "partition" in place:
            place = warps  # behind the last partition; another one says so itself
        match = _OPERATION.match(line)
        if match and match[1].startswith(_RECORDED) and match[1] not in _SILENT:
            if line.rstrip().endswith("({"):
                waiting.append(line)
                continue
            cell = _cell(match[1], line, line, aliases)
            found.add(f"{cell} {place}" if match[1] in _SYNCHRONISING else cell)
        elif line.lstrip().startswith("})") and waiting:
            opened = waiting.pop()
            named = _OPERATION.match(opened)
            assert named is not None
            found.add(_cell(named[1], opened, line, aliases))
    return tuple(sorted(PREFIX + cell for cell in found))


def _cell(name: str, head: str, typed: str, aliases: dict[str, str]) -> str:
    types = _types(typed, aliases)
    parts = [name]
    elements = _joined([one.element for one in types])
    layouts = _joined([one.layout for one in types if one.layout])
    ranks = _joined([f"{one.axes}d" for one in types if one.layout])
    parts += [part for part in (elements, layouts, ranks) if part]
    kind = _KIND_WORD.search(head)
    if kind:
        parts.append(next(word for word in kind.groups() if word))
    if name.startswith("ttng."):
        parts += _counts(name, head)
    elif name in ("ttg.async_copy_global_to_local", "tt.load", "tt.store"):
        parts += [word for word in ("mask", "other") if f" {word} %" in head]
    requested = _REQUESTED.search(head)
    if requested:
        parts.append(f"registers={requested[1].replace(' ', '')}")
    for key, value, order, axes in _ATTRIBUTES.findall(head):
        parts.append(f"{key or order}={value or axes.replace(' ', '')}")
    if name == "ttg.memdesc_subslice" and len(types) > 1:
        offsets = re.search(r"\[([\d, ]+)\]", head)
        if offsets:
            parts.append("at=" + "".join("+" if int(n) else "0" for n in offsets[1].split(",")))
    return " ".join(parts)


def _counts(name: str, head: str) -> list[str]:
    """Counts and bytes of what concerns an mbarrier; phases and predicates as constants or "?"."""
    operands = re.search(r" %[\w#]+, ([^:{]*)", head)
    if name not in _SYNCHRONISING or operands is None or name == "ttng.warp_group_dot_wait":
        return []
    found = []
    for word in operands[1].partition(" deps ")[0].split(","):
        given = _CONSTANT.sub(r"\1", word.strip())
        found.append("?" if given.startswith("%") else given)
    return [f"({' '.join(found)})"] + ["deps"] * (" deps " in head)


def _joined(words: list[str]) -> str:
    """Words with repetitions of the one before left out: operands, then results."""
    kept: list[str] = []
    for word in words:
        if not kept or kept[-1] != word:
            kept.append(word)
    return ">".join(kept[:4])


def _types(text: str, aliases: dict[str, str]) -> list[_Typed]:
    """The tensor and buffer types in a line, in order."""
    found: list[_Typed] = []
    for match in re.finditer(r"(tensor|!ttg\.memdesc|!tt\.tensordesc|-> )<", text):
        inner = _balanced(text, match.end() - 1)
        if inner is None:
            continue
        if inner.startswith("tensor<"):  # what a descriptor of the older version holds
            inner = inner[len("tensor<"):-1]
        shape = _MEMORY.match(inner)
        rest = inner[shape.end():] if shape else inner
        axes = shape[0].count("x") if shape else 0
        element, _, layout = _split(rest)
        if element.startswith("!tt.ptr<"):
            pointed = element[len("!tt.ptr<"):-1]
            element = "*" + _ELEMENTS.get(pointed, pointed)
        found.append(_Typed(_ELEMENTS.get(element, element), layout_kind(layout, aliases) if layout else "", axes))
    return found


def _balanced(text: str, start: int) -> str | None:
    """What stands between the angle bracket at `start` and its partner."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] == "<":
            depth += 1
        elif text[place] == ">" and text[place - 1] != "-":
            depth -= 1
            if depth == 0:
                return text[start + 1:place]
    return None


def _split(text: str) -> tuple[str, str, str]:
    """The element type and the layout of what follows a shape."""
    depth = 0
    for place, letter in enumerate(text):
        if letter in "<[{(":
            depth += 1
        elif letter in ">]})":
            depth -= 1
        elif letter == "," and depth == 0:
            rest = text[place + 1:].strip()
            return text[:place].strip(), ",", _first(rest)
    return text.strip(), "", ""


def _first(text: str) -> str:
    """The text up to the first comma outside of brackets."""
    depth = 0
    for place, letter in enumerate(text):
        if letter in "<[{(":
            depth += 1
        elif letter in ">]})":
            depth -= 1
        elif letter == "," and depth == 0:
            return text[:place].strip()
    return text.strip()


def layout_kind(layout: str, aliases: dict[str, str], depth: int = 0) -> str:
    """One word for a layout: what it is, and of what."""
    text = aliases.get(layout, layout)
    if depth > 4:
        return "deep"
    name = re.match(r"#?(?:ttg|ttng)?\.?([a-z_0-9]+)", text.removeprefix("#"))
    word = name[1] if name else "unknown"
    if word in ("slice", "dot_op"):
        parent = re.search(r"parent = (.*)", text)
        inner = layout_kind(_first(_parent(parent[1])), aliases, depth + 1) if parent else "unknown"
        which = re.search(r"opIdx = (\d)", text)
        return f"slice({inner})" if word == "slice" else f"dot{which[1] if which else ''}({inner})"
    if word == "nvidia_mma":
        version = re.search(r"versionMajor = (\d)", text)
        return f"mma{version[1] if version else ''}"
    if word == "nvmma_shared":
        width = re.search(r"swizzlingByteWidth = (\d+)", text)
        turned = "t" if "transposed = true" in text else ""
        return f"nvmma{width[1] if width else ''}{turned}"
    if word == "swizzled_shared":
        return "plain" if re.search(r"maxPhase = 1\b", text) else "swizzled"
    return {"padded_shared": "padded"}.get(word, word)


def _parent(text: str) -> str:
    """A parent layout without what follows it inside the same braces."""
    depth = 0
    for place, letter in enumerate(text):
        if letter in "<{[":
            depth += 1
        elif letter in ">}]":
            if depth == 0:
                return text[:place]
            depth -= 1
    return text
