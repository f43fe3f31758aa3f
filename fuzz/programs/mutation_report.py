"""How fast every planted fault of the generator is found, and how small its counterexample becomes.

    python -m fuzz.programs.mutation_report --backend interpreter --output report.md

For each fault, programs of its families are drawn until one fails under the fault (and, as a control, not without it);
that one is shrunk by the steps of a campaign. The table is Markdown.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import multiprocessing.util
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from fuzz.errors import TridiffError
from fuzz.programs.arrays import graph_of
from fuzz.programs.faults import ON_DEVICE, families, names
from fuzz.records import Case, Outcome
from fuzz.shrink.explicit import minimise
from fuzz.strategies.independent import BACKEND
from fuzz.target import Limits, Target
from fuzz.targets import find
from fuzz.workers.pool import Pool, PoolOptions
from fuzz.workers.zygote import die_with_parent
from kernels.codegen.launch import plan
from kernels.codegen.mutants import FAULTS

SHRINK_SECONDS = 45.0


@dataclass(frozen=True, kw_only=True)
class Result:
    """One fault. seconds: until the first failing program; programs: run until then; nodes, elements: of the shrunk
    case, out of `from_nodes`."""

    fault: str
    killed: bool
    seconds: float
    programs: int
    target: str = ""
    signature: str = ""
    from_nodes: int = 0
    nodes: int = 0
    elements: int = 0
    shrink_seconds: float = 0.0
    runs: int = 0


class _Found(Exception):
    def __init__(self, case: Case, outcome: Outcome) -> None:
        self.case, self.outcome = case, outcome


def changes(case: Case, fault: str) -> bool:
    """Whether the fault changes the kernel of any of the case's schedules."""
    graph = graph_of(case)
    return any(plan(graph, one).key != plan(graph, one, faults=(fault,)).key
               or plan(graph, one).grid != plan(graph, one, faults=(fault,)).grid for one in graph.schedules)


def elements(case: Case) -> int:
    """Elements of all arrays, workspaces left out."""
    return sum(spec.span(case.sizes) for spec in case.arrays if not spec.name.startswith("work"))


def _drawn(target: Target, limits: Limits, seed: int, examine: Callable[[Case], None]) -> None:
    def one(case: Case) -> None:
        examine(case)

    run = hypothesis.given(target.cases(limits))(one)
    run = settings(max_examples=300, database=None, deadline=None, backend=BACKEND,
                   suppress_health_check=list(HealthCheck), report_multiple_bugs=False, phases=[Phase.generate])(run)
    hypothesis.seed(seed)(run)()


def hunt(fault: str, pool: Pool, *, backend: str, seconds: float, seed: int = 0, least_nodes: int = 0,
         shrink: bool = True) -> Result:
    """Draw until the fault shows, then shrink. least_nodes: smaller programs are passed over."""
    search = _Hunt(fault, pool, backend, time.monotonic() + seconds, least_nodes)
    start = time.monotonic()
    for round_number in range(10_000):
        for family in families(fault):
            target = find(f"codegen.{family}")
            small = backend == "interpreter"
            limits = Limits(elements=target.interpreter_elements if small else 1 << 18, variants=not small)
            try:
                _drawn(target, limits, seed * 1000 + round_number, partial(search.examine, target))
            except _Found as found:
                return _shrunk(fault, found, target, pool, backend, time.monotonic() - start, search.ran, shrink)
            except TimeoutError:
                return Result(fault=fault, killed=False, seconds=time.monotonic() - start, programs=search.ran)
    raise AssertionError("a budget ends sooner")


@dataclass
class _Hunt:
    """What one hunt asks of each drawn program. ran: programs that the fault changed and that were run."""

    fault: str
    pool: Pool
    backend: str
    deadline: float
    least_nodes: int
    ran: int = 0

    def examine(self, target: Target, case: Case) -> None:
        """Raise _Found if the case fails under the fault and not without it."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
        if len(graph_of(case).nodes) < self.least_nodes or not target.valid(case) or not changes(case, self.fault):
            return
        self.ran += 1
        try:
            outcome = self.pool.execute(case, f"own+fault:{self.fault}", backend=self.backend)
            if outcome.verdict.failed and not self.pool.execute(case, "own", backend=self.backend).verdict.failed:
                raise _Found(case, outcome)
        except TridiffError:
            return


def _shrunk(fault: str, found: _Found, target: Target, pool: Pool, backend: str, seconds: float, ran: int,
            shrink: bool) -> Result:
    subject = f"own+fault:{fault}"
    began = time.monotonic()

    def run(case: Case) -> Outcome:
        return pool.execute(case, subject, backend=backend)

    small = minimise(found.case, found.outcome, target=target, run=run, inputs=pool.inputs,
                     seconds=SHRINK_SECONDS if shrink else 0.0)
    signature = found.outcome.signature
    return Result(
        fault=fault, killed=True, seconds=seconds, programs=ran, target=target.name,
        signature=signature.kind if signature else "", from_nodes=len(graph_of(found.case).nodes),
        nodes=len(graph_of(small.case).nodes), elements=elements(small.case),
        shrink_seconds=time.monotonic() - began, runs=small.runs)


def table(results: list[Result], *, title: str) -> str:
    """Markdown: one row per fault, and the distribution of sizes."""
    lines = [f"# {title}", "", "| fault | group | found in | after | programs | as | nodes | elements | shrinking |",
             "|---|---|---|---|---|---|---|---|---|"]
    for one in results:
        group = FAULTS[one.fault].group
        if one.killed:
            lines.append(f"| {one.fault} | {group} | {one.target} | {one.seconds:.1f} s | {one.programs} | "
                         f"{one.signature} | {one.from_nodes} to {one.nodes} | {one.elements} | "
                         f"{one.shrink_seconds:.0f} s, {one.runs} runs |")
        else:
            lines.append(f"| {one.fault} | {group} | **not found** | {one.seconds:.0f} s | {one.programs} | | | | |")
    killed = [one for one in results if one.killed]
    if killed:
        nodes, count = sorted(one.nodes for one in killed), sorted(one.elements for one in killed)
        lines += ["", f"{len(killed)} of {len(results)} faults found. Nodes of the shrunk programs: median "
                  f"{statistics.median(nodes):g}, largest {nodes[-1]}; elements: median {statistics.median(count):g}, "
                  f"largest {count[-1]}. Seconds to the first failure: median "
                  f"{statistics.median(one.seconds for one in killed):.1f}, largest "
                  f"{max(one.seconds for one in killed):.1f}.", "",
                  f"Nodes: {' '.join(map(str, nodes))}", "", f"Elements: {' '.join(map(str, count))}"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class Way:
    """How faults are hunted. seconds: budget of one fault; shrink: whether what fails is made smaller."""

    backend: str
    seconds: float
    cache: str
    seed: int = 0
    least_nodes: int = 0
    shrink: bool = True


_own: dict[str, Pool] = {}


def _in_process(fault: str, way: Way) -> Result:
    """Hunt in this process's own pool."""
    pool = _own.get(way.backend)
    if pool is None:
        pool = _own[way.backend] = Pool(PoolOptions(backend=way.backend, cache_directory=way.cache, spare=False))
    return hunt(fault, pool, backend=way.backend, seconds=way.seconds, seed=way.seed, least_nodes=way.least_nodes,
                shrink=way.shrink)


def _close_own() -> None:
    while _own:
        _own.popitem()[1].close()


def _child() -> None:
    die_with_parent()
    multiprocessing.util.Finalize(None, _close_own, exitpriority=10)


def report(chosen: tuple[str, ...], way: Way, *, workers: int = 1) -> Iterator[Result]:
    """Hunt the faults in `workers` processes, each with a pool of its own; results as they come."""
    if workers == 1:
        try:
            for fault in chosen:
                yield _in_process(fault, way)
        finally:
            _close_own()
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context, initializer=_child) as processes:
        # Those that take the longest to show first, so that no process is left with one at the end.
        ranked = sorted(chosen, key=lambda fault: fault not in ON_DEVICE)
        for done in concurrent.futures.as_completed([processes.submit(_in_process, fault, way) for fault in ranked]):
            yield done.result()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", help="names; default all")
    parser.add_argument("--backend", default="interpreter")
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of one fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least-nodes", type=int, default=0, help="only programs of at least this size are run")
    parser.add_argument("--workers", type=int, default=1, help="processes, each with its own pool")
    parser.add_argument("--no-shrink", action="store_true", help="only look how soon each fault is found")
    parser.add_argument("--output", type=Path, help="where the table goes; default: the terminal")
    parser.add_argument("--cache", default="", help="Triton's cache directory; default a temporary one")
    given = parser.parse_args()
    import tempfile

    results: list[Result] = []
    title = f"Planted faults of the generator, backend {given.backend}"
    with tempfile.TemporaryDirectory() as temporary:
        way = Way(backend=given.backend, seconds=given.seconds, cache=given.cache or temporary, seed=given.seed,
                  least_nodes=given.least_nodes, shrink=not given.no_shrink)
        for one in report(tuple(given.faults) or names(), way, workers=given.workers):
            results.append(one)
            print(f"{one.fault}: " + (f"{one.seconds:.1f} s, {one.programs} programs, {one.from_nodes} to {one.nodes} "
                                      f"nodes, {one.elements} elements, shrunk in {one.shrink_seconds:.0f} s"
                                      if one.killed else f"not found in {one.seconds:.0f} s, {one.programs} programs"),
                  flush=True)
            if given.output:
                # As it goes: what is cut off keeps what it has.
                given.output.write_text(table(results, title=title))
    if not given.output:
        print(table(results, title=title))


if __name__ == "__main__":
    main()
