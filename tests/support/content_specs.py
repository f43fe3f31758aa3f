"""A fixed set of arrays whose bits are recorded in tests/snapshots/content_checksums.json.

Every base and every override, in every element type. The same file is compared on the CPU and on the GPU: that
is what "the same case gives the same bits on every machine" means.
"""

import json
from pathlib import Path

import torch

from tridiff.fuzz.content.generate import patterns
from tridiff.fuzz.content.place import checksum
from tridiff.fuzz.records import (
    ArraySpec,
    Base,
    Bits,
    Constant,
    Content,
    Explicit,
    Finite,
    Iota,
    Mixture,
    Permutation,
    Put,
    Small,
    Special,
    Sprinkle,
    Tie,
    TieSprinkle,
)
from tridiff.oracles.dtypes import NAMES

SNAPSHOT = Path(__file__).resolve().parents[1] / "snapshots" / "content_checksums.json"
SIZES = {"rows": 37, "cols": 53}

_BASES: dict[str, Base] = {
    "constant": Constant(value="1"), "iota": Iota(start=-70, step=3, per_row=-2), "bits": Bits(seed=11),
    "small": Small(seed=12, low=-9, high=9), "finite": Finite(seed=13, low=-20, high=20), "special": Special(seed=14),
    "permutation": Permutation(seed=15), "mixture": Mixture(seed=16),
    "explicit": Explicit(values=("0", "1", "1", "0", "1")),
}
_OVERRIDES = (
    Put(value="1", column=3), Put(value="0", column=5, row=7), Tie(source=2, to=9),
    Sprinkle(values=("0", "1"), seed=17, per_mille=150), TieSprinkle(seed=18, per_mille=300),
)


def specs() -> dict[str, ArraySpec]:
    """Name to array: every base plain, and with all overrides on top of a row offset."""
    found: dict[str, ArraySpec] = {}
    for dtype in NAMES:
        for name, base in _BASES.items():
            found[f"{dtype} {name}"] = ArraySpec(name="x", dtype=dtype, dims=("rows", "cols"),
                                                 content=Content(base=base))
        found[f"{dtype} overridden"] = ArraySpec(
            name="x", dtype=dtype, dims=("rows", "cols"), first_row=1_000_003,
            content=Content(base=Bits(seed=19), overrides=_OVERRIDES))
    return found


def checksums(device: torch.device) -> dict[str, str]:
    """Name to checksum in hexadecimal."""
    return {name: f"{checksum(patterns(spec, SIZES, device=device)):016x}" for name, spec in specs().items()}


def recorded() -> dict[str, str]:
    """What the snapshot holds: per element type the checksums of its arrays, in the order of `specs`."""
    return dict(zip(specs(), " ".join(json.loads(SNAPSHOT.read_text()).values()).split(), strict=True))


if __name__ == "__main__":
    rows: dict[str, list[str]] = {}
    for name, one in checksums(torch.device("cpu")).items():
        rows.setdefault(name.split()[0], []).append(one)
    SNAPSHOT.write_text(json.dumps({name: " ".join(row) for name, row in rows.items()}, indent=0) + "\n")
