"""Results of planted faults as Markdown."""

import collections
from collections.abc import Callable, Iterable, Sequence

from tridiff.fuzz.planted.record import Outcome, Settings, Tried

COLUMNS: tuple[Outcome, ...] = ("caught", "changed code", "missed", "not reached", "cannot show", "loud",
                                "not tried")


_SHOWN = 110
"""Characters of how a fault was caught."""

QUIET: tuple[Outcome, ...] = ("missed", "not reached")
"""What is right of an edit that changes nothing."""


def table(lines: Sequence[Tried], settings: Settings) -> str:
    """Totals, then by file and by operator, then what was not caught with its function, then what was."""
    faults = [one for one in lines if not one.harmless]
    harmless = [one for one in lines if one.harmless]
    parts = ["# Faults planted in Triton's Python layer", "", headline(lines), "",
             f"Triton {settings.triton}; {' and '.join(settings.backends) or 'backends by the file'}; "
             f"{_how(settings)}; seed {settings.seed}"
             f"{'; subjects ' + ' '.join(settings.subjects) if settings.subjects else ''}"
             f"{'; targets ' + ' '.join(settings.targets) if settings.targets else ''}.", "",
             "*caught*: the verdict rests on it; other code of one release blocks as well. *changed code*: code or "
             "bits within the tolerance differ, and the policy lets it pass. *cannot show*: missed, and for the reason "
             "beside it no run on a machine of this class could show it: counted apart. *loud*: Triton cannot be "
             "imported, or `vector_add` does not compile: counted apart.", ""]
    parts += _totals("file", faults, lambda one: one.file) + _totals("operator", faults, lambda one: one.operator)
    for outcome, title in (("missed", "Missed"), ("not reached", "Not reached"), ("changed code", "Changed code only"),
                           ("cannot show", "Cannot show"), ("not tried", "Not tried"), ("caught", "Caught"),
                           ("loud", "Loud")):
        parts += _listed(title, [one for one in faults if one.outcome == outcome])
    parts += _listed("Edits that change nothing", harmless)
    return "\n".join(parts)


def headline(lines: Sequence[Tried]) -> str:
    """One sentence: how many were caught, and how many harmless edits stayed quiet."""
    faults = [one for one in lines if not one.harmless]
    found = collections.Counter(one.outcome for one in faults)
    quiet = [one for one in lines if one.harmless]
    silent = sum(one.outcome in QUIET for one in quiet)
    number = sum(found[one] for one in ("caught", "changed code", "missed", "not reached"))
    told = f"{found['caught']} of {number} faults caught"
    told += f", {found['changed code']} more with changed code" if found["changed code"] else ""
    told += f", {found['not reached']} not reached" if found["not reached"] else ""
    told += f"; {found['cannot show']} cannot show" if found["cannot show"] else ""
    told += f"; {found['loud']} loud" if found["loud"] else ""
    told += f"; {found['not tried']} not tried" if found["not tried"] else ""
    return f"{told}; {silent} of {len(quiet)} harmless edits quiet." if quiet else f"{told}."


def _how(settings: Settings) -> str:
    if settings.probe:
        return f"each tried with those of {settings.probe} cases for each target and backend that run the changed lines"
    return f"each a gate of {settings.seconds:g} s with {settings.workers} workers against the installed build"


def _totals(title: str, lines: Iterable[Tried], key: Callable[[Tried], str]) -> list[str]:
    counts: dict[str, collections.Counter[Outcome]] = {}
    for one in lines:
        counts.setdefault(key(one), collections.Counter())[one.outcome] += 1
    return [f"| {title} | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|",
            *(f"| {name} | {' | '.join(str(found[one]) if found[one] else '' for one in COLUMNS)} |"
              for name, found in sorted(counts.items())), ""]


def _listed(title: str, lines: Sequence[Tried]) -> list[str]:
    if not lines:
        return []
    return [f"## {title}", "", "| edit | function | from | to | what was seen | pairs | s |", "|---" * 7 + "|",
            *(f"| {one.name} | {one.function} | {_code(one.before)} | {_code(one.after)} | {_plain(_seen(one))} | "
              f"{one.pairs} | {one.seconds:.0f} |" for one in lines), ""]


def _seen(one: Tried) -> str:
    text = one.how or ", ".join(one.code_changed[:3])
    # Of what was missed the reason says something; of what was caught the target does.
    return text[:_SHOWN] if one.outcome in ("caught", "loud") else text


def _code(text: str) -> str:
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return f"`{_plain(short).replace('`', chr(39))}`" if short else ""


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
