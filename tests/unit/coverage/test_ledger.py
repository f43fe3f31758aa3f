"""From IR text to cells, and from records to what has never been seen."""

import json
import lzma
import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from tests.support.refusals import refused
from tridiff.fuzz.cli.app import app
from tridiff.fuzz.coverage.declared import DECLARED, TTG, flavour
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.coverage.show import MOST_BYTES, different, ledgers, seen, thin, write_ledger
from tridiff.fuzz.judge.ir import cells, missing, operations
from tridiff.fuzz.judge.ptx_orders import missing_orders
from tridiff.fuzz.records import pretty_json
from tridiff.fuzz.target.memory_orders import PRODUCTS, MemoryOrder

each = pytest.mark.parametrize
IR = """
#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#shared3 = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %4 = ttg.convert_layout %3 : tensor<8x16xi32, #blocked> -> tensor<8x16xi32, #linear> loc(#loc)
    %5 = ttg.local_alloc : () -> !ttg.memdesc<2x16x32xf16, #shared1, #smem, mutable> loc(#loc)
    %6 = ttg.memdesc_index %5[%c1] : !ttg.memdesc<2x16x32xf16, #shared1, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared1, #smem, mutable>
    %7 = ttg.memdesc_subslice %6[8, 0] : !ttg.memdesc<16x32xf16, #shared1, #smem, mutable> -> !ttg.memdesc<8x32xf16, #shared1, #smem, mutable, 16x32>
    %8 = ttg.memdesc_trans %6 {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared3, #smem, mutable>
    %9 = ttg.local_load %8 : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> tensor<16x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %10 = ttg.memdesc_reinterpret %6 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x16xi32, #shared, #smem, mutable>
    %11 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %12 = arith.addi %a, %b : i32
      tt.reduce.return %12 : i32
    }) : (tensor<8x16xi32, #linear>) -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #linear}>>
    %13 = ttg.local_atomic_scatter_rmw or, %6[%i], %v {axis = 1 : i32} : (!ttg.memdesc<8x16xi32, #shared, #smem, mutable>, tensor<8x16xi32, #blocked>, tensor<8x16xi32, #blocked>) -> tensor<8x16xi32, #blocked>
    %14 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 512 : i32} : !tt.ptr<i8>
    ttg.barrier all loc(#loc)
    %15 = ttg.async_copy_global_to_local %p, %6 mask %m {cachePolicy = #tt.cache_policy<cache_modifier = cg>} : tensor<16x32x!tt.ptr<f16>, #blocked> -> <16x32xf16, #shared1, #smem, mutable>
    %16 = ttng.reinterpret_tensor_descriptor %14 : !tt.ptr<i8> to !tt.tensordesc<tensor<16x32xf16, #shared2>>
    ttng.init_barrier %7, 128 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttg.warp_specialize(%14) attributes {requestedRegisters = array<i32: 24>}
    default {
      ttng.wait_barrier %7, %c0_i32_3, %true deps %6 : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<16x32xf16, #shared2, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%arg3: !tt.ptr<i8>) num_warps(2) {
      ttng.arrive_barrier %7, 3, %10 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttg.warp_return
    } : (!tt.ptr<i8>) -> ()
    ttng.barrier_expect %7, 512, %true_1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
}
"""  # noqa: E501


def test_cells_name_elements_layouts_ranks_and_attributes():
    assert set(cells(IR)) == {
        "ir ttg.convert_layout i32 blocked>linear 2d", "ir ttg.local_alloc fp16 swizzled 3d",
        "ir ttg.memdesc_index fp16 swizzled 3d>2d", "ir ttg.memdesc_subslice fp16 swizzled 2d at=+0",
        "ir ttg.memdesc_trans fp16 nvmma64t>padded 2d order=1,0", "ir ttg.local_load fp16 nvmma64t>dot0(mma3) 2d",
        "ir ttg.memdesc_reinterpret fp16>i32 plain 2d", "ir tt.reduce i32 linear>slice(linear) 2d>1d axis=1",
        "ir ttg.local_atomic_scatter_rmw i32 plain>blocked 2d or axis=1",
        "ir ttg.global_scratch_alloc alignment=128 nbytes=512", "ir ttg.barrier all",
        "ir ttg.warp_specialize registers=24", "ir ttng.init_barrier i64 plain 1d (128) warps=4",
        "ir ttg.async_copy_global_to_local *fp16>fp16 blocked>swizzled 2d mask cache_modifier=cg",
        "ir ttng.reinterpret_tensor_descriptor fp16 nvmma64t 2d",
        "ir ttng.wait_barrier i64>fp16 plain>nvmma64t 1d>2d (0 true) deps warps=4 default",
        "ir ttng.arrive_barrier i64 plain 1d (3 ?) warps=2 partition",
        "ir ttng.barrier_expect i64 plain 1d (512 true) warps=4",
        "ir ttg.warp_yield", "ir ttg.warp_return", "ir ttg.warp_specialize.partitions num_warps=2 captures=1",
    }


def test_operations_are_found_by_their_whole_names():
    assert "ttg.local_load" in operations(IR) and "ttg.local" not in operations(IR)
    wanted = ("ttg.local_load", "ttg.local_gather", "ttg.warp_specialize.partitions")
    assert missing(IR, wanted) == ("ttg.local_gather",)


@each("text", ["", "module {", "#a = #ttg.slice<{dim = 0, parent = #a}>\n ttg.x : tensor<4xi32, #a>",
                                  "%0 = ttg.local_load %1 : !ttg.memdesc<", "ttg.local_load " * 1000])
def test_text_that_is_not_understood_makes_no_error(text: str):
    assert isinstance(cells(text), tuple)


def test_the_table_names_every_operation_of_the_dialect_once():
    assert len(TTG) == 27
    names = [one.name for one in DECLARED]
    assert len(set(names)) == len(names)
    assert [flavour(version) for version in ("3.6.0", "3.9.0", "3.10.0+git")] == ["old", "new", "new"]


def record(folder: Path, version: str, reached: dict[str, dict[str, dict[str, int]]]) -> None:
    (folder / version).mkdir(parents=True)
    (folder / version / "ledger.json").write_text(pretty_json(Ledger(triton=version, reached=reached)))


def shown(records: Path, *options: str) -> str:
    return CliRunner().invoke(app, ["targets", "--ir", "--records", str(records), *options]).stdout


def test_what_ran_what_was_compiled_and_what_was_never_seen(tmp_path: Path):
    load = {f"ir ttg.local_load fp16 plain>blocked {k}d": 2 for k in range(25)}
    record(tmp_path, "3.9.0", {"cuda": {"gluon.view_chain": load | {"ramp": 1}},
                               "compile:sm_90": {"gluon.view_chain": {"ir ttg.memdesc_trans fp16 plain 2d": 1}}})
    record(tmp_path, "3.6.0", {"compile:sm_90": {"x": {"ir ttg.local_load i8 plain>blocked 1d": 3}}})
    table = seen(ledgers(tmp_path))
    declared = {one.name: one for one in DECLARED}
    assert table["ttg.local_load"]["3.9.0"].status == "run" and table["ttg.local_load"]["3.9.0"].cases == 50
    assert not thin(declared["ttg.local_load"], table["ttg.local_load"]["3.9.0"])
    assert thin(declared["ttg.local_load"], table["ttg.local_load"]["3.6.0"])
    assert table["ttg.memdesc_trans"]["3.9.0"].status == "compiled"
    assert table["ttg.memdesc_trans"]["3.6.0"].status == "never seen"
    assert table["ttg.local_gather"]["3.6.0"].status == "absent"
    assert table["ttg.local_gather"]["3.9.0"].status == "never seen"
    assert table["ttg.mask"]["3.9.0"].status == "between passes"
    assert table["ttng.async_tma_gather"]["3.9.0"].status == "needs sm_100"
    rows = {(one["operation"], one["triton"]): one["status"] for one in json.loads(shown(tmp_path, "--json"))}
    assert rows["ttg.local_load", "3.9.0"] == "run" and len(rows) == 2 * len(DECLARED)
    text = shown(tmp_path)
    assert "never seen" in text and "ttg.local_gather" in text


def test_a_folder_without_a_ledger_says_what_to_do(tmp_path: Path):
    with refused("no ledger"):
        ledgers(tmp_path)


def test_counts_of_different_ones_are_those_of_the_largest_campaign_on_a_device(tmp_path: Path):
    def of(triton: str, backend: str, number: int) -> Ledger:
        return Ledger(triton=triton, different={backend: {"t": {"view chain": number}}})

    records = [of("3.9.0", "cuda", 7), of("3.9.0", "cuda", 9), of("3.9.0", "compile:sm_90", 99), of("3.6.0", "cuda", 3)]
    assert different(records) == {"3.9.0": {"view chain": 9}, "3.6.0": {"view chain": 3}}
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "ledger.json").write_text(pretty_json(records[1]))
    assert "Triton 3.9.0: different ones judged in one campaign: 9 (view chain)" in shown(tmp_path)


def test_ledgers_are_equal_files_and_united_by_their_digests(tmp_path: Path):
    def of(*digests: str) -> Ledger:
        return Ledger(triton="3.9.0", reached={"cuda": {"t": {f"ir ttg.x {k}": k for k in range(2000)}}},
                      different={"cuda": {"t": {"view chain": len(digests)}}},
                      digests={"cuda": {"t": {"view chain": "".join(digests)}}})

    one, other = of("0" * 12, "1" * 12), of("1" * 12, "2" * 12)
    for name, ledger in (("a", one), ("b", other), ("c", one)):
        (tmp_path / name).mkdir()
        write_ledger(tmp_path / name, ledger)
    assert (tmp_path / "a" / "ledger.json").read_bytes() == (tmp_path / "c" / "ledger.json").read_bytes()
    assert ledgers(tmp_path) == [one, other, one]
    assert different(ledgers(tmp_path)) == {"3.9.0": {"view chain": 3}}
    for name in "abc":
        (tmp_path / name / "digests.json").unlink()
    assert different(ledgers(tmp_path)) == {"3.9.0": {"view chain": 2}}


def test_packed_ledgers_are_read_as_far_as_they_are_ledgers(tmp_path: Path):
    """A packed file of a few kilobytes may stand for gigabytes, or for nothing; a pipe never ends."""
    ledger = Ledger(triton="3.9.0", reached={"cuda": {"t": {"ir ttg.x": 1}}}, digests={"cuda": {"t": {"x": "0" * 12}}})
    path = tmp_path / "a" / "ledger.json.xz"
    path.parent.mkdir()
    path.write_bytes(lzma.compress(pretty_json(replace(ledger, digests={})).encode()))
    path.with_name("digests.json.xz").write_bytes(lzma.compress(pretty_json(ledger).encode()))
    assert ledgers(tmp_path) == [ledger]
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    with refused(r"a/ledger\.json\.xz cannot be unpacked"):
        ledgers(tmp_path)
    bomb = lzma.LZMACompressor(preset=0)
    path.write_bytes(b"".join(bomb.compress(b" " * (1 << 20)) for _ in range(MOST_BYTES // (1 << 20) + 1))
                     + bomb.flush())
    assert path.stat().st_size < 64 << 10
    with refused(r"unpacks to more than 33,554,432 bytes"):
        ledgers(tmp_path)
    path.unlink()
    os.mkfifo(path.with_name("ledger.json"))
    with refused(r"a/ledger\.json: is not a regular file"):
        ledgers(tmp_path)


@each("line, carried", [
    ("@%p1 atom.global.gpu.release.add.u32 %r1, [ %rd1 + 0 ], %r2;", ("release",)),
    ("ld.global.gpu.acquire.b32 %r1, [%rd1];", ("acquire",)),
    ("ld.acquire.sys.global.b64 %rd2, [%rd1];", ("acquire",)),
    ("atom.acq_rel.gpu.global.exch.b64 %rd2, [%rd1], %rd3;", ("release", "acquire")),
    ("fence.sc.gpu;", ("release", "acquire")), ("membar.gl;", ("release", "acquire")),
    # Not among all programs, or no order at all.
    ("atom.shared::cta.cta.acq_rel.add.u32 %r1, [%r2], 1;", ()), ("fence.acq_rel.cta;", ()), ("membar.cta;", ()),
    ("atom.global.gpu.relaxed.add.u32 %r1, [%rd1], 1;", ()), ("ld.global.b32 %r1, [%rd1];", ()),
    ("fence.proxy.alias.gpu;", ()), ("// atom.release.gpu", ()),
])
def test_memory_orders_in_ptx(line: str, carried: tuple[str, ...]):
    wanted: tuple[MemoryOrder, ...] = ("release", "acquire")
    assert missing_orders(f".visible .entry k()\n{{\n\t{line}\n}}", wanted) == tuple(
        order for order in wanted if order not in carried)
    assert missing_orders("", wanted) == missing_orders(line, ()) == ()


@each("lines, complete", [
    ("", True), ("S W0", True), ("S", False), ("W0 S", False), ("S W1", False), ("S W0 S W1", False),
    ("S W1 S W0", True)])
def test_bulk_stores_are_awaited_in_ptx(lines: str, complete: bool):
    spelled = {"S": "@%p7 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd25, {%r25, %r28}], [%r30];",
               "W0": "cp.async.bulk.wait_group.read \t0;", "W1": "cp.async.bulk.wait_group.read \t1;"}
    text = "\n".join(["@%p6 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r23], [%rd24];",
                      *(f"\t{spelled[one]}" for one in lines.split())])
    assert missing_orders(text, ("completion",)) == (() if complete else ("completion",))


STORE = "\t@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group [%rd1, {%r30, %r31}], [%r24];"
WAIT = "\tcp.async.bulk.wait_group.read \t0;"
BEHIND = ("{\n\t@%p1 bra \t$L1;\n\tbra.uni $L3;\n$L2:\n{wait}\n\tret;\n$L1:\n$L3:\n{store}\n\t@%p2 bra $L3;\n"
          "\tbra.uni $L2;\n}")
PARTITIONS = ("{\n$L0:\n\t$L_t: .branchtargets\n\t\t$L1,\n\t\t$L2,\n\t\t$L3;\n\tbrx.idx \t%r7, $L_t;\n"
              "$L1:\n\tbra.uni $L0;\n$L2:\n{store}\n{wait}\n\tbra.uni $L0;\n$L3:\n\tret;\n}")
ASSEMBLY = ("{\n{store}\n{\nwaitLoop:\n\tmbarrier.try_wait.parity.shared.b64 complete, [%r1], %r2;\n"
            "\t@!complete bra.uni waitLoop;\n}\n{wait}\n{\nwaitLoop:\n\t@!complete bra.uni waitLoop;\n}\n\tret;\n}")
SKIPPED = "{\n{store}\n\t@%p1 bra $L1;\n{wait}\n$L1:\n\tret;\n}"


@each("text, wait, complete", [
    (BEHIND, WAIT, True), (BEHIND, "", False), (BEHIND, WAIT.replace("0", "1"), False), (PARTITIONS, WAIT, True),
    (PARTITIONS, "", False), (ASSEMBLY, WAIT, True), (ASSEMBLY, "", False), (SKIPPED, WAIT, False)],
    ids=str)
def test_bulk_stores_are_awaited_on_every_way_to_the_end(text: str, wait: str, complete: bool):
    """Wherever LLVM puts the blocks; among partitions, which a table of branches chooses from."""
    ptx = text.replace("{store}", STORE).replace("{wait}", wait)
    assert missing_orders(ptx, ("completion",)) == (() if complete else ("completion",))


@each("lines, fenced", [
    ("", True), ("W F S", True), ("W S", False), ("F W S", False), ("S W", True), ("L W S F B", False),
    ("L W F S B", True), ("L F S W B", True), ("L S F W B", False), ("L S W F B", True)])
def test_writes_are_fenced_on_every_way_to_a_bulk_store(lines: str, fenced: bool):
    spelled = {"W": "\tst.shared.v4.b32 \t[%r4], {%r3};", "F": "\tfence.proxy.async.shared::cta;", "S": STORE,
               "L": "$L1:", "B": "\t@%p1 bra $L1;"}
    text = "\n".join([*(spelled[one] for one in lines.split()), "\tret;"])
    assert missing_orders(text, ("fence of writes",)) == (() if fenced else ("fence of writes",))


@each("lines, fenced", [
    ("T R F A", True), ("T R A", False), ("T R A F", False), ("T F R A", False), ("T A R", True), ("R T A", True),
    ("T R X F A A", True), ("T R X A", False)])
def test_reads_are_fenced_before_their_slot_is_given_back(lines: str, fenced: bool):
    spelled = {"T": "mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2;", "R": "ld.shared.v4.b32 {%r3}, [%r4];",
               "F": "fence.proxy.async.shared::cta;", "A": "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r45];",
               "X": "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 64;"}
    text = "\n".join(f"\t{spelled[one]}" for one in lines.split())
    assert missing_orders(text, ("fence of reads",)) == (() if fenced else ("fence of reads",))


@each("lines, most", [("", 0), ("0", 0), ("1 0", 1), ("0 2 1 0", 2), ("3", 3), ("4 0", 4)])
def test_no_wait_leaves_more_products_under_way(lines: str, most: int):
    text = "\n".join(["wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%r1}, %rd1;\nfence.proxy.async;",
                      *(f"\twgmma.wait_group.sync.aligned {left};" for left in lines.split())])
    assert missing_orders(text, PRODUCTS) == PRODUCTS[:most]


@each("text, there", [
    ("wgmma.mma_async.sync", False), ("fence.proxy.async.shared::cta;\nwgmma.mma_async.sync", True), ("ret;", True),
    ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1];", False),
    ("cp.async.bulk.tensor.2d.shared::cta.global [%r1];", True)])
def test_only_what_reads_shared_memory_by_itself_needs_a_fence(text: str, there: bool):
    assert missing_orders(text, ("fence",)) == (() if there else ("fence",))
