"""Workers reach their driver whatever the length of the folder for temporary files."""

import os
import socket
from pathlib import Path

import pytest

from tridiff.fuzz.workers import addresses


def test_a_socket_in_a_folder_with_a_long_path_is_reached(tmp_path: Path):
    folder = tmp_path / ("n" * 120)
    folder.mkdir()
    path = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as connection:
        with pytest.raises(OSError, match="too long"):
            listener.bind(path)
        with addresses.short(path) as name:
            listener.bind(name)
        listener.listen(1)
        with addresses.short(path) as name:
            connection.connect(name)
        accepted, _ = listener.accept()
        with accepted:
            accepted.sendall(b"ready\n")
            assert connection.recv(16) == b"ready\n"
    assert not [one for one in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{one}") == str(folder)]
