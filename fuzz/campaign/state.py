"""A campaign's folder: made once, owned by one process at a time, and resumed only on what it was started on."""

import contextlib
import fcntl
import importlib.metadata
import os
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.known import release_claims
from tridiff.fuzz.campaign.record import CampaignOptions, Plan
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import decode, encode
from tridiff.fuzz.records.reading import read_bytes
from tridiff.kernels.codegen.dialect import found_version

_GPUS = Path("/proc/driver/nvidia/gpus")


MOST_BYTES = 256 << 20
"""Largest plan that is read: one of 31 days on 16 workers takes half of that."""


class Owned:
    """The right to run the campaign in a folder. Raises TridiffError while another process has it."""

    def __init__(self, state: Path) -> None:
        self._file: int | None = os.open(state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.read(self._file, 20).decode(errors="replace").strip()
            self.release()
            raise TridiffError(f"campaign {state.name} is running, pid {pid or 'unknown'}",
                               fix="wait for its end, or end it with Ctrl-C or SIGTERM") from None
        except OSError:
            return  # A file system without locks: as it was before there were any.
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def create(plan: Plan, root: Path) -> tuple[Plan, Path, Owned]:
    """Make the campaign's folder root/<id> with its plan, which gains what is installed here. TridiffError when that
    campaign exists or the disk is full."""
    state = root / plan.id
    plan = replace(plan, installed=installed(plan.options))
    try:
        state.mkdir(parents=True)
        owned = Owned(state)
        (state / ".plan").write_bytes(encode(plan))
        (state / ".plan").rename(state / "plan.json")
    except FileExistsError:
        raise TridiffError(f"campaign {plan.id} exists", fix="resume it or choose another --id") from None
    except OSError as error:
        raise TridiffError(f"{state} cannot be written ({error.strerror})",
                           fix="free disk space or choose another --state directory") from None
    return plan, state, owned


def reopen(name: str, root: Path) -> tuple[Plan, Path, Owned]:
    """An interrupted campaign; an empty name means the newest unfinished one that nobody runs. TridiffError if there is
    none, if it is running, and if what is installed here is not what it was started on."""
    found = sorted((p.parent for p in root.glob("*/plan.json")), key=lambda p: p.stat().st_mtime, reverse=True)
    if name:
        found = [p for p in found if p.name == name]
    else:
        found = [p for p in found if not (p / "finished").exists()]
    if not found:
        raise TridiffError(f"no campaign {name or 'to resume'} under {root}", fix="start one with `tridiff fuzz`")
    refusal: TridiffError | None = None
    for state in found:
        try:
            owned = Owned(state)
        except TridiffError as error:
            refusal = refusal or error
            continue
        except OSError as error:
            raise TridiffError(f"{state} cannot be written ({error.strerror})", fix="free disk space") from None
        try:
            plan = decode(read_bytes(state / "plan.json", most=MOST_BYTES), Plan, source=str(state / "plan.json"))
            _same(plan)
            _clear(state)
        except BaseException:
            owned.release()
            raise
        return plan, state, owned
    assert refusal is not None
    raise refusal


def _clear(state: Path) -> None:
    (state / "stop").unlink(missing_ok=True)
    (state / "finished").unlink(missing_ok=True)
    release_claims(state)


def installed(options: CampaignOptions) -> dict[str, str]:
    """Versions of the Triton that an import finds and of torch, and the models of the GPUs that a campaign uses."""
    found = {}
    for package, version in (("triton", found_version), ("torch", lambda: importlib.metadata.version("torch"))):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = version()
    if any(kind(backend) == "cuda" for backend in options.backends):
        found["gpus"] = ", ".join(sorted({
            line.partition(":")[2].strip() for path in _GPUS.glob("*/information")
            for line in path.read_text(errors="replace").splitlines() if line.startswith("Model:")}))
    return found


def _same(plan: Plan) -> None:
    here = installed(plan.options)
    for what, then in plan.installed.items():
        now = here.get(what, "")
        if now != then:
            label = {"triton": "Triton", "torch": "torch", "gpus": "the GPU"}.get(what, what)
            raise TridiffError(
                f"campaign {plan.id} was started on {label} {then or 'none'}, here is {now or 'none'}: verdicts would "
                "be mixed", fix="start a campaign of its own for each")
