"""The policy: what a difference between two builds means for an upgrade, as data in a small file."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import Action
from tridiff.fuzz.pair.relate import OUT_OF_RESOURCES
from tridiff.fuzz.records.pair import Relation
from tridiff.kernels.record import Record

DEFAULT = Path(__file__).with_name("policy.toml")


class Accepted(Record, kw_only=True):
    """Differences that are wanted. target, key: globs; reason: for the record."""

    target: str
    key: str
    reason: str


class NumericPolicy(Record, kw_only=True):
    """largest_bias: |larger - smaller| of the changed elements as a share of all that changed."""

    action: Action = "guard"
    least_elements: int = 1000
    largest_bias: float = 0.5


class ResourcePolicy(Record, kw_only=True):
    action: Action = "report"
    largest: float = 2.0


class TimePolicy(Record, kw_only=True):
    """least_seconds: of the baseline, below which nothing is said; largest: quotient candidate / baseline."""

    action: Action = "report"
    least_seconds: float = 20.0
    largest: float = 1.5


class RunTimePolicy(Record, kw_only=True):
    """largest: quotient candidate / baseline of one kernel, beyond how far its own turns lie apart."""

    action: Action = "report"
    largest: float = 1.25


class CodePolicy(Record, kw_only=True):
    """Other code for one input. same_release: where both builds say the same version, which also holds for what one of
    them refuses or does otherwise, and for public names; other_release: else."""

    same_release: Action = "block"
    other_release: Action = "report"


class Policy(Record, kw_only=True):
    """As `policy.toml` explains."""

    relations: dict[str, Action]
    regressions: dict[str, Action]
    api: dict[str, Action]
    numeric: NumericPolicy = NumericPolicy()
    resources: ResourcePolicy = ResourcePolicy()
    compile_time: TimePolicy = TimePolicy()
    run_time: RunTimePolicy = RunTimePolicy()
    code: CodePolicy = CodePolicy()
    sweeps: dict[str, Action] = {}
    accept: tuple[Accepted, ...] = ()

    def action(self, relation: Relation, *, verdict: str, kind: str = "") -> Action:
        """What a finding means. verdict: of the candidate ("compile_error", "disagree", ...); kind: of the pair."""
        for name in (kind, verdict):
            if relation is Relation.REGRESSION and name in self.regressions:
                return self.regressions[name]
        return self.relations.get(relation.value, "report")

    def of_one_release(self) -> "Policy":
        """The policy for two builds that carry one version number: what they refuse, do or name otherwise means what
        other code of one release does, wherever it would need a guard between releases."""
        def told(actions: dict[str, Action]) -> dict[str, Action]:
            return {name: self.code.same_release if one == "guard" else one for name, one in actions.items()}

        return msgspec.structs.replace(self, relations=told(self.relations), regressions=told(self.regressions),
                                       api=told(self.api))

    def accepted(self, target: str, key: str) -> str:
        """Why a finding is wanted; "" if it is not said to be."""
        return next((one.reason for one in self.accept
                     if fnmatchcase(target, one.target) and fnmatchcase(key, one.key)), "")


_RELATIONS = {one.value for one in Relation}
_VERDICTS = {"disagree", "compile_error", "crash", "hang", OUT_OF_RESOURCES}
_SWEEPS = {"worse", "other"}
_API = {"lost", "changed", "gained"}


def read(path: Path | None = None) -> Policy:
    """The policy in `path`, over the default one. TridiffError for a file that says something else."""
    policy = _tables(DEFAULT)
    if path is not None:
        for name, value in _tables(path).items():
            known = policy.get(name)
            policy[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    source = path or DEFAULT
    try:
        found = msgspec.convert(policy, Policy)
    except msgspec.ValidationError as error:
        raise TridiffError(f"{source} is no policy: {error}", fix=f"see {DEFAULT.name} for what it may say") from None
    for table, names, legal in (("relations", found.relations, _RELATIONS),
                                ("regressions", found.regressions, _VERDICTS), ("api", found.api, _API),
                                ("sweeps", found.sweeps, _SWEEPS)):
        for name in sorted(names.keys() - legal):
            raise TridiffError(f"{source}: [{table}] has no {name!r}", fix=f"use one of {' '.join(sorted(legal))}")
    return found


def _tables(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TridiffError(f"{path} cannot be read ({error.strerror})", fix="name a policy file that exists") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TridiffError(f"{path} is no TOML file ({error})", fix=f"write it like {DEFAULT.name}") from None
