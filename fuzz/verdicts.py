"""Exceptions by which a launch tells its verdict: whoever launches or judges may raise them."""


class WrittenTwice(Exception):
    """An output element was written more than once. where: the array's name."""

    def __init__(self, problem: str, where: str) -> None:
        self.where = where
        super().__init__(problem)


class Refuted(Exception):
    """A launch shows a defect by other means than its outputs: a sanitizer's report, IR that is not what was asked.

    kind and where go into the signature. spent: the process can run nothing more.
    """

    def __init__(self, kind: str, where: str, problem: str, *, spent: bool = False) -> None:
        self.kind, self.where, self.spent = kind, where, spent
        super().__init__(problem)


class Declined(Exception):
    """The subject does not take this case, for the reason in the text: not a failure, and not a pass."""
