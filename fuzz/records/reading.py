"""Reading files that may come from strangers: regular files only, up to a size, never waiting on a pipe or a device."""

import errno
import lzma
import os
import stat
from pathlib import Path

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.codec import printable

UNPACKING_MEMORY = 128 << 20
"""Bytes that unpacking may use beside its result; the strongest setting of xz needs half of that."""


def read_bytes(path: Path, *, most: int, source: str = "", follow: bool = True,
               too_large: str = "delete the file") -> bytes:
    """All of a regular file of at most `most` bytes; TridiffError naming `source` (default the path) otherwise.

    follow: whether a symbolic link may stand in for the file. too_large: what to do about a file beyond `most`.
    """
    source = source or printable(str(path))
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise TridiffError(f"{source}: is a symbolic link", fix="put the file itself there") from None
        raise TridiffError(f"{source}: cannot be read ({error.strerror})", fix="check the path") from None
    except ValueError:
        raise TridiffError(f"{source}: is no path", fix="check the path") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise TridiffError(f"{source}: is not a regular file", fix="delete it")
        if status.st_size > most:
            raise over(source, status.st_size, most, fix=too_large)
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise TridiffError(f"{source}: cannot be read ({error.strerror})", fix="check the disk") from None
    finally:
        os.close(descriptor)
    if len(data) > most:
        # It grew while it was read, or is larger than its file system says.
        raise over(source, len(data), most, fix=too_large)
    return data


def over(source: str, size: int, most: int, *, fix: str) -> TridiffError:
    """The refusal of something of `size` bytes where `most` are read."""
    return TridiffError(f"{source}: {size:,} bytes, the limit is {most:,}", fix=fix)


def unpack_xz(data: bytes, *, most: int, source: str) -> bytes:
    """What an xz stream holds; TridiffError naming `source` for a broken one or one of more than `most` bytes, of which
    no more is unpacked than that."""
    try:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=UNPACKING_MEMORY)
        found = stream.decompress(data, max_length=most + 1)
    except lzma.LZMAError as error:
        raise TridiffError(f"{source} cannot be unpacked ({error})", fix="restore the file, or remove it") from None
    if len(found) > most:
        raise TridiffError(f"{source} unpacks to more than {most:,} bytes", fix="remove the file")
    if not stream.eof:
        raise TridiffError(f"{source} cannot be unpacked (it ends too early)", fix="restore the file, or remove it")
    return found
