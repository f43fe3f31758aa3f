"""Whether a case says only what the strategy of its target could have said.

A case is read from a file and its texts are free; what nobody could have drawn (a form that does not exist, a value
that is no number) would end as an exception in the worker and look like a failure of the subject.
"""

from collections.abc import Iterator

from tridiff.fuzz.content.text import to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Constant, Explicit, Pick, Put, Sprinkle
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.target import Target


def unheard_of(case: Case, target: Target) -> str:
    """The first thing in `case` that no case of `target` says: one line, "" if there is none."""
    if case.delay is not None and case.delay.of != target.draw.delays:
        return f"no {case.delay.of} of it is ever delayed"
    return _unknown_parameter(case, target) or _unknown_array(case, target) or next(_no_values(case), "")


def _unknown_parameter(case: Case, target: Target) -> str:
    vocabulary = target.draw.params(case)
    given = case.params
    strange, missing = sorted(given.keys() - vocabulary.keys()), sorted(vocabulary.keys() - given.keys())
    if strange or missing:
        return f"it has no parameter {strange[0]}" if strange else f"its parameter {missing[0]} is missing"
    for name, value in given.items():
        # 1 and True are equal, but not the same.
        if not any(type(value) is type(legal) for legal in vocabulary[name]) or value not in vocabulary[name]:
            return f"its parameter {name} is never {printable(repr(value), limit=60)}"
    return ""


def _unknown_array(case: Case, target: Target) -> str:
    """Arrays are told by what the references read and return; further ones are the target's own matter."""
    inputs = {spec.name for spec in case.arrays if spec.content is not None}
    outputs = {spec.name for spec in case.arrays if spec.content is None}
    for reference in target.judge.oracles(case):
        wanted = {one for one in reference.arguments if "=" not in one and not one.startswith("@")}
        for missing in sorted(wanted - inputs):
            return f"there is no input {missing}"
        for missing in sorted(set(reference.outputs) - outputs):
            return f"there is no output {missing}"
    for spec in case.arrays:
        for axis in spec.layout.broadcast:
            if axis not in spec.dims:
                return f"array {spec.name} has no axis {axis}"
    return ""


def _no_values(case: Case) -> Iterator[str]:
    for spec in case.arrays:
        for value in dict.fromkeys(_texts(spec)):
            try:
                to_bits(value, spec.dtype)
            except TridiffError as error:
                yield f"array {spec.name}: {error.problem}"


def _texts(spec: ArraySpec) -> Iterator[str]:
    """Every value that the content of an array spells out."""
    if spec.content is None:
        return
    base = spec.content.base
    if isinstance(base, Constant):
        yield base.value
    elif isinstance(base, Explicit):
        yield from base.values
    for one in spec.content.overrides:
        if isinstance(one, Put | Pick):
            yield one.value
        elif isinstance(one, Sprinkle):
            yield from one.values
