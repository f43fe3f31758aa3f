"""A control that fails: a subject which is itself a reference contradicts the other references."""

from typing import Any

import msgspec

from tridiff.fuzz.records import RowCounts, Signature
from tridiff.fuzz.records.outcome import ORACLE_CONFLICT


def as_conflict(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of the outcome of a failing control (`Target.controls`), with `reason` and counts of an oracle
    conflict in place of a finding; the evidence stays."""
    kept = {name: value for name, value in fields.items() if name not in ("signature", "failing_rows")}
    signature: Signature = fields["signature"]
    rows: RowCounts = fields.get("rows", RowCounts())
    rows = msgspec.structs.replace(rows, disagree=0, conflict=rows.conflict + rows.disagree)
    place = f" about {signature.where}" if signature.where else ""
    return kept | {"rows": rows, "reason": f"{ORACLE_CONFLICT}: the control differs from the references{place} "
                                           f"({signature.kind})"}
