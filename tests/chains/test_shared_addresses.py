"""Where Triton 3.6.0 misses in shared memory; what is compiled (checks_shared_addresses.py) runs in its own process."""

from pathlib import Path

import pytest

from tests.chains.lost_transpositions import CHAINS
from tests.support.in_subprocess import Checks
from tridiff.fuzz.known.chains.forgotten import misread
from tridiff.kernels.gluon.check import problem

test_compiled = Checks(Path(__file__).with_name("checks_shared_addresses.py"), interpret=False).tests()


@pytest.mark.parametrize("name", CHAINS)
def test_reads_of_other_bytes_than_were_stored(name: str):
    chain, reads = CHAINS[name]
    assert not problem(chain)
    assert misread(chain) == reads
