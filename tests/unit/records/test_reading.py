"""Files from strangers are read within limits, whatever they are."""

import lzma
import os
import tracemalloc
from pathlib import Path

import pytest

from tests.support.refusals import refused
from tridiff.fuzz.records.reading import read_bytes, unpack_xz

each = pytest.mark.parametrize
MOST = 1 << 16


def test_a_regular_file_is_read_whole(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"x" * MOST)
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "a", most=MOST) == read_bytes(tmp_path / "link", most=MOST) == b"x" * MOST


@each("kind, said", [
    ("large", "65,537 bytes, the limit is 65,536"), ("sparse", "1,099,511,627,776 bytes, the limit is 65,536"),
    ("pipe", "is not a regular file"), ("device", "is not a regular file"), ("folder", "is not a regular file"),
    ("absent", "cannot be read"), ("loop", "symbolic link"), ("proc", "17 bytes, the limit is 16"),
    ("a\0b", "is no path")])
def test_everything_else_is_refused_in_one_line(kind: str, said: str, tmp_path: Path):
    path = tmp_path / kind
    if kind == "large":
        path.write_bytes(b"x" * (MOST + 1))
    elif kind == "sparse":
        with path.open("wb") as stream:
            stream.truncate(1 << 40)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "proc":
        # Its size is said to be 0.
        path.symlink_to("/proc/self/status")
    with refused(said) as refusal:
        read_bytes(path, most=16 if kind == "proc" else MOST)
    assert str(refusal.value).isprintable()


def test_links_are_followed_only_when_told(tmp_path: Path):
    (tmp_path / "link").symlink_to("/etc/hostname")
    with refused("is a symbolic link"):
        read_bytes(tmp_path / "link", most=MOST, follow=False)


def test_a_bomb_is_unpacked_no_further_than_its_limit():
    compressor = lzma.LZMACompressor(preset=0)
    packed = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(256)) + compressor.flush()
    tracemalloc.start()
    try:
        with refused("x unpacks to more than 65,536 bytes"):
            unpack_xz(packed, most=MOST, source="x")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@each("packed", [b"", b"nothing", lzma.compress(b"x" * 99)[:-9],
                                    lzma.compress(b"x", lzma.FORMAT_ALONE)])
def test_what_is_no_whole_xz_stream_is_one_line(packed: bytes):
    with refused("x cannot be unpacked"):
        unpack_xz(packed, most=MOST, source="x")


def test_what_was_packed_comes_back():
    assert unpack_xz(lzma.compress(b"x" * MOST, preset=9 | lzma.PRESET_EXTREME), most=MOST, source="x") == b"x" * MOST
