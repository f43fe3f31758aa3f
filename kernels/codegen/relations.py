"""What the nodes of a graph compute, and from what, as words: by these graphs are alike."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from tridiff.kernels.codegen.domains import operands
from tridiff.kernels.codegen.graph import Cast, Node, Store, real_number

SUBNORMAL = 2.0**-126
"""Smallest number of most floating-point types that has all its digits."""

NUMBERS = ("value", "other", "number")
"""Fields that hold a number as text: what matters is which kind of number."""

_SAID = ("dtype", "kind", "body", "mode")
"""Fields of a node whose text says what it does."""


def relations(nodes: Sequence[Node], dtypes: Sequence[Sequence[str]],
              buffers: Mapping[str, str]) -> list[frozenset[str]]:
    """For each node what it does, and of what, with and without dtypes ("mul of load", "mul fp16 of load fp16").
    dtypes: of the results of each; buffers: of the elements of each."""
    of = [_head(node) for node in nodes]
    typed = [typed_head(node, some, buffers) for node, some in zip(nodes, dtypes, strict=True)]
    return [frozenset((_said(node), *(f"{name[place]} of {name[number]}" for number in operands(node)
                                      for name in (of, typed)))) for place, node in enumerate(nodes)]


def typed_head(node: Node, dtypes: Sequence[str], buffers: Mapping[str, str]) -> str:
    """A node's operation with the dtypes of its results: "mul fp16", "cast bits i8", of a store "store fp32"."""
    bits = ("bits",) if isinstance(node, Cast) and node.bitcast else ()
    return " ".join((_head(node), *bits, *((buffers[node.buffer],) if isinstance(node, Store) else dtypes)))


def _head(node: Node) -> str:
    return str(getattr(node, "op", node.__struct_config__.tag))


def _said(node: Node) -> str:
    def texts(names: Sequence[str]) -> Iterator[str]:
        return (said for name in names if isinstance(said := getattr(node, name, None), str))

    return " ".join((_head(node), *texts(_SAID), *map(kind_of_number, texts(NUMBERS))))


def kind_of_number(text: str) -> str:
    """The kind of number that a text stands for; what is no number is itself."""
    try:
        number = real_number(text)
    except (OverflowError, ValueError):
        return text
    size = abs(number)
    kind = ("zero" if not size else text.strip("+-") if size != size or size in (1, inf)
            else "subnormal" if size < SUBNORMAL else "fraction" if size < 1 else "number")
    return f"{'-' if text.startswith('-') else ''}{kind}"
