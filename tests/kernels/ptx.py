"""The memory instructions of a PTX text, in a form that assertions can read. Test support."""

import re

_INSTRUCTION = re.compile(r"^(?:@!?%p\d+\s+)?((?:ld|st|atom|red|bar|fence|membar)\.[\w.:]+)")
_ORDERS = ("relaxed", "acquire", "release", "acq_rel")


def memory_instructions(ptx: str) -> list[str]:
    """In text order: "ld", "st" (global, unordered), "ld.acquire", "exch.release", "add.release", "bar.sync",
    ...

    Shared memory and kernel parameters are left out. An ordered access must have GPU scope; another scope
    stays visible in the result ("ld.acquire.sys").
    """
    found = []
    for line in ptx.splitlines():
        match = _INSTRUCTION.match(line.strip())
        if match is None:
            continue
        parts = match.group(1).split(".")
        if any(part.startswith(("shared", "param")) for part in parts):
            continue
        order = next((part for part in parts if part in _ORDERS), None)
        scope = next((part for part in parts if part in ("cta", "cluster", "sys")), None)
        if parts[0] in ("bar", "fence", "membar"):
            found.append(".".join(parts[:2]))
        else:
            name = next((part for part in parts if part in ("exch", "add", "cas")), parts[0])
            found.append(".".join(part for part in (name, order, scope) if part))
    return found
