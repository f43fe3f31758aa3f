"""Cases drawn from the targets of data movement, the same in every run."""

from contextlib import suppress
from functools import cache

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from msgspec import UNSET, UnsetType

from tridiff.fuzz.kinds.chains.cases import sizes_of, spec_of
from tridiff.fuzz.records import Case, Content, Iota, LaunchOptions
from tridiff.fuzz.registry import all_targets, find
from tridiff.fuzz.target import Limits
from tridiff.kernels.gluon.chain import Chain, Global, Step
from tridiff.kernels.gluon.check import problem

CHAIN_TARGETS = tuple(name for name in all_targets() if name.startswith("gluon.") and name != "gluon.global_scratch")


class _Enough(BaseException):
    """Ends a run of Hypothesis from inside, which takes exceptions of other kinds for failures of what it draws."""


@cache
def cases(target: str, count: int, start: int = 1) -> tuple[Case, ...]:
    """The first `count` distinct cases that the target draws from the seed `start`."""
    found: dict[str, Case] = {}

    @seed(start)
    @settings(max_examples=2 * count, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(find(target).draw.cases(Limits(elements=1 << 12, rows=64)))
    def collect(case: Case) -> None:
        found.setdefault(case.digest, case)
        if len(found) == count:
            raise _Enough

    with suppress(_Enough):
        collect()
    return tuple(found.values())


def numbered(chain: Chain) -> Case:
    """A case of the chain in which every element of an input has its number."""
    arrays = tuple(spec_of(array, None if array.output else Content(base=Iota())) for array in chain.arrays)
    return Case(target="gluon.view_chain", sizes=sizes_of(chain), arrays=arrays, program=chain,
                options=LaunchOptions(num_warps=chain.warps))


def about(*steps: Step, shape: tuple[int, ...], dtype: str = "i32", to: tuple[int, ...] = (), made: str = "",
          warps: int = 1, between: tuple[int, int] | UnsetType = UNSET) -> str:
    """The word for a legal chain of one input (`shape`, `dtype`) and one output, which is `to` and `made` where it is
    not like the input."""
    chain = Chain(warps, (Global("in0", dtype, shape, between=between),
                          Global("out0", made or dtype, to or shape, True)), steps)
    assert not problem(chain)
    return find("gluon.view_chain").judge.label(msgspec.structs.replace(cases("gluon.view_chain", 1)[0], program=chain))
