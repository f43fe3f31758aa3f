"""The full text of an error. Test support."""

from collections.abc import Callable


def error_of(call: Callable[[], object]) -> str:
    """Types and messages of the exception that `call` raises and of its causes; AssertionError if it raises none.

    A failed static_assert inside a helper surfaces as the cause of an error that only points at the call, and so does
    what an interpreted kernel raises.
    """
    try:
        call()
    except Exception as error:  # (which type is raised differs between Triton versions)
        messages = []
        cause: BaseException | None = error
        while cause is not None:
            messages.append(f"{type(cause).__name__}: {cause}")
            cause = cause.__cause__ or cause.__context__
        return "\n".join(messages)
    raise AssertionError("nothing was raised")
