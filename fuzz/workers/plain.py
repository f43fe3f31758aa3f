"""Which repairs of the interpreter a case lacks that fails without any."""

from collections.abc import Callable
from dataclasses import fields

from tridiff.fuzz.interpreter import Repairs
from tridiff.fuzz.known.plain import word


def lacking(agrees: Callable[[Repairs], bool]) -> tuple[str, ...]:
    """Names of the known issues of the one repair, or else of the fewest, with which the case agrees: found by leaving
    out one after another. () if it fails with all of them too, or if nothing tells which it is.

    agrees: whether the case is right with these repairs in force.
    """
    switches = [one.name for one in fields(Repairs)]
    alone = next((one for one in switches if agrees(Repairs.none().but(**{one: True}))), None)
    if alone is not None:
        return (word(alone),)
    if not agrees(Repairs()):
        return ()
    needed = list(switches)
    for one in switches:
        fewer = [other for other in needed if other != one]
        if agrees(Repairs.none().but(**dict.fromkeys(fewer, True))):
            needed = fewer
    return tuple(word(one) for one in needed)
