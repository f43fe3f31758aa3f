"""What every standalone script has around its kernel: how it answers, what it needs, and what counts as the bug.

A script's last line is one of three answers. `BUG` stands for nothing but the recorded failure: wrong results, or the
recorded error text, signal or endless run of a child process. Whatever else goes wrong is `SKIP: reason`.
"""

import re
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tridiff.fuzz.backends import kind
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro.request import Recorded
from tridiff.fuzz.workers.failures import DEVICE
from tridiff.kernels.language.lines import ASSERTED

ANSWERS = 'The last line is BUG, OK or "SKIP: reason", the exit status 1, 0 or 2.'

STATUS = {"BUG": 1, "OK": 0, "SKIP": 2}
"""Exit status by answer."""

HOOK = ('sys.excepthook = lambda *error: (sys.__excepthook__(*error), '
        'print(f"SKIP: {error[1]!r:.200}", flush=True), os._exit(2))')
"""Whatever ends the script otherwise is no bug of this kind."""

HANGS_AFTER = 30
"""Seconds without an end that count as the recorded hang."""

ALLOCATOR = 'triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))'
"""For kernels that need global scratch: tensor descriptors made on the device, among others."""

REPEATS_FOR = 30
"""Seconds after which a script does not launch again, where it may take several launches until one is wrong."""

RIGHT_SO_OFTEN = r"^right in (\d+) launches$"
"""What such a script says above OK."""

_TELLING = 72
"""Characters of an error text that a script looks for: they fit into a line."""

_SILENT: Mapping[Verdict, tuple[str, ...]] = {Verdict.COMPILE_ERROR: (r"(?ms)^\w+Error$.*\bCompilationError: ",)}
"""Error texts of a failure whose own error has none: one line with its type, above what the compiler makes of it."""

OWN_INTERPRETER = "It runs in Triton's own interpreter; the finding was made in tridiff's, which repairs defects of it."
REPAIRED = "It needs tridiff, whose repairs of Triton's interpreter keep other defects of that away from this one."
ONLY_REPAIRED = "Triton's own interpreter is right here, only tridiff's repaired one shows the finding"


@dataclass(frozen=True)
class Signs:
    """How the recorded failure shows from outside. texts: regular expressions of error texts; endings: exit statuses
    of a child process, negative for signals; hang: it does not end; values: it ends with wrong results."""

    texts: tuple[str, ...] = ()
    endings: tuple[int, ...] = ()
    hang: bool = False
    values: bool = False

    @property
    def isolated(self) -> bool:
        """Whether a child process must run the launch."""
        return bool(self.texts or self.endings or self.hang)


def signs(ways: Iterable[Recorded]) -> Signs:
    """What shows each recorded failure. A control, which agrees, has results to check and nothing else."""
    texts: dict[str, None] = {}
    endings: dict[int, None] = {}
    hang = values = False
    for way in ways:
        if way.asserted:
            texts[ASSERTED[way.kind]] = None
        elif way.verdict in (Verdict.DISAGREE, Verdict.AGREE, Verdict.NOT_CHECKED):
            values = True
        elif way.verdict is Verdict.HANG:
            hang = True
        elif hasattr(signal.Signals, way.kind):
            endings[-signal.Signals[way.kind].value] = None
        elif way.kind.startswith("exit_") and way.kind[5:].isdecimal():
            endings[int(way.kind[5:])] = None
        else:
            for text in _texts(way.kind) or _SILENT.get(way.verdict, ()) or _named(way.kind):
                texts[text] = None
    return Signs(tuple(texts), tuple(endings), hang, values)


def _texts(failure_kind: str) -> list[str]:
    """Regular expressions for what the kind of a signature was made of."""
    on_device = [pattern for pattern, name in DEVICE if name == failure_kind]
    if on_device:
        return on_device
    if failure_kind == "out_of_memory":
        return ["out of memory"]
    # A kind may begin with the type of its exception; it says numbers as N and paths as PATH.
    message = re.sub(r"^[A-Za-z]\w*(?:Error|Exception|Impl|Failure): ", "", failure_kind).strip()[:_TELLING].strip()
    escaped = re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", message)
    escaped = re.sub(r"\bN\b", r"\\w+", escaped)
    escaped = re.sub(r"\bPATH\b", r"\\S+", escaped)
    # A name of a type that stands alone, as for names that Python does not know.
    return [escaped.replace('"', ".")] if escaped else []


def _named(failure_kind: str) -> list[str]:
    """What shows an exception without a message: its name, at the end of a traceback or inside another exception."""
    name = failure_kind.partition(":")[0]
    return [rf"(?m)^{name}:?$|\b{name}\(\)"] if re.fullmatch(r"[A-Za-z]\w*(Error|Exception)", name) else []


def isolation(found: Signs) -> list[str]:
    """Statements at the top of a script that run it once more in a child process and look how that ends."""
    started = bool(found.endings or found.hang)
    searches = " or ".join(f're.search(r"{text}", said)' for text in found.texts)
    conditions = [f"ended and ({searches})" if len(found.texts) > 1 else f"ended and {searches}"] if searches else []
    if found.endings:
        code = f"== {found.endings[0]}" if len(found.endings) == 1 else f"in {found.endings}"
        conditions.append(f"ended {code}")
    if found.hang:
        conditions.append('ended == "timeout"')
    condition = " or ".join(f"({one})" if " and " in one and len(conditions) > 1 else one for one in conditions)
    if started:
        either = f"({condition})" if len(conditions) > 1 else condition
        condition = f'"running" in said and {either}'
    perturbed = any(-code in (signal.SIGSEGV, signal.SIGBUS) for code in found.endings)
    how = 'capture_output=True, text=True, errors="replace"'
    if perturbed:
        how += ', env=os.environ | {"MALLOC_PERTURB_": "165"}'
    call = f'subprocess.run([sys.executable, __file__, "run"], {how}'
    lines = ["if len(sys.argv) == 1:  # a child process runs what follows; only the recorded failure of it is a BUG"]
    if perturbed:
        lines.append("    # Freed memory is overwritten, so that reading it fails for certain.")
    if found.hang:
        lines += ["    try:", f"        child = {call}, timeout={HANGS_AFTER})",
                  '        said, ended = f"{child.stderr}\\n{child.stdout}", child.returncode',
                  "    except subprocess.TimeoutExpired as late:",
                  '        said, ended = (late.stdout or b"").decode(errors="replace"), "timeout"']
    else:
        lines += [f"    child = {call})", '    said, ended = f"{child.stderr}\\n{child.stdout}", child.returncode']
    return [
        *lines,
        '    last = (re.findall(r"^(?:OK|BUG|SKIP: .*)$", said, re.M) or [f"SKIP: ended with {ended}"])[-1]',
        f'    answer = "BUG" if {condition} else last',
        '    print(said[-3000:], answer, sep="\\n")',
        '    sys.exit({"OK": 0, "BUG": 1}.get(answer, 2))',
    ]


def running(found: Signs) -> list[str]:
    """The statement before the launch that tells a failure of it from one before it."""
    return ['print("running", flush=True)'] if found.endings or found.hang else []


def ending(right: str, *, only_repaired: bool = False) -> list[str]:
    """Statements that answer. right: the expression that is true where the results are."""
    if only_repaired:
        return [f'print(answer := ("SKIP: {ONLY_REPAIRED}" if {right} else "BUG"))',
                'sys.exit(1 if answer == "BUG" else 2)']
    return [f'print(answer := ("OK" if {right} else "BUG"))', 'sys.exit(answer == "BUG")']


def repeated(statements: Iterable[str], right: str, *, launches: int, seen: str) -> list[str]:
    """Statements that launch until the results are wrong, and then answer. statements: what makes the arrays, launches
    and defines what `right` needs. launches: at most. seen: in how many runs it was wrong."""
    body = [line for one in statements for line in one.splitlines()]
    return [
        f"until = time.monotonic() + {REPEATS_FOR}",
        f"for launches in range(1, {launches + 1}):  # it depends on timing: wrong in {seen} runs",
        *(f"    {line}" if line else line for line in body),
        f"    if not {right if right.isidentifier() else f'({right})'}:", '        sys.exit(print("BUG") or 1)',
        "    if time.monotonic() > until:", "        break",
        'print(f"right in {launches} launches")', 'print("OK")']


def survived(*, only_repaired: bool = False) -> str:
    """The statement that answers behind a launch that did not fail, where nothing else can be wrong."""
    return f'print("SKIP: {ONLY_REPAIRED}")' if only_repaired else 'print("OK")'


def gpu_guard(source: str, dtypes: Iterable[str] = (), *, tight: bool = False) -> list[str]:
    """Statements that end a script without the GPU that its kernel needs. source: text of the kernel. tight: as few
    lines as possible."""
    if re.search(r"\bwarpgroup_mma\w*\(|ttng\.warp_group_dot|\"?ttg\.target\"? = \"cuda:90\"", source):
        need, test = "compute capability 9.0", "!= (9, 0)"
    elif re.search(r"\b(?:tma|mbarrier|cluster)\.\w+\(|make_tensor_descriptor|TensorDescriptor", source):
        need, test = "compute capability 9.0 or later", "< (9, 0)"
    elif "fp8e4nv" in dtypes:
        need, test = "compute capability 8.9 or later", "< (8, 9)"
    elif tight:
        return ['if not torch.cuda.is_available(): sys.exit(print("SKIP: no NVIDIA GPU") or 2)']
    else:
        return ["if not torch.cuda.is_available():", '    sys.exit(print("SKIP: no NVIDIA GPU") or 2)']
    return [f"if not torch.cuda.is_available() or torch.cuda.get_device_capability() {test}:",
            f'    sys.exit(print("SKIP: needs an NVIDIA GPU of {need}") or 2)']


def heading(title: str, note: str, backend: str, *, repaired: bool = False) -> list[str]:
    """The comment at the top."""
    lines = [f"# {title}", *([f"# {note}"] if note else []), f"# {ANSWERS}"]
    return [*lines, f"# {REPAIRED if repaired else OWN_INTERPRETER}"] if kind(backend) == "interpreter" else lines
