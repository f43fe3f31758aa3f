"""Contents for an array that gets another dtype."""

from msgspec.structs import replace

from tridiff.fuzz.content.text import to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Content, Mixture
from tridiff.fuzz.records.content import Constant, Explicit, Override, Pick, Put, Sprinkle


def _writable(text: str, dtype: str) -> bool:
    try:
        to_bits(text, dtype)
    except TridiffError:
        return False
    return True


def _values(part: object) -> tuple[str, ...]:
    """The values that a base or an override names."""
    if isinstance(part, (Constant, Put, Pick)):
        return (part.value,)
    return part.values if isinstance(part, (Explicit, Sprinkle)) else ()


def retyped(content: Content, dtype: str) -> Content:
    """The content without what the dtype has no value for: a base that names one becomes the usual mixture, an
    override that names one is left out. dtype: a name such as i32."""
    def fits(part: object) -> bool:
        return all(_writable(text, dtype) for text in _values(part))

    overrides: tuple[Override, ...] = tuple(one for one in content.overrides if fits(one))
    return replace(content, base=content.base if fits(content.base) else Mixture(), overrides=overrides)
