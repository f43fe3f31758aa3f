"""Real kernels under the step-wise scheduler: the interpreter runs them, their accesses to shared buffers
take turns.

Each program of the grid runs in a thread of its own, of which exactly one is awake. When a program accesses a
shared buffer, its thread hands the access to the scheduler and sleeps until it has been carried out. So a
kernel becomes a program for `simulate`, under any order and with either memory, deadlocks included.
Everything else (loads from and stores to other buffers) happens directly. A block access counts as one access
per unmasked lane, in lane order.

Needs TRITON_INTERPRET=1. Not reentrant: the interpreter's builder is one object per process.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray

from tridiff.kernels.simulator.memory import Access, Address, Buffer, Kind, Memory, Order
from tridiff.kernels.simulator.scheduling import Choices, Program, Run, simulate

T = TypeVar("T")
Grid = tuple[int, int, int]
ProgramId = tuple[int, int, int]

# Triton's names of the atomic operations and orderings, as its interpreter hands them over.
_KINDS: Mapping[str, Kind] = {"ADD": "add", "XCHG": "exchange"}
_ORDERS: Mapping[str, Order] = {
    "RELAXED": "relaxed", "ACQUIRE": "acquire", "RELEASE": "release", "ACQUIRE_RELEASE": "acq_rel",
}  # fmt: skip
_SECONDS_TO_THE_NEXT_ACCESS = 60.0


class _Stopped(BaseException):
    """Ends the thread of a program that the simulation gave up."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """A shared buffer: where it lies and how wide its words are."""

    name: str
    start: int
    width: int
    words: int

    def index(self, address: int) -> int | None:
        offset = address - self.start
        return offset // self.width if 0 <= offset < self.words * self.width else None


class _ProgramThread:
    """One program of the grid. `ask` is called in its thread, everything else in the scheduler's."""

    def __init__(self, program_id: ProgramId, body: Callable[[], None]) -> None:
        self.program_id = program_id
        self._turn = threading.Semaphore(0)
        self._handed_over = threading.Semaphore(0)
        self._request: Access | None = None
        self._answer = 0
        self._stopped = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(body,), daemon=True)

    def _run(self, body: Callable[[], None]) -> None:
        self._turn.acquire()
        try:
            if not self._stopped:
                body()
        except BaseException as error:  # handed to the scheduler's thread
            self._error = error
        self._request = None
        self._handed_over.release()

    def ask(self, access: Access) -> int:
        """Hands the access over, waits for its turn, returns the answer."""
        self._request = access
        self._handed_over.release()
        self._turn.acquire()
        if self._stopped:
            raise _Stopped
        return self._answer

    def start(self) -> Access | None:
        """Runs up to the first access; None if there is none."""
        self._thread.start()
        return self._proceed()

    def answer(self, value: int) -> Access | None:
        """Runs up to the next access; None at the end. Raises what the program raised."""
        self._answer = value
        return self._proceed()

    def stop(self) -> None:
        """Ends the thread where it stands."""
        if self._thread.is_alive():
            self._stopped = True
            self._turn.release()
            self._thread.join(_SECONDS_TO_THE_NEXT_ACCESS)

    def _proceed(self) -> Access | None:
        self._turn.release()
        if not self._handed_over.acquire(timeout=_SECONDS_TO_THE_NEXT_ACCESS):
            raise TimeoutError(
                f"program {self.program_id} made no shared access for {_SECONDS_TO_THE_NEXT_ACCESS} s: "
                "does it wait for a buffer that is not listed as shared?"
            )
        if self._error is not None and not self._stopped:
            raise self._error
        return self._request


def simulate_kernel(
    kernel: Any, grid: Grid, arguments: Mapping[str, Any], *, shared: Mapping[str, torch.Tensor], choices: Choices,
    reorders: bool = False, start_order: Sequence[int] | None = None, resident: int | None = None,
    step_limit: int = 10_000_000,
) -> Run[None]:
    """Runs an interpreted kernel with its programs interleaved; outputs land in the argument tensors.

    kernel: a `@triton.jit` function under TRITON_INTERPRET=1. arguments: by name, as for a launch. shared:
    the contiguous CPU integer tensors through which the programs synchronise, by the name they get in the
    steps; they must be among the arguments, hold the initial words, and receive the final ones. The rest as
    for `simulate`; program (x, y, z) of a grid (X, Y, Z) has the index (x * Y + y) * Z + z. Supported shared
    accesses: loads, stores, atomic addition and exchange; others raise NotImplementedError.
    """
    from triton.runtime.interpreter import GridExecutor, _patch_lang, interpreter_builder

    buffers, words = [], {}
    for name, tensor in shared.items():
        if not tensor.is_contiguous() or tensor.device.type != "cpu" or tensor.is_floating_point():
            raise ValueError(f"shared buffer {name} must be a contiguous integer tensor on the CPU")
        buffers.append(_Shared(name, tensor.data_ptr(), tensor.element_size(), tensor.numel()))
        words[name] = Buffer(tuple(_unsigned(tensor).reshape(-1).tolist()), 8 * tensor.element_size())
    memory = Memory(words, reorders=reorders)
    current: list[_ProgramThread] = []
    state = _InterpreterState(interpreter_builder, grid, buffers, current)

    def body() -> None:
        GridExecutor(kernel.rewrite(), kernel.arg_names, (1, 1, 1))(**arguments)

    def program(program_id: ProgramId) -> Program[None]:
        thread = _ProgramThread(program_id, body)
        try:
            state.switch_to(thread)
            wanted = thread.start()
            while wanted is not None:
                value = yield wanted
                state.switch_to(thread)
                wanted = thread.answer(value)
        finally:
            state.switch_to(thread)
            thread.stop()

    def make(program_id: ProgramId) -> Callable[[], Program[None]]:
        return lambda: program(program_id)

    ids = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
    # Every launch patches triton.language and restores what it found. Interleaved launches would restore each
    # other's patches away; with one more patch around all of them, what they find and restore is already
    # patched.
    outer = _patch_lang(kernel.fn)
    try:
        with state.installed():
            run = simulate(
                [make(program_id) for program_id in ids], memory, choices=choices, start_order=start_order,
                resident=resident, step_limit=step_limit,
            )
    finally:
        outer.restore()
    for name, tensor in shared.items():
        final = np.array(run.words[name], dtype=_unsigned(tensor).dtype).reshape(tensor.shape)
        _unsigned(tensor)[...] = final
    return run


class _InterpreterState:
    """The parts of the interpreter's builder that belong to the awake program, and its memory operations."""

    def __init__(self, builder: Any, grid: Grid, buffers: Sequence[_Shared], current: list[_ProgramThread]) -> None:
        self._builder = builder
        self._grid = grid
        self._buffers = buffers
        self._current = current

    def switch_to(self, thread: _ProgramThread) -> None:
        """Makes the builder answer program_id for this program."""
        self._current[:] = [thread]
        self._builder.grid_dim = self._grid
        self._builder.grid_idx = thread.program_id

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Memory operations go through the scheduler, and the grid is ours, not that of the one-program launches."""
        builder = self._builder
        with ExitStack() as stack:

            def replace(name: str, value: Any) -> None:
                stack.enter_context(mock.patch.object(builder, name, value, create=True))

            replace("set_grid_dim", lambda *_: None)
            replace("set_grid_idx", lambda *_: None)
            replace("grid_dim", self._grid)
            replace("grid_idx", (0, 0, 0))
            replace("create_masked_load", self._load(builder.create_masked_load))
            replace("create_masked_store", self._store(builder.create_masked_store))
            replace("create_atomic_rmw", self._read_modify_write(builder.create_atomic_rmw))
            replace("create_atomic_cas", self._refuse(builder.create_atomic_cas))
            yield

    def _load(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def load(pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:
            places = self._places(pointers, mask)
            if places is None:
                return original(pointers, mask, other, *rest)
            nothing = type(mask)(np.zeros_like(mask.data), mask.dtype)
            loaded = original(pointers, nothing, other, *rest)
            bits = _writable_bits(loaded)
            for lane, address in places:
                bits[lane] = self._current[0].ask(Access("load", address))
            return loaded

        return load

    def _store(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def store(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            places = self._places(pointers, mask)
            if places is None:
                return original(pointers, value, mask, *rest)
            bits = _bits(np.broadcast_to(value.data, np.shape(pointers.data)))
            for lane, address in places:
                self._current[0].ask(Access("store", address, int(bits[lane])))
            return None

        return store

    def _read_modify_write(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def rmw(operation: Any, pointers: Any, value: Any, mask: Any, order: Any, scope: Any) -> Any:
            places = self._places(pointers, mask)
            if places is None:
                return original(operation, pointers, value, mask, order, scope)
            kind = _KINDS.get(operation.name)
            if kind is None:
                raise NotImplementedError(f"atomic {operation.name} on a shared buffer: only addition and exchange")
            operand = _bits(np.broadcast_to(value.data, np.shape(pointers.data)))
            old = type(value)(np.zeros(np.shape(pointers.data), value.data.dtype), value.dtype.scalar)
            bits = _writable_bits(old)
            for lane, address in places:
                access = Access(kind, address, int(operand[lane]), _ORDERS[order.name])
                bits[lane] = self._current[0].ask(access)
            return old

        return rmw

    def _refuse(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def compare_and_swap(pointers: Any, *rest: Any) -> Any:
            if self._places(pointers, None) is not None:
                raise NotImplementedError("compare-and-swap on a shared buffer is not simulated")
            return original(pointers, *rest)

        return compare_and_swap

    def _places(self, pointers: Any, mask: Any) -> list[tuple[tuple[int, ...], Address]] | None:
        """The unmasked lanes with their shared words; None if the access is to other memory."""
        addresses = np.asarray(pointers.data)
        active = np.ones(addresses.shape, bool) if mask is None else np.broadcast_to(mask.data, addresses.shape)
        found: list[tuple[tuple[int, ...], Address]] = []
        lanes = [tuple(lane) for lane in np.argwhere(active).tolist()]
        for lane in lanes:
            for buffer in self._buffers:
                index = buffer.index(int(addresses[lane]))
                if index is not None:
                    found.append((lane, (buffer.name, index)))
        if not found:
            return None
        if len(found) != len(lanes):
            raise NotImplementedError("one access touches shared and other memory")
        return found


def _unsigned(tensor: torch.Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.numpy()
    return array.view(f"u{array.itemsize}")


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.itemsize}")


def _writable_bits(handle: Any) -> NDArray[Any]:
    handle.data = np.array(handle.data, copy=True)
    view: NDArray[Any] = handle.data.view(f"u{handle.data.itemsize}")
    return view
