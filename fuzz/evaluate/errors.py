"""Why an evaluation ends early."""


class NotEvaluated(Exception):
    """The evaluator has no meaning for something in the text: a limit of it, no defect. what: named as in the text."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"not evaluated: {what}")


class BlockCondition(NotEvaluated):
    """A branch on a block of more than one element; regions of reductions are then run element by element."""

    def __init__(self) -> None:
        super().__init__("a branch on a block of several elements")


class OutOfBounds(Exception):
    """An active lane addresses memory outside of every array of the launch, or a misaligned address."""


class DeviceAssertFailed(Exception):
    """A `tt.assert` does not hold in some lane."""
