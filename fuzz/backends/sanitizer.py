"""Triton's concurrency sanitizer around one launch (contract: ttg_ops.md §6b).

The setting lives in the process for as long as the launch is being compiled: both versions make it an option of the
kernel, so that a kernel compiled with it is never taken for one without, neither in memory nor on disk.
"""

import dataclasses
from collections.abc import Callable

from tridiff.fuzz.backends.device_errors import asserted_on_the_device
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.verdicts import Declined, Refuted


def under_sanitizer(launch: Launch, work: Callable[[], None]) -> None:
    """Run `work`, which launches through `launch`, with every access to shared memory checked; wait for it.

    Raises Refuted of kind `sanitizer` when an assertion of the sanitizer stops the kernel; its text is on the error
    output, from where the outcome takes it. Other failures of the instrumented kernel stay what they are.
    """
    import triton

    knobs = triton.knobs.compilation
    if not hasattr(knobs, "instrumentation_mode"):
        raise Declined("this version has no concurrency sanitizer")
    before = knobs.instrumentation_mode
    first = len(launch.reports)
    try:
        knobs.instrumentation_mode = "consan"
        work()
        launch.synchronise()
    except RuntimeError as error:
        if asserted_on_the_device(error):
            raise Refuted("sanitizer", "consan", "the concurrency sanitizer stopped the kernel", spent=True) from error
        raise
    finally:
        knobs.instrumentation_mode = before
    # The sanitizer turns assertions on, whatever was asked for.
    for number in range(first, len(launch.reports)):
        report = launch.reports[number]
        readback = {name: value for name, value in (report.readback or {}).items() if name != "debug"}
        launch.reports[number] = dataclasses.replace(report, readback=readback)
