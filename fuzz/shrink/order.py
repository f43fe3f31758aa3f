"""The order of simplicity (see notes.md)."""

from tridiff.fuzz.content.text import complexity
from tridiff.fuzz.records import ArraySpec, Case, Constant, Explicit, Iota, LaunchOptions, Layout
from tridiff.fuzz.target import Target

Simplicity = tuple[object, ...]

_DESCRIBED = (9, 0)
_PLAIN_LAYOUT = Layout()
_PLAIN_OPTIONS = LaunchOptions()


def _elements(case: Case) -> int:
    total = 0
    for spec in case.arrays:
        n = 1
        for length in spec.shape(case.sizes):
            n *= length
        total += n
    return total


def _layout(layout: Layout) -> int:
    return ((layout.order != ()) + (layout.step - 1) + layout.gap + 2 * len(layout.broadcast)
            + (layout.offset > 0) + layout.offset)


def _options(options: LaunchOptions) -> int:
    return sum(getattr(options, name) != getattr(_PLAIN_OPTIONS, name) for name in options.__struct_fields__)


def _params(case: Case, target: Target) -> tuple[int, ...]:
    ranks = [0, 0, 0] if case.delay is None else [1, case.delay.access, case.delay.number]
    for name, values in target.shrink.simplest.items():
        if name in case.params:
            value = case.params[name]
            ranks.append(values.index(value) if value in values else len(values))
    return tuple(ranks)


def values_of(spec: ArraySpec) -> list[tuple[int, int]]:
    """Complexity of each value that a reader of the case sees."""
    content = spec.content
    if content is None:
        return []
    base = content.base
    seen = [_DESCRIBED] * len(content.overrides)
    match base:
        case Explicit():
            return seen + [complexity(value, spec.dtype) for value in base.values]
        case Constant():
            return [*seen, complexity(base.value, spec.dtype)]
        case Iota():
            return [*seen, (0, 2 * abs(base.start) - (base.start > 0)), (0, abs(base.step) + abs(base.per_row))]
        case _:
            return [*seen, _DESCRIBED]


def simplicity(case: Case, target: Target, *, dtypes: tuple[int, ...] = ()) -> Simplicity:
    """Sort key; of two cases with one signature the smaller is kept. dtypes: how plain they are, where that counts."""
    values = [one for spec in case.arrays for one in values_of(spec)]
    return (
        target.shrink.size(case),
        _elements(case),
        len(case.variants) + case.repeats,
        sum(_layout(spec.layout) for spec in case.arrays if spec.content is None or spec.layout != _PLAIN_LAYOUT),
        _options(case.options),
        _params(case, target),
        sum(spec.first_row > 0 for spec in case.arrays),
        dtypes,
        sorted(values, reverse=True),
        values,
    )
