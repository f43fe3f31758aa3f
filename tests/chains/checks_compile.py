"""Drawn cases of every Gluon target compile for sm_90, and leave the operations that they ask for in the IR."""

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tests.chains.drawn import cases
from tridiff.fuzz.judge.ir import cells, missing
from tridiff.fuzz.kinds.chains.cases import chain_of
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.workers.execute import Executor
from tridiff.kernels.gluon.chain import Chain, Fp4, Scan
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.gluon.layouts import Blocked
from tridiff.kernels.gluon.values import Tensor

BACKEND = "compile:sm_90"
COUNT = 5

executor = Executor(backend=BACKEND)


def known_defect(chain: Chain) -> bool:
    """Whether a chain contains what the corpus holds as a defect of one version: fp4_to_fp of a layout larger than the
    tensor (3.9.0: "failed to infer encoding"), a scan of one that gives a thread more than there is (3.6.0: an
    assertion about `numScanBlocks`)."""
    types = typed(chain)
    for step in chain.steps:
        if isinstance(step, Fp4 | Scan):
            source = types[step.source]
            assert isinstance(source, Tensor)
            layout = source.layout
            if isinstance(layout, Blocked) and isinstance(step, Scan):
                if any(n > extent for n, extent in zip(layout.size_per_thread, source.shape, strict=True)):
                    return True
            elif isinstance(step, Fp4):
                return installed().gathers
    return False


def ends_the_process(case: Case) -> bool:
    """Whether a case has the pattern of the known issue that aborts the compiler's process, and this one with it."""
    return any(one.name == "transposed-slice-of-linear-buffer" for one in issues_of(case, "own"))


def harmless(target: str) -> Iterator[Case]:
    """The first COUNT drawn cases that end no process."""
    return itertools.islice((one for one in cases(target, 4 * COUNT, 7) if not ends_the_process(one)), COUNT)


@cache
def outcomes(target: str) -> tuple[tuple[Case, Outcome], ...]:
    """Drawn cases, each compiled once for all checks."""
    found = []
    for case in harmless(target):
        outcome, spent = executor.execute(case, "own", backend=BACKEND)
        assert not spent
        found.append((case, outcome))
    return tuple(found)


def compiled(target: str) -> Counter[str]:
    """Verdicts of drawn cases; any failure that is not a known defect of the compiler is an error."""
    found: Counter[str] = Counter()
    for case, outcome in outcomes(target):
        found[outcome.verdict.value] += 1
        if outcome.verdict not in (Verdict.AGREE, Verdict.NOT_CHECKED):
            assert known_defect(chain_of(case)), (outcome.reason, case)
        if outcome.verdict is Verdict.AGREE:
            assert outcome.cells and outcome.compiled_kernels >= 1
        if outcome.verdict is Verdict.NOT_CHECKED:
            assert "no such gather, scatter or atomic" in outcome.reason, outcome.reason
    return found


def check_conversions():
    assert compiled("gluon.convert_layout")["agree"] == COUNT


def check_folds():
    assert compiled("gluon.reduce_scan_layouts")["agree"] >= COUNT - 4


def check_four_bit_floats():
    assert compiled("gluon.fp4")["agree"] >= COUNT - 2


def check_register_views():
    assert compiled("gluon.register_views")["agree"] == COUNT


def check_view_chains():
    assert compiled("gluon.view_chain")["agree"] == COUNT


def check_buffers():
    assert compiled("gluon.local_memory")["agree"] == COUNT


def check_gathers_and_atomics_where_the_version_has_them():
    has = installed()
    assert compiled("gluon.atomics")["agree" if has.atomics else "not_checked"] == COUNT
    found = compiled("gluon.gather_scatter")
    assert found["agree"] + found["not_checked"] == COUNT
    # What scatters values of another shape than its indices came with the atomics.
    assert (bool(found["agree"]), bool(found["not_checked"])) == (has.gathers, not has.atomics)


def check_scratch():
    assert compiled("gluon.global_scratch")["agree"] == COUNT


def check_a_planted_defect_compiles_too():
    for fault in ("subslice_shifted", "swizzle_mismatch", "order_not_transposed"):
        outcome, _ = executor.execute(cases("gluon.view_chain", COUNT, 7)[-1], f"own+fault:{fault}", backend=BACKEND)
        assert outcome.verdict is Verdict.AGREE, outcome.reason


def check_a_fault_without_a_place_is_declined():
    outcome, _ = executor.execute(cases("gluon.view_chain", COUNT, 7)[0], "own+fault:wrong_value", backend=BACKEND)
    assert outcome.verdict is Verdict.NOT_CHECKED and "no place" in outcome.reason


def check_the_ledger_sees_the_operations():
    seen: set[str] = set()
    for target in ("gluon.view_chain", "gluon.local_memory"):
        seen |= {cell for _, outcome in outcomes(target) for cell in outcome.cells}
    names = {cell.split()[1] for cell in seen}
    assert {"ttg.local_alloc", "ttg.local_load", "ttg.local_store", "ttg.memdesc_subslice", "ttg.memdesc_trans",
            "ttg.memdesc_index", "ttg.memdesc_reshape", "ttg.memdesc_reinterpret"} <= names
    assert len([cell for cell in seen if cell.startswith("ir ttg.local_load")]) >= 10
    assert missing("", ("ttg.local_load",)) == ("ttg.local_load",) and cells("") == ()
