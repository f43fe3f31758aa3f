"""A kernel that is wrong in one place, as data: its row in the table of the fuzzer."""

from typing import Annotated

from msgspec import Meta

from tridiff.kernels.record import Record


class Refusal(Record, kw_only=True, tag="refusal", omit_defaults=True):
    """row: what is wrong. mended: the kernel without it, which must be taken."""

    row: Annotated[str, Meta(pattern=r"^[a-z_]{1,48}\Z")]
    mended: bool = False
