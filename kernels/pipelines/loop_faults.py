"""Planted faults of kernels with loops and tensor descriptors: changes of the text of `loops` and `hinted_loops`.

Each is made wherever a kernel has a place for it. Imports no Triton.
"""

import re
from pathlib import Path

from tridiff.kernels.pipelines.text_faults import planted


def _text() -> str:
    """All kernels as one module, because those of `hinted_loops` call functions of `loops`."""
    loops, hinted = (Path(__file__).with_name(f"{name}.py").read_text("utf-8") for name in ("loops", "hinted_loops"))
    return loops + re.sub(r"(?m)^(import|from) .*\n", "", hinted)


LOOPS = {
    "one_trip_too_few": (r"range\(0, (\w+), (\w+)", r"range(0, \1 - \2, \2"),
    "pointer_not_advanced": (r"start(?=\]\)| \+ k\)\[:| \+ lanes, )", "0"),
    "accumulator_overwritten": (r"(total|carried) [+^] |(?<=[bT]), sums", ""),
}
LINES = {
    "staged_tile_ahead": (r"\(start \+ k\)\[None", "((start + k + (BLOCK if STAGES > 1 else 0)) % inner)[None"),
    "carried_of_the_trip_before": (r"(carried = carried \+ x)\n( *)(result = carried)", r"\3\n\2\1"),
    "minimum_for_maximum": (r"tl\.max\w+\(total", "tl.minimum(total"),
    "tail_unmasked": (r"< (length|inner)\b", r"< \1 + BLOCK"),
}
AROUND = {"last_line_left_out": (r"\), lines, tl", "), lines - 1, tl")}
SPECIALISED = {
    "partition_a_tile_ahead": (r"b\.load\(\[0, start", "b.load([0, start + (BLOCK if SPECIALISED else 0)"),
    "extent_halved": (r"\[N, inner\], \[inner", "[N // 2, inner], [inner"),
}
BOXES = {
    "offsets_swapped": (r"x\.load\(\[(.*), start\]", r"x.load([start, \1]"),
    "edge_unmasked": (r" & \(columns < width\)", ""),
    "extent_rounded_up": (r"(out_ptr, \[height, )width", r"\1tl.cdiv(width, COLUMNS) * COLUMNS"),
    "pitch_of_a_box": (r"(x_ptr, \[height, width\], \[)pitch", r"\1COLUMNS"),
    "stored_not_combined": (r"out\.atomic_\w+", "out.store"),
}
GATHERED = {
    "indices_shifted": (r"tl\.arange\(0, COUNT\)", "(tl.arange(0, COUNT) + 1) % COUNT"),
    "rows_in_pairs": (r"(index = tl\.load.*)", r"\1 // 2 * 2"),
    "columns_shifted": (r"(at = .*) \* COLUMNS", r"\1 * COLUMNS + 16"),
}
FAULTS = planted(_text, **LOOPS, **LINES, **AROUND, **SPECIALISED, **BOXES, **GATHERED)
"""The text of all kernels, by the fault in it."""
