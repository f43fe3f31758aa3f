"""Wrong: a kernel that the language must refuse."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """legal: the same without what is wrong. says: words of which the error must have one, in small letters: a name
    of an argument, or the reason. since: the first version that has what the text is about."""

    text: str
    legal: str
    says: str
    since: str = ""


def at(text: str, wrong: str, legal: str, says: str, since: str = "") -> Wrong:
    """text: with `{}` at the place where one text has what is wrong and the other what is legal."""
    return Wrong(text.replace("{}", wrong), text.replace("{}", legal), says, since)
