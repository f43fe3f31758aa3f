"""Names of kernels: what they do, in words, and which text they are (codegen.md §12)."""

import hashlib

from tridiff.kernels.codegen.graph import Asm, Bucketize, Graph, Pointwise, Random, Reduce, Scan, Schedule, Sort

PLACEHOLDER = "KERNEL_NAME"
LONGEST = 60
_CATEGORIES = {"persistent": "per", "looped": "red", "split": "spl", "cooperative": "coo"}


def operations(graph: Graph) -> list[str]:
    """What the nodes compute, each kind once, in order of appearance."""
    found: dict[str, None] = {}
    for node in graph.nodes:
        if isinstance(node, Pointwise):
            found[node.op] = None
        elif isinstance(node, Reduce):
            found[node.kind] = None
        elif isinstance(node, Scan):
            found[f"scan_{node.combine}"] = None
        elif isinstance(node, Random):
            found[node.kind] = None
        elif isinstance(node, Sort | Bucketize | Asm):
            found[type(node).__name__.lower()] = None
    return list(found)


def descriptive(graph: Graph, schedule: Schedule) -> str:
    """`triton_poi_add_exp`: category and operations, cut after whole words."""
    category = _CATEGORIES[schedule.reduction] if graph.r is not None else "poi"
    name = f"triton_{category}"
    for word in operations(graph):
        if len(name) + len(word) + 1 > LONGEST:
            break
        name += f"_{word}"
    return name


def digest(*parts: object) -> str:
    """Eight bytes that tell different texts apart, in hexadecimal."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def named(source: str, description: str) -> tuple[str, str]:
    """(name, source): the placeholder replaced by a name that ends in a digest of the text, so that equal bodies share
    one definition and different ones never do."""
    name = f"{description}_{digest(source)[:8]}"
    return name, source.replace(PLACEHOLDER, name)
