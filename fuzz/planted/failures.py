"""Failures of edits of Triton's Python layer, in copies that workers run, for `fuzz.bench.deduplication`.

    python -m tridiff.fuzz.planted.failures --keep FILE --edits 80 'language.*'
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tridiff.fuzz.bench.failures import Failure, Laboratory, kept
from tridiff.fuzz.bench.stage_faults import ARCH
from tridiff.fuzz.bench.triton_failures import BLAME_SECONDS, blamed, drawn, in_turn
from tridiff.fuzz.blame import laboratory as blaming
from tridiff.fuzz.builds import Build, inspect, resolve
from tridiff.fuzz.planted.choose import choose, edits
from tridiff.fuzz.planted.copy import plant
from tridiff.fuzz.workers.pool import Pool, PoolOptions

BACKENDS = ("interpreter", f"compile:{ARCH}", f"evaluated:{ARCH}")


def of_edits(*, targets: Sequence[str], each: int, draws: int, seed: int, number: int, runs: int,
             seconds: float, baseline: Build | None = None) -> Iterator[Failure]:
    """Failures of so many edits of the installed Triton, `each` of one and one backend at the most. runs, seconds: to
    make one small. baseline: a build that their blames are held against."""
    package = Path(inspect(Build(name="installed")).file).parent
    cases = drawn(targets, draws, seed, backend="interpreter")
    for edit in choose(edits(package), number=number, seed=seed):
        with tempfile.TemporaryDirectory(prefix="tridiff-planted-") as folder:
            build = str(plant(edit, package, Path(folder) / "build"))
            with blaming.Laboratory(seconds=BLAME_SECONDS, build=Build(name=edit.name, folders=(build,)),
                                    baseline=baseline) as trials:
                for backend in BACKENDS:
                    pools = [Pool(PoolOptions(backend=backend, build=one, spare=False)) for one in (build, "")]
                    try:
                        wrong, right = (_laboratory(pool, runs, seconds) for pool in pools)
                        for one in in_turn(wrong, cases, backend, right, f"triton {edit.name}", each):
                            yield blamed(one, trials)
                    finally:
                        for pool in pools:
                            pool.close()


def _laboratory(pool: Pool, runs: int, seconds: float) -> Laboratory:
    return Laboratory(lambda case, subject, backend: pool.execute(case, subject, backend=backend),
                      lambda case, backend: pool.inputs(case), runs=runs, seconds=seconds)


def main() -> None:
    """Add failures to the file until the time is up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, default in (("edits", 80), ("each", 4), ("draws", 8), ("seed", 1), ("runs", 80), ("shrink-seconds", 3),
                          ("seconds", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--baseline", default="", help="a build that blames are held against")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("targets", nargs="*", help="names or globs; default all")
    given = parser.parse_args()
    found = of_edits(targets=given.targets, each=given.each, draws=given.draws, seed=given.seed, number=given.edits,
                     runs=given.runs, seconds=given.shrink_seconds,
                     baseline=resolve(given.baseline) if given.baseline else None)
    print(f"{sum(1 for _ in kept(found, given.keep, seconds=given.seconds, most=1_000_000))} failures")


if __name__ == "__main__":
    main()
