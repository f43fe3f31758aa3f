"""What users hang into a launch: hooks, metadata, warm-up, loading ahead."""

import gc
from typing import Any

import triton

from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import kernel
from tridiff.fuzz.launching.words import Arguments

_TEXT = """
CALLS = []

def about(grid, metadata, arguments):
    CALLS.append(grid)
    return {{"flops": 7 * arguments["n"] + grid[0], "warps": metadata.num_warps, "name": "own"}}

@triton.jit{options}
def kernel(x, n, C: tl.constexpr, K: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(x + at, at + n + C)
"""
_OPTIONS = {"": "", "metadata": "(launch_metadata=about)", "name": '(repr=lambda _: "another_name")',
            "debug": "(debug=True)", "version": '(version="7")'}


def hooks(choices: Choices, backend: str) -> Answers:
    """Everything that is told of two launches of one kernel, in order."""
    events: list[str] = []
    timed: list[str] = []
    measured: list[int] = []
    user = kernel(_TEXT.format(options=_OPTIONS[str(choices["decorated"])]))
    runtime = triton.knobs.runtime
    refusing, hooked = bool(choices["refusing"]), bool(choices["hooked"])
    with bench() as there:
        before = triton.knobs.compilation.listener

        def listen(**about: Any) -> None:
            events.append(f"compiled {'before' if about['cache_hit'] else 'now'}")
            times = about["times"]
            timed.extend(name for name, _ in times.lowering_stages)
            measured.extend((times.ir_initialization, *(one for _, one in times.lowering_stages), times.store_results))
            before(**about)

        triton.knobs.compilation.listener = listen
        user.pre_run_hooks.clear()
        user.fn.__globals__["CALLS"].clear()
        user.add_pre_run_hook(lambda *given, **named: events.append(f"begin {len(given)}"))
        def asked(**about: Any) -> bool:
            events.append(_told("asked", about))
            return refusing

        runtime.jit_cache_hook = asked
        runtime.jit_post_compile_hook = lambda **about: events.append(_told("made", about))
        runtime.kernel_load_start_hook.add(lambda module, function, name, group, digest: events.append(
            f"loading {name} {module}"))
        runtime.kernel_load_end_hook.add(lambda module, function, name, group, digest: events.append(
            f"loaded {name} {module}"))
        if hooked:
            for number in (1, 2):
                runtime.launch_enter_hook.add(lambda data, number=number: events.append(_entered(number, data)))
                runtime.launch_exit_hook.add(lambda data, number=number: events.append(f"leave {number}"))
        made = Arguments()
        results = []
        for number in range(2):
            run = user.warmup if choices["warmup"] and number == 0 else user[(4,)]
            grid = {"grid": (4,)} if choices["warmup"] and number == 0 else {}
            results.append(run(made.make("tensor i32 0"), 16, 3, K=triton.language.float32, **grid))
        for chain in (runtime.launch_enter_hook, runtime.launch_exit_hook, runtime.kernel_load_start_hook,
                      runtime.kernel_load_end_hook):
            chain.calls.clear()
        user.pre_run_hooks.clear()
        launches = len(there.launches)
        debug = "; ".join(str(one.metadata.debug) for one in results if one is not None)
        gone: list[str] = []
        if hasattr(runtime, "kernel_unload_hook"):
            def unloading(module: object, function: object, name: str, group: object, digest: str) -> None:
                if module is there.module:
                    gone.append(name)

            runtime.kernel_unload_hook.add(unloading)
        user.device_caches.clear()
        results = [None if one is None else one.name for one in results]
        gc.collect()
        unloaded = f"{there.unloaded} {len(gone)}"
    kinds = "; ".join(event.split()[0] + (f" {event.split()[1]}" if event[:5] in ("enter", "leave") else "")
                      for event in events)
    return {"order": kinds, "events": "; ".join(events), "launches": str(launches),
            "results": "; ".join("none" if one is None else "a kernel" for one in results), "debug": debug,
            "metadata made": str(len(user.fn.__globals__["CALLS"])),
            "names": "; ".join(dict.fromkeys(one for one in results if one is not None)), "unloaded": unloaded,
            # A minute at most, in microseconds.
            "timed": "; ".join(timed), "plausible": str(all(0 <= one < 60_000_000 for one in measured))}


def _told(word: str, about: dict[str, Any]) -> str:
    compiled = about["compile"]
    numbers = [value for value in compiled.values() if isinstance(value, int)]
    return (f"{word} {about['repr']} {about['fn'].name} {about['is_manual_warmup']} {compiled['signature']} "
            f"{numbers} {sorted(compiled['constants'].items(), key=str)} {compiled['configs']} "
            f"{about['already_compiled']}").replace("; ", ", ")


def _entered(number: int, data: Any) -> str:
    told = {key: value is not None if key == "function" else value for key, value in data.get().items()}
    return f"enter {number} {sorted(told.items())}".replace("; ", ", ")


def ahead(choices: Choices, backend: str) -> Answers:
    """A specialisation that was told to a hook, loaded into a fresh kernel."""
    text = _TEXT.format(options="")
    told: list[str] = []
    made = Arguments()
    constant = made.make(str(choices["constant"]))
    with bench() as there:
        triton.knobs.runtime.jit_cache_hook = lambda **about: told.append(about["compile"]["specialization_data"])
        user = kernel(text)
        first = user.warmup(made.make(str(choices["x"])), made.make(str(choices["n"])), 3, constant, grid=(1,),
                            num_warps=choices["warps"])
        triton.knobs.runtime.jit_cache_hook = None
        data = told[0]
        if choices["spoilt"] == "name":
            data = data.replace("kernel", "nothing", 1)
        if choices["spoilt"] == "target":
            data = data.replace('"arch": 90', '"arch": 80')
        fresh = kernel(text)
        try:
            second = fresh.preload(data)
        except Exception as error:
            return {"refused": type(error).__name__}
        third = fresh[(1,)](made.make(str(choices["x"])), made.make(str(choices["n"])), 3, constant,
                            num_warps=choices["warps"])
        compiled = [str(one) for one in there.compiled]
    return {"same code": str(first.asm["ptx"] == second.asm["ptx"]), "hash": str(first.hash == second.hash),
            "taken": str(third is second), "compiled": "; ".join(compiled)}


def interface(choices: Choices, backend: str) -> Answers:
    """The other ways to run and compile a kernel."""
    way = str(choices["way"])
    made = Arguments()
    x = made.make("tensor i32 0")
    user = kernel(_TEXT.format(options=""))
    entered: list[str] = []
    with bench() as there:
        grid = (2, 3)
        triton.knobs.runtime.launch_enter_hook.add(lambda data: entered.append(_entered(0, data)))
        if way == "run":
            found = user.run(x, 16, 3, None, grid=grid, warmup=False)
        elif way == "warmup with a type":
            import torch

            found = user.warmup(torch.int32, 16, C=3, K=None, grid=grid)
        elif way == "handle":
            found = user.warmup(x, 16, 3, None, grid=grid)
            found[(2, 3, 1)](x, 16, 3, None)
        elif way == "handle on a stream":
            found = user.warmup(x, 16, 3, None, grid=grid)
            found[(2, 3, 1)](x, 16, 3, None, stream=9)
        elif way == "reinterpreted":
            import torch

            found = user[grid](triton.reinterpret(x.view(torch.float32), triton.language.int32), 16, 3, None)
        elif way == "together":
            found = _together(user, x, grid, there)
        else:
            found = user[grid](x, 16, 3, None)
        triton.knobs.runtime.launch_enter_hook.calls.clear()
        launches = [f"{one.grid} {one.stream} {one.parameters[1][1]}" for one in there.launches]
        return {"launches": "; ".join(launches), "entered": "; ".join(entered), "loads": str(len(there.loads)),
                "signature": str(found.src.signature), "registers": str(getattr(found, "n_regs", "none")),
                "text": repr(user), "arguments": "; ".join(user.arg_names), "key": str(len(user.cache_key)),
                "compiled": "; ".join(map(str, there.compiled))}


def _together(user: Any, x: Any, grid: Any, there: Bench) -> Any:
    """Compiled beside each other, where the version can."""
    if not hasattr(triton, "AsyncCompileMode"):
        return user[grid](x, 16, 3, None)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as threads, triton.AsyncCompileMode(threads):
        user.warmup(x, 16, 3, None, grid=grid)
        user.warmup(x, 16, 3, None, grid=grid)
    return user[grid](x, 16, 3, None)
