"""Known issue of descriptors made in several branches: since 3.9.0 one lane fills them in a branch. Where two are
filled alike but for their type, LLVM shares what follows, and ptxas (12.8 to 13.4) may lose that all lanes meet there.
"""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.records import Case, Together
from tridiff.fuzz.versions import within
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def _of_one_type(launch: Together) -> tuple[Case, ...]:
    """Of calls alike in row, width and rank those with the type of the first."""
    types: dict[object, str] = {}

    def first(case: Case) -> bool:
        call = call_of(case)
        one = call.operands[0]
        return one.dtype == types.setdefault((call.row, dtype(one.dtype).bits, len(one.shape)), one.dtype)

    shown = within(launch.triton, since="3.9") and launch.cases[0].options.num_warps == 1
    return tuple(case for case in launch.cases if not shown or first(case))


def _of_several_types(case: Case) -> bool:
    """Whether branches of one warp make descriptors of types alike in width."""
    if not isinstance(case.program, Call) or case.program.row != "descriptor.branches" or case.options.num_warps > 1:
        return False
    wide = [one.endswith("64") for one in str(case.program.options["types"]).split("_")]
    return max(wide.count(True), wide.count(False)) > 1


def _of_four_warps(case: Case) -> Case:
    return case.under(replace(case.options, num_warps=4))


ISSUES = (
    KnownIssue(
        name="descriptors-used-before-they-are-filled", stage="ptxas", where=(("language.descriptors", "own"),),
        title="lanes use a descriptor before it is filled where another branch makes one of another type",
        match=_of_several_types, relative=_of_four_warps, together=_of_one_type, errors=("illegal_instruction",),
        backends=("cuda",), entries=("language.descriptors/illegal-instruction-b0237184ab",)),
)
