"""The one error type of this package."""


class OracleError(ValueError):
    """A reference or comparison was called in a way it cannot answer; the message says how to fix the
    call.
    """
