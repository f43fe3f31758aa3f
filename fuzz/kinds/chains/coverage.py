"""What a campaign counts of chains, by digest: pairs of layouts converted between, chains of views looked through."""

import hashlib
from collections.abc import Iterator

import msgspec

from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import VIEW_STEPS, Alloc, Chain, Convert, Read, Step, Store
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.layouts import Distributed
from tridiff.kernels.gluon.values import Tensor

LAYOUT_PAIR, VIEW_CHAIN = "#layout pair", "#view chain"


def _digest(*parts: object) -> str:
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=6).hexdigest()


def counted(case: Case) -> tuple[str, ...]:
    """Cells of the ledger. A pair is two different layouts, whatever the tensor. A chain is a buffer (type, shape,
    layout, slots) and the views behind it, one or more, through which elements are read or written."""
    chain = case.program
    assert isinstance(chain, Chain)
    return tuple(sorted({*_pairs(chain), *_views(chain)}))


def features(case: Case) -> tuple[str, ...]:
    """Names in files of the chain's steps and of the layouts in its registers, its element types, "1 warps"."""
    chain = case.program
    assert isinstance(chain, Chain)
    found: set[str] = {f"{chain.warps} warps", *(one.dtype for one in chain.arrays)}
    for step in chain.steps:
        found.add(str(step.__struct_config__.tag))
        layout = getattr(step, "layout", None)
        if isinstance(layout, Distributed):
            found.add(str(layout.__struct_config__.tag))
    return tuple(sorted(found))


def _pairs(chain: Chain) -> Iterator[str]:
    types = typed(chain)
    for step in chain.steps:
        if isinstance(step, Convert):
            source = types[step.source]
            if isinstance(source, Tensor) and source.layout is not None and source.layout != step.layout:
                yield f"{LAYOUT_PAIR} {_digest(source.layout, step.layout)}"


def _views(chain: Chain) -> Iterator[str]:
    paths: dict[int, tuple[Step, ...]] = {}
    for number, step in enumerate(chain.steps):
        if isinstance(step, Alloc):
            paths[number] = (msgspec.structs.replace(step, source=msgspec.UNSET),)
        elif isinstance(step, VIEW_STEPS):
            paths[number] = (*paths[step.view], msgspec.structs.replace(step, view=0))
        elif isinstance(step, Read | Store) and len(paths[step.view]) > 1:
            yield f"{VIEW_CHAIN} {_digest(*paths[step.view])}"
