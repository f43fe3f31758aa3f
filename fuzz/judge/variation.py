"""Check: the case gives right outputs, and the same ones, under its other options and in its other schedules."""

from collections.abc import Iterator

from tridiff.fuzz.judge.check import Found, Trial, found_in
from tridiff.fuzz.judge.outputs import evidence_of_inputs, judge_outputs, same_bits
from tridiff.fuzz.judge.trespass import trespasses
from tridiff.fuzz.judge.untouched import strays
from tridiff.fuzz.records import RowCounts, Verdict


def variation(trial: Trial) -> Iterator[Found]:
    """Outputs that are wrong, or others, when the case is launched in another way."""
    case, rows = trial.case, trial.judged.rows if trial.judged else RowCounts()
    ways = [(options, 0, str(options)) for options in case.variants if trial.backend != "interpreter"]
    ways += [(case.options, number, f"schedule {number}") for number in range(1, 1 + trial.target.run.schedules(case))]
    for options, schedule, way in ways:
        again, wrong = trial.launch_again(options=options, schedule=schedule)
        if wrong:
            yield Found(verdict=Verdict.NOT_CHECKED, reason=wrong, rows=rows)
        yield from trespasses(trial, again)
        # A value that is wrong under other options is a wrong value first, an option dependence second.
        judged = judge_outputs(case, trial.target, again, trial.expected)
        if judged.verdict.failed:
            yield found_in(trial, judged, again)
        yield from strays(trial, again)
        # A known defect may give other elements under other options: where it did, they say nothing.
        different = same_bits(case, trial.target, trial.buffers, again, bits=False, but=trial.explained_elements)
        trial.judging_done()
        if different:
            yield Found(kind="option_dependent", where=different[0], rows=rows,
                        evidence=evidence_of_inputs(case, again),
                        reason=f"{different[1]} elements of {different[0]} differ under {way}")
