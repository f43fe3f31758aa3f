"""Index expressions as torch text: int64, float64 and bool tensors over `torch.arange` of the axes."""

import re

import torch

from tridiff.fuzz.inductor.programs.size_text import symbolic
from tridiff.fuzz.kinds.graphs import torch_expressions
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Apply, Expr, Sym
from tridiff.kernels.codegen.ranges import COMPARISONS, symbols

_OPERATORS = {"add": "+", "mul": "*", "and": "&", "or": "|"} | COMPARISONS
_TO_INTEGER = {"floor": "floor", "floor_to_int": "floor", "ceiling": "ceil", "ceil_to_int": "ceil",
               "trunc_to_int": "trunc", "round_to_int": "round"}


def axes_in(expr: Expr) -> set[str]:
    """Axes that an expression mentions."""
    return {name for name in symbols(expr) if name == "r" or re.fullmatch(r"x\d", name)}


def mentions(text: str, name: str) -> bool:
    """Whether a name occurs in program text."""
    return re.search(rf"\b{name}\b", text) is not None


def tensor(expr: Expr, analysis: Analysis) -> str:
    """The expression as text of a tensor with one dimension per axis."""
    text, is_tensor = _Text(analysis).of(expr)
    if is_tensor:
        return text
    kind = {"int": "int64", "bool": "bool", "real": "float64"}[analysis.facts.of(expr).kind]
    return full(text, kind, len(analysis.axes))


def full(text: str, dtype: str, rank: int) -> str:
    """Text of a tensor of one element, of a torch dtype."""
    return f"torch.full({(1,) * rank}, {text}, dtype=torch.{dtype}, device=device)"


class _Text:
    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def _kind(self, expr: Expr) -> str:
        return self._analysis.facts.of(expr).kind

    def of(self, expr: Expr) -> tuple[str, bool]:
        """(text, whether it is a tensor); what depends on no axis and no value is a Python number, written with the
        names of the sizes where that can be."""
        names = symbols(expr)
        if names <= self._analysis.sizes.keys():
            sizes = {name: torch.tensor(value) for name, value in self._analysis.sizes.items()}
            value = torch_expressions.evaluate(expr, sizes).item()
            return (symbolic(expr, self._analysis.sizes, value) if names else None) or _literal(value), False
        if isinstance(expr, Sym):
            if expr.name in self._analysis.axes:
                return expr.name, True
            wide = self._analysis.dtype(int(expr.name[1:])) == "i64"
            return expr.name if wide else f"{expr.name}.to(torch.int64)", True
        assert isinstance(expr, Apply), expr
        return self._apply(expr), True

    def _real(self, expr: Expr) -> tuple[str, bool]:
        """As a double: an integer tensor that meets a real is converted, a number is one already."""
        text, is_tensor = self.of(expr)
        if self._kind(expr) == "real":
            return text, is_tensor
        if is_tensor:
            return f"{text}.double()", True
        digits = text.strip("(-)")
        return (text.replace(digits, f"{digits}.0") if digits.isdigit() else f"float({text})"), False

    def _apply(self, expr: Apply) -> str:
        name, args = expr.function, expr.args
        real = any(self._kind(one) == "real" for one in args)
        take = self._real if real else self.of
        if name in _OPERATORS:
            return f"({f' {_OPERATORS[name]} '.join(take(one)[0] for one in args)})"
        if name in ("min", "max"):
            return self._extremum(name, [take(one) for one in args])
        if name == "where" and not self.of(args[0])[1]:
            # A condition on sizes alone is decided already.
            chosen = args[1] if self.of(args[0])[0] == "True" else args[2]
            text, is_tensor = self._real(chosen) if self._kind(expr) == "real" else self.of(chosen)
            return text if is_tensor else tensor(chosen, self._analysis)
        if name == "where":
            return f"torch.where({self.of(args[0])[0]}, {', '.join(self._branches(args[1], args[2]))})"
        if name in ("neg", "not"):
            return f"({'-' if name == 'neg' else '~'}{self.of(args[0])[0]})"
        if name == "abs":
            return f"torch.abs({self.of(args[0])[0]})"
        if name in _TO_INTEGER:
            text = self.of(args[0])[0]
            return f"torch.{_TO_INTEGER[name]}({text}).to(torch.int64)" if real else text
        if name == "to_float":
            return self._real(args[0])[0]
        if name == "round_decimal":
            return f"torch.round({self._real(args[0])[0]}, decimals={self.of(args[1])[0]})"
        if name in ("int_true_div", "float_true_div", "float_pow"):
            return self._doubles(name, args[0], args[1])
        if len(args) == 1:
            return f"torch.{name}({self._real(args[0])[0]})"
        return self._integers(name, args)

    def _branches(self, a: Expr, b: Expr) -> tuple[str, str]:
        kinds = {self._kind(a), self._kind(b)}
        if kinds == {"int", "real"}:
            return self._real(a)[0], self._real(b)[0]
        (one, first), (two, second) = self.of(a), self.of(b)
        if not first and not second and "real" in kinds:
            return f"torch.full((), {one}, dtype=torch.float64, device=device)", two  # two floats would make fp32
        return one, two

    @staticmethod
    def _extremum(name: str, parts: list[tuple[str, bool]]) -> str:
        tensors = [text for text, is_tensor in parts if is_tensor]
        found = tensors[0]
        for text in tensors[1:]:
            found = f"torch.{name}imum({found}, {text})"
        for text, is_tensor in parts:
            if not is_tensor:
                found = f"{found}.clamp({'max' if name == 'min' else 'min'}={text})"
        return found

    def _doubles(self, name: str, a: Expr, b: Expr) -> str:
        (one, first), (two, _) = self._real(a), self._real(b)
        if not first:
            # A number in front would be multiplied by a reciprocal.
            one = f"torch.full_like({two}, {one})"
        return f"torch.pow({one}, {two})" if name == "float_pow" else f"({one} / {two})"

    def _integers(self, name: str, args: tuple[Expr, ...]) -> str:
        (x, first), y = self.of(args[0]), self.of(args[1])[0]
        if not first:
            x = f"torch.full_like({y}, {x})"
        match name:
            case "pow_by_natural":
                return f"({x} ** {y})"
            case "floordiv" | "cleandiv":
                return f'torch.div({x}, {y}, rounding_mode="floor")'
            case "ceildiv":
                return f'(-torch.div(-{x}, {y}, rounding_mode="floor"))'
            case "mod" | "python_mod":
                return f"torch.remainder({x}, {y})"
        assert name == "modular_indexing", name
        return f'torch.remainder(torch.div({x}, {y}, rounding_mode="floor"), {self.of(args[2])[0]})'


def _literal(value: bool | int | float) -> str:
    if isinstance(value, bool | int):
        return str(value) if value >= 0 else f"({value})"
    return repr(value) if value - value == 0 else f'float("{value}")'
