"""Check: the same launch again, over other poison, writes the same bits."""

from collections.abc import Iterator

from tridiff.fuzz.backends import kind
from tridiff.fuzz.judge.check import Found, Trial, found_in
from tridiff.fuzz.judge.outputs import evidence_of_inputs, judge_outputs, same_bits
from tridiff.fuzz.judge.trespass import trespasses
from tridiff.fuzz.records import RowCounts


def repetition(trial: Trial) -> Iterator[Found]:
    """Outputs that a second launch leaves unwritten or gives other bits.

    Asked as often as the case says, and once where an output holds the poison pattern, which a lane that was never
    written shares with a right answer (a NaN is a NaN). Where IR is evaluated, once shows what more often would.
    """
    first = trial.buffers
    suspicious = any(buffer.is_output and bool((buffer.logical == buffer.poison).any()) for buffer in first.values())
    repeats = min(trial.case.repeats, 1) if kind(trial.backend) == "evaluated" else trial.case.repeats
    for number in range(max(repeats, int(suspicious))):
        again, _ = trial.launch_again(second=number % 2 == 0)
        yield from trespasses(trial, again)
        if trial.target.judge.unordered(trial.case):
            judged = judge_outputs(trial.case, trial.target, again, trial.expected)
            if judged.verdict.failed:
                yield found_in(trial, judged, again)
        different = same_bits(trial.case, trial.target, first, again, bits=True, but=trial.explained_elements)
        trial.judging_done()
        if different:
            name, count = different
            untouched = (first[name].logical == first[name].poison) & (again[name].logical == again[name].poison)
            explained = trial.explained_elements.get(name)
            if explained is not None:
                untouched &= ~explained
            unwritten = number % 2 == 0 and bool(untouched.any())
            yield Found(kind="unwritten" if unwritten else "nondeterministic", where=name,
                        rows=trial.judged.rows if trial.judged else RowCounts(),
                        evidence=evidence_of_inputs(trial.case, again),
                        reason=f"{count} elements of {name} were never written" if unwritten else
                               f"the same launch gave other bits in {count} elements of {name}")
