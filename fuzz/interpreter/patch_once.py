"""Repair of speed: a call of a device function does not patch the language modules anew.

Triton's interpreter replaces some 400 attributes of `triton.language` at each launch and again at each call of a
device function within it, although nothing has changed in between: more than half of the time of a kernel that is
written with helpers. Here the modules that a launch has already patched are left alone until it ends.
"""

from typing import Any

from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module, triton_language


def apply(patches: Patches) -> None:
    """Wrap the launch and the patching."""
    module, tl = interpreter_module(), triton_language()
    languages: dict[Any, frozenset[str]] = {}
    patched: set[frozenset[str]] = set()
    depth = 0

    def visible(fn: Any) -> frozenset[str]:
        if fn not in languages:
            languages[fn] = frozenset(
                value.__name__ for value in fn.__globals__.values() if value is tl or value is tl.core)
        return languages[fn]

    def patching(call: Call, fn: Any) -> Any:
        key = visible(fn)
        if key in patched:
            return module._LangPatchScope()
        if depth:
            patched.add(key)
        return call(fn)

    def launching(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1
        try:
            return call(self, *args, **kwargs)
        finally:
            depth -= 1
            # The launch has restored what it patched.
            patched.clear()

    patches.wrap(module, "_patch_lang", patching)
    patches.wrap(module.GridExecutor, "__call__", launching)
