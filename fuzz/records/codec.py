"""JSON for every record: strict on the way in, canonical on the way out.

Schema rule: files carry one integer, `schema`. A file with the current number is read strictly (an
unknown field is an error). A file with an older number is refused with a line naming the tridiff
release that can rewrite it; fields are never guessed. A newer number means tridiff is too old.
"""

import hashlib
from typing import TypeVar

import msgspec

from fuzz.errors import TridiffError

SCHEMA = 1
"""Schema number of every file and message written by this checkout."""

T = TypeVar("T")


def encode(record: msgspec.Struct) -> bytes:
    """The record as one line of JSON (UTF-8, no newline)."""
    return msgspec.json.encode(record)


def canonical_json(record: msgspec.Struct) -> bytes:
    """JSON with sorted keys: equal records give equal bytes on every machine."""
    return msgspec.json.encode(record, order="deterministic")


def pretty_json(record: msgspec.Struct) -> str:
    """JSON for files that people read in a diff: two-space indent, trailing newline."""
    return msgspec.json.format(canonical_json(record), indent=2).decode() + "\n"


def digest(record: msgspec.Struct) -> str:
    """Sixteen hex digits naming the record's content."""
    return hashlib.blake2b(canonical_json(record), digest_size=8).hexdigest()


def decode(data: bytes | str, kind: type[T], *, source: str = "input") -> T:
    """Decode strictly into `kind`; never executes anything, never allocates arrays.

    Raises TridiffError with one line naming `source` and the offending field.
    """
    try:
        return msgspec.json.decode(data, type=kind, strict=True)
    except msgspec.ValidationError as error:
        raise TridiffError(f"{source}: {error}", fix="correct or delete the file") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TridiffError(f"{source}: not valid JSON ({error})", fix="correct or delete the file") from None
    except RecursionError:
        raise TridiffError(f"{source}: nested too deeply", fix="delete the file") from None
