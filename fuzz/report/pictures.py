"""Arrays and blocks as pictures: who wrote which element, and who holds it. Plain SVG, colours by class."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

CELL = 18
"""Side of an element, in units of the picture."""

COLOURS = 8
"""Classes c0 to c7 of the page's style; -1 is the class `nobody`."""

MOST_CELLS = 2048
PER_ROW = 32


@dataclass(frozen=True)
class Cell:
    """One element. colour: any number; -1 for nobody. said: what a pointer resting on it shows. mark: drawn inside."""

    colour: int
    said: str
    mark: str = ""
    framed: bool = False


def grid(cells: Sequence[Cell], *, columns: int, label: str) -> Markup:
    """The cells in rows of `columns`. label: what the picture shows, for those who do not see it."""
    shown = cells[:MOST_CELLS]
    columns = max(1, min(columns, 4 * PER_ROW))
    rows = -(-len(shown) // columns)
    width, height = columns * CELL, rows * CELL
    parts = [f'<svg class="cells" role="img" aria-label="{escape(label)}" viewBox="-1 -1 {width + 2} {height + 2}" '
             f'width="{width + 2}" height="{height + 2}">']
    for number, cell in enumerate(shown):
        x, y = number % columns * CELL, number // columns * CELL
        kind = f"c{cell.colour % COLOURS}" if cell.colour >= 0 else "nobody"
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}">'
                     f"<title>{escape(cell.said)}</title></rect>")
        if cell.mark:
            parts.append(f'<text x="{x + CELL / 2 - 1}" y="{y + CELL - 6}">{escape(cell.mark)}</text>')
        if cell.framed:
            parts.append(f'<rect class="frame" x="{x - 1}" y="{y - 1}" width="{CELL}" height="{CELL}"/>')
    parts.append("</svg>")
    if len(cells) > len(shown):
        parts.append(f'<p class="note">The first {len(shown):,} of {len(cells):,}.</p>')
    return Markup("".join(parts))


def columns_of(shape: Sequence[int]) -> int:
    """How many elements stand in a row of the picture."""
    return shape[-1] if len(shape) > 1 and shape[-1] <= 4 * PER_ROW else PER_ROW


def written(owners: Iterable[int], programs: Sequence[str], *, name: str, shape: Sequence[int],
            wrong: int = -1) -> Markup:
    """An output: who wrote each element last. owners: number of the program, -1 for nobody. wrong: the element that is
    framed."""
    cells = [Cell(colour=owner, framed=number == wrong, said=f"{name}[{number}]: " + (
        "never written" if owner < 0 else f"written by program {programs[owner] if owner < len(programs) else owner}"))
        for number, owner in enumerate(owners)]
    return grid(cells, columns=columns_of(shape), label=f"which program wrote each element of {name}")


def read(elements: Iterable[int], wanted: Iterable[int], *, name: str, shape: Sequence[int]) -> Markup:
    """An array that a program reads. elements: that it read; wanted: that went into one value, framed."""
    read_at, framed = set(elements), set(wanted)
    size = 1
    for extent in shape:
        size *= extent
    cells = [Cell(colour=0 if number in read_at else -1, framed=number in framed, said=f"{name}[{number}]: " + (
        "read, and needed for the element" if number in framed else "read" if number in read_at else "not read"))
        for number in range(max(size, max(read_at, default=0) + 1))]
    return grid(cells, columns=columns_of(shape), label=f"elements of {name} that the program read")


def held(owners: Iterable[tuple[int, int, int]], *, name: str, shape: Sequence[int]) -> Markup:
    """A layout: colour by warp, the lane inside. owners: (warp, lane, register) by element."""
    cells = [Cell(colour=warp, mark=str(lane),
                  said=f"element {number}: warp {warp}, lane {lane}, register {register}")
             for number, (warp, lane, register) in enumerate(owners)]
    return grid(cells, columns=columns_of(shape), label=f"layout {name}: warp by colour, lane by number")
