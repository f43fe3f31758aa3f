"""Conversions between layouts of a tensor that stay within warps: where each bit of a register's and of a lane's number
goes. Pure Python."""

from typing import Literal

from tridiff.kernels.gluon.ownership import Holding

Bit = tuple[Literal["register", "lane"], int]
"""One bit of a register's or lane's number."""


def moves(source: Holding, target: Holding) -> dict[Bit, Bit] | None:
    """The bit of the target that moves over the elements which a bit of the source moves over; None when elements
    change their warp. Bits that only repeat elements stay where both have one, and go to each other in turn elsewhere;
    the side with fewer registers gets such bits in addition."""
    if source.warp != target.warp:
        return None
    own = [[basis for basis in one.register if any(basis)] for one in (source, target)]
    count = max(map(len, own))
    bases = [register + [()] * (count - len(register)) + [basis if any(basis) else () for basis in one.lane]
             for register, one in zip(own, (source, target), strict=True)]
    bits: list[Bit] = [("register", k) for k in range(count)] + [("lane", k) for k in range(len(source.lane))]
    there = {basis: bit for bit, basis in zip(bits, bases[1], strict=True) if basis}
    repeating = [{bit for bit, basis in zip(bits, side, strict=True) if not basis} for side in bases]
    found = {bit: there[basis] for bit, basis in zip(bits, bases[0], strict=True) if basis}
    found |= {bit: bit for bit in repeating[0] & repeating[1]}
    left, free = ([bit for bit in bits if bit in one - other] for one, other in (repeating, reversed(repeating)))
    return found | dict(zip(left, free, strict=True))


def low_bits_swapped_twice(source: Holding, target: Holding) -> bool:
    """Whether Triton 3.6.0 exchanges the two lowest bits of the register's number twice in converting elements of 8
    bits, of which it packs four into a register, within a warp (corpus, gluon.convert_layout). So it does for one bit
    that goes from registers to lanes, if the registers' own permutation is that exchange and either the bit is a higher
    one, or its lane bit is the only one that moves (then four elements travel by one shuffle)."""
    to = moves(source, target)
    crossing = [bit for bit in to or () if bit[0] == "register" and to and to[bit][0] == "lane"]
    if to is None or len(crossing) != 1 or len(to) - len(source.lane) < 3:
        return False

    def next_register(number: int) -> int:
        bit = to["register", number]
        while bit[0] == "lane":
            bit = to[bit]
        return bit[1]

    moving = [bit for bit in to if bit[0] == "lane" and to[bit] != bit]
    return (next_register(0), next_register(1)) == (1, 0) and (crossing[0][1] > 1 or len(moving) == 1)
