"""The records that cross every boundary of tridiff: frozen, strictly typed, JSON both ways."""

from tridiff.fuzz.records.blame import Blame, Tried
from tridiff.fuzz.records.case import MAX_ELEMENTS, ArraySpec, Case, Delay, LaunchOptions, Layout, Scalar
from tridiff.fuzz.records.codec import (
    SCHEMA,
    canonical_json,
    decode,
    digest,
    encode,
    pretty_json,
    pretty_json_without_defaults,
)
from tridiff.fuzz.records.content import (
    Base,
    Bits,
    Constant,
    Content,
    Explicit,
    Finite,
    Iota,
    Mixture,
    Override,
    Permutation,
    Pick,
    Put,
    Scattered,
    Small,
    Sorted,
    Special,
    Sprinkle,
    Tie,
    TieSprinkle,
)
from tridiff.fuzz.records.corpus_entry import CorpusEntry, Expectation, Stage, Truth
from tridiff.fuzz.records.environment import Environment
from tridiff.fuzz.records.joint import JointOutcome, Together
from tridiff.fuzz.records.outcome import Evidence, Launched, Outcome, Relative, RowCounts, Seconds, Signature, Verdict
from tridiff.kernels.record import Record

__all__ = [
    "MAX_ELEMENTS", "SCHEMA", "ArraySpec", "Base", "Bits", "Blame", "Case", "Constant", "Content", "CorpusEntry",
    "Delay", "Environment", "Evidence", "Expectation", "Explicit", "Finite", "Iota", "JointOutcome", "LaunchOptions",
    "Launched", "Layout", "Mixture", "Outcome", "Override", "Permutation", "Pick", "Put", "Record", "Relative",
    "RowCounts", "Scalar", "Scattered", "Seconds", "Signature", "Small", "Sorted", "Special", "Sprinkle", "Stage",
    "Tie", "TieSprinkle", "Together", "Tried", "Truth", "Verdict",
    "canonical_json", "decode", "digest", "encode", "pretty_json", "pretty_json_without_defaults",
]
