"""Lines of a script, broken where they exceed the width of a page."""

import io
import tokenize

WIDTH = 120
"""Columns of a script."""

_OPEN, _CLOSE = "([{", ")]}"
_INDENT = 4


def wrapped(text: str, *, width: int = WIDTH) -> str:
    """The Python text with its long lines broken behind commas and before operators inside brackets, long string
    literals in pieces, and long comments behind statements on lines of their own. Lines that offer no such place stay
    as they are, and so does text that Python cannot read."""
    if all(len(line) <= width for line in text.splitlines()):
        return text
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return text
    lines = text.splitlines()
    by_line: dict[int, list[tokenize.TokenInfo]] = {}
    several: set[int] = set()
    for token in tokens:
        if token.start[0] != token.end[0]:
            several |= set(range(token.start[0], token.end[0] + 1))
        elif token.string.strip():
            by_line.setdefault(token.start[0], []).append(token)
    result: list[str] = []
    for number, line in enumerate(lines, 1):
        if len(line) <= width or number in several or line.lstrip().startswith("#"):
            result.append(line)
        else:
            result += _broken(line, by_line.get(number, []), width)
    return "\n".join(result) + "\n"


def _broken(line: str, tokens: list[tokenize.TokenInfo], width: int) -> list[str]:
    indent = line[:len(line) - len(line.lstrip())]
    result: list[str] = []
    if tokens and tokens[-1].type == tokenize.COMMENT:
        result.append(f"{indent}{tokens[-1].string}")
        line = line[:tokens[-1].start[1]].rstrip()
        tokens = tokens[:-1]
        if len(line) <= width:
            return [*result, line]
    further = indent + " " * _INDENT
    pieces = _pieces(line, tokens, width - len(further))
    current = indent + pieces[0]
    for piece in pieces[1:]:
        joined = current + piece
        if len(joined.rstrip()) <= width:
            current = joined
        else:
            result.append(current.rstrip())
            current = further + piece.lstrip()
    return [*result, current.rstrip()]


def _pieces(line: str, tokens: list[tokenize.TokenInfo], width: int) -> list[str]:
    """The line in the pieces between which it may be broken."""
    start = len(line) - len(line.lstrip())
    cuts: list[tuple[int, str]] = []
    texts: dict[int, str] = {}
    depth = 0
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.string in _OPEN:
            depth += 1
            if token.string == "(" and after is not None and after.string != ")":
                cuts.append((token.end[1], ""))
        elif token.string in _CLOSE:
            depth -= 1
        elif depth and token.string == ",":
            cuts.append((token.end[1], ""))
        elif depth and token.string in ("+", "-", "*", "&", "|", "and", "or", "if", "for") and (
                line[token.start[1] - 1] == " "):
            cuts.append((token.start[1], ""))
        elif depth and token.type == tokenize.STRING and (
                token.string[0] in "\"'" and not token.string.startswith(('"""', "'''")) and "\\" not in token.string):
            texts[token.start[1]] = token.string
    pieces, at = [], start
    for cut, _ in cuts:
        pieces.append(line[at:cut])
        at = cut
    pieces.append(line[at:])
    return [part for piece in _split_strings(pieces, texts, width) for part in piece if part]


def _split_strings(pieces: list[str], texts: dict[int, str], width: int) -> list[list[str]]:
    """Pieces with their long string literals as several literals, one behind the other."""
    result = []
    for piece in pieces:
        found = max((text for text in texts.values() if text in piece), key=len, default="")
        if not found or len(piece.strip()) <= width:
            result.append([piece])
            continue
        before, _, after = piece.partition(found)
        quote, inner, size = found[0], found[1:-1], width - 2
        # What follows the literal, brackets above all, stands behind its last piece.
        whole = [inner[k:k + size] for k in range(0, len(inner), size)]
        room = max(size - len(after), 1)
        if len(whole[-1]) > room:
            whole[-1:] = [whole[-1][:room], whole[-1][room:]]
        parts = [f"{quote}{one}{quote}" for one in whole]
        result.append([before, *parts[:-1], f"{parts[-1]}{after}"])
    return result
