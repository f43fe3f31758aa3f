"""What Triton's compiler asks of its C++ parts and of ptxas: passes with arguments, LLVM's flags, command lines."""

import contextlib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir, llvm, nvidia, passes
from triton.backends.nvidia import compiler

try:
    from triton._C.libtriton import amd
    from triton.backends.amd import compiler as amds
except ImportError:  # a build for NVIDIA's chips alone
    amd = amds = types.SimpleNamespace(passes=types.SimpleNamespace())

_LLVM = ("attach_datalayout", "link_extern_libs", "optimize_module", "translate_to_asm")
_PLAIN = (str, int, float, bool, type(None))


@dataclass
class Asked:
    """passes: in the order in which they are added, "(" where a pipeline begins. tools: calls of LLVM's parts that have
    plain arguments, and command lines, without names of temporary files."""

    passes: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)


@contextlib.contextmanager
def spied() -> Iterator[Asked]:
    """Write down what is asked for while this is active, in this process."""
    asked = Asked()
    replaced: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, value: Any) -> None:
        replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    try:
        for module in (passes, nvidia.passes, amd.passes):
            for part in vars(module).values():
                if isinstance(part, types.ModuleType):
                    for name in [one for one in vars(part) if one.startswith("add_")]:
                        replace(part, name, _noting(getattr(part, name), name.removeprefix("add_"), asked.passes))
        replace(ir, "pass_manager", _noting(ir.pass_manager, "(", asked.passes, bare=True))
        for owner, names in ((llvm, _LLVM), (amds, ("compile_amdgpu",)), *(
                (one, [name for name in vars(one) if name.startswith(("set_", "add_"))]) for one in (nvidia, amd))):
            for name in names:
                if hasattr(owner, name):
                    replace(owner, name, _noting(getattr(owner, name), name, asked.tools))
        run = compiler.subprocess.run

        def ran(command: list[str], **about: Any) -> Any:
            asked.tools.append(" ".join(_nameless(one) for one in command))
            return run(command, **about)

        replace(compiler, "subprocess", types.SimpleNamespace(**{**vars(compiler.subprocess), "run": ran}))
        yield asked
    finally:
        for owner, name, value in reversed(replaced):
            setattr(owner, name, value)


def _noting(function: Callable[..., Any], name: str, into: list[str], *, bare: bool = False) -> Callable[..., Any]:
    def noted(*given: Any, **named: Any) -> Any:
        told = [] if bare else [_told(one) for one in given if _plain(one)]
        told += [] if bare else [f"{key}={_told(one)}" for key, one in named.items() if _plain(one)]
        into.append(f"{name}({', '.join(told)})" if told else name)
        return function(*given, **named)

    return noted


def _plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, list | tuple) and all(map(_plain, value)))


def _told(value: Any) -> str:
    """Values; of texts, which may be whole modules, the first word, and of paths the last."""
    if isinstance(value, str):
        return _nameless(value) if "\n" not in value else "text"
    return f"[{', '.join(map(_told, value))}]" if isinstance(value, list | tuple) else repr(value)


def _nameless(word: str) -> str:
    """Without folders, and without names that are made up."""
    if "/" not in word:
        return word
    name = Path(word).name
    return f"FILE{''.join(Path(word).suffixes)}" if name.startswith("tmp") else name
