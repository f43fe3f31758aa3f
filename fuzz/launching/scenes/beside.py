"""What stands beside launches: caches of files, the C compiler, environment variables, tools, timers, scratch."""

import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import torch
import triton
from triton.backends import driver
from triton.runtime import build, cache
from triton.tools import mxfp, ragged_tma

from tridiff.fuzz.backends.device_errors import plainly, refusal
from tridiff.fuzz.launching.apart import answered, tried
from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes import below, profiler


class _Shelf(cache.RemoteCacheBackend):  # type: ignore[misc]
    kept: ClassVar[dict[str, Any]] = {}

    def get(self, names: list[str]) -> dict[str, Any]:
        return {name: self.kept[name] for name in names if name in self.kept}

    def put(self, name: str, data: Any) -> None:
        self.kept[name] = data


def _caches() -> Iterator[object]:
    knobs = triton.knobs.cache
    knobs.remote_manager_class, top = _Shelf, knobs.dir
    knobs.dump_dir, knobs.override_dir = f"{top}/dump", f"{top}/override"
    for kind in (cache.FileCacheManager, cache.RemoteCacheManager):
        for how in ((), (True,), (False, True)):
            one = kind(f"{kind.__name__} {how}", *how)
            for name, data in (("a", b"one"), ("b", 2), ("a", b"other")):
                found = one.get_file(name), tried(one.put, data, name), one.get_file(name)
                yield [str(path).removeprefix(top).split("/") for path in found]
            for group in ({"a": one.get_file("a")}, {"gone": "gone"}):
                yield one.get_group("g"), tried(one.put_group, "g", group), tried(one.get_group, "g")
    yield _Shelf.kept, sum(len(folders) for _, folders, _ in os.walk(top))
    knobs.dir = ""
    yield tried(cache.FileCacheManager, "key")


def _build() -> Iterator[object]:
    def named(call: Any) -> list[str]:
        return [one for one in map(os.path.basename, call.args[0]) if "tmp" not in one]

    folders = ["i"]
    with mock.patch.object(build, "subprocess") as ran, mock.patch.object(build, "logging", create=True) as logged, \
            mock.patch.object(build, "open", mock.mock_open(), create=True) as opened:
        for make, more in ((build.compile_so_from_src, {"language": "c++"}), (build.compile_module_from_src, {})):
            for names in (["l"], ["l"], []):
                found = tried(make, "text", "n", names, folders, ["cuda", "x.so.1", "y.a", "z.so.old"], ["-g"], **more)
                # The folder of a file is the digest of what it is made of.
                yield str(found).split("/")[-2:]
        yield [(named(call), *call.kwargs) for call in ran.check_call.mock_calls], logged.mock_calls
        yield opened().write.mock_calls
        for asked in ({"TRITON_CUDART_PATH": "rt"}, {"TRITON_CUDACRT_PATH": "crt"}, {"CC": "one", "CXX": "other"}):
            with mock.patch.dict(os.environ, asked):
                getattr(getattr(build, "_find_compiler", None), "cache_clear", int)()
                for language in ("c", "c++"):
                    tried(build.compile_so_from_src, "text", "n", [*asked], ["i"], language=language)
            yield [named(call) for call in ran.check_call.mock_calls[-2:]]
        getattr(getattr(build, "_find_compiler", None), "cache_clear", int)()
        for ask, name in ((build._get_file_extension, "c++"), *((build._language_from_filename, f"a.{end}") for end in (
                "c", "cc", "cpp", "cxx", "cu")), (partial(build._load_module_from_path, "n"), "n.text")):
            yield tried(ask, name)


def _knobs() -> Iterator[object]:
    groups = [one for one in vars(triton.knobs).values() if isinstance(one, triton.knobs.base_knobs)]
    for value in ("", "1", "off", "os:PathLike", "a:b"):
        for part in (one.copy().reset() for one in groups):
            asked = {one.key: value for one in part.knob_descriptors.values()} if value else {}
            with mock.patch.dict(os.environ, asked):
                yield [(name, one.key, tried(getattr, part, name)) for name, one in part.knob_descriptors.items()]
    for setting in (True, False, 3, "a", 1.5, None, triton.knobs.env):
        triton.knobs.compilation.always_compile = setting
        yield os.environ.get("TRITON_ALWAYS_COMPILE"), triton.knobs.compilation.always_compile
    for kept in ({}, {"TRITON_ALWAYS_COMPILE": "0"}):
        with mock.patch.dict(os.environ, kept):
            if not kept:
                os.environ.pop("TRITON_ALWAYS_COMPILE", None)
            one = triton.knobs.compilation.copy().reset()
            with one.scope():
                one.always_compile, other = True, one.copy()
                other.always_compile = False
                yield one.knobs == other.knobs, one.always_compile, os.environ.get("TRITON_ALWAYS_COMPILE")
            yield one.always_compile, os.environ.get("TRITON_ALWAYS_COMPILE")
    for name, chain in sorted(vars(type(triton.knobs.runtime)).items()):
        if isinstance(chain, getattr(triton.knobs, "HookChain", ())):
            # One of its own: another scene of this process may have left hooks in Triton's.
            made: Any = type(chain)
            yield name, _hooked(made(getattr(chain, "reversed", False)))


def _hooked(chain: Any) -> list[object]:
    """Which hooks of a chain are called, in which order, while some are added and removed."""
    heard: list[object] = []
    hooks = [lambda *given, number=number, **named: heard.append((number, given, named)) for number in range(3)]
    for change, number in ((chain.add, 0), (chain.add, 1), (chain.add, 0), (chain.add, 2), (chain.remove, 1),
                           (chain.remove, 1), (chain.add, 1)):
        change(hooks[number])
        chain(number, word="a")
    return heard


def _tools() -> Iterator[object]:
    small = mxfp.MXFP4Tensor(torch.tensor([[
        0, -0.0, 0.2, 0.25, 0.75, -1.25, 1.75, 2.5, -3.5, 5, 9, torch.nan, -1e40, 0.27]]))
    yield small.data, small.to(torch.float32)
    cube = small.data[:, :12].view(2, 2, 3)
    for data, axis in ((small.data[:, :13], 1), (small.data.T, 0), (small.data[:, :4], 1), *(
            (cube, axis) for axis in range(4))):
        small.data = data
        packed = tried(small.to_packed_tensor, axis)
        yield packed, tried(small.unpack_packed_tensor, packed, axis, data.shape)
    scales = mxfp.MXScaleTensor(torch.tensor([0, -1, 1e-40, 0.75, 1, 3, 3e38, 1e40, torch.nan]))
    yield scales.data, scales.to(torch.float32)
    for make, one in ((mxfp.MXFP4Tensor, small), (mxfp.MXScaleTensor, scales)):
        yield [tried(make), tried(make, [1.0]), tried(one.to, torch.float16), one.device, _devices(make)]
    yield mxfp.MXScaleTensor(size=3).random(1e-45, 1e-40).data, tried(mxfp.MXScaleTensor(size=3).random, 2.0, 1.0)
    torch.manual_seed(3)
    yield [one.data for one in (mxfp.MXFP4Tensor(size=9).random(), mxfp.MXScaleTensor(size=9).random(),
                                mxfp.MXScaleTensor(size=(2, 3)).random(0.25, 64.0),
                                mxfp.MXFP4Tensor(size=(2, 3)).random())]
    for size, axis in itertools.product(((4, 64, 32), (64, 32), (1, 4, 64, 32)), (0, -2, 1, -1)):
        made = tried(ragged_tma.create_ragged_descriptor, torch.zeros(size), (16, 1, 16, 32)[-len(size):], axis)
        yield [getattr(made, name, made) for name in ("shape", "strides", "block_shape")]


def _devices(make: Any) -> list[object]:
    """The devices asked for random numbers, which come from the CPU: for `meta` PyTorch would import its compiler."""
    asked, random = [], torch.randint

    def on(*given: Any, device: object, **named: Any) -> Any:
        asked.append(device)
        return random(*given, **named)

    with mock.patch.object(torch, "randint", on):
        make(size=2, device="other").random()
    return asked


def _timers() -> Iterator[object]:
    with mock.patch.multiple(triton.testing, do_bench=_named, do_bench_cudagraph=_named):
        for more in ({}, {"warmup": 0}, {"rep": 0}, {"use_cuda_graph": True}, {"use_cuda_graph": True, "rep": 0}):
            yield tried(triton.autotune([], [], **more)(triton.language.sum).do_bench, 3, quantiles=4)
    yield from _measured()


def _measured() -> Iterator[object]:
    """What `triton.testing` compares and measures."""
    for pair in itertools.product((1.0, [1.005], [1, 1.1], torch.tensor([1e5, 1]).bfloat16()), repeat=2):
        yield [tried(triton.testing.assert_close, *pair, *more) for more in ((), (0,), (0, 0.01), (1,))]
        yield [tried(triton.testing.assert_close, *pair, **{name: 1, "err_msg": "far"}) for name in ("atol", "rtol")]
    none, own = mock.MagicMock(), vars(triton.testing)  # a device, a profiler and tools that are none
    none.check_output.return_value, none.cuda.get_device_capability.return_value = b"5", (9, 0)
    none.driver.active.utils.get_device_properties().__getitem__.side_effect = len
    for events in (none.cuda, none.driver.active.get_device_interface()):
        events.Event().elapsed_time.side_effect = itertools.cycle((90, 20, 70, 110, 50))
    asked: list[tuple[Any, Any]] = [(one, {}) for one in ("7", (5, 5), (none.float16, 9))]
    asked += [((none,), {"quantiles": one, "grad_to_none": [none]}) for one in (None, [0.2, 0.5, 0.9], [2])]
    asked += [((none,), {"warmup": 3, "rep": 7}), ((none,), {"rep": 9})]
    asked += [((none,), {"return_mode": one}) for one in ("all", "min", "max", "median", "other")]
    with mock.patch.dict(own, runtime=none, subprocess=none, tempfile=none, uuid=none), mock.patch.dict(
            sys.modules, {"torch": none, "triton.profiler": none}):
        for one, (given, named) in itertools.product([*own.values()], asked):
            if getattr(one, "__module__", "") == "triton.testing" and hasattr(one, "__code__"):
                none.reset_mock()
                made: Any = tried(one, *given, **named)
                yield tried(list, made.gen) if hasattr(made, "gen") else made, none.mock_calls
        collecting = gc.isenabled()
        gc.disable()
        made = tried(tried(getattr, triton.testing, "cuda_graph_without_gc"), none)
        yield tried(list, getattr(made, "gen", ())), gc.isenabled()
        if collecting:
            gc.enable()
    yield from _reported(none)


def _reported(none: Any) -> Iterator[object]:
    """What a report draws, prints, keeps and gives, where nothing draws."""
    os.chdir(tempfile.mkdtemp())
    table = none.pandas.DataFrame().__getitem__()
    table.shape, table.columns.tolist.return_value = (2, 2), "ab"
    draws = mock.patch.dict(sys.modules, {"matplotlib": none, "matplotlib.pyplot": none.pyplot, "pandas": none.pandas})
    for names, values, more in ((["n"], [1, 2], {}), (["n", "m"], [1, (2, 3)], {
            "xlabel": "x", "ylabel": "y", "x_log": True, "styles": [("c", "d"), ("e", "f")]}), (
            ["n", "m"], [(2,)], {"y_log": True})):
        one = triton.testing.Benchmark(names, values, "line", ["a", "b"], ["A", "B"], "plot", {"k": 1}, **more)
        asked: list[dict[str, Any]] = [{}, {"show_plots": True, "print_data": True, "f": 9}, {
            "save_path": names[-1], "diff_col": True, "return_df": True, "save_precision": 2}]
        for each, ways in itertools.product((one, [one, one]), asked):
            none.reset_mock()
            report = triton.testing.perf_report(each)(
                lambda n, **given: none.measured(n, given) and ((1, 2, 3) if n > 1 else 4))
            with draws:
                made = tried(report.run, **ways)
            page = Path(names[-1], "results.html")
            yield made, none.mock_calls, page.exists() and page.read_text()


def _scratch() -> Iterator[object]:
    torches = mock.Mock()
    torches.stream.side_effect = nullcontext
    with mock.patch.object(torch, "zeros", lambda *size, **more: mock.Mock(told=(size, more))):
        for stream in (None, 0, 7):
            of = mock.Mock(**{"get_device_interface.return_value": torches, "get_active_torch_device.return_value": 1})
            made = tried(driver.GPUDriver.allocate_default_profile_scratch, of, 8, 16, stream)
            yield getattr(made, "told", made), len(getattr(made, "mock_calls", ())), len(torches.mock_calls)


def _named(*given: object, **named: object) -> object:
    return given[1:], named


_PARTS: dict[str, Callable[[], Iterator[object]]] = {
    "caches": _caches, "build": _build, "knobs": _knobs, "tools": _tools, "timers": _timers, "scratch": _scratch,
    "libraries": below.libraries, "active": below.active, "driver": below.driver, "launches": below.launches,
    "maps": below.maps, "hips": below.hips, "assembler": below.assembler, "sessions": profiler.sessions,
    "profiled": profiler.profiled}


def _told(part: str) -> str:
    found = []
    try:
        for one in _PARTS[part]():
            found.append(plainly(repr(one)))
    except Exception as error:
        # What a version does not have: what was answered before is told all the same.
        found.append(refusal(error))
    return "; ".join(found)


def beside(choices: Choices, backend: str) -> Answers:
    """Everything that one part answers."""
    with bench():
        [found] = answered([lambda: _told(str(choices["part"]))])
    return {f"answer {number}": one for number, one in enumerate(found.split("; "), 1)}
