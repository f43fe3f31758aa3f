"""Memory orders that compiled kernels carry, read from PTX.

A missing release or acquire shows as a wrong value only where memory happens to reorder; an H200 kept the order of a
relaxed arrival in every one of 212 launches. What the instructions promise can be read. `completion`: shared memory
that a bulk store still reads may only be given up behind a wait for it, on every way to the end, and an H200 was
always fast enough. `fence`: a proxy fence between writes of threads to shared memory and a copy or product that reads
it through the async proxy (TMA, wgmma); one that the compiler inserted counts. `fence of writes`: one such fence on
every way from a write to a bulk store, for kernels whose threads write nothing else there. `fence of reads`: between
threads' reads of shared memory and the arrival that lets another partition's copy write there. `at most 1 products`:
no wait for tensor cores leaves more under way, whose operands would be written over; an H200's tensor cores were
faster than any copy that came too early.
"""

import re

from tridiff.fuzz.judge.ptx_flow import leads
from tridiff.fuzz.target.memory_orders import PRODUCTS, MemoryOrder

_GIVES: dict[str, tuple[MemoryOrder, ...]] = {
    "release": ("release",), "acquire": ("acquire",), "acq_rel": ("release", "acquire"), "sc": ("release", "acquire")}
_ORDERED = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:atom|red|ld|st|fence)\.((?:\w+(?:::\w+)?\.)*\w+)", re.MULTILINE)
_OLDER_FENCE = re.compile(r"^\s*(?:@!?%\w+\s+)?membar\.(?:gl|sys);", re.MULTILINE)
_WIDE = {"gpu", "sys"}
_BULK_STORE = re.compile(r"^\s*(?:@!?%\w+\s+)?cp\.(?:reduce\.)?async\.bulk\.[\w.]*?global\.shared::cta", re.MULTILINE)
_ALL_DONE = re.compile(r"^\s*(?:@!?%\w+\s+)?cp\.async\.bulk\.wait_group(?:\.read)?\s+0\s*;", re.MULTILINE)
_WRITE = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:st\.(?:\w+\.)*shared|stmatrix)", re.MULTILINE)
_FENCE = re.compile(r"^\s*(?:@!?%\w+\s+)?fence\.proxy\.async", re.MULTILINE)
_LEFT = re.compile(r"^\s*wgmma\.wait_group\.sync\.aligned\s+(\d+)\s*;", re.MULTILINE)
_HANDING_BACK = re.compile(
    r"\b(?:(?P<read>ld\.shared|ldmatrix)|(?P<given>mbarrier\.arrive(?!\S*expect_tx))|mbarrier\.try_wait|fence\.proxy\.async)")


def _reads_are_fenced(ptx: str) -> bool:
    """Whether no slot is given back behind reads of it, since the last wait, without a fence between."""
    read = False
    for match in _HANDING_BACK.finditer(ptx):
        if read and match["given"]:
            return False
        read = bool(match["read"])
    return True


def missing_orders(ptx: str, wanted: tuple[MemoryOrder, ...]) -> tuple[MemoryOrder, ...]:
    """Those of the wanted orders that the code does not carry, among all programs of the device for release and
    acquire, as the module says for the others; empty text lacks none, because nothing can be said about it (PTX ISA,
    memory consistency model, proxies, cp.async.bulk.wait_group and wgmma.wait_group)."""
    if not ptx or not wanted:
        return ()
    carried: set[str] = {"release", "acquire"} if _OLDER_FENCE.search(ptx) else set()
    stores = bool(_BULK_STORE.search(ptx))
    if "fence of writes" in wanted and not leads(ptx, _WRITE, past=_FENCE, to=_BULK_STORE):
        carried.add("fence of writes")
    if "completion" in wanted and not leads(ptx, _BULK_STORE, past=_ALL_DONE):
        carried.add("completion")
    if "fence of reads" in wanted and _reads_are_fenced(ptx):
        carried.add("fence of reads")
    if "fence.proxy.async" in ptx or (not stores and "wgmma.mma_async" not in ptx):
        carried.add("fence")
    carried.update(PRODUCTS[max(map(int, _LEFT.findall(ptx)), default=0):])
    for match in _ORDERED.finditer(ptx):
        words = set(match[1].split("."))
        if words & _WIDE and "proxy" not in words:
            carried.update(order for word in words for order in _GIVES.get(word, ()))
    return tuple(order for order in wanted if order not in carried)
