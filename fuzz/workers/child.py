"""The worker process: one device, one case at a time, until its driver closes the socket."""

import os
import resource
import socket

from msgspec.structs import replace

from tridiff.fuzz.backends import kind, watched
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Outcome
from tridiff.fuzz.records.outcome import LONGEST_REASON
from tridiff.fuzz.workers import addresses, protocol
from tridiff.fuzz.workers.wear import MOST_GROWTH, ON_DEVICE, Wear


def serve(address: str, *, backend: str, device: int, memory: int) -> int:
    """Connect, announce readiness, judge cases. Returns the exit status."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with addresses.short(address) as name:
        connection.connect(name)
    _limit(backend, device, memory)
    from tridiff.fuzz.workers.environment import read_environment
    from tridiff.fuzz.workers.joint import JointExecutor

    executor = JointExecutor(backend=backend)
    watched.ready()
    connection.sendall(protocol.line(protocol.Ready(pid=os.getpid(), environment=read_environment(backend))))
    stream = connection.makefile("rb")
    wear = Wear(ON_DEVICE if kind(backend) == "cuda" else MOST_GROWTH)
    while request_line := stream.readline():
        request = protocol.read_run(request_line)
        number = request.sequence

        def stage(name: str, number: int = number) -> None:
            connection.sendall(protocol.line(protocol.Stage(sequence=number, name=name)))

        watched.begin()
        first = request.cases[0] if isinstance(request, protocol.RunJoined) else request.case
        done: protocol.Done | protocol.DoneJoined
        try:
            if isinstance(request, protocol.RunJoined):
                together, spent = executor.execute_joined(
                    request.cases, request.subject, backend=request.backend, stage=stage)
                spent |= any([wear.spent(one) for one in together.outcomes])
                done = protocol.DoneJoined(sequence=number, spent=spent, outcome=replace(
                    together, outcomes=tuple(map(bounded, together.outcomes))))
            else:
                outcome, spent = executor.execute(
                    request.case, request.subject, backend=request.backend, want_inputs=request.want_inputs,
                    inputs_only=request.inputs_only, stage=stage, observe=request.observe)
                spent |= wear.spent(outcome)
                done = protocol.Done(
                    sequence=number, outcome=bounded(outcome), spent=spent, observed=executor.observed,
                    reached=watched.reached(), imported=watched.imported())
        except TridiffError as error:
            connection.sendall(protocol.line(protocol.Refused(
                sequence=number, case_digest=first.digest, problem=error.problem, fix=error.fix)))
            continue
        connection.sendall(protocol.line(done))
        if spent:
            return 0
    return 0


def bounded(outcome: Outcome) -> Outcome:
    """The outcome with its texts as short as whoever reads the message insists."""
    if len(outcome.reason) <= LONGEST_REASON:
        return outcome
    return replace(outcome, reason=outcome.reason[:LONGEST_REASON])


def _limit(backend: str, device: int, memory: int) -> None:
    """Cap the memory of this worker: host data for CPU backends, the GPU allocator's share for CUDA."""
    import torch

    torch.set_num_threads(1)
    if kind(backend) == "cuda":
        torch.cuda.set_device(device)
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(memory / total, 1.0), device)
    else:
        held = _held()
        if held >= memory:
            # What still fits into freed memory would run, and end in errors that look like the subject's.
            raise MemoryError(f"a worker holds {held >> 20} MiB before its first case, its cap is {memory >> 20} MiB")
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _held() -> int:
    """Bytes that RLIMIT_DATA counts of this process."""
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) << 10 for line in status if line.startswith("VmData:")), 0)
