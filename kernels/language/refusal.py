"""A kernel that is wrong in one place, as data: its row in the table of the fuzzer."""

from typing import Annotated

import msgspec
from msgspec import Meta


class Refusal(msgspec.Struct, frozen=True, kw_only=True, tag="refusal", forbid_unknown_fields=True, omit_defaults=True):
    """row: what is wrong. mended: the kernel without it, which must be taken."""

    row: Annotated[str, Meta(pattern=r"^[a-z_]{1,48}\Z")]
    mended: bool = False
