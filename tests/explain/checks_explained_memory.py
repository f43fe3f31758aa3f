"""What the interpreting half of an explanation says."""

from pathlib import Path

from triton.runtime.jit import JITFunction

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.model import ElementCard
from tridiff.fuzz.explain.own import own_kernel
from tridiff.fuzz.explain.prepared import prepared
from tridiff.fuzz.explain.request import Element, Interpreted, Request, Twins
from tridiff.fuzz.explain.source import source_of
from tridiff.fuzz.explain.traced import interpreted

KERNELS = Path(__file__).with_name("explained_kernels.py")
ADD = "x=fp32[10]=iota y=fp32[10]=ones out=fp32[10]=out n=10 BLOCK=4"


def own(kernel: str, args: str, grid: str = "1", *, element: str = "", index: tuple[int, ...] = (),
        twins: tuple[Twins, ...] = ()) -> Interpreted:
    return interpreted(Request(own=own_kernel(f"{KERNELS}:{kernel}", args=args, grid=grid, options=""), twins=twins,
                               element=Element(buffer=element, index=index) if element else None))


def values_of(card: ElementCard | None, operation: str) -> tuple[str, ...]:
    assert card is not None
    return tuple(value for step in card.steps if step.operation == operation for value in step.values)


def check_the_table_of_a_vector_add():
    found = own("vector_add", ADD, "3", element="out", index=(9,))
    rows = [(one.program[0], one.operation, " ".join(one.elements)) for one in found.memory.table]
    assert rows == [
        (0, "load", "x[0] x[1] x[2] x[3]"), (0, "load", "y[0] y[1] y[2] y[3]"),
        (0, "store", "out[0] out[1] out[2] out[3]"),
        (1, "load", "x[4] x[5] x[6] x[7]"), (1, "load", "y[4] y[5] y[6] y[7]"),
        (1, "store", "out[4] out[5] out[6] out[7]"),
        (2, "load", "x[8] x[9] - -"), (2, "load", "y[8] y[9] - -"), (2, "store", "out[8] out[9] - -")]
    assert [one.active for one in found.memory.table] == [4] * 6 + [2] * 3
    assert found.memory.written[0].programs == (0, 0, 0, 0, 1, 1, 1, 1, 2, 2)
    card = found.element
    assert card is not None and card.interpreted == "10.0" and card.writes[0].program == (2, 0, 0)
    assert card.writes[0].lane == 1 and values_of(card, "load") == ("9.0", "1.0")
    assert [step.place for step in card.steps if step.operation == "load"] == ["x[9]", "y[9]"]
    program = found.program
    assert program is not None and program.program == (2, 0, 0)
    named = {value.name: value.values for value in program.values}
    assert named["offsets"] == ("8", "9", "10", "11") and named["mask"] == ("true", "true", "false", "false")


def check_the_tree_is_that_of_the_compiled_class():
    made = prepared(Request(own=own_kernel(f"{KERNELS}:vector_add", args=ADD, grid="3", options="")))
    kernel = made.calls()[0].kernel
    assert source_of(kernel) == source_of(JITFunction(kernel.fn))


def check_an_element_is_followed_through_movements_and_reductions():
    found = own("turned", "x=fp32[8]=iota out=fp32[8]=out ROWS=2 COLUMNS=4", element="out", index=(5,))
    card = found.element
    assert card is not None and card.interpreted == "28.0"  # x[1, 2] and the sum of row 1: 6 + 4+5+6+7
    load = next(step for step in card.steps if step.operation == "load")
    assert load.place == "x[4] x[5] x[6] x[7]" and load.lanes == (4, 5, 6, 7)
    moved = next(step for step in card.steps if step.operation == "trans")
    assert moved.values == ("6.0",) and moved.operands[0].values == ("6.0",)
    (branch,) = found.memory.branches
    assert (branch.taken, branch.passed) == (0, 1)
    assert next(one.programs for one in found.memory.lines if one.line == branch.line + 1) == 0


def check_a_missing_mask_is_out_of_bounds():
    found = own("unmasked_add", ADD, "3")
    fault = found.memory.fault
    assert fault is not None and fault.kind == "OutOfBounds" and fault.program == (2, 0, 0)
    assert "x[10]" in fault.problem and fault.frames[-1].text.startswith("tl.store(out + offsets, tl.load(x")


def check_a_grid_that_is_too_small_leaves_elements_unwritten():
    found = own("vector_add", ADD, "2")
    assert found.memory.written[0].never == (8, 9) and found.memory.fault is None
    card = own("vector_add", ADD, "2", element="out", index=(9,)).element
    assert card is not None and card.problem == "no program wrote this element" and not card.steps


def check_two_programs_that_write_one_element_race():
    found = own("overlapping", "x=fp32[10]=iota out=fp32[10]=out n=10 BLOCK=4", "3")
    (race,) = found.memory.conflicts[:1]
    assert race.kind == "write then write" and race.programs == ((0, 0, 0), (1, 0, 0)) and race.elements == (3,)
    assert found.memory.written[0].twice == (3, 6)


def check_a_missing_other_reaches_the_sum():
    found = own("total", "x=fp32[10]=iota out=fp32[1]=out n=10 BLOCK=16")
    (use,) = found.memory.undefined
    assert (use.use, use.place) == ("store", "out[0]")
    assert found.element is not None and "undefined" in found.element.steps[-1].note
    whole = own("total", "x=fp32[10]=iota out=fp32[1]=out n=10 BLOCK=8")
    assert not whole.memory.undefined and whole.element is not None and whole.element.interpreted == "28.0"


def check_a_failure_in_helpers_shows_the_way_there():
    fault = own("through_helpers", "x=fp32[4]=iota out=fp32[4]=out").memory.fault
    assert fault is not None
    assert [frame.function for frame in fault.frames] == ["through_helpers", "outer", "inner"]
    assert fault.frames[-1].text == "return v + tl.reshape(v, [3])"


def line_of(text: str) -> int:
    (number,) = (number for number, line in enumerate(KERNELS.read_text().splitlines(), 1) if text in line)
    return number


def check_a_register_shared_by_unequal_lanes_is_flagged():
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    for kernel, text, wrong in (("signed_ramp", "(offsets - SHIFT) // 16", True),
                                ("unsigned_ramp", "offsets // 16)", False)):
        line = next(number for number, one in enumerate(KERNELS.read_text().splitlines(), 1)
                    if text in one and one.strip().startswith("tl.store"))
        twins = Twins(file=KERNELS.name, line=line, width=4, places=4, pairs=pairs)
        found = own(kernel, "out=i32[512]=out", twins=(twins,))
        assert bool(found.misjoined) == wrong and found.joined == (not wrong), kernel
        if wrong:
            assert found.misjoined[0].line == line


def check_what_cannot_be_launched_is_taught():
    for kernel, args, said in (
            ("vector_add", "x=fp32[10]", "nothing was given for y, out, n, BLOCK"),
            ("vector_add", f"{ADD} z=1", "has no parameter z"), ("nobody", ADD, "it has"),
            ("vector_add", ADD.replace("fp32[10]=ones", "fp33[10]"), "unknown dtype 'fp33'"),
            ("vector_add", ADD.replace("=ones", "=1,2"), "10 elements, 2 values"),
            ("vector_add", ADD.replace("=ones", "=lots"), "write NAME=VALUE")):
        try:
            own(kernel, args, "3")
        except TridiffError as error:
            assert said in str(error), (said, str(error))
        else:
            raise AssertionError(said)
