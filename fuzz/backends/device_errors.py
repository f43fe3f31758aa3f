"""What an exception of a launch, or one that it wraps, says about the device and the tools for it."""

import re

_ADDRESS = re.compile(r"\b0x[0-9a-f]+|<generated [^>]*>|(?:/[\w.@-]+)+/| id='\d+'")
_COMPARED = re.compile(r"(?<=instances of )('[\w.]+') and ('[\w.]+')")

DEVICE_ASSERTED = "device-side assert triggered"
"""In full: torch ends its account of every CUDA error with advice about device-side assertions."""


def chain(error: BaseException) -> list[BaseException]:
    """The exception and those that it was raised from or while handling, outermost first."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def plainly(text: str) -> str:
    """A text of Triton's in one line, without addresses and folders, which are not the same twice. Nor is it which of
    two types Python names first that it cannot compare, where what it sorts was in a set."""
    text = _COMPARED.sub(lambda found: " and ".join(sorted(found.groups())), _ADDRESS.sub("", text))
    return " ".join(text.replace("; ", ", ").split())


def refusal(error: BaseException) -> str:
    """The kinds of an error and of what it came of, and the beginning of the last one's words."""
    errors = chain(error)
    return f"refused: {' '.join(type(one).__name__ for one in errors)}: {plainly(str(errors[-1]))[:160]}"


def asserted_on_the_device(error: BaseException) -> bool:
    """Whether the error, or one that it wraps, says that an assertion stopped a kernel."""
    return any(DEVICE_ASSERTED in str(one) for one in chain(error))


def without_assembler(error: BaseException) -> bool:
    """Whether the error, or one that it wraps, says that the installation has no ptxas for the chip, or not the
    libraries of its vendor: some packages have the one for newer chips alone, or what one vendor needs."""
    return any("Cannot find ptxas" in str(one) or (isinstance(one, OSError) and _LIBRARY.search(str(one)))
               for one in chain(error))


_LIBRARY = re.compile(r"triton/backends/\w+/lib/\S+: cannot open shared object file")


def too_few_registers(error: BaseException) -> bool:
    """Whether the error, or one that it wraps, is ptxas saying that an instruction needs more registers than the
    limit that was asked for leaves to a thread."""
    return any("Insufficient registers (" in str(one) and "register target of" in str(one) for one in chain(error))
