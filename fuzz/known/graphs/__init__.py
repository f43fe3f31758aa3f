"""Known issues of generated programs: what Triton, LLVM or the assembler compiles wrong of the own generator's kernels,
and of those that torch.compile makes of the same programs.

Where it is known what is computed instead, that is predicted for every element, unless it meets what other elements
are on its way: a sum over lanes of which some are wrong is not predicted. There, and where nothing is known, the
control is the same program with a near relative of the form (`relative`).
"""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.known.graphs import extremum_forms, forms, index_forms, number_forms, options
from tridiff.fuzz.known.graphs.form import Form
from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage, Truth
from tridiff.kernels.codegen.graph import Cast, Graph
from tridiff.oracles.dtypes import FP8

_OWN = (("codegen.*", "own"), ("inductor.programs_*", "own"))
"""Where the options of a case are those of the launch: torch.compile takes its own."""
_WHERE = (*_OWN, ("inductor.programs_*", "inductor"))
_PREDICTED = "tridiff.fuzz.known.predictions.graphs"
Relative = Callable[[Case], Case | None]


def _issues(form: Form, name: str, *entries: str, title: str, stage: Stage, truth: Truth = "defect",
            upstream: tuple[str, ...] = (), predicted: str = "", behind: str = "", relative: Relative | None = None,
            errors: tuple[str, ...] = ()) -> tuple[KnownIssue, ...]:
    """The records of a form: with a prediction, two, the second for what spreads. behind: says in which outputs it
    shows, where it cannot be predicted how; the control must pass as well."""

    def record(match: Callable[[Case], bool], *, explains: str, control: Relative | None) -> KnownIssue:
        return KnownIssue(
            name=name, title=title, upstream=upstream, stage=stage, truth=truth, where=_WHERE, match=match,
            entries=() if predicted and not explains else tuple(
                one if "." in one else f"codegen.{one}" for one in entries),
            explains=f"{_PREDICTED}:{explains}" if explains else "", relative=control,
            instead=form.without if explains and control is None else None, errors=errors,
            kinds=() if errors else WRONG)

    control = record(form.spreads if predicted else form.has, explains=behind, control=relative or form.without)
    return (record(form.has, explains=predicted, control=None), control) if predicted else (control,)


def _without_known_sizes(case: Case) -> Case | None:
    """The same program, whose kernels are told its sizes when they are launched."""
    return options.scheduled(case, lambda one: replace(one, static=False))


def _without_fp8(case: Case) -> Case | None:
    """The same program with fp16 wherever something is converted to fp8."""
    graph = case.program
    assert isinstance(graph, Graph)
    buffers = tuple(replace(one, dtype="fp16") if one.role == "out" and one.dtype in FP8 else one
                    for one in graph.buffers)
    nodes = tuple(replace(node, dtype="fp16") if isinstance(node, Cast) and node.dtype in FP8 and not node.bitcast
                  else node for node in graph.nodes)
    made = rebuilt(case, replace(graph, buffers=buffers, nodes=nodes))
    return _legal(made) if made is not None else None


def _legal(case: Case) -> Case | None:
    return case if valid(case) else None


_LOST = partial(_issues, stage="ptxas", upstream=("pytorch#190973", "triton#11032"),
                title="an extremum of three loses the negation of an operand")
_HALF_USED = partial(_issues, stage="ptxas", upstream=("triton#11581",),
                     title="a packed sum of 16-bit integers of which half is used adds 0")
_LIMITED = partial(_issues, stage="ptxas", title="-|x| of 64 bits is taken for less than every negative constant")
_OF_FEW_BITS = partial(_issues, stage="llvm", title=(
    "an integer of few bits that fp16 has no room for is widened as it is, not as infinity"))
_MERGED = partial(_issues, stage="ptxas", behind="behind_a_folded_fp8",
                  title="of two equal pairs of fp8 only the lower one is written")

ISSUES = (
    *_issues(forms.OTHER, "masked-narrow-negative-other", "memory/value-c8ca17e52f", upstream=("triton#4597",),
             title="a negative `other` of a masked load of packed narrow integers is -1 in some lanes", stage="ttgir",
             predicted="other_repeated"),
    *_issues(forms.LDEXP, "library-abs-of-smallest-integer", "pointwise/value-85e738538f",
             title="ldexp by the constant -2^31 is undefined", stage="llvm", upstream=("llvm-project#183851",)),
    *_issues(forms.INTEGER_ABS, "library-abs-of-smallest-integer", "pointwise/value-9713959c18",
             title="libdevice's abs of the smallest integer is poison", stage="llvm", truth="undefined",
             upstream=("llvm-project#183851", "llvm-project#198646")),
    *_issues(forms.CUBE_ROOT, "cube-root-of-subnormals", "pointwise/nan-unexpected-a2318c74fe", stage="llvm",
             behind="behind_a_cube_root",
             title="libdevice.cbrt of a subnormal number is NaN"),
    *_issues(forms.LOP3, "lop3-of-one-register-twice", "mixed/value-1dd3521298",
             title="a lop3 of one register twice is fused with a wrong table", stage="ptxas", predicted="lop3_fused"),
    *_issues(forms.CHOICE, "choice-of-minus-zero", "pointwise/zero-sign-09fc3b6e38",
             title="a choice between 1.0 and -0.0 gives +0.0", stage="ptxas", predicted="choice_of_zero"),
    *_issues(number_forms.NEGATED_TRUTH, "negated-truth-is-plus-zero", "memory/zero-sign-3e8fe9f02b", stage="ptxas",
             predicted="negated_truth", title="-x of a truth value as a number is +0.0, not -0.0, where it is false"),
    *_issues(forms.REMAINDER, "frem-of-halves-cast", "indexing/sigabrt-89561c16c7", stage="llvm", errors=("SIGABRT",),
             title="% of widened halves that becomes the other half ends the compiler"),
    *_MERGED(forms.FOLDED_FP8, "fp8-pair-merged-with-a-stale-register", "scan/value-a9b5c5566c"),
    *_MERGED(forms.ALIKE_AS_FP8, "fp8-pair-merged-with-a-stale-register", relative=_without_fp8),
    *_issues(forms.BITS_TIMES, "float-and-integer-products-joined", "random/value-e9cf99de9c", stage="ptxas",
             title="a product of integers that are bits of float products is taken for one of floats"),
    *_issues(forms.TRUTH_AS_HALF, "bits-of-a-truth-as-a-half", "pointwise/value-7dffa9578f", stage="ptxas",
             title="the bits 1 and 0 are converted from bf16 as integers", predicted="truth_converted"),
    *_issues(forms.TRUTH_AS_FP16, "bits-of-a-truth-as-a-half", "memory/value-f62cbc5e25", stage="ptxas",
             title="the bits 1 and 0 are converted from fp16 as integers", predicted="fp16_converted"),
    *_issues(forms.TRUTH_AS_FLOAT, "bits-of-a-truth-as-a-half", "scan/value-62171a52ae", stage="ptxas",
             predicted="float_converted",
             title="the bits of 1.0 and 0.0 of single and double precision are converted as the integers 1 and 0"),
    *_LOST(extremum_forms.EXTREMUM_OF_THREE, "negation-lost-in-extremum-of-three", "pointwise/value-56a78a9862",
           predicted="negation_lost"),
    *_LOST(extremum_forms.EXTREMUM_OF_ROW, "negation-lost-in-extremum-of-three"),
    *_LOST(index_forms.EXTREMUM_IN_INDEX, "negation-lost-in-extremum-of-three", predicted="negation_lost_in_index"),
    *_LIMITED(forms.LIMIT, "limit-of-negated-abs", "pointwise/value-4264b32097", predicted="limit_taken"),
    *_LIMITED(index_forms.LIMIT_IN_INDEX, "limit-of-negated-abs", predicted="limit_taken_in_index"),
    *_issues(forms.BITS_AGAINST_ZERO, "comparison-of-cast-half", "mixed/sigabrt-eb31786672", stage="llvm",
             upstream=("llvm-project#198389",), errors=("SIGABRT",),
             title="a half that becomes the other half and is compared with 0 ends the compiler"),
    *_issues(forms.SIGN_OF_ABSOLUTE, "sign-of-integer-abs", "memory/value-e176781a2f", stage="ptxas",
             title="abs of an integer is taken for non-negative"),
    *_issues(forms.BITS_OF_ABSOLUTE, "bits-of-the-abs-of-nan", "pointwise/value-3dfa8fa221", stage="llvm",
             upstream=("llvm-project#219089",), title="abs.f64 leaves the sign of NaN, which LLVM takes for cleared"),
    *_issues(forms.ABS_OF_PRODUCT, "product-of-two-reads-is-a-square",
             "inductor.programs_pointwise/nan-unexpected-eb5e310c1d", stage="ptxas", predicted="abs_left_out",
             title="the absolute value of a product of two reads of one address is left out"),
    *_issues(forms.SIGN_OF_NEGATED, "negated-16-bit-integer-not-cut", "pointwise/value-a0b853c009", stage="ptxas",
             upstream=("llvm-project#160482",), title="-x of 16 bits is compared and shifted as a number of 32 bits"),
    *_issues(number_forms.SPECIALS_AS_BF16, "specials-of-fp8e5-to-bf16", stage="ttgir",
             title="infinities and NaNs of fp8e5 become numbers in bf16"),
    *_issues(number_forms.WIDENED_SIGN, "vectoriser-narrows-unsigned-of-signed", "pointwise/value-16fc4b2029",
             stage="llvm", predicted="sign_narrowed",
             title="what a signed number is as a wider unsigned one is converted from a narrower one"),
    *_OF_FEW_BITS(number_forms.HALF_OF_FEW_BITS, "half-of-few-bits-not-infinite", "pointwise/inf-8a225eb9ca",
                  predicted="not_infinite"),
    *_OF_FEW_BITS(number_forms.MET_HALF, "half-of-few-bits-not-infinite"),
    *_issues(number_forms.POWER_OF_HALFWORDS, "uniform-half-never-written", "pointwise/value-8943e2a99b", stage="ptxas",
             title="the last of four 16-bit integers is read from a uniform register that nothing writes"),
    *_issues(number_forms.NARROWED_OUTSIDE, "converted-half-compared-whole", "inductor.programs_scan/value-eb45ef0d67",
             stage="ptxas",
             title="a float that becomes a 16-bit integer is compared with another upper half of its register"),
    *_issues(extremum_forms.RELU, "packed-relu-of-extremum", "memory/value-32b0662f96", stage="ptxas",
             predicted="relu_left_out", title="relu of a packed extremum of 16-bit integers is left out"),
    *_issues(forms.FP8_EXPONENT, "fp8-pair-read-early", "mixed/value-8f34b2b733", stage="ptxas",
             title="a pair of fp8 whose bits are an exponent is read before it is written"),
    *_HALF_USED(forms.HALF_OF_SUMS, "packed-sum-half-used", "scan/value-fec3dd5676", relative=_without_known_sizes),
    *_HALF_USED(forms.SUM_USED_TWICE, "packed-sum-half-used", predicted="constant_left_out"),
    *_HALF_USED(index_forms.SUM_IN_INDEX, "packed-sum-half-used", "pointwise/value-5d67e5e56e",
                predicted="constant_left_out_in_index"),
    *_issues(forms.PLACE_AS_TRUTH, "place-of-a-search-as-truth", "sort/value-3cf93dba58", stage="ptxas",
             behind="behind_a_searched_truth",
             title="whether a searched place is 0 comes into the logic behind it with a wrong table"),
    *_issues(forms.SUBNORMAL, "reflection-folds-a-call-twice", "pointwise/sigsegv-cbe2bc56d1", stage="llvm",
             upstream=("llvm#81471",), errors=("SIGSEGV", "SIGABRT"),
             title="a library function of a subnormal constant ends the compiler"),
    KnownIssue(
        name="library-pow-contracted", title="libdevice's pow of single precision is contracted",
        upstream=("pytorch#175594",), stage="llvm", truth="accuracy", where=_OWN,
        entries=("codegen.pointwise/value-580f48d91e",), match=options.contracted, relative=options.uncontracted),
    KnownIssue(
        name="poison-lane-spills-into-a-row", title="a lane of poison spills into the row that a program writes",
        stage="llvm", where=_OWN, entries=("codegen.mixed/value-06961659fa",), backends=("cuda",),
        match=options.writes_rows_in_pairs, relative=options.with_wide_indices, kinds=(*WRONG, "out_of_bounds")),
    KnownIssue(
        name="calls-among-spilled-registers", title="calls among many spilled registers mix up elements",
        stage="ptxas", where=_OWN, entries=("codegen.memory/value-8f05b3e1c9",),
        match=options.spilled, relative=options.unspilled),
    KnownIssue(
        name="scan-registers-apart", title="a scan takes registers for neighbours that are none", stage="ttgir",
        where=_OWN, entries=("inductor.programs_scan/value-9054253878",), backends=("cuda",),
        match=options.scans_blocks, relative=options.with_pointers),
    KnownIssue(
        name="interpreter-sums-beyond-32-bits", stage="interpreter", backends=("interpreter",),
        where=(("codegen.*", "own"),), entries=("codegen.reduction/overflowerror--python-in-07480b52ab",), kinds=(),
        match=options.sums_to_a_number, relative=options.with_a_row_left,
        errors=("OverflowError: Python integer * out of bounds for *",),
        title="the interpreter raises where a sum leaves its type of 32 bits"),
    KnownIssue(
        name="library-abs-of-two-widths", title="libdevice's abs of 32 and of 64 bits in one kernel, for AMD",
        stage="ttgir", where=_WHERE, entries=("codegen.memory/llvm-call--op-operand-t-c848909c5a",),
        match=options.two_widths_of_abs, errors=("'llvm.call' op operand type mismatch for operand *",)),
    KnownIssue(
        name="reused-value-does-not-dominate", title="remove-layout-conversions uses a value before it is computed",
        upstream=("triton#8257",), stage="ttgir", where=_WHERE,
        entries=("codegen.mixed/operand--n-does-not-domi-01f9469a4d",
                 "inductor.programs_scan/arith-andi--op-requires-ef679c0b9b"), match=lambda case: True,
        errors=("operand #N does not dominate this use",
                "'*' op requires the same encoding for all operands and results")),
    KnownIssue(
        name="buffer-atomic-of-a-single-half", title="an atomic addition of halves ends the compiler for AMD",
        upstream=("triton#7011",), stage="ttgir", where=_WHERE,
        entries=("codegen.reduction/sigabrt-c6b75c25a0",), match=options.adds_halves,
        relative=options.without_sums_of_halves, errors=("SIGABRT",), kinds=()),
    KnownIssue(
        name="choice-of-bf16-pairs", title="a choice between computed bf16 numbers ends the compiler for AMD",
        stage="llvm", where=_WHERE, entries=("codegen.scan/sigabrt-63f2f12421",),
        match=options.chooses_bf16, relative=options.with_chosen_fp32, errors=("SIGABRT",), kinds=()),
)


def label(case: Case) -> str:
    """What signatures call the known form in a case, the last node's if there are several; "" if there is none."""
    graph = case.program
    assert isinstance(graph, Graph)
    return forms.named(graph) or ("pow, fused" if options.contracted(case) else "") or (
        "calls among spilled registers" if options.spilled(case) else "")
