"""What stands beside launches where Triton's profiler runs: which hooks hear of a kernel, and what one tells of it."""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import triton

from tridiff.fuzz.launching.apart import tried

_HEARD = ("init_handle", "destroy_handle", "enter", "exit", "activate", "deactivate")
_STEPS: tuple[tuple[Any, ...], ...] = (
    ("register", 0, 0), ("register", 1, 0), ("register", 0, 1), ("register", 2, 1), ("deactivate", 0), ("activate", 0),
    ("deactivate",), ("unregister", 1), ("activate",), ("deactivate", 0), ("activate", 0), ("unregister", 7),
    ("deactivate", 5), ("unregister", 0), ("register", 3, 0), ("register", 2, 2), ("register", 1, 2), ("deactivate", 2),
    ("register", 0, 2), ("unregister", 2), ("register", 1, 3), ("unregister",))
"""What is done with hooks, by their numbers, and sessions."""


def sessions() -> Iterator[object]:
    """Which hooks hear of a kernel and of a launch, in which order, while sessions share some of them."""
    from triton.profiler.hooks import hook

    manager, runtime, told = hook.HookManager, triton.knobs.runtime, list[object]()

    def hear(own: Any, what: str, *given: object) -> None:
        told.append((own, what, len(given)))

    # A manager has sets of them, and what is hashed by its address comes in another order each time.
    kind = type("Own", (hook.Hook,), {
        "__repr__": lambda own: str(own.priority), "__hash__": lambda own: own.priority} | {
        what: lambda own, *given, what=what: hear(own, what, *given) for what in _HEARD})
    hooks = [kind() for _ in range(4)]
    for one, priority in zip(hooks, (1, 5, 3, 4), strict=True):
        one.priority = priority
    chains = {name: getattr(runtime, name) for name in sorted(dir(type(runtime))) if hasattr(
        getattr(runtime, name), "calls")}
    for name, *given in _STEPS:
        found = tried(getattr(manager, name), *([hooks[given[0]], given[1]] if name == "register" else given))
        for ask, about in ((manager.init_handle, "mfngh"), (manager.enter, "d"), (manager.exit, "d"),
                           (getattr(manager, "destroy_handle", None), "mfngh")):
            tried(ask, *about)
        yield (name, found, told[:], manager.active_hooks, {
            number: dict(some) for number, some in manager.session_hooks.items()}, [
            (chain, [call.__qualname__ for call in some.calls]) for chain, some in chains.items() if some.calls])
        told.clear()
    plain = hook.Hook()
    yield [tried(getattr(plain, what), *"abcde"[:number]) for what in _HEARD if hasattr(plain, what)
           for number in (0, 1, 5)]


def profiled() -> Iterator[object]:
    """What the hook of launches tells the profiler of a kernel, by its name and what is known of it."""
    from triton.profiler.hooks import launch

    one, below = launch.LaunchHook(), mock.MagicMock(**{"record_scope.return_value": "a scope"})
    yield launch.LaunchHook() is one, one.priority, one.init_handle(*"mfngh"), one.activate(), one.deactivate()
    patches = {"libproton": below, "set_metric_kernels": below.kernels, "transform_tensor_metrics": lambda given: (
        sorted(given), "tensors"), "metadata_state": below.state, "enter_state": below.state, "exit_state": below.left}
    with mock.patch.multiple(launch, **{name: made for name, made in patches.items() if hasattr(launch, name)}):
        for more in ({}, {"include": "a"}, {"exclude": "a|b2"}, {"include": "b", "exclude": "c"}):
            yield tried(lambda more=more: one.configure(**more))
            for name, given in (("a", {}), ("a", {"flops8": 3, "bytes": 2.5, "own": True, "text": "a", "none": None}),
                                ("b", {"name": "b2", "tensor": mock.Mock()}), (None, {"name": "c"})):
                data = triton.compiler.LazyDict({"name": name, "function": 1, "stream": 2})
                inside = [one.enter, one.exit]  # what is known of a kernel may be computed by another

                def known(given: object = given, data: Any = data, inside: list[Any] = inside) -> object:
                    while inside:
                        inside.pop(0)(data)
                    return given

                data.add(known, ())
                below.reset_mock()
                found = [tried(step, data) for step in (one.exit, one.enter, one.enter, one.exit, one.exit)]
                yield found, [str(call) for call in below.mock_calls]
