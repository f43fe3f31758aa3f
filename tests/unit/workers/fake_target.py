"""A target whose kernel is a Python function on CPU tensors: out = 2 * a. Oracles are below, by import path."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch, LaunchReport
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, LaunchOptions, Layout, Outcome
from tridiff.fuzz.target import Draw, Judge, Reference, Run, Target
from tridiff.fuzz.target.subjects import Subject
from tridiff.fuzz.workers.execute import Attempt
from tridiff.oracles.rules import NUM, Rule

HERE = "tests.unit.workers.fake_target"
CPU = torch.device("cpu")


def doubled_torch(a: torch.Tensor) -> torch.Tensor:
    return a * 2


def doubled_numpy(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (a * 2).astype(a.dtype)


def tripled_numpy(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An oracle that is wrong wherever a is not 0."""
    return (a * 3).astype(a.dtype)


def exact(a: Any) -> Any:
    """Settles what the other two disagree about."""
    return (a * 2).astype(a.dtype)


def positive(a: torch.Tensor) -> torch.Tensor:
    """Where the contract defines the result."""
    return a > 0


def nowhere(a: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(a, dtype=torch.bool)


@dataclass
class FakeRunner:
    """Counts launches; what the kernel does is decided by `kernel`."""

    kernel: Callable[[Launch, int], None]
    readback: dict[str, int | bool] | None = None
    backend: str = "cuda"
    launches: int = 0
    options: list[LaunchOptions] = field(default_factory=list)

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        launch = arguments["launch"]
        self.options.append(options)
        self.kernel(launch, self.launches)
        self.launches += 1
        return LaunchReport(compiled=1, readback=self.readback)

    def synchronise(self) -> None:
        return None


def target(*, oracles: tuple[str, ...] = ("doubled_torch", "doubled_numpy"), defined: str = "",
           rule: Rule = NUM) -> Target:
    references = tuple(
        Reference(source="exact" if name == "exact" else "torch" if name.endswith("torch") else "numpy",
                  function=f"{HERE}:{name}", arguments=("a",))
        for name in oracles)
    return Target(
        name="fake.double", summary="", contract="", subjects={"own": f"{HERE}:FakeRunner"},
        draw=Draw(cases=lambda limits: st.nothing()),
        run=Run(launch=lambda launch: launch.run(None, (1, 1, 1), {"launch": launch})),
        judge=Judge(
            oracles=lambda case: references, rules=lambda case: {"out": rule},
            defined=lambda case: (f"{HERE}:{defined}", ("a",)) if defined else None, label=lambda case: "thing"))


def case(*values: str, dtype: str = "i32", repeats: int = 0, variants: tuple[LaunchOptions, ...] = (),
         gap: int = 0, offset: int = 0) -> Case:
    layout = Layout(offset=offset, step=1 + gap)
    return Case(target="fake.double", sizes={"rows": len(values)}, repeats=repeats, variants=variants, arrays=(
        ArraySpec(name="a", dtype=dtype, dims=("rows",), layout=layout, content=Content(base=Explicit(values=values))),
        ArraySpec(name="out", dtype=dtype, dims=("rows",), layout=layout)))


def logical(launch: Launch, name: str) -> torch.Tensor:
    """The array as a strided view over the pointer."""
    spec = launch.spec(name)
    return torch.as_strided(launch.pointer(name), spec.shape(launch.case.sizes), spec.strides(launch.case.sizes))


def double(launch: Launch, number: int) -> None:
    """The right kernel."""
    logical(launch, "out").copy_(logical(launch, "a") * 2)


def judge(one: Case, kernel: Callable[[Launch, int], None] = double, *, of: Target | None = None,
          readback: dict[str, int | bool] | None = None, backend: str = "cuda",
          runner: FakeRunner | None = None) -> Outcome:
    """The outcome of one case under a kernel."""
    return begun(one, kernel, of=of, readback=readback, backend=backend, runner=runner).run()


def begun(one: Case, kernel: Callable[[Launch, int], None] = double, *, of: Target | None = None,
          readback: dict[str, int | bool] | None = None, backend: str = "cuda",
          runner: FakeRunner | None = None) -> Attempt:
    """The execution of one case under a kernel, before it runs."""
    chosen = runner or FakeRunner(kernel, readback=readback, backend=backend)
    subject = Subject("own", f"{HERE}:double")
    return Attempt(one, of or target(), subject, backend, CPU, chosen, lambda name: None, False, None)


def same_torch(a: torch.Tensor) -> torch.Tensor:
    return a.clone()


def same_numpy(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.copy()


def doubled_narrow_torch(a: torch.Tensor) -> torch.Tensor:
    """As `doubled_torch`, for types that torch does not multiply."""
    return (a.float() * 2).to(a.dtype)
