"""The full text of a compilation error. Test support."""

from collections.abc import Callable


def compilation_error(build: Callable[[], object]) -> str:
    """The messages of the exception that `build` raises and of its causes; AssertionError if it raises none.

    A failed static_assert inside a helper surfaces as the cause of an error that only points at the call.
    """
    try:
        build()
    except Exception as error:  # (which type is raised differs between Triton versions)
        messages = []
        cause: BaseException | None = error
        while cause is not None:
            messages.append(f"{type(cause).__name__}: {cause}")
            cause = cause.__cause__ or cause.__context__
        return "\n".join(messages)
    raise AssertionError("the kernel compiled")
