"""Differences between two texts of one stage, without what differs for no reason: locations, folders, hashes."""

import difflib
import re

_LOCATION = re.compile(
    r' loc\((?:#loc\d*|unknown|"[^"]*"(?:\(#loc\d*\)|:\d+:\d+)?|callsite\([^)]*\)|fused[^)]*\))\)')
_NOISE = (
    re.compile(r"^#loc\d* = .*\n?", re.MULTILINE),
    re.compile(r"^\s*\.(?:loc|file)\s.*\n?", re.MULTILINE),
    re.compile(r"^!\d+ = .*\n?", re.MULTILINE),
    re.compile(r", !dbg !\d+"),
    re.compile(r"^\s*//## File .*\n?", re.MULTILINE),
    re.compile(r"^\$L__(?:tmp|func)\w+:\n?", re.MULTILINE),
)


def plain(text: str) -> str:
    """The text without locations and debug information."""
    start = re.search(r"^\s*\.section\s+\.debug", text, re.MULTILINE)
    text = _LOCATION.sub("", text[:start.start()] if start else text)
    for pattern in _NOISE:
        text = pattern.sub("", text)
    return text


def unified(before: str, after: str, old: str, new: str, *, most: int = 0) -> str:
    """A unified diff of two texts, "" where they are equal. most: lines of it, 0 for all."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="", n=3))
    if most and len(lines) > most:
        lines = [*lines[:most], f"... {len(lines) - most} lines more"]
    return "\n".join(lines)
