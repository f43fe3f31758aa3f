"""Executes simple PTX on the CPU, one thread after the other, to see what compiled code computes without a GPU.

Covers what element-wise kernels compile to: integer arithmetic, the basic operations on fp32 and fp64, comparison,
selection, conversions, predicates, branches, global loads and stores. No shared memory, no exchange between threads,
no half-precision arithmetic: such instructions raise Unsupported rather than guess. Float results are right for special
values and may differ from the hardware in the last place (fma rounds twice, approximate division is exact), and fp32
subnormals are never flushed. What ptxas makes of the PTX is not covered.
"""

import math
import operator
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

REGISTER_BITS = {"p": 1, "rs": 16, "r": 32, "rd": 64}
REGISTER = re.compile(r"%(rd|rs|r|p)\d+")
FLOAT_CODES = {16: "<e", 32: "<f", 64: "<d"}
# What a register holds that was never written: the compiler left it undefined, because no result depends on it. A
# conspicuous pattern instead of 0 lets a result that does depend on it come out wrong.
UNDEFINED = 0xA5A5A5A5A5A5A5A5
SPACING = 1 << 32  # between the base addresses of arrays, so that a stray address hits nothing

INTEGER_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul.lo": operator.mul, "mul.wide": operator.mul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "min": min, "max": max}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


class Unsupported(Exception):
    """The PTX contains something this interpreter does not execute."""


@dataclass(frozen=True)
class Instruction:
    """One line of PTX: `@[!]guard opcode operands;`."""

    guard: str | None
    negated: bool
    opcode: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """The body of the only entry point; labels map to positions, parameters to their place in the signature."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    parameters: Mapping[str, int]


def parse(text: str) -> Program:
    """Raises Unsupported unless the text has exactly one entry point and no other function."""
    functions = re.findall(r"^(?:\.visible )?\.(?:entry|func)\b", text, re.MULTILINE)
    if len(functions) != 1:
        raise Unsupported(f"{len(functions)} functions")
    names = re.findall(r"\.param [^\n]*?(\w+_param_\d+)\s*[,\n)]", text)
    body = text[text.index("\n{") : text.index("\n}")]
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for raw in body.splitlines():
        line = raw.split("//")[0].strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(instructions)
        elif line.endswith(";") and not line.startswith("."):
            match = re.fullmatch(r"(?:@(!?)(%p\d+)\s+)?([\w.:]+)\s*(.*);", line)
            if match is None:
                raise Unsupported(line)
            negation, guard, opcode, rest = match.groups()
            operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest)
            instructions.append(Instruction(guard, bool(negation), opcode, tuple(operands)))
    return Program(tuple(instructions), labels, {name: number for number, name in enumerate(names)})


def signed(value: int, bits: int) -> int:
    """The low `bits` of value in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def as_number(value: int, kind: str, bits: int) -> Any:
    """The low `bits` of a register read as signed, unsigned or floating point."""
    if kind == "s":
        return signed(value, bits)
    value &= (1 << bits) - 1
    if kind == "f":
        return struct.unpack(FLOAT_CODES[bits], value.to_bytes(bits // 8, "little"))[0]
    return value


def truncated_division(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder rounded toward zero. Division by zero, which PTX leaves unspecified, is Unsupported."""
    if b == 0:
        raise Unsupported("a zero divisor reached the division")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def element_type(opcode: str) -> tuple[str, int, int]:
    """(b|u|s|f, bits, lanes) from the last type in an opcode; predicates are 1 bit."""
    if opcode.endswith(".pred"):
        return "b", 1, 1
    found = re.findall(r"\b([busf])(\d+)(x2)?\b", opcode)
    if not found:
        raise Unsupported(opcode)
    kind, bits, pair = found[-1]
    return kind, int(bits), 2 if pair else 1


def parts_of(operand: str) -> list[str]:
    """The registers of `{a, b}`; of a plain register, itself."""
    return operand.strip("{} ").replace(" ", "").split(",")


def part_bits(parts: Sequence[str]) -> int:
    """The width of the registers in a packed operand, of which some may be `_`."""
    match = next((REGISTER.fullmatch(part) for part in parts if part != "_"), None)
    if match is None:
        raise Unsupported(f"packed operand {parts}")
    return REGISTER_BITS[match.group(1)]


def compared(relation: str, a: Any, b: Any) -> bool:
    """An ordered comparison, `nan`, `num`, or with suffix u the unordered one."""
    unordered = isinstance(a, float) and (math.isnan(a) or math.isnan(b))
    if relation in ("nan", "num"):
        return unordered if relation == "nan" else not unordered
    if relation in COMPARISONS:
        return not unordered and COMPARISONS[relation](a, b)
    if relation.endswith("u") and relation[:-1] in COMPARISONS:
        return unordered or COMPARISONS[relation[:-1]](a, b)
    raise Unsupported(f"setp.{relation}")


def permuted(a: int, b: int, selector: int) -> int:
    """prmt.b32 in its default mode."""
    source = (b & 0xFFFFFFFF) << 32 | a & 0xFFFFFFFF
    result = 0
    for position in range(4):
        choice = selector >> (4 * position) & 0xF
        byte = source >> (8 * (choice & 7)) & 0xFF
        replicated = 0xFF if byte & 0x80 else 0
        result |= (replicated if choice & 8 else byte) << (8 * position)
    return result


def integer_result(name: str, modifiers: Sequence[str], numbers: Sequence[int], kind: str, bits: int) -> int:
    """The result before it is wrapped into its register."""
    full = f"{name}.{modifiers[0]}" if modifiers[0] in ("lo", "wide", "hi") else name
    if full in INTEGER_OPERATIONS:
        return INTEGER_OPERATIONS[full](numbers[0], numbers[1])
    if full in ("div", "rem"):
        return truncated_division(numbers[0], numbers[1])[full == "rem"]
    if full in ("shl", "shr"):
        # The amount is unsigned whatever the type of the shifted number, and saturates.
        amount = min(numbers[1] & 0xFFFFFFFF, bits)
        return numbers[0] << amount if full == "shl" else numbers[0] >> amount
    if full == "not":
        return ~numbers[0]
    if full in ("neg", "abs"):
        return -numbers[0] if full == "neg" or numbers[0] < 0 else numbers[0]
    if full in ("mad.lo", "mad.wide"):
        return numbers[0] * numbers[1] + numbers[2]
    if full == "mul.hi":
        return numbers[0] * numbers[1] >> bits
    if full == "bfi":
        field = (1 << numbers[3]) - 1
        return numbers[1] & ~(field << numbers[2]) | (numbers[0] & field) << numbers[2]
    if full == "bfe":
        field = (numbers[0] & ((1 << bits) - 1)) >> numbers[1] & ((1 << numbers[2]) - 1)
        return signed(field, numbers[2]) if kind == "s" else field
    raise Unsupported(f"{full} on {kind}{bits}")


def float_result(name: str, numbers: Sequence[float], opcode: str, bits: int) -> Any:
    """The result of a basic operation, as numpy's fp32 or fp64."""
    kind = {32: np.float32, 64: np.float64}.get(bits)
    if kind is None or "sat" in opcode or ".ftz" in opcode:
        raise Unsupported(opcode)
    a, b = np.float64(numbers[0]), np.float64(numbers[1]) if len(numbers) > 1 else np.float64(0)
    with np.errstate(all="ignore"):
        if name == "fma":
            return kind(a * b + np.float64(numbers[2]))
        if name in ("add", "sub", "mul", "div"):
            operation = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}[name]
            return kind(operation(kind(a), kind(b)))
        if name in ("neg", "abs"):
            return kind(-a if name == "neg" else abs(a))
    raise Unsupported(opcode)


class Memory:
    """The arrays, each at a base address of its own; an access outside them is Unsupported."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self._bytes = [array.reshape(-1).view(np.uint8) for array in arrays]

    def _at(self, address: int, size: int) -> NDArray[np.uint8]:
        number, offset = address // SPACING - 1, address % SPACING
        if not 0 <= number < len(self._bytes) or offset + size > len(self._bytes[number]) or offset % size:
            raise Unsupported(f"access to {size} bytes at {address:#x}: outside every array, or unaligned")
        return self._bytes[number][offset : offset + size]

    def load(self, address: int, size: int) -> int:
        return int.from_bytes(self._at(address, size).tobytes(), "little")

    def store(self, address: int, size: int, value: int) -> None:
        self._at(address, size)[:] = np.frombuffer((value & ((1 << 8 * size) - 1)).to_bytes(size, "little"), np.uint8)


class Thread:
    """The registers of one thread and the instructions' effects on them."""

    def __init__(self, memory: Memory, special: Mapping[str, int]) -> None:
        """special: parameters by name, and registers such as %tid.x."""
        self.registers: dict[str, int] = {}
        self.memory = memory
        self.special = special

    def read(self, operand: str) -> int:
        """The bits of a register, parameter or literal; a negative literal is wrapped by whoever uses it."""
        if operand in self.registers:
            return self.registers[operand]
        if operand in self.special:
            return self.special[operand]
        if operand.startswith("%"):
            return UNDEFINED
        if operand.lower().startswith(("0d", "0f")):
            return int(operand[2:], 16)
        return int(operand.rstrip("U"), 0)

    def write(self, register: str, value: int) -> None:
        match = REGISTER.fullmatch(register)
        if match is None:
            raise Unsupported(f"destination {register}")
        self.registers[register] = value & ((1 << REGISTER_BITS[match.group(1)]) - 1)

    def execute(self, opcode: str, operands: tuple[str, ...]) -> None:
        """Everything but control flow."""
        name, *modifiers = opcode.split(".")
        if name in ("ld", "st"):
            self.access(name, modifiers, operands)
        elif name == "mov":
            self.move(*operands)
        elif name == "cvt":
            if len(operands) != 2:
                raise Unsupported(opcode)
            self.convert(modifiers, *operands)
        elif name == "selp":
            self.write(operands[0], self.read(operands[1] if self.read(operands[3]) else operands[2]))
        elif name == "prmt":
            self.write(operands[0], permuted(*(self.read(operand) for operand in operands[1:])))
        else:
            self.compute(opcode, operands[0], [self.read(operand) for operand in operands[1:]])

    def compute(self, opcode: str, target: str, words: Sequence[int]) -> None:
        """Comparisons and integer arithmetic, one lane or two."""
        name, *modifiers = opcode.split(".")
        kind, bits, lanes = element_type(opcode)
        if name == "setp":
            a, b = (as_number(word, kind, bits) for word in words)
            self.write(target, int(compared(modifiers[0], a, b)))
            return
        if kind == "f":
            result = float_result(name, [as_number(word, kind, bits) for word in words], opcode, bits)
            self.write(target, int.from_bytes(result.tobytes(), "little"))
            return
        # A wide product is added to a number of its own width.
        widths = [bits, bits, 2 * bits if modifiers[0] == "wide" else bits, bits]
        result = 0
        for lane in range(lanes):
            numbers = [as_number(word >> lane * bits, kind, width) for word, width in zip(words, widths, strict=False)]
            value = integer_result(name, modifiers, numbers, kind, bits)
            result |= value if lanes == 1 else (value & ((1 << bits) - 1)) << lane * bits
        self.write(target, result)

    def move(self, target: str, source: str) -> None:
        """Between registers, or packing and unpacking equal parts of one."""
        if target.startswith("{"):
            parts = parts_of(target)
            for position, part in enumerate(parts):
                if part != "_":
                    self.write(part, self.read(source) >> position * part_bits(parts))
        elif source.startswith("{"):
            parts = parts_of(source)
            bits = part_bits(parts)
            words = [self.read(part) & ((1 << bits) - 1) for part in parts]
            self.write(target, sum(word << position * bits for position, word in enumerate(words)))
        else:
            self.write(target, self.read(source))

    def convert(self, modifiers: Sequence[str], target: str, source: str) -> None:
        """Between integer widths, sign-extending into a wider register; integers to fp32 and fp64, to nearest."""
        to, by = (re.fullmatch(r"([suf])(\d+)", text) for text in modifiers[-2:])
        if to is None or by is None or by[1] == "f" or "sat" in modifiers:
            raise Unsupported(".".join(["cvt", *modifiers]))
        value = as_number(self.read(source), by[1], int(by[2]))
        if to[1] == "f":
            number = np.float32(value) if to[2] == "32" else np.float64(value)
            value = int.from_bytes(number.tobytes(), "little")
        else:
            value = as_number(value, to[1], int(to[2]))
        self.write(target, value)

    def access(self, name: str, modifiers: Sequence[str], operands: tuple[str, ...]) -> None:
        """ld.param, ld.global and st.global, scalar and vector."""
        kind, bits, _ = element_type(modifiers[-1])
        if (name, modifiers[0]) == ("ld", "param"):
            self.write(operands[0], as_number(self.read(operands[1].strip("[]")), kind, bits))
            return
        if modifiers[0] != "global":
            raise Unsupported(f"{name}.{modifiers[0]}")
        where, what = (operands[1], operands[0]) if name == "ld" else operands
        base, _, offset = where.strip("[]").replace(" ", "").partition("+")
        address = self.read(base) + int(offset or 0)
        registers = parts_of(what)
        if address % (len(registers) * bits // 8):
            raise Unsupported(f"unaligned access at {address:#x}")
        for position, register in enumerate(registers):
            here = address + position * (bits // 8)
            if name == "ld":
                self.write(register, as_number(self.memory.load(here, bits // 8), kind, bits))
            else:
                self.memory.store(here, bits // 8, self.read(register))


def launch(text: str, arguments: Sequence[NDArray[Any] | int], *, threads: int, programs: int = 1) -> None:
    """Runs the PTX; contiguous arrays among the arguments are pointers and are written in place.

    arguments: the run-time arguments in order (no constexprs); further parameters of the entry are 0.
    Raises Unsupported for what is not executed, and for accesses outside the arrays.
    """
    program = parse(text)
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    memory = Memory(arrays)
    bases = iter(range(SPACING, SPACING * (len(arrays) + 1), SPACING))
    values = [next(bases) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    parameters = {name: values[n] if n < len(values) else 0 for name, n in program.parameters.items()}
    for program_id in range(programs):
        for tid in range(threads):
            special = {"%tid.x": tid, "%ctaid.x": program_id, "%ctaid.y": 0, "%ctaid.z": 0}
            run_thread(program, Thread(memory, {**parameters, **special}))


def run_thread(program: Program, thread: Thread) -> None:
    """One thread from entry to `ret`; Unsupported after 100,000 instructions."""
    position = 0
    for _ in range(100_000):
        step = program.instructions[position]
        position += 1
        if step.guard is not None and bool(thread.read(step.guard)) == step.negated:
            continue
        if step.opcode == "ret":
            return
        if step.opcode in ("bra", "bra.uni"):
            position = program.labels[step.operands[0]]
        else:
            thread.execute(step.opcode, step.operands)
    raise Unsupported("no end after 100,000 instructions")
