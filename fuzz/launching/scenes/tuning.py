"""Configurations that are chosen: by measurement and by rule."""

import contextlib
import io
import os
from collections.abc import Callable
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import triton
from triton.runtime import autotuner, jit
from triton.runtime.errors import OutOfResources, PTXASError

from tridiff.fuzz.launching.apart import tried
from tridiff.fuzz.launching.bench import Bench, bench
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


_LIMITED = """
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 64)
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(y + at).to(tl.int32) + n)
"""


class _Tuner:
    """A kernel tuned over blocks of 16 and 32, the second in less time. events: what was measured and what hooks were
    told; more: arguments of the tuner."""

    def __init__(self, there: Bench, configs: Any = (), **more: Any) -> None:
        self.there, self.events = there, list[str]()
        self.x = torch.ones(64, dtype=torch.int32)
        self.made = triton.autotune(configs=list(configs) or _blocks(), key=["n"], do_bench=self._timed, **more)(
            kernel(_LIMITED))

    def _timed(self, call: Any, quantiles: Any) -> list[float]:
        call()
        self.events.append(f"measured {quantiles} {self.there.launches[-1].packed}")
        return [1 / len(self.events)] * 3

    def call(self, *given: Any, **named: Any) -> str:
        """What was best, and how much has been measured by then."""
        self.made[(1,)](*given, **named)
        return f"{self.made.best_config} after {len(self.events)}"


def _blocks(**options: Any) -> list[Any]:
    return [triton.Config({"BLOCK": 16 << number}, num_warps=1 << number, **options) for number in range(2)]


def _by_name(there: Bench) -> list[object]:
    """Which arguments decide whether it is measured again: each of another type, by place and by name."""
    one = _Tuner(there)
    half = one.x.to(torch.float16)
    return [one.call(one.x, one.x, 5), one.call(one.x, n=5, y=one.x), one.call(one.x, n=5, y=half),
            one.call(one.x, half, 5), one.call(one.x, half, 6), one.call(x=one.x, y=half, n=6),
            tried(one.call, one.x, one.x, 8, num_warps=8), one.events]


def _other_options(there: Bench) -> list[object]:
    """Times on disk are those of the same configurations."""
    found = list[object]()
    for options in ({}, {"maxnreg": 32}, {"num_stages": 2}, {"num_ctas": 2}, {"ir_override": "none"}, {}):
        one = _Tuner(there, _blocks(**options), cache_results=True)
        found.append(one.call(one.x, one.x, 5))
    return found


def _warmed_up(there: Bench) -> list[object]:
    found = list[object]()
    for early in (lambda some, named, **more: some[len(more) - len(named):], lambda some, named, **more: some[1:]):
        one = _Tuner(there, _blocks(num_stages=2, maxnreg=64), prune_configs_by={"early_config_prune": early})
        found += [(made.metadata.num_warps, made.metadata.num_stages, made.metadata.maxnreg)
                  for given, named in (((5,), {}), ((), {"n": 5}))
                  for made in one.made.warmup(one.x, one.x, *given, grid=(1,), **named)]
    return found


def _failing(there: Bench) -> list[object]:
    """Configurations that cannot be compiled, or need more than there is, are not chosen; other errors are told. What
    one has done by then is undone."""
    one = _Tuner(there, [triton.Config({"BLOCK": 128}), *_blocks(), triton.Config({"BLOCK": 24})])
    found: list[object] = [tried(one.call, one.x, one.x, 5), one.events]
    one = _Tuner(there, [triton.Config({"BLOCK": 128}), *_blocks()])
    found += [one.call(one.x, one.x, 5), [time for _, time in one.made.configs_timings.items()]]
    kept: dict[str, Any]
    for kept in ({}, {"restore_value": ["x"]}, {"reset_to_zero": ["x"]}):
        one = _Tuner(there, **kept)
        there.during = partial(_cut_off, there, one.x)
        found += [tried(one.call, one.x, one.x, 5), int(one.x[0]), [*getattr(one.made, "restore_copies", ())]]
    return found


def _cut_off(there: Bench, array: torch.Tensor) -> None:
    """What a launch does, one of two warps not to its end."""
    array.add_(1)
    if there.launches[-1].packed[0] == 2:
        raise OutOfResources(2, 1, "threads")


def _pruned(there: Bench) -> list[object]:
    """What decides which configurations are left is told of everything that a launch has."""
    told, found = list[object](), list[object]()

    def model(**given: Any) -> float:
        told.append(sorted((name, value) for name, value in given.items() if isinstance(value, int)))
        return -float(given["BLOCK"])

    def early(configs: Any, named: Any, **more: Any) -> Any:
        told.append((len(configs), sorted(named), sorted(more)))
        return [] if named.get("n") == 7 else configs[:2]

    for number in (1, 2, 3, 0.1, 0.5, 1.0, 2.5, 0):
        one = _Tuner(there, [*_blocks(), triton.Config({"BLOCK": 8}, num_ctas=2, maxnreg=32)], prune_configs_by={
            "early_config_prune": early, "perf_model": model, "top_k": number})
        found += [tried(one.call, one.x, one.x, n=5), tried(one.call, one.x, one.x, 7)]
    return [*found, *told]


def _hooked(there: Bench) -> list[object]:
    """Functions of the user's around each launch, and around one that fails."""
    told = list[object]()
    failing = triton.Config({"BLOCK": 128}, pre_hook=lambda given: told.append("own"))

    def before(given: Any, *, reset_only: bool = False) -> None:
        told.append(("before", sorted(given), reset_only))

    def after(given: Any, *, exception: Any) -> None:
        told.append(("after", sorted(given), type(exception).__name__))

    for more in ({"pre_hook": before}, {"post_hook": after}, {"pre_hook": before, "post_hook": after, "restore_value": [
            "x"]}, {"post_hook": after, "restore_value": ["y"], "reset_to_zero": ["x"]}):
        one = _Tuner(there, [*_blocks(), failing], **more)
        told += [tried(one.call, one.x, one.x, 5), tried(one.call, one.x, one.x, 5), int(one.x[0])]
    return told


def _alone(there: Bench) -> list[object]:
    """One configuration, and none."""
    told = list[object]()
    one = _Tuner(there, [triton.Config({"BLOCK": 32}, num_warps=2, pre_hook=lambda given: told.append(sorted(given)))])
    told += [one.call(one.x, one.x, 5), one.call(one.x, n=5, y=one.x)]
    plain = triton.autotune(configs=[], key=[])(kernel(_TEXT))
    plain[(1,)](one.x, one.x, 5, 16)
    return [*told, str(plain.best_config)]


def _ruled(there: Bench) -> list[object]:
    """Rules that read what others gave, that give what a caller or a tuner gave, and that fail; around a tuner, and
    inside one."""
    told = list[object]()

    def heard(name: str, value: Any) -> Any:
        def rule(given: Any) -> Any:
            told.append((name, sorted((one, other) for one, other in given.items() if isinstance(other, int))))
            return value(given) if callable(value) else value
        return rule

    x = torch.ones(64, dtype=torch.int32)
    for rules in ({"n": 5, "BLOCK": lambda given: 4 << given.get("n", 1)}, {"BLOCK": lambda given: given["k"]},
                  {"BLOCK": 16, "n": lambda given: given["BLOCK"] + 1}, {"BLOCK": 16, "k": 3}, {}):
        made = {name: heard(name, value) for name, value in rules.items()}
        for user in (triton.heuristics(made)(kernel(_TEXT)),
                     triton.heuristics(made)(triton.autotune(_blocks(), key=["n"], do_bench=lambda call, quantiles: [
                         call(), 1.0])(kernel(_TEXT))),
                     triton.autotune(_blocks()[:1], key=["n"])(triton.heuristics(made)(kernel(_TEXT))),
                     triton.heuristics({"BLOCK": lambda given: 32})(triton.heuristics(made)(kernel(_TEXT)))):
            for given in ({}, {"n": 2}, {"n": 2, "BLOCK": 64}):
                told.append(tried(lambda user=user, given=given: user[(1,)](x, y=x, **given).src.constants))
    return told


def _told(there: Bench) -> list[object]:
    """Names that no argument has, arrays that are none, and times that knobs keep and print, of one that fails."""
    found = list[object]()
    for name in ("reset_to_zero", "restore_value"):
        found += [tried(lambda name=name: _Tuner(there, **{name: ["third", "n", "another"]}).events),
                  tried(_Tuner(there, **{name: ["y"]}).call, torch.ones(64), None, 5)]
    triton.knobs.autotuning.cache = triton.knobs.autotuning.print = True
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for _ in range(2):
            one = _Tuner(there, [triton.Config({"BLOCK": 128}), *_blocks()])
            found.append(one.call(one.x, one.x, 5))
    return [*found, *(line for line in printed.getvalue().splitlines() if "finished" not in line)]


def _kept(there: Bench) -> list[object]:
    """What times on disk belong to, with stand-ins for the disk, the clock and the launch; how measuring may end."""
    told, keys, kept, x = list[object](), list[str](), list[str](), torch.ones(4)
    triton.knobs.autotuning.print = True
    triton.knobs.autotuning.listener = lambda *, fn, key, best_config, configs_timings, **more: told.append((
        fn.__name__, key, str(best_config), [*configs_timings.values()], more))

    def ended(call: Any, quantiles: Any) -> Any:
        call()
        [end] = ends[:1]
        ends.append(ends.pop(0))
        if isinstance(end, Exception):
            raise end
        return end

    def disk(key: str) -> object:
        keys.append(key)
        return shelf

    shelf = SimpleNamespace(get_file=told.append, put=lambda data, *given, **more: kept.append(data))
    with mock.patch.multiple(autotuner, get_cache_manager=disk,
                             time=SimpleNamespace(time=count().__next__)), mock.patch.object(
            jit.JITFunction, "run", lambda self, *given, **more: told.append((len(given), sorted(map(
                str, more.items()))))), contextlib.redirect_stdout(io.StringIO()) as printed:
        for text, variables, arch, last in (
                (_TEXT, {}, 90, [2.0, 3.0]), (_LIMITED, {}, 90, PTXASError("a")), (_TEXT, {}, 80, OutOfResources(
                    2, 1, "b")), (_TEXT, {"MLIR_ENABLE_DUMP": "1"}, 90, ValueError("c")), (_TEXT, {}, 90, [1.0])):
            ends, there.arch, user = [[2.0, 9.0], last], arch, kernel(text)
            with mock.patch.dict(os.environ, variables), mock.patch.object(user, "__name__", "k" * 200):
                one = triton.autotune(_blocks(), key=["n"], cache_results=True, do_bench=ended)(triton.heuristics({
                    "C": lambda given: sorted(given)})(user))
                told += [tried(one[(1,)], x, x, 5), tried(one[(1,)], 3, y=3), one.nargs]
        there.folder.joinpath("kept").write_text(kept[0])
        shelf.get_file = lambda name: there.folder / "kept"
        told += [tried(one[(1,)], x, x, 6), [*one.configs_timings.values()]]
    return [[keys.index(one) for one in keys], *kept, *told, *printed.getvalue().splitlines()]


_OTHERWISE: dict[str, Callable[[Bench], list[object]]] = {
    "by name": _by_name, "other options": _other_options, "warmed up": _warmed_up, "failing": _failing,
    "pruned": _pruned, "hooked": _hooked, "alone": _alone, "ruled": _ruled, "told": _told, "kept": _kept}


def otherwise(choices: Choices, backend: str) -> Answers:
    """One way to tune, what it gave, and what was launched."""
    with bench() as there:
        found = tried(_OTHERWISE[str(choices["way"])], there)
        told = found if isinstance(found, list) else [found]
        return {**{f"answer {number}": str(one).replace("; ", ", ") for number, one in enumerate(told, 1)},
                "launches": "; ".join(str(one.packed) for one in there.launches),
                "compiled": "; ".join(map(str, there.compiled))}


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
