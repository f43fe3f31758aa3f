"""Known issues of kernels that must be refused. The control is the same kernel without what is wrong."""

from collections.abc import Callable

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage
from tridiff.fuzz.statements.refusing import mended
from tridiff.kernels.language.refusal import Refusal


def _of(*rows: str) -> Callable[[Case], bool]:
    return lambda case: isinstance(case.program, Refusal) and case.program.row in rows and not case.program.mended


def _issue(name: str, *rows: str, entries: tuple[str, ...], title: str, errors: tuple[str, ...],
           stage: Stage = "front-end") -> KnownIssue:
    return KnownIssue(name=name, title=title, stage=stage, where=(("language.refusals", "own"),),
                      entries=tuple(f"language.refusals/{one}" for one in entries), match=_of(*rows), relative=mended,
                      errors=errors, kinds=())


ISSUES = (
    _issue("errors-about-tensors-ask-for-a-decorator", "index_tensor", "hint_of_tensor",
           entries=("another-reason--valueerr-274a433c70",
                    "another-reason--valueerr-c3e740feac",),
           title="an index or hint that is a tensor is refused with `Did you forget to add @triton.jit ?`",
           errors=("another reason: ValueError in wrapper",)),
    _issue("simultaneous-assignment-names-no-line", "two_targets",
           entries=("no-line-named--typeerror-48a1da45fa",),
           title="`a = b = c` is refused without the line", errors=("no line named: TypeError in visit_Assign",)),
    _issue("argmax-of-a-scalar-fails-inside", "argmax_of_scalar", stage="language",
           entries=("unclear--indexerror-in-427f221474",),
           title="tl.argmax of a scalar ends in an IndexError inside of Triton",
           errors=("unclear: IndexError in __getitem__",)),
    _issue("folds-of-python-numbers-fail-inside", "reduction_of_number", "scan_of_number", stage="language",
           entries=("unclear--attributeerror-3361a77b38", "unclear--attributeerror-e832cddeff"),
           title="tl.reduce and tl.associative_scan of a Python number end in an AttributeError inside of Triton",
           errors=("unclear: AttributeError in __getitem__",)),
    _issue("unpacking-does-not-count", "too_few_values", "too_many_values", "unpacked_tensor", "starred_target",
           entries=("accepted-7b1bc8abad",
                    "unclear--assertionerror-bf733675f5",
                    "unclear--attributeerror-98592cbb4a",
                    "unclear--indexerror-in-596f2654e9",),
           title="unpacking takes what it needs of a longer tuple, and fails inside on a shorter one, a tensor, a star",
           errors=("accepted", "unclear: IndexError*", "unclear: AttributeError*", "unclear: AssertionError*")),
    _issue("too-many-indices-accepted", "index_too_many",
           entries=("accepted-3a5075903c",),
           title="x[:, :] of a line is taken as the line",
           errors=("accepted",)),
    _issue("operator-in-has-no-name", "contained",
           entries=("unclear--attributeerror-17e32c31c2",),
           title="`in` is refused with an AttributeError of the syntax tree",
           errors=("unclear: AttributeError*",)),
    _issue("nested-function-stops-an-iteration", "nested_function",
           entries=("unclear--stopiteration-i-83e588c706",),
           title="a function within a kernel is refused with an empty StopIteration", errors=("unclear: StopIter*",)),
    _issue("field-of-a-tuple-names-no-line", "no_such_field",
           entries=("no-line-named--attribute-c4895a5d99",),
           title="a field that a tuple lacks is refused without the line", errors=("no line named: AttributeError*",)),
    _issue("assertions-without-a-text", "split_odd", "split_of_three", "cat_without_reorder", "descriptor_stored_shape",
           entries=("unclear--assertionerror-bb76963837",
                    "unclear--assertionerror-ee6ad76b06",
                    "unclear--assertionerror-f37a7c3275",
                    "unclear--assertionerror-79aff9d276",),
           title="tl.split, tl.cat and stores to descriptors fail assertions without a text for other shapes",
           errors=("unclear: AssertionError*",)),
    _issue("masks-of-loads-are-checked-late", "load_mask_of_numbers",
           entries=("no-line-named--runtimeer-c8ac20a79a",),
           title="tl.load takes a mask of numbers, which only the verifier of the IR refuses, without the line",
           errors=("no line named: RuntimeError*",)),
    _issue("atomics-are-checked-late", "atomic_of_larger_block", "atomic_larger_mask",
           entries=("no-line-named--runtimeer-c50eff8c25", "no-line-named--runtimeer-fc9fff2fac"),
           title="an atomic of one place takes a block or a mask of several, which only the verifier refuses, "
                 "without the line", errors=("no line named: RuntimeError*",)),
    _issue("compare-and-swap-checks-nothing", "exchange_of_other_type", "exchange_of_larger_block",
           "exchange_by_scalars",
           entries=("no-line-named--runtimeer-fd62b551a9", "no-line-named--runtimeer-c7914657ba"),
           title="tl.atomic_cas neither converts, broadcasts nor checks its operands: only the verifier refuses them, "
                 "without the line", errors=("no line named: RuntimeError*",)),
    _issue("pointers-from-narrow-integers", "pointer_from_narrow",
           entries=("no-line-named--runtimeer-f735e7ae40",),
           title="an integer of less than 64 bits becomes a pointer, which only the verifier refuses, without the line",
           errors=("no line named: RuntimeError*",)),
    _issue("pointers-to-pointers", "pointer_to_pointers",
           entries=("sigabrt-fa7f037331",),
           title="a pointer to pointers is taken, or ends the process", errors=("accepted", "SIGABRT*")),
    _issue("scopes-are-called-semantics", "atomic_scope_word", stage="front-end",
           entries=("another-reason--valueerr-1fdc5c0ab8",),
           title="an unknown scope of an atomic is refused as a memory semantic",
           errors=("another reason: ValueError in _str_to_scope",)),
)
