"""The corpus on disk: one JSON file per finding, at ROOT/<target>/<id>.json.

Files may come from strangers. Reading one executes nothing and allocates no array: a size limit stands before
the first byte, the decoder is strict, and every file ends in an entry or in one line that says what is
wrong with it. Writing is all or nothing.
"""

import contextlib
import difflib
import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from tridiff.fuzz.corpus.expected import expectation, merge, with_verdict
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Evidence, Signature, encode, pretty_json_without_defaults
from tridiff.fuzz.records.codec import decode_file, printable
from tridiff.fuzz.records.corpus_entry import entry_id
from tridiff.fuzz.records.reading import over, read_bytes

__all__ = ["BESIDE", "MAX_BYTES", "Admission", "Corpus", "entry_id", "expectation", "parse", "readable", "with_verdict"]

MAX_BYTES = 256 << 10
"""Largest file that is read or written; shrunk entries take one to four KiB."""

BESIDE = "-beside"
"""End of the id of an entry that shows another defect than a known issue's entry of the same signature."""

_KEPT_EVIDENCE = 64
"""Values per array that evidence keeps when the whole would exceed MAX_BYTES; longer arrays are left out."""

_TOO_LARGE = "shrink the case or delete the file"

_IGNORED = (".md", ".txt")

_SHORTEST_DIGEST = 4
"""Digits of a digest that denote an entry."""


@dataclass(frozen=True, kw_only=True)
class Admission:
    """What `Corpus.admit` did. entry: as it now stands in the corpus, at `path`.

    new: stored. duplicate: a stored entry has this signature and knew everything. updated: it has this
    signature and gained the expectations `added`. contradicted: expectations of the newcomer that differ from
    stored ones for the same subject, version and backend; the stored ones stand until someone changes them.
    """

    status: Literal["new", "duplicate", "updated"]
    entry: CorpusEntry
    path: Path
    added: int = 0
    contradicted: int = 0


def readable(entry: CorpusEntry) -> bytes:
    """The file of an entry, with as much of its evidence as `parse` takes."""
    return pretty_json_without_defaults(_shortened(entry)).encode()


def digest_of(name: str) -> str:
    """The digest in which an entry's id ends, with the word that tells it from the entry of another defect."""
    front = name.removesuffix(BESIDE).rpartition("-")[0]
    return name.removeprefix(f"{front}-")


def parse(data: bytes, *, source: str) -> CorpusEntry:
    """The entry that a file's bytes hold; TridiffError with one line naming `source` for anything else."""
    if len(data) > MAX_BYTES:
        raise over(source, len(data), MAX_BYTES, fix=_TOO_LARGE)
    entry = decode_file(data, CorpusEntry, source=source)
    if entry.signature.target != entry.case.target:
        raise TridiffError(f"{source}: its signature is about {printable(entry.signature.target, limit=80)}, "
                           f"its case about {entry.case.target}", fix="correct or delete the file")
    seen = {(e.subject, e.triton, e.backend, e.torch) for e in entry.expected}
    if len(seen) != len(entry.expected):
        raise TridiffError(f"{source}: two expectations for one subject, version and backend", fix="remove one of them")
    try:
        entry.case.check()
    except TridiffError as error:
        raise TridiffError(f"{source}: {error.problem}", fix=error.fix) from None
    return entry


def _read(path: Path, source: str, *, follow: bool) -> bytes:
    return read_bytes(path, most=MAX_BYTES, source=source, follow=follow, too_large=_TOO_LARGE)


class Corpus:
    """All entries under `root`. Holds no state: several processes may read and admit at the same time."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def _name(self, path: Path) -> str:
        """How a path is called in messages: relative to the root, safe to print."""
        with contextlib.suppress(ValueError):
            path = path.relative_to(self.root)
        return printable(str(path))

    def files(self) -> Iterator[tuple[Path, CorpusEntry | TridiffError]]:
        """Every file with its entry, or with the line that says why it is none; sorted by path.

        Documentation (`.md`, `.txt`) and hidden files are no entries and are passed over. Raises TridiffError
        only when the root itself cannot be listed.
        """
        for path in self._candidates():
            if isinstance(path, tuple):
                yield path
                continue
            try:
                yield path, self._load_inside(path)
            except TridiffError as error:
                yield path, error

    def entries(self) -> Iterator[CorpusEntry | TridiffError]:
        """As `files`, without the paths."""
        return (found for _, found in self.files())

    def _candidates(self) -> Iterator[Path | tuple[Path, TridiffError]]:
        for folder in _listed(self.root, f"corpus {self.root}"):
            if _passed_over(folder):
                continue
            if folder.is_symlink() or not folder.is_dir():
                what = "is a symbolic link" if folder.is_symlink() else "lies outside the target folders"
                yield folder, TridiffError(f"{self._name(folder)}: {what}", fix="put entries at <target>/<id>.json")
                continue
            try:
                inside = _listed(folder, self._name(folder))
            except TridiffError as error:
                yield folder, error
                continue
            for path in inside:
                if _passed_over(path):
                    continue
                if path.suffix != ".json":
                    yield path, TridiffError(f"{self._name(path)}: is no entry (entries end in .json)",
                                             fix="rename or delete it")
                else:
                    yield path

    def _load_inside(self, path: Path) -> CorpusEntry:
        """An entry that lies where its own target and id say."""
        source = self._name(path)
        entry = parse(_read(path, source, follow=False), source=source)
        if (entry.case.target, entry.id) != (path.parent.name, path.stem):
            raise TridiffError(f"{source}: holds {entry.case.target}/{entry.id}",
                               fix="move it to the folder of its target and name it after its id")
        return entry

    def load(self, path: Path) -> CorpusEntry:
        """The entry in any one file, inside the corpus or not; TridiffError with one line otherwise."""
        source = self._name(path)
        return parse(_read(path, source, follow=True), source=source)

    def find(self, text: str) -> CorpusEntry:
        """The entry that `text` denotes: a path, an id, TARGET/ID, the unique beginning of either, or of the digest in
        which an id ends.

        Raises TridiffError naming the candidates, or near ids when there is none.
        """
        if text.endswith(".json") or (os.sep in text and Path(text).is_file()):
            return self.load(Path(text))
        paths = [path for path in self._candidates() if isinstance(path, Path)]
        names = {f"{path.parent.name}/{path.stem}": path for path in paths}
        exact = [path for name, path in names.items() if text in (path.stem, name)]
        hits = exact or [path for name, path in names.items()
                         if text and (path.stem.startswith(text) or name.startswith(text))]
        if not hits and len(text) >= _SHORTEST_DIGEST:
            digests = {path: digest_of(path.stem) for path in paths}
            hits = [path for path in paths if digests[path] == text] or [
                path for path in paths if digests[path].startswith(text)]
        if len(hits) == 1:
            return self._load_inside(hits[0])
        shown = printable(repr(text), limit=80)
        if hits:
            some = ", ".join(printable(f"{p.parent.name}/{p.stem}") for p in hits[:4])
            raise TridiffError(f"{shown} fits {len(hits)} entries: {some}{', ...' if len(hits) > 4 else ''}",
                               fix="give more of the name, or the digest in which it ends")
        near = difflib.get_close_matches(text, [*(path.stem for path in paths), *names], n=3, cutoff=0.5)
        hint = f"try {', '.join(map(printable, near))}" if near else f"look under {self.root}"
        raise TridiffError(f"no entry is called {shown}", fix=hint)

    def known(self, signature: Signature) -> CorpusEntry | None:
        """The stored entry with this signature; files of its target that cannot be read are passed over."""
        found = self._of_signature(signature, "")
        return found[1] if found else None

    def _of_signature(self, signature: Signature, name: str) -> tuple[Path, CorpusEntry] | None:
        """The stored entry of this signature that stands for the same as one called `name`. Where the cause of a stored
        one is known and its id is another one, as it is once its case was made smaller by hand, a newcomer is not of
        that cause, or it would not have come."""
        folder = self.root / signature.target
        if not folder.is_dir():
            return None
        for path in _listed(folder, self._name(folder)):
            if path.suffix == ".json" and not _passed_over(path):
                with contextlib.suppress(TridiffError):
                    entry = self._load_inside(path)
                    alike = entry.signature.key == signature.key and entry.id.endswith(BESIDE) == name.endswith(BESIDE)
                    if alike and (not entry.cause or name in ("", entry.id)):
                        return path, entry
        return None

    def admit(self, entry: CorpusEntry) -> Admission:
        """Store a finding unless its signature is known; a known one gains what the newcomer adds.

        Safe against other processes admitting at the same time. Raises TridiffError with one line, and leaves
        every file as it was, for an entry that `files` would not read back, an id taken by another finding, or a
        disk that is full.
        """
        with self._locked(entry):
            known = self._of_signature(entry.signature, entry.id)
            if known is None:
                path = self._write(entry, fresh=True)
                return Admission(status="new", entry=entry, path=path)
            path, stored = known
            merged, added, contradicted = merge(stored, entry)
            if added:
                self._write(merged, fresh=False)
            return Admission(status="updated" if added else "duplicate", entry=merged, path=path, added=added,
                             contradicted=contradicted)

    def rewrite(self, entry: CorpusEntry, *, was: CorpusEntry | None = None) -> Path:
        """Replace the stored entry of this id, or store it; for changed verdicts, titles, explanations. was: the entry
        that it replaces, which had another id if there was a known form in its case."""
        with self._locked(entry):
            renamed = was is not None and was.id != entry.id
            path = self._write(entry, fresh=renamed)
            if was is not None and renamed:
                self.path_of(was).unlink(missing_ok=True)
            return path

    def path_of(self, entry: CorpusEntry) -> Path:
        """Where the entry lies or would lie."""
        return self.root / entry.case.target / f"{entry.id}.json"

    @contextlib.contextmanager
    def _locked(self, entry: CorpusEntry) -> Iterator[None]:
        """Hold the folder of the entry's target; the kernel lets go of it when this process dies."""
        # Names from a record built in code have not passed the decoder's patterns yet.
        parse(encode(_shortened(entry)), source=f"entry {printable(repr(entry.id), limit=90)}")
        folder = self.path_of(entry).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise TridiffError(f"cannot write into {folder} ({error.strerror})",
                               fix="choose a corpus folder that can be written") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, entry: CorpusEntry, *, fresh: bool) -> Path:
        path = self.path_of(entry)
        data = readable(entry)
        parse(data, source=self._name(path))
        if fresh and os.path.lexists(path):
            raise TridiffError(f"{self._name(path)}: exists and holds something else",
                               fix="repair, rename or delete it")
        _write_atomically(path, data)
        return path


def _passed_over(path: Path) -> bool:
    return path.name.startswith(".") or path.suffix in _IGNORED


def _listed(folder: Path, source: str) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise TridiffError(f"{source}: cannot be listed ({error.strerror})", fix="check the path") from None


def _shortened(entry: CorpusEntry) -> CorpusEntry:
    """The entry with the long arrays of its evidence left out, if it is too large for a file with them, and without
    evidence if it is too large even so."""
    if _fits(entry):
        return entry
    old = entry.evidence

    def short(values: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {name: one if len(one) <= _KEPT_EVIDENCE else () for name, one in values.items()}

    evidence = replace(
        old, inputs=short(old.inputs), actual=short(old.actual), log=old.log[-4000:],
        expected={name: short(one) for name, one in old.expected.items()})
    shorter = replace(entry, evidence=evidence)
    return shorter if _fits(shorter) else replace(
        entry, evidence=Evidence(launched=old.launched))


def _fits(entry: CorpusEntry) -> bool:
    return len(pretty_json_without_defaults(entry).encode()) <= MAX_BYTES


def _write_atomically(path: Path, data: bytes) -> None:
    """All of `data` at `path`, durable, or the old file untouched and one TridiffError."""
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = ""
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise TridiffError(f"cannot write {path} ({error.strerror}); nothing was changed",
                           fix="free disk space" if full else "choose a corpus folder that can be written") from None
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    # The file is in place; that its name is on disk too is asked for, but not every file system can say so.
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
