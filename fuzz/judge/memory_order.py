"""Check: the compiled code carries the memory orders that the target declares.

Asked before values are judged: a missing order is the cause of what they may show.
"""

from collections.abc import Iterator

from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.ptx_orders import missing_orders


def memory_order(trial: Trial) -> Iterator[Found]:
    """The orders that the PTX of some launched kernel does not promise."""
    wanted = trial.target.run.memory_orders(trial.case)
    lacking = {order for ptx in {report.ptx for report in trial.reports} for order in missing_orders(ptx, wanted)}
    if lacking:
        yield Found(kind="memory_order", where="ptx",
                    reason=f"the compiled kernel does not promise {' or '.join(sorted(lacking))}")
