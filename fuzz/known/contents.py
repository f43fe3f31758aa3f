"""Relatives that differ in what their arrays hold."""

from msgspec.structs import replace

from tridiff.fuzz.records import Case, Constant, Content, Small


def tamed(case: Case, *, names: tuple[str, ...], value: str = "") -> Case:
    """The case with `value`, or small whole numbers, in its inputs of these names."""
    content = Content(base=Constant(value=value) if value else Small(low=-4, high=4))
    return replace(case, arrays=tuple(
        replace(spec, content=content) if spec.name in names and spec.content is not None else spec
        for spec in case.arrays))
