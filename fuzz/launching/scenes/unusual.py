"""Launches and compilations as few users ask for them: one knob, hook, way to write a kernel or source at a time."""

import gc
import io
import json
import re
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import triton

from tridiff.fuzz.backends.device_errors import chain, refusal, without_assembler
from tridiff.fuzz.launching.apart import answered, tried
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import kernel
from tridiff.fuzz.launching.spy import spied
from tridiff.fuzz.launching.texts_unusual import PLAIN, TEXTS
from tridiff.fuzz.launching.words import Arguments, Pair
from tridiff.fuzz.verdicts import Declined

Told = dict[str, object]
"""What one way tells, by name."""


def unusual(choices: Choices, backend: str) -> Answers:
    """One way, and what came of it: its own answers, or the refusal."""
    way = str(choices["way"])
    user = kernel(TEXTS.get(way, PLAIN))
    with bench() as there:
        try:
            told = _WAYS[way](user, there)
        except Exception as error:
            if without_assembler(error):
                raise Declined("this installation has no ptxas for the chip") from error
            told = {"as": type(error).__name__, "refused": refusal(error)[:300].replace(str(there.folder), "")}
        temporary = there.left()
        launches = [f"{one.grid} {tuple(value for kind, value in one.parameters if '*' not in kind)}"
                    for one in there.launches]
        return {name: str(value).replace("; ", ", ") for name, value in told.items()} | {
            "loaded": " ".join(name for name, *_ in there.loads), "launches": "; ".join(launches),
            "compiled": "; ".join(map(str, there.compiled)), "temporary": temporary}


def _x() -> Any:
    return Arguments().make("tensor i32 0")


def _plain(user: Any, there: Bench) -> Told:
    return _of(user[(2, 3)](_x(), 5))


def _of(compiled: Any) -> Told:
    """What stands in a compiled kernel."""
    return {"stages": " ".join(compiled.asm), "signature": compiled.src.signature, "warps": compiled.metadata.num_warps,
            "shared": compiled.metadata.shared, "registers": ".maxnreg 64" in compiled.asm["ptx"],
            "lines": ".loc" in compiled.asm["ptx"],
            "debug": ", debug" in compiled.asm["ptx"], "variables": "DILocalVariable" in compiled.asm.get("llir", "")}


def _closure(user: Any, there: Bench) -> Told:
    """A kernel with a constant around it, of which the module has another one by the same name; and one that differs in
    nothing but that constant, with which its own assertion fails."""
    found = {"scope": "C" in user.get_capture_scope(), "pointers": "inner" in user.get_capture_scope(), **_plain(
        user, there), "noted": [value for value, _ in user.used_global_vals.values()]}
    around = user.fn.__globals__
    try:
        _plain(around["made"](triton.language.constexpr(5), around["twice"]), there)
        found["another"] = "taken"
    except Exception as error:
        found["another"] = type(error).__name__
    return found


def _conflict(user: Any, there: Bench) -> Told:
    user.fn.__globals__["inner"].cache_key  # noqa: B018  # the helper is read with the value of today
    user.fn.__globals__["LIMIT"] = triton.language.constexpr(4)
    try:
        return _plain(user, there)
    finally:
        user.fn.__globals__["LIMIT"] = triton.language.constexpr(3)


def _inspected(user: Any, there: Bench) -> Told:
    """A hook that may replace stages is asked for its key and for the stages."""
    asked: list[str] = []

    def hook(*given: Any) -> Any:
        if given:
            asked.append(" ".join(given[1]))
            return None
        asked.append("key")
        return "own stages", "digest"

    triton.knobs.runtime.add_stages_inspection_hook = hook
    for _ in range(2):
        user[(1,)](_x(), 5)
    return {"asked": asked}


def _function(user: Any, there: Bench) -> Told:
    """A helper as a constant, preloaded into a fresh kernel; then data that name another, or nothing known."""
    told: list[str] = []
    triton.knobs.runtime.jit_cache_hook = lambda **about: told.append(about["compile"]["specialization_data"])
    twice = user.fn.__globals__["twice"]
    first = user.warmup(_x(), 5, twice, (1, (2, (3,))), (5, (5,)), grid=(1,))
    triton.knobs.runtime.jit_cache_hook = None
    found: Told = {"function": '"jit_function"' in told[0]}
    name = told[0].partition('"jit_function": "')[2].partition('"')[0]
    for what, data in (("same", told[0]), ("unknown", told[0].replace(name, "nothing")),
                       ("other", told[0].replace('"jit_function"', '"no_function"'))):
        user.device_caches.clear()
        try:
            found[what] = user.preload(data).asm["ptx"] == first.asm["ptx"]
        except Exception as error:
            found[what] = refusal(error)[:120].replace(name, "")
    return found


def _specialised(user: Any, there: Bench) -> Told:
    """What a hook, which lets nothing be compiled, is told of every kind of argument and constant
    (`serialize_specialization_data`), and whether it is told the same where that is preloaded into a fresh kernel."""
    told: list[str] = []

    def hook(**about: Any) -> bool:
        told.append(about["compile"]["specialization_data"])
        return True

    triton.knobs.runtime.jit_cache_hook = hook
    tl, around, found = triton.language, user.fn.__globals__, dict[str, object]()
    values = (None, True, 1, 16, 2**40, 1.5, float("inf"), "text", tl.int8, (1, (2, None)), (tl.int8, 2.5), Pair(1, 16),
              tl.constexpr(3), tl.constexpr((1, (2,))), tl.pointer_type(tl.int8), around["twice"], around["inner"],
              (around["inner"], 3), [1, 2], _x()[1:])
    for name, (number, value) in product("Cn", enumerate(values)):
        told.clear()
        try:
            user.device_caches.clear()
            user.warmup(_x(), grid=(1,), **{"n": 5, name: value})
            user.device_caches.clear()
            user.preload(told[0])
            data = json.loads(told[0])
            with mock.patch.object(user, "_do_compile", lambda *given, **_: str(given[3])):
                user.device_caches.clear()
                read = user.preload(told[0])
            found[f"{name} {number}"] = told[0] == told[1], {
                one: data[one] for one in data if one.startswith(("sig", "const", "attrs"))}, (
                read if isinstance(read, str) else "")
        except Exception as error:
            found[f"{name} {number}"] = len(told), refusal(error)[:120]
    return found


def _functions(user: Any, there: Bench) -> Told:
    twice = user.fn.__globals__["twice"]
    plain, named = user[(1,)](_x(), 5, (twice, 3)), user[(1,)](_x(), 5, Pair(twice, 3))
    return {"plain": plain.src.signature, "named": named.src.signature, "apart": plain is not named}


def _failing_together(user: Any, there: Bench) -> Told:
    """A compilation beside another fails, and nothing stays of it; the second time what was kept is forgotten first,
    the third time errors are ignored, the fourth time it has been asked for before."""
    if not hasattr(triton, "AsyncCompileMode"):
        return {"refused": "there is none"}
    from triton.runtime import _async_compile

    failing = kernel(TEXTS["failing"])
    errors, left, active = [], [], False
    for forgotten, ignoring, asking in ((0, False, 0), (1, False, 0), (0, True, 0), (0, False, 1)):
        try:
            with ThreadPoolExecutor(1) as threads, triton.AsyncCompileMode(threads, ignore_errors=ignoring):
                user.warmup(_x(), 5, grid=(1,))
                failed = failing.warmup(_x(), 5, grid=(1,))
                if asking:
                    errors.append(str(tried(failed.result))[:20])
                if forgotten:
                    for cache, *_ in failing.device_caches.values():
                        cache.clear()
        except Exception as error:
            errors.append(type(error).__name__)
        left.append(sum(len(cache) for cache, *_ in failing.device_caches.values()))
        active |= _async_compile.active_mode.get() is not None
        # Where the mode outlives what ended it, whatever is compiled next would wait for threads that are gone.
        _async_compile.active_mode.set(None)
    return {"errors": errors[:2], "left": left[:3], "active": active, "asked": [*errors[2:], *left[3:]],
            "preloaded": _preloaded_beside(user)}


def _preloaded_beside(user: Any) -> list[object]:
    """A kernel that is preloaded while it is compiled beside other things is the one that is asked for."""
    told, made, runtime = list[tuple[str, bool]](), list[object](), triton.knobs.runtime
    runtime.jit_cache_hook = lambda **about: told.append((
        about["compile"]["specialization_data"], about["is_manual_warmup"]))
    runtime.jit_post_compile_hook = lambda **about: made.append(about["compile"]["num_warps"])
    with ThreadPoolExecutor(1) as threads, triton.AsyncCompileMode(threads):
        first = user.warmup(_x(), 5, grid=(1,), num_warps=2)
        second = user.preload(told[0][0])
        loaded = [told[0] == told[1], user.warmup(_x(), 5, grid=(1,), num_warps=2) is first is second, len(told), *made,
                  second.name, *made]
    return [*loaded, *made, user.warmup(_x(), 5, grid=(1,), num_warps=2) is first.result()]


def _inspected_otherwise(user: Any, there: Bench) -> Told:
    """Hooks that say another key have kernels of their own, in memory and on disk."""
    kernels = []
    for key, digest in (("one", "1"), ("two", "2"), ("two", "3"), ("one", "1")):
        triton.knobs.runtime.add_stages_inspection_hook = (
            lambda *given, told=(key, digest): None if given else told)
        kernels.append(user[(1,)](_x(), 5))
        if key == "two":
            user.device_caches.clear()
    return {"kinds": [kernels.index(one) for one in kernels], "hashes": len({one.hash for one in kernels})}


def _further_options(user: Any, there: Bench) -> Told:
    """What the compiler's parts are asked for, for each option by itself."""
    found: Told = {}
    for name, value in {"sched4reg": True, "ptx_options": "-v", "enable_reflect_ftz": False, "ptx_version": 80,
                        "min_shared_mem": 4096, "extern_libs": {}, "num_stages": 1, "clc": False, "device_type": "cuda",
                        "fpsan_homomorphic_casts": True}.items():
        with spied() as asked:
            try:
                made = user.warmup(_x(), 5, grid=(1,), **{name: value})
                flushing = sorted(set(re.findall(r"\w[\w.]*\.ftz\S*", made.asm["ptx"])))
                found[name] = " ".join((*flushing, *asked.passes, *asked.tools))
            except Exception as error:
                found[name] = refusal(error)[:120]
    return found


def _unheard(user: Any, there: Bench) -> Told:
    """Nobody listens: cached, and not."""
    triton.knobs.compilation.listener = None
    first = user[(1,)](_x(), 5)
    user.device_caches.clear()
    return {"same": user[(1,)](_x(), 5).hash == first.hash}


def _unloaded(user: Any, there: Bench) -> Told:
    """What is loaded is unloaded by the process that loaded it, and not by a copy of it."""
    runtime, seen = triton.knobs.runtime, []
    chains = {"before": runtime.kernel_load_start_hook, "after": runtime.kernel_load_end_hook}
    if hasattr(runtime, "kernel_unload_hook"):
        chains["gone"] = runtime.kernel_unload_hook
    for word, added in chains.items():
        def noted(module: object, function: object, name: str, group: object, digest: str, word: str = word) -> None:
            if module is None or module is there.module:
                seen.append(f"{word} {module} {name}")

        added.add(noted)
    user[(1,)](_x(), 5)

    def forgotten() -> str:
        user.device_caches.clear()
        gc.collect()
        return str(there.unloaded)

    [copied] = answered([forgotten])
    forgotten()
    for added in chains.values():
        added.calls.clear()
    return {"seen": seen, "unloaded": there.unloaded, "in a copy": copied}


def _unhooked(user: Any, there: Bench) -> Told:
    """Chains of hooks replaced by none at all, as they were in older releases."""
    runtime = triton.knobs.runtime
    names = [one for one in ("kernel_load_start_hook", "kernel_load_end_hook", "launch_enter_hook", "launch_exit_hook",
                             "kernel_unload_hook") if hasattr(runtime, one)]
    kept = {name: getattr(runtime, name) for name in names}
    try:
        for name in names:
            setattr(runtime, name, None)
        found = _plain(user, there)
        user.device_caches.clear()
        gc.collect()
        return found | {"unloaded": there.unloaded}
    finally:
        for name, chain in kept.items():
            setattr(runtime, name, chain)


def _knob(section: str, **values: Any) -> Callable[[Any, Bench], Told]:
    def run(user: Any, there: Bench) -> Told:
        for name, value in values.items():
            if not hasattr(getattr(triton.knobs, section), name):
                return {"refused": "there is none"}
            setattr(getattr(triton.knobs, section), name, value)
        printed = io.StringIO()
        with spied() as asked, redirect_stdout(printed):
            found = _plain(user, there)
        return found | {"passes": " ".join(asked.passes[-8:]), "tools": " ".join(asked.tools),
                        "printed": " ".join(printed.getvalue().split()[:8])}

    return run


def _mode(mode: str, text: str = "") -> Callable[[Any, Bench], Told]:
    """Compiled with a sanitizer, which is not launched: it wants memory of its own."""

    def run(user: Any, there: Bench) -> Told:
        if not hasattr(triton.knobs.compilation, "instrumentation_mode"):
            return {"refused": "there is none"}
        triton.knobs.compilation.instrumentation_mode = mode
        asking = kernel(TEXTS[text]) if text else user
        with spied() as asked:
            made = asking.warmup(_x(), 5, grid=(1,), maxnreg=64)
        # A sanitizer may need more registers than a user allows.
        return {"passes": " ".join(asked.passes), "least shared": made.metadata.min_shared_mem,
                "registers": made.metadata.maxnreg, "asserts": "__assertfail" in made.asm["ptx"],
                "mode": made.metadata.instrumentation_mode,
                "loads": callable(made.run)}

    return run


def _other_assembler(user: Any, there: Bench) -> Told:
    """The version of ptxas as a test would have it: part of the key of a kernel."""
    from triton.backends.nvidia import compiler

    first = user[(1,)](_x(), 5)
    user.device_caches.clear()
    try:
        triton.knobs.nvidia.mock_ptx_version = "release 12.4"
        compiler.get_ptxas_version.cache_clear()
        second = user[(1,)](_x(), 5)
    finally:
        triton.knobs.nvidia.mock_ptx_version = None
        compiler.get_ptxas_version.cache_clear()
    return {"other": first.hash != second.hash, "same code": first.asm["ptx"] == second.asm["ptx"]}


def _options(**options: Any) -> Callable[[Any, Bench], Told]:
    return lambda user, there: _of(user[(1,)](_x(), 5, **options))


def _old(user: Any, there: Bench) -> Told:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(user, {"x": "*i32", "n": "i32", "C": "constexpr"}, {"C": 3})
    with spied() as asked:
        made = triton.compile(source, target=GPUTarget("cuda", 75, 32))
    return {"passes": " ".join(asked.passes), "target": ".target sm_75" in made.asm["ptx"]}


def _text(stage: str, change: Callable[[str], str] = str) -> Callable[[Any, Bench], Told]:
    """A kernel's text of one stage, compiled again from a file and launched."""

    def run(user: Any, there: Bench) -> Told:
        first = user.warmup(_x(), 5, grid=(1,))
        path = Path(there.folder) / f"kernel.{stage}"
        path.write_text(change(first.asm[stage]))
        second = triton.compile(str(path))
        runner = second.run
        second[(2, 1, 1)](_x(), 5)
        return _of(second) | {"runs": callable(runner), "name": second.name, "blocks": second.metadata.num_ctas}

    return run


def _located(stage: str) -> Callable[[Any, Bench], Told]:
    def run(user: Any, there: Bench) -> Told:
        triton.knobs.compilation.use_ir_loc = stage
        return _text("ttir")(user, there) | {"own": _plain(user, there)["lines"]}

    return run


def _replaced(stage: str) -> Callable[[Any, Bench], Told]:
    """A later stage of another kernel in place of the own one, by the option."""

    def run(user: Any, there: Bench) -> Told:
        other = user.warmup(_x(), 7, C=77, grid=(1,))
        path = Path(there.folder) / f"other.{stage}"
        value = other.asm[stage]
        path.write_bytes(value if isinstance(value, bytes) else value.encode())
        made = user.warmup(_x(), 5, grid=(1,), ir_override=str(path))
        return {"taken": made.asm[stage] == value, "code": made.asm["cubin"] == other.asm["cubin"]}

    return run


def _overridden(user: Any, there: Bench) -> Told:
    """A folder of stages is looked into, and has one, or none, of the kernel's."""
    from triton.runtime.cache import _base32

    first = user.warmup(_x(), 5, grid=(1,))
    folder = Path(there.folder) / "override"
    knobs = triton.knobs
    knobs.compilation.override, knobs.compilation.always_compile = True, True
    knobs.cache.override_dir = str(folder)
    own = folder / _base32(first.src.hash())
    own.mkdir(parents=True)
    user.device_caches.clear()
    without = user.warmup(_x(), 5, grid=(1,))
    (own / "kernel.ptx").write_text(first.asm["ptx"] + "\n// ours\n")
    user.device_caches.clear()
    return {"without": without.asm["ptx"] == first.asm["ptx"],
            "taken": user.warmup(_x(), 5, grid=(1,)).asm["ptx"].endswith("ours\n")}


def _dumped(user: Any, there: Bench) -> Told:
    folder = Path(there.folder) / "dump"
    triton.knobs.cache.dump_dir, triton.knobs.compilation.dump_ir = str(folder), True
    user.warmup(_x(), 5, grid=(1,))
    return {"files": sorted(one.name for one in folder.rglob("*") if one.is_file())}


def _disassembled(user: Any, there: Bench) -> Told:
    made = user.warmup(_x(), 5, grid=(1,))
    try:
        found = "EXIT" in made.asm["sass"]
    except FileNotFoundError:
        found = False
    try:
        return {"sass": found, "other": made.asm["nothing"]}
    except KeyError as error:
        return {"sass": found, "other": refusal(error)}


def _own_errors(user: Any, there: Bench) -> Told:
    """How errors of the front end are wrapped, and through which files they are traced, for users and for developers of
    Triton."""
    found: Told = {}
    for whole in (False, True):
        triton.knobs.compilation.front_end_debugging = whole
        for number in range(5):
            try:
                user.warmup(_x(), 5, number, grid=(1,))
            except Exception as error:
                found[f"{whole} {number}"] = [(type(one).__name__, list(dict.fromkeys(
                    Path(frame.f_code.co_filename).name for frame, _ in traceback.walk_tb(one.__traceback__)
                    if "triton" in frame.f_code.co_filename))) for one in chain(error)]
    return found


def _few_threads(user: Any, there: Bench) -> Told:
    load = there.load_binary
    there.load_binary = lambda *given: (*load(*given)[:-1], 64)  # type: ignore[method-assign]
    return _plain(user, there)


def _profiled(user: Any, there: Bench) -> Told:
    """Scratch of a profiler by an allocator of the user's."""
    from triton.runtime import _allocation

    kept = _allocation._profile_allocator.get()
    try:
        triton.runtime._allocation.set_profile_allocator(there.allocate)
        return _plain(user, there) | {"scratch": there.scratch, "given": [one.scratch for one in there.launches]}
    finally:
        _allocation._profile_allocator.set(kept)


_WAYS: dict[str, Callable[[Any, Bench], Told]] = {
    "nothing": _plain, "closure": _closure, "foreign name": _plain,
    "conflict": _conflict, "by type": lambda user, there: _of(
        user[(1,)](_x(), 5)), "constant memory": lambda user, there: _of(user[(1,)](_x(), _x(), 5)),
    "more arguments": lambda user, there: _of(user[(1,)](_x(), 5, 1)),
    "by name only": lambda user, there: _of(user[(1,)](_x(), n=5)),
    "by name only, by place": lambda user, there: _of(kernel(TEXTS["by name only"])[(1,)](_x(), 5)),
    "inspected": _inspected, "function": _function, "functions": _functions,
    "specialised": _specialised, "failing together": _failing_together,
    "unheard": _unheard, "unloaded": _unloaded, "unhooked": _unhooked, "no clusters' queue": _options(clc=True),
    "addresses": _knob("compilation", enable_asan=True),
    "variables": _knob("compilation", dump_ir_extract_di_local_variables=True),
    "variables without lines": _knob("compilation", dump_ir_extract_di_local_variables=True, disable_line_info=True),
    "other assembler": _other_assembler, "global memory": _mode("gsan"),
    "floats": _mode("fpsan"), "order": _mode("consan"), "indices": _mode("iisan"),
    "expected zeros": _mode("fpsan", "expected zeros"), "zeros": lambda user, there: _of(
        kernel(TEXTS["expected zeros"])[(1,)](_x(), 5)), "floats of gluon": _mode("fpsan", "gluon"),
    "order in gluon": _mode("consan", "gluon"), "gluon": _options(maxnreg=64),
    "old chip": _old,
    "text of ptx": _text("ptx"), "one block": _text(
        "ttgir", lambda text: text.replace('"ttg.num-ctas" = 1 : i32, ', "")),
    "lines of ttir": _located("ttir"), "lines of ttgir": _located("ttgir"), "other llir": _replaced("llir"),
    "other cubin": _replaced("cubin"), "overridden": _overridden, "dumped": _dumped, "disassembled": _disassembled,
    "few threads": _few_threads, "own errors": _own_errors,
    "printed PTX": _knob("nvidia", dump_nvptx=True), "log of ptxas": _knob("nvidia", dump_ptxas_log=True),
    "profiled": _profiled, "inspected otherwise": _inspected_otherwise, "further options": _further_options,
    "not debugged": lambda user, there: {"debug": [user[(1,)](_x(), 5, **more).metadata.debug
        for triton.knobs.runtime.debug in (False, True) for more in ({}, {"debug": False}, {"debug": True})]},
    "long name": _plain,
    "partitions": lambda user, there: _of(user[(1,)](_x(), 5)) | {"packed": there.launches[-1].packed},
}
