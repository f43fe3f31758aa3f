"""Triton's drivers and its call of ptxas in Python, over stand-ins for everything below them: libraries, `ldconfig`,
torch's devices, the assembler. On a machine with a GPU they answer the same.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import triton
import triton.experimental
from triton.backends.amd import driver as amd
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler, driver as nvidia

from tridiff.fuzz.launching.apart import tried

_FOUND = ("", "nothing", "libcuda.so.1 (libc6,x86-64) => /one/libcuda.so.1\n\tlibc.so => /lib/libc.so\n\t"
          "libcuda.so.1 (libc6) => /two/libcuda.so.1")
"""What `ldconfig` prints: nothing, no CUDA, CUDA at two places."""

_CODES = (0, 255, 128 + 11, 1)
"""How ptxas ends: well, by its own error, by a signal, otherwise."""

_LIBRARY_DIRS = nvidia.library_dirs
"""As Triton has it: a device that does not exist has another."""

_TEMPORARY = re.compile(r"\btmp\w+")


class _Library:
    """What a compiled module of Triton's offers: functions that say how they were called."""

    def __getattr__(self, name: str) -> Any:
        return lambda *given: {"get_device_capability": (9, 0), "get_device_properties": {
            "arch": "gfx942:sramecc+:xnack-", "warpSize": 64, "cooperativeLaunch": 1}}.get(name, (name, given))


def libraries() -> Iterator[object]:
    """Where the CUDA driver is looked for."""
    for printed in _FOUND:
        for searched in ("", "/three:/four"):
            for there in ((), ("/one", "/four"), ("/two",)):
                existing = [f"{one}/libcuda.so.1" for one in there]
                with mock.patch.object(nvidia.subprocess, "check_output", mock.Mock(return_value=printed.encode())), \
                        mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": searched}), \
                        mock.patch.object(nvidia.os.path, "exists", existing.__contains__):
                    nvidia.libcuda_dirs.cache_clear()
                    yield tried(nvidia.libcuda_dirs)
    triton.knobs.nvidia.libcuda_path = "/own"
    nvidia.libcuda_dirs.cache_clear()
    yield nvidia.libcuda_dirs(), [Path(one).name for one in _LIBRARY_DIRS()]


def _loading(*, there: str, codes: tuple[int, int], number: int, asked: list[object]) -> Callable[[str], Any]:
    """Stands in for `ctypes.CDLL`: the driver's library at one place, and what its two functions give."""

    def count(place: Any) -> int:
        place._obj.value = number
        return codes[1]

    def load(name: str) -> Any:
        asked.append(Path(name).parts)
        if name != there:
            raise OSError(name)
        start = mock.Mock(return_value=codes[0], restype="unset", argtypes="unset")
        tell = mock.Mock(side_effect=count, restype="unset", argtypes="unset")
        asked.extend((start, tell))
        return SimpleNamespace(cuInit=start, cuDeviceGetCount=tell)

    return load


def active() -> Iterator[object]:
    """Whether the driver takes itself for the one to use, with torch and without."""
    for there in ("libcuda.so.1", "/own/libcuda.so.1", ""):
        for codes, number in (((0, 0), 1), ((0, 0), 0), ((1, 0), 1), ((0, 1), 1)):
            asked: list[Any] = []
            load = _loading(there=there, codes=codes, number=number, asked=asked)
            with mock.patch.object(nvidia, "libcuda_dirs", lambda: ["/own"]), \
                    mock.patch("ctypes.CDLL", load), mock.patch.dict(sys.modules, {"torch": None}):
                found = tried(nvidia.CudaDriver.is_active)
            yield found, [one if isinstance(one, tuple) else (
                str(one.restype), str(one.argtypes), [type(given).__name__ for call in one.mock_calls
                                                      for given in call.args]) for one in asked]
    for available in (True, False):
        for hip in (None, "6.0"):
            with mock.patch.object(torch.cuda, "is_available", mock.Mock(return_value=available)), \
                    mock.patch.object(torch.version, "hip", hip):
                yield nvidia.CudaDriver.is_active(), amd.HIPDriver.is_active()
    yield from _chosen()


class _Driver:
    """Stands in for the class of a driver, which makes its name, and counts how often."""

    def __init__(self, name: str, there: bool) -> None:
        self.made, self.is_active, self._name = 0, lambda: there, name

    def __call__(self) -> str:
        self.made += 1
        return self._name

    def __repr__(self) -> str:
        return self._name


def _chosen() -> Iterator[object]:
    """Which of several drivers is taken, as far as one is asked for and there is one, and for how long."""
    chooser: Any = sys.modules["triton.runtime.driver"]
    for there in ((), ("one",), ("two",), ("one", "two")):
        known = {name: SimpleNamespace(driver=_Driver(name, name in there)) for name in ("one", "two")}
        with mock.patch.object(chooser, "backends", known):
            for asked in ("", "one", "two", "three"):
                with mock.patch.dict(os.environ, {"TRITON_DEFAULT_BACKEND": asked}):
                    made = chooser.DriverConfig()
                    found = [tried(getattr, made, name) for name in ("active", "default", "active")]
                    made.set_active("own")
                    found.append(tried(getattr, made, "active"))
                    found += [tried(made.reset_active), tried(getattr, made, "active")]
                # One that is chosen anew each time is made as often.
                yield [one.driver.made for one in known.values()], found


def driver() -> Iterator[object]:
    yield from _driver(nvidia, nvidia.CudaDriver, nvidia.CudaUtils)
    yield from _driver(amd, amd.HIPDriver, amd.HIPUtils)


def _driver(part: Any, kind: Any, utils: Any) -> Iterator[object]:
    """A driver over a library that says how it was called, with torch and without."""
    built: list[object] = []

    def build(**about: Any) -> _Library:
        built.append({name: one if name != "src_path" else Path(one).name for name, one in about.items()
                      if name not in ("include_dirs", "src")})
        return _Library()

    builders: dict[str, Any] = {name: one for names, one in (
        ("compile_module_from_file compile_module_from_src", build),
        ("library_dirs _get_path_to_hip_runtime_dylib", lambda: "folder")) for name in names.split()
                                if hasattr(part, name)}
    cuda = SimpleNamespace(get_device_capability=lambda device: (8, device), current_device=lambda: 3,
                           set_device=lambda device: device)
    # torch cannot be imported a second time: a stand-in is what the driver sees.
    stand_in = SimpleNamespace(cuda=cuda, int="int", device=lambda *given: given,
                               empty=lambda *given, **more: (given, more))
    raw = SimpleNamespace(_cuda_getCurrentRawStream=lambda device: ("stream", device))
    for seen in (None, stand_in):
        with mock.patch.multiple(part, **builders), mock.patch.dict(sys.modules, {"torch": seen, "torch._C": raw}):
            made = tried(kind)
            yield [tried(getattr(made, name, None), 2) for name in (
                "get_device_capability", "get_current_stream", "set_current_device")]
            for name in ("get_current_device", "get_current_target", "get_active_torch_device", "get_device_interface",
                         "get_empty_cache_for_benchmark"):
                found = tried(getattr(made, name, None))
                yield "torch's" if found is cuda else found
            yield tried(utils) is getattr(made, "utils", None), built, getattr(
                made, "launcher_cls", str).__name__
        yield sorted((name, tried(one, 1)) for name, one in vars(getattr(made, "utils", None) or cuda).items())
        yield [tried(getattr(part, name, None), 1) for name in (
            "PyCUtensorMap", "PyTDMDescriptor", "PyKernelArg", "ARG_TUPLE", "ARG_KERNEL", "ARG_CONSTEXPR")]
    cache = mock.Mock()
    kind.clear_cache(made, cache)
    yield kind.get_benchmarker(made).__name__, cache.mock_calls


def launches() -> Iterator[object]:
    """What a launcher hands over of scratch, of options and of a sanitizer's state."""
    state, sync = mock.Mock(), mock.Mock()
    state.get_device_rank.side_effect = lambda device: device + 1
    state.get_global_state_pointer.return_value = 1 << 40
    sync.get_launch_state.side_effect = lambda *given: (("table", given), "index")
    for sanitized, capturing, size in ((False, False, 0), (False, False, 24), (True, False, 24), (True, True, 0)):
        device = mock.Mock(**{"get_current_device.return_value": 2,
                              "utils.is_stream_capturing.return_value": capturing})
        device.allocate_default_profile_scratch.side_effect = lambda *given: ("default", given)
        of = mock.Mock(gsan_enabled=sanitized, num_ctas=2, global_scratch_size=0, global_scratch_align=8,
                       profile_scratch_size=size, profile_scratch_align=16, launch_cooperative_grid="cooperative",
                       launch_pdl="dependent", arg_annotations="annotations", kernel_signature="signature",
                       warp_size="wide")
        sanitizer = mock.Mock(_allocator=state, _stream_sync=sync)
        with _devices(device), mock.patch.object(triton.experimental, "gsan", sanitizer, create=True), \
                mock.patch.dict(sys.modules, {f"triton.experimental.gsan{name}": one for name, one in (
                    ("", sanitizer), ("._allocator", state), ("._stream_sync", sync))}):
            failed = [tried(made.__call__, of, 2, 3, 5, 7, "function", "kernel", "launch", "enter", "leave", "first",
                            "second") for made in (nvidia.CudaLauncher, amd.HIPLauncher)]
        yield failed, [call.args for call in of.launch.mock_calls]


def maps() -> Iterator[object]:
    """What the driver is asked for a tensor map, whatever the compiler says of one."""
    library = mock.Mock(**{f"utils.{name}.side_effect": lambda *given, name=name: (name, given) for name in (
        "fill_tma_descriptor_tiled", "fill_tma_descriptor_im2col", "fill_tma_descriptor")})
    about: dict[str, object] = {"swizzle": 3, "elem_size": 4, "block_size": [16, 32], "fp4_padded": False}
    ask: Any = getattr(nvidia, "make_tensordesc_arg", None)
    for more in ({}, {"is_im2col": False}, {"is_im2col": True}, {"fp4_padded": True},
                 {"fp4_padded": True, "is_im2col": True}, *({"elem_type": number} for number in range(16)), None):
        for padding, rounded, steps in (("zero", False, None), ("nan", True, [1, 2, 1])):
            one = SimpleNamespace(base=SimpleNamespace(data_ptr=lambda: 1 << 20), shape=[5, 6, 7], strides=[42, 7, 1],
                                  padding=padding, round_f32_to_tf32=rounded, element_strides=steps,
                                  pixel_box_lower_corner=[-1], pixel_box_upper_corner=[2])
            with _devices(library):
                given = one, None if more is None else {"elem_type": 7, **about, **more}, None
                yield tried(_asked, ask, *given)


def hips() -> Iterator[object]:
    """HIP's launcher, and what its driver is asked for a descriptor."""
    one: Any = object.__new__(amd.HIPDriver)
    one.utils, one.get_current_device = _Library(), int
    source = SimpleNamespace(signature={1: "*i8", 2: ("i32", ("constexpr", "fp16")), 3: "tensordesc<fp16[16,32]>"})
    given = 1, (2, (3, 4)), mock.Mock(shape=[5, 6], strides=[6, 1], **{"base.data_ptr.return_value": 8})
    for pairs in ([], [[32, 4]], [[1, 2], [3, 4]]):
        of = mock.Mock(tensordesc_meta=[{"elem_bits": 16, "block_size": [16, 32], "interval_padding_pairs": pairs}])
        with _devices(one), mock.patch.multiple(amd, create=True, PyKernelArg=dict, ARG_TUPLE=1, ARG_KERNEL=2):
            made = tried(amd.HIPLauncher, source, of)
            yield getattr(made, "__dict__", made), tried(
                getattr(made, "launch", None), *range(8), (4,), *range(7), given)


def _asked(function: Any, *given: object) -> object:
    """What a function says of as many of these as it takes."""
    return function(*given[:function.__code__.co_argcount])


@contextmanager
def _devices(device: Any) -> Iterator[None]:
    config, kept = triton.runtime.driver, triton.runtime.driver._active
    config._active = device
    try:
        yield
    finally:
        config._active = kept


def assembler() -> Iterator[object]:
    """How ptxas is called, what is made of how it ends, what is printed, and which files are left."""
    for code in _CODES:
        for options, knobs in (
                ({}, {}), ({"enable_fp_fusion": False, "ptx_options": "-a -b"}, {"disable_ptxas_opt": True}),
                ({"instrumentation_mode": "fpsan"}, {"disable_ptxas_opt": True}),
                ({"instrumentation_mode": "consan", "ptx_options": "-c"}, {"disable_ptxas_opt": False}),
                ({}, {"dump_ptxas_log": True, "disable_ptxas_opt": False})):
            commands: list[object] = []
            back = compiler.CUDABackend(GPUTarget("cuda", 90, 32))
            for name, value in knobs.items():
                setattr(triton.knobs.nvidia, name, value)
            printed = StringIO()
            with mock.patch.object(compiler, "subprocess", SimpleNamespace(
                    run=_assembling(code, commands), CalledProcessError=compiler.subprocess.CalledProcessError)), \
                    redirect_stdout(printed):
                found = tried(back.make_cubin, "text of PTX", {}, back.parse_options(options), 90)
            left = sorted(Path(one).suffix for one in os.listdir(tempfile.gettempdir()))
            yield [_TEMPORARY.sub("FILE", str(one)) for one in (found, commands, printed.getvalue(), left)]


def _assembling(code: int, commands: list[object]) -> Callable[..., None]:
    """Stands in for `subprocess.run` of ptxas, which writes its log and a binary, and ends with a code."""

    def run(command: list[str], *, stderr: Any, **about: object) -> None:
        source = next(one for one in command if one.endswith(".ptx"))
        commands.append([one for one in command if "/" not in one])
        commands.append((Path(source).read_text(), sorted(about.items())))
        Path(stderr.name).write_text("log of the assembler")
        if code:
            raise compiler.subprocess.CalledProcessError(code, command)
        Path(command[-1]).write_bytes(b"binary")

    return run
