"""Ledger cells of a plan: which part of the vocabulary it uses."""

from tridiff.fuzz.kinds.plans.cases import plan_of
from tridiff.fuzz.records import Case


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts, for example "copy=tma dtype=fp16 swizzle=64"."""
    plan = plan_of(case)
    sink = type(plan.sink).__name__.lower()
    found = [f"copy={source.copy} dtype={plan.dtype} swizzle={source.swizzle}" for source in plan.sources]
    found += [f"ring={plan.ring} ahead={plan.ahead} refill={plan.refill} tail={plan.tail}",
              f"sink={sink} copy={'+'.join(source.copy for source in plan.sources)} partitions={len(plan.roles) or 1}"]
    found += [f"op={op.kind} explicit={plan.explicit}" for op in plan.ops]
    found += [f"role={worker.role} warps={worker.warps} registers={worker.registers}" for worker in plan.workers]
    return tuple(dict.fromkeys(found))
