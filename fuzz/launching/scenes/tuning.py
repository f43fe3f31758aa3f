"""Configurations that are chosen: by measurement and by rule."""

import contextlib
import io
from typing import Any

import torch
import triton

from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import kernel

_TEXT = """
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(y + at) + n)
"""


def tuned(choices: Choices, backend: str) -> Answers:
    """A kernel tuned over three configurations with made-up times; three calls."""
    times = [float(one) for one in str(choices["times"]).split()]
    events: list[str] = []
    measured: list[Any] = []

    def timed(call: Any, quantiles: Any) -> list[float]:
        call()
        measured.append(quantiles)
        events.append(f"measured {len(measured)}")
        time = times[(len(measured) - 1) % len(times)]
        return [time] * 3

    def said(number: int) -> Any:
        return lambda arguments: events.append(f"configured {number} {arguments['BLOCK']}")

    configs = [triton.Config({"BLOCK": 16 << number}, num_warps=1 << number, num_stages=number + 1, pre_hook=(
        said(number) if choices["hooks"] and number else None)) for number in range(3)]
    ways: dict[str, dict[str, Any]] = {
        "early": {"early_config_prune": lambda found, named, **more: found[1:]},
        "early one": {"early_config_prune": lambda found, named, **more: found[2:]},
        "model": {"perf_model": lambda **given: 100 - given["BLOCK"], "top_k": 2},
        "model half": {"perf_model": lambda **given: given["num_warps"], "top_k": 0.7}}
    prune = ways.get(str(choices["pruning"]))
    kept = {"reset": {"reset_to_zero": ["x"]}, "restore": {"restore_value": ["y"]},
            "both": {"reset_to_zero": ["x"], "restore_value": ["y"]}}.get(str(choices["kept"]), {})
    x, y = torch.ones(64, dtype=torch.int32), torch.ones(64, dtype=torch.int32)
    printed, heard = io.StringIO(), list[str]()
    with bench() as there, contextlib.redirect_stdout(printed):
        triton.knobs.autotuning.print = True
        triton.knobs.autotuning.listener = lambda *, fn, key, best_config, configs_timings, duration, cache_hit: (
            heard.append(f"{fn.__name__} {key} {best_config} {len(configs_timings)} {duration is None} {cache_hit}"))
        tuner = triton.autotune(configs=configs, key=["n"], prune_configs_by=prune, do_bench=timed, **kept,
                                **({"cache_results": True} if choices["disk"] else {}))(kernel(_TEXT))

        def counted() -> None:
            # What the kernel would do, as far as resetting and restoring show it.
            events.append(f"run {int(x[0])} {int(y[0])}")
            x.add_(1)
            y.add_(1)

        there.during = counted
        sizes = [int(one) for one in str(choices["sizes"]).split()]
        best = []
        for size in sizes:
            tuner[(1,)](x, y, size)
            best.append(f"{tuner.best_config.kwargs['BLOCK']} {tuner.best_config.num_warps}")
        again = ""
        if choices["disk"]:
            other = triton.autotune(configs=configs, key=["n"], prune_configs_by=prune, do_bench=timed, **kept,
                                    cache_results=True)(kernel(_TEXT))
            before = len(measured)
            other[(1,)](x, y, sizes[0])
            again = f"{other.best_config.kwargs['BLOCK']} after {len(measured) - before}"
        warps = [str(one.packed[0]) for one in there.launches]
    lines = [line for line in printed.getvalue().splitlines() if not line.startswith("finished")]
    return {"best": "; ".join(best), "measured": str(len(measured)), "events": "; ".join(events),
            "printed": "; ".join(lines), "heard": "; ".join(heard),
            "warps": "; ".join(warps), "arrays": f"{int(x[0])} {int(y[0])}", "again": again}


def ruled(choices: Choices, backend: str) -> Answers:
    """A kernel whose block follows from its arguments."""
    base = kernel(_TEXT)
    with bench() as there:
        user = triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["n"])})(base)
        x = torch.ones(1, dtype=torch.int32)
        size = int(choices["n"])
        compiled = user[lambda given: (given["BLOCK"], 2)](x, x, size) if choices["named"] else (
            user[lambda given: (given["BLOCK"], 2)](x, y=x, n=size))
        return {"grid": str(there.launches[-1].grid), "block": str(sorted(compiled.src.constants.items())[-1][1])}
