"""What a request is about, prepared to be launched: kernel, arguments, memory. Runs in the children."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tridiff.fuzz.backends.launch import Launch, Runner, resolve
from tridiff.fuzz.content.place import Buffer, buffers_of, place
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.request import Own, Request, Scalar
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.recorded import Call, Recorder
from tridiff.fuzz.target.subjects import parse_subject


@dataclass(frozen=True)
class Prepared:
    """buffers: the arrays, by name. launch: makes the launches with a runner. case: None for a kernel of the user's."""

    buffers: dict[str, Buffer]
    launch: Callable[[Runner], None]
    sizes: dict[str, int] = field(default_factory=dict)
    case: Case | None = None

    def calls(self) -> list[Call]:
        """The launches, noted instead of made."""
        recorder = Recorder()
        self.launch(recorder)
        return recorder.calls


def prepared(request: Request) -> Prepared:
    """Materialise the request's arrays. Raises TridiffError for what cannot be launched."""
    if request.own is not None:
        return _own(request.own)
    if request.case is None:
        raise TridiffError("nothing to explain was named", fix="name an entry, a case or FILE.py:kernel")
    case = request.case
    case.check()
    target = find(case.target)
    subject = parse_subject(request.subject, target)
    if subject.process_fault:
        raise TridiffError(f"the planted process fault {subject.process_fault} is no kernel",
                           fix="explain another subject")
    buffers = buffers_of(case)
    pointers = {name: buffer.pointer for name, buffer in buffers.items()}

    def launch(runner: Runner) -> None:
        target.run.launch(Launch(case=case, pointers=pointers, helper=resolve(subject.helper), fault=subject.hook,
                                 planted=subject.fault, options=case.options, runner=runner,
                                 schedule=request.schedule))

    return Prepared(buffers=buffers, launch=launch, sizes=case.sizes, case=case)


def _own(own: Own) -> Prepared:
    kernel = _kernel(own)
    names = [one.name for one in kernel.params] if hasattr(kernel, "params") else list(kernel.arg_names)
    arrays = {spec.name for spec in own.arrays}
    required = [name for name in names if name not in arrays and name not in own.scalars]
    defaults = _defaults(kernel)
    missing = [name for name in required if name not in defaults]
    if missing:
        raise TridiffError(f"{own.kernel} takes {', '.join(names)}; nothing was given for {', '.join(missing)}",
                           fix=f"add {' '.join(f'{name}=...' for name in missing)} to --args: an array as fp32[1000], "
                           "a number, true, none or 'text'")
    unknown = sorted((arrays | own.scalars.keys()) - set(names))
    if unknown:
        raise TridiffError(f"{own.kernel} has no parameter {', '.join(unknown)}",
                           fix=f"it takes {', '.join(names)}")
    buffers = {spec.name: place(spec, own.sizes, device=torch.device("cpu")) for spec in own.arrays}
    arguments: dict[str, Any] = {name: buffers[name].pointer if name in arrays else _scalar(own.scalars[name])
                                 for name in names if name in arrays or name in own.scalars}
    arguments |= {name: defaults[name] for name in required}

    def launch(runner: Runner) -> None:
        runner.run(kernel, own.grid, {name: arguments[name] for name in names}, own.options)

    return Prepared(buffers=buffers, launch=launch, sizes=own.sizes)


def _kernel(own: Own) -> Any:
    path = Path(own.file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise TridiffError(f"{own.file} is no Python file", fix="name it as FILE.py:kernel")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TridiffError(f"{own.file} cannot be imported ({type(error).__name__}: {error})"[:400],
                           fix="run it with python first") from error
    found = getattr(module, own.kernel, None)
    kernels = [name for name, one in vars(module).items() if hasattr(one, "fn") and hasattr(one, "arg_names")]
    while found is not None and hasattr(found, "fn") and hasattr(found.fn, "fn"):
        found = found.fn  # autotuners and heuristics hold the kernel
    if found is None or not hasattr(found, "fn"):
        raise TridiffError(f"{own.file} has no jit function {own.kernel}",
                           fix=f"it has {', '.join(kernels)}" if kernels else "decorate it with @triton.jit")
    return found


def _defaults(kernel: Any) -> dict[str, Any]:
    import inspect

    return {name: one.default for name, one in inspect.signature(kernel.fn).parameters.items()
            if one.default is not inspect.Parameter.empty}


def _scalar(value: Scalar) -> Any:
    if isinstance(value, str) and value.startswith("tl."):
        import triton.language as tl

        found = getattr(tl, value[3:], None)
        if found is None:
            raise TridiffError(f"{value} is no name of triton.language", fix="write for example tl.float32")
        return found
    return value


def made_by_torch(request: Request) -> bool:
    """Whether torch.compile makes and launches the kernels, so that no target does."""
    return request.case is not None and request.subject in find(request.case.target).run.untraced


def chosen(calls: list[Call], request: Request, buffers: dict[str, Buffer]) -> int:
    """The number of the launch that the request is about."""
    if not calls:
        raise TridiffError("no kernel of ours is launched: torch.compile makes its own, or the grid is empty",
                           fix="--subject own explains our kernel of the same contract")
    if request.launch >= len(calls):
        raise TridiffError(f"there are {len(calls)} launches", fix=f"give --launch 0 to {len(calls) - 1}")
    if request.launch >= 0:
        return request.launch
    wanted = buffers[request.where].pointer if request.where in buffers else None
    return next((number for number, call in enumerate(calls)
                 if wanted is not None and any(one is wanted for one in call.arguments.values())), 0)


def name_of(call: Call) -> str:
    """What a launch is called in a list."""
    name = "TTGIR text" if call.text else call.kernel.fn.__name__
    return f"{name} on a grid of {' x '.join(map(str, call.grid))}"
