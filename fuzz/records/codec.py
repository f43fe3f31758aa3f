"""JSON for every record: strict on the way in, canonical on the way out.

Schema rule: files carry one integer, `schema`. A file with the current number is read strictly (an
unknown field is an error). A file with an older number is brought to the current one by `records.migration`
and then read as strictly; fields are never guessed. A newer number means tridiff is too old.
"""

import base64
import enum
import hashlib
import json
from typing import Any, TypeVar

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.migration import record_to_2
from tridiff.fuzz.records.pretty import JsonValue, layout

SCHEMA = 2
"""Schema number of every file and message written by this checkout."""

OLDER = (1,)
"""Schema numbers that are read as well: `records.migration` says in which fields they differ."""

T = TypeVar("T")


def encode(record: msgspec.Struct) -> bytes:
    """The record as one line of JSON (UTF-8, no newline)."""
    return msgspec.json.encode(record)


def canonical_json(record: msgspec.Struct) -> bytes:
    """JSON with sorted keys: equal records give equal bytes on every machine."""
    return msgspec.json.encode(record, order="deterministic")


def pretty_json(record: msgspec.Struct) -> str:
    """JSON for files that people read in a diff: one-space indent, plain values filled, trailing newline."""
    return layout(json.loads(canonical_json(record))) + "\n"


def pretty_json_without_defaults(record: msgspec.Struct, *, only_in_rows: bool = False) -> str:
    """As `pretty_json`, with every field left out that has its default; it is read back as that default.

    only_in_rows: a field is left out where a record is, or belongs to, a row of a list; totals keep their zeros."""
    given = _given(record, cut=not only_in_rows)
    schema = getattr(record, "schema", None)  # A file says its schema number always, and only once.
    return layout({"schema": schema, **given} if schema and isinstance(given, dict) else given) + "\n"


def without_defaults(record: msgspec.Struct) -> JsonValue:
    """The record as plain JSON values, with every field left out that has its default; it is read back as that."""
    return _given(record, cut=True)


def _given(value: object, *, cut: bool) -> JsonValue:
    if isinstance(value, msgspec.Struct):
        if value.__struct_config__.array_like:
            row = msgspec.structs.astuple(value)
            while cut and row and row[-1] == "":
                row = row[:-1]
            return _given(row, cut=cut)
        tag, tag_field = value.__struct_config__.tag, value.__struct_config__.tag_field
        found: dict[str, JsonValue] = {tag_field: tag} if tag_field is not None and isinstance(tag, str) else {}
        told = value.in_files() if hasattr(value, "in_files") else {}  # what the record itself tells more shortly
        for field in msgspec.structs.fields(value):
            given = told.get(field.name, getattr(value, field.name))
            default = field.default_factory() if callable(field.default_factory) else field.default
            # 1 and True are equal, but not the same default.
            kept = not cut or not (type(given) is type(default) and given == default)
            if kept and given is not msgspec.UNSET:
                found[field.encode_name] = _given(given, cut=cut)
        return found
    if isinstance(value, list | tuple):
        return [_given(one, cut=True) for one in value]
    if isinstance(value, dict):
        return {name: _given(value[name], cut=cut) for name in sorted(value)}
    if isinstance(value, enum.Enum):
        return _given(value.value, cut=cut)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    assert value is None or isinstance(value, bool | int | float | str), value
    return value


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
        raise TridiffError(f"{source}: {printable(str(error))}", fix="correct or delete the file") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TridiffError(f"{source}: not valid JSON ({printable(str(error))})",
                           fix="correct or delete the file") from None
    except RecursionError:
        raise TridiffError(f"{source}: nested too deeply", fix="delete the file") from None


def decode_file(data: bytes, kind: type[T], *, source: str) -> T:
    """As `decode`, for a whole file: its schema number is looked at first, and a repeated key is an error.

    Raises TridiffError with one line naming `source`.
    """
    schema = decode(data, _Header, source=source).schema
    if schema is None:
        raise TridiffError(f"{source}: no schema number", fix="correct or delete the file")
    if schema > SCHEMA:
        raise TridiffError(f"{source}: has schema {_short(schema)}, this tridiff reads {SCHEMA}",
                           fix="install a newer tridiff")
    if schema < SCHEMA and schema not in OLDER:
        raise TridiffError(f"{source}: no tridiff release writes schema {_short(schema)}",
                           fix="correct or delete the file")
    current = data
    if schema < SCHEMA:
        current = msgspec.json.encode(record_to_2(decode(data, dict[str, Any], source=source)))
    record = decode(current, kind, source=source)
    # JSON lets a key come twice and readers disagree on which one counts; the strict decoder keeps the last.
    try:
        json.loads(data, object_pairs_hook=_refuse_repeated)
    except _Repeated as error:
        raise TridiffError(f"{source}: key {printable(repr(error.key))} appears twice in one object",
                           fix="remove one of them") from None
    return record


class _Header(msgspec.Struct):
    """The schema number of a file whose other fields are not looked at yet."""

    schema: int | None = None


class _Repeated(Exception):
    """A key that appears twice."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def _refuse_repeated(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Repeated(key)
        seen.add(key)


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**12 else f"of {number.bit_length()} bits"


def printable(text: str, *, limit: int = 200) -> str:
    """Text from a stranger's file, safe to print on a terminal: no control characters, at most `limit` long."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:limit])
    return shown[:limit] + ("..." if len(text) > limit else "")
