"""Which Triton generated text is written for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("said, block_pointers", [("3.6.0", "True"), ("3.9.0+git1", "False")])
def test_a_build_without_a_distribution_speaks_for_itself(tmp_path: Path, said: str, block_pointers: str):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(
        f'"""A build."""\n__version__ = \'{said}\'\nraise ImportError("it must not be imported")\n')
    answer = subprocess.run(
        [sys.executable, "-c", "from tridiff.kernels.codegen.dialect import found_version, has_block_pointers\n"
         "print(found_version(), has_block_pointers())"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [said, block_pointers]
