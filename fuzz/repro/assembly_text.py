"""How the PTX of a finding is written down; imports neither torch nor Triton."""

from tridiff.fuzz.repro.request import Assembly

FILE = "bug.ptx"
"""What the command calls the file."""


def comment(assembly: Assembly) -> str:
    """The PTX with a head that says where it comes from and what to do with it."""
    return f"// PTX of {assembly.versions}\n// {assembly.command}\n// nvdisasm -c bug.cubin\n{assembly.text}"
