"""What the corpus already knows, checked again before a campaign relies on it."""

from dataclasses import dataclass

import msgspec

from fuzz.campaign.record import CampaignOptions
from fuzz.corpus.replay import replay
from fuzz.corpus.store import Corpus
from fuzz.errors import TridiffError
from fuzz.records import CorpusEntry, Signature, Verdict
from fuzz.targets import find, select

_WRONG = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "unwritten", "nondeterministic")
"""How wrong elements of an output may look."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """keys: signatures that still fail here, to be suppressed. stopped: ids that were expected to fail here
    and no longer do. unreadable: one line per broken corpus file."""

    keys: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def one_finding(signature: Signature) -> tuple[str, ...]:
    """Keys of the signature, of all others that wrong elements with its cause may get, if it names a cause, and of
    the same complaint in other targets."""
    kinds = _WRONG if signature.kind in _WRONG and signature.about and find(signature.target).about_causes else ()
    alike = [*({"kind": one} for one in kinds), *({"target": one} for one in _targets(signature))]
    return tuple(dict.fromkeys((signature.key, *(msgspec.structs.replace(signature, **one).key for one in alike))))


def _targets(signature: Signature) -> tuple[str, ...]:
    """Targets that may meet it: what a compiler pass complains of, with a message, does not depend on the family of
    generated kernels."""
    said = signature.verdict is Verdict.COMPILE_ERROR and signature.where == "passes" and (
        "PassManager" not in signature.kind)
    return tuple(one.name for one in select(("codegen",))) if said and signature.target.startswith("codegen.") else (
        signature.target,)


def check_known(corpus: Corpus, options: CampaignOptions) -> Known:
    """Replay the entries that concern this campaign's targets and subjects on its backends.

    Hangs are taken at their word: each would cost the whole hang limit.
    """
    wanted = {target.name for target in select(options.targets)}
    unreadable: list[str] = []
    keys: list[str] = []
    relevant: list[CorpusEntry] = []
    for entry in corpus.entries():
        if isinstance(entry, TridiffError):
            unreadable.append(str(entry))
        elif wanted.intersection(_targets(entry.signature)) and (
                not options.subjects or entry.signature.subject in options.subjects):
            if entry.signature.verdict is Verdict.HANG:
                keys.append(entry.signature.key)
            else:
                relevant.append(entry)
    stopped: list[str] = []
    if relevant:
        by_id = {entry.id: entry for entry in relevant}
        failing: set[str] = set()
        for result in replay(relevant, backends=options.backends, device=options.devices[0] if options.devices else 0):
            outcome = result.outcome
            if outcome is not None and outcome.signature == by_id[result.id].signature:
                failing.add(result.id)
            elif result.status == "changed" and outcome is not None and not outcome.verdict.failed:
                stopped.append(result.id)
        keys += [key for name in sorted(failing) for key in one_finding(by_id[name].signature)]
        # An entry that still fails on one backend is still known.
        stopped = [name for name in stopped if name not in failing]
    return Known(keys=tuple(keys), stopped=tuple(dict.fromkeys(stopped)), unreadable=tuple(unreadable))
