"""The full text of an error. Test support."""

from collections.abc import Callable

from tridiff.fuzz.backends.device_errors import chain


def error_of(call: Callable[[], object]) -> str:
    """Types and messages of the exception that `call` raises and of its causes; AssertionError if it raises none.

    A failed static_assert inside a helper surfaces as the cause of an error that only points at the call, and so does
    what an interpreted kernel raises.
    """
    try:
        call()
    except Exception as error:  # (which type is raised differs between Triton versions)
        return "\n".join(f"{type(one).__name__}: {one}" for one in chain(error))
    raise AssertionError("nothing was raised")
