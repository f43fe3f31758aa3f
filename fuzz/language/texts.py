"""How operands and options stand in the source of a call."""

from tridiff.kernels.language.call import Call
from tridiff.kernels.pointwise.record import TRITON_NAMES


def argument(call: Call, number: int) -> str:
    """An operand: its name, or the literal of a number."""
    operand = call.operands[number]
    if operand.kind != "number":
        return f"x{number}"
    return f"({operand.number})" if operand.number.startswith("-") else operand.number


def arguments(call: Call) -> str:
    """All operands in order."""
    return ", ".join(argument(call, number) for number in range(len(call.operands)))


def keywords(call: Call, *names: str) -> str:
    """`, name=value` for the options that the call has; where it has none, Triton's default speaks."""
    return "".join(f", {name}={_value(call.options[name])}" for name in names if name in call.options)


def _value(value: bool | int | str) -> str:
    if isinstance(value, str):
        return TRITON_NAMES.get(value, repr(value))
    return str(value)
