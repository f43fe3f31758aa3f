"""The public API of two builds: names that are gone or new, and signatures, defaults and values that changed."""

import json
import subprocess
import sys

from tridiff.fuzz.builds import Build
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import ApiChange

MODULES = ("triton", "triton.language", "triton.language.math", "triton.language.random", "triton.language.standard",
           "triton.language.extra.libdevice", "triton.experimental.gluon", "triton.experimental.gluon.language",
           "triton.experimental.gluon.language.nvidia.ampere",
           "triton.experimental.gluon.language.nvidia.ampere.async_copy",
           "triton.experimental.gluon.language.nvidia.ampere.mbarrier",
           "triton.experimental.gluon.language.nvidia.hopper",
           "triton.experimental.gluon.language.nvidia.hopper.tma",
           "triton.experimental.gluon.language.nvidia.hopper.mbarrier",
           "triton.experimental.gluon.language.nvidia.hopper.cluster",
           "triton.experimental.gluon.language.nvidia.blackwell",
           "triton.experimental.gluon.language.nvidia.blackwell.tma",
           "triton.experimental.gluon.language.nvidia.blackwell.clc", "triton.language.extra.cuda",
           "triton.tools.tensor_descriptor", "triton.experimental.gluon.nvidia.hopper", "triton.testing",
           "triton.runtime", "triton.compiler", "triton.knobs", "triton.backends.compiler", "triton.tools.mxfp",
           "triton.tools.ragged_tma")
"""Modules whose public names are compared, where both builds or one of them has them."""

SECONDS = 120.0

_LIST = r'''
import importlib, inspect, json, os, re, sys
os.nice(5)  # what runs cases comes first
import triton

def plain(value):
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    text = value.name if hasattr(value, "name") and hasattr(value, "value") else repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", text).replace(os.path.dirname(triton.__file__), "")

def parameter(one):
    mark = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**", one.KEYWORD_ONLY: "keyword "}.get(one.kind, "")
    return mark + one.name + ("" if one.default is one.empty else "=" + plain(one.default))

def shown(value):
    try:
        given = inspect.signature(getattr(value, "fn", value)).parameters.values()
        return "(" + ", ".join(parameter(one) for one in given if not one.name.startswith("_")) + ")"
    except (TypeError, ValueError):
        return plain(value) if isinstance(value, (int, float, str, bool, type(None))) else "a " + type(value).__name__

def members(value):
    for name in dir(value):
        if not name.startswith("_") or name in OPERATORS:
            member = inspect.getattr_static(value, name, None)
            if member is not getattr(object, name, None):
                # An option of the environment says by which name it is set, and what holds else.
                about = [getattr(member, key, None) for key in ("key", "default")] * isinstance(
                    member, triton.knobs.env_base)
                yield name, " ".join((shown(getattr(member, "__func__", member)), *map(plain, about)))

OPERATORS = {"__%s%s__" % (side, name) for side in ("", "r") for name in
             "add sub mul truediv floordiv mod and or xor lshift rshift".split()} | {
    "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__neg__", "__invert__", "__getitem__"}
found = {}
for module in json.loads(sys.argv[1]):
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        continue
    found[module] = "module"
    for name in dir(loaded):
        value = getattr(loaded, name, None)
        origin = getattr(value, "__module__", "") or ""
        if name.startswith("_") or inspect.ismodule(value) or origin in ("typing", "dataclasses", "functools"):
            continue
        found[f"{module}.{name}"] = shown(value)
        if inspect.isclass(value) and origin.startswith("triton"):
            for member, text in members(value):
                found[f"{module}.{name}.{member}"] = text
import triton.backends.nvidia.compiler as nvidia
import dataclasses
for field in dataclasses.fields(nvidia.CUDAOptions):
    found[f"CUDAOptions.{field.name}"] = re.sub(r" at 0x[0-9a-f]+", "", repr(field.default))
print(json.dumps(found))
'''


def names(build: Build) -> dict[str, str]:
    """Public names of a build with their signatures or values. Raises TridiffError when they cannot be listed."""
    try:
        # It runs beside the gate: a signal for all of the gate's processes ends the gate early, and this not at all.
        run = subprocess.run([sys.executable, "-c", _LIST, json.dumps(MODULES)], capture_output=True, text=True,
                             env=build.environment(), timeout=SECONDS, start_new_session=True)
    except subprocess.TimeoutExpired:
        raise TridiffError(f"{build.name}: its public names are not listed after {SECONDS:g} s",
                           fix="import it in a shell") from None
    if run.returncode:
        said = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise TridiffError(f"{build.name}: its public names cannot be listed ({said[:300]})",
                           fix="repair or rebuild it")
    found: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return found


def changes(baseline: dict[str, str], candidate: dict[str, str]) -> tuple[ApiChange, ...]:
    """What differs, by name."""
    return tuple(ApiChange(name=name, before=baseline.get(name, ""), after=candidate.get(name, ""))
                 for name in sorted(baseline.keys() | candidate.keys())
                 if baseline.get(name) != candidate.get(name))
