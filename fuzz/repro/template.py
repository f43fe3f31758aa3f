"""The frame of a standalone script."""

import functools
import re
import textwrap
from dataclasses import dataclass, field

import jinja2

from tridiff.fuzz.backends import kind
from tridiff.fuzz.interpreter import Repairs
from tridiff.fuzz.repro import frame
from tridiff.fuzz.repro.request import Request
from tridiff.fuzz.repro.source import Program
from tridiff.fuzz.repro.verbatim import Verbatim
from tridiff.fuzz.repro.wrap import WIDTH as PAGE, wrapped

WIDTH = 110
"""Columns beyond which a signature is broken and nothing more is put on a line."""

MAX_LINES = 40
"""Lines of a script that someone will read in an issue."""

_TEMPLATE = """\
{% for line in heading %}
{{ line }}
{% endfor %}
import {{ modules }}{{ '; os.environ["TRITON_INTERPRET"] = "1"' if together else "" }}
{% if isolation %}

{% for line in isolation %}
{{ line }}
{% endfor %}

{% endif %}
{% if interpreted and not together %}
os.environ["TRITON_INTERPRET"] = "1"
{% endif %}
{{ hook }}
{% if tight %}
{% if libraries %}
import {{ libraries | join(", ") }}
{% endif %}
{% else %}
{% for one in libraries %}
import {{ one }}
{% endfor %}
{% endif %}
{% if compiled %}
from triton.backends.compiler import GPUTarget
{% if language == "gluon" %}
from triton.experimental.gluon._runtime import GluonASTSource
{% elif not language %}
from triton.compiler import ASTSource
{% endif %}
{% endif %}
{% for line in program.imports %}
{{ line }}
{% endfor %}
{% if repaired %}
from tridiff.fuzz import interpreter
interpreter.install({{ repairs }})
{% endif %}
{% if guard %}
{{ "" if tight else "\n" }}{% for line in guard %}
{{ line }}
{% endfor %}
{% endif %}
{{ gap if not language }}{{ functions }}
{% if language == "ttgir" %}

path = tempfile.mkdtemp() + "/kernel.ttgir"
with open(path, "w") as file:
    file.write(TEXT)
{% endif %}
{{ gap }}{% for line in body.above %}
{{ line }}
{% endfor %}
{% if compiled %}
{% if language != "ttgir" %}
source = {{ constructor }}(fn={{ program.kernel }}, signature={{ body.signature }}, constexprs={{ body.constants }},
                   attrs={{ attributes }})
{% endif %}
{% for line in running %}
{{ line }}
{% endfor %}
{% if body.verdict %}
ptx = {{ compilation }}.asm["ptx"]
{% for line in ending %}
{{ line }}
{% endfor %}
{% else %}
{{ compilation }}
print("OK")
{% endif %}
{% else %}
{% if not repeated %}
{% for line in body.arrays %}
{{ line }}
{% endfor %}
{% endif %}
{% for line in running %}
{{ line }}
{% endfor %}
{% if language == "ttgir" %}
kernel = triton.compile(path, target=triton.runtime.driver.active.get_current_target())
{% endif %}
{% if repeated %}
{% for line in repeated %}
{{ line }}
{% endfor %}
{% elif asserts %}
try:
    {{ body.launch }}
    {{ synchronise }}
    sys.exit(print("BUG") or 1)
except RuntimeError as error:
    if "device-side assert" not in str(error):
        raise
    print("OK")
{% else %}
{{ body.launch }}
{% if body.verdict %}
{% for line in body.checks %}
{{ line }}
{% endfor %}
{% for line in ending %}
{{ line }}
{% endfor %}
{% else %}
{% if synchronise %}
{{ synchronise }}
{% endif %}
{{ survived }}
{% endif %}
{% endif %}
{% endif %}
"""

_ENVIRONMENT = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
                                  keep_trailing_newline=True, autoescape=False)

@functools.cache
def _template() -> jinja2.Template:
    return _ENVIRONMENT.from_string(_TEMPLATE)


_TARGETS = {"gfx942": 'GPUTarget("hip", "gfx942", 64)', "sm_80": 'GPUTarget("cuda", 80, 32)',
            "sm_90": 'GPUTarget("cuda", 90, 32)', "sm_100": 'GPUTarget("cuda", 100, 32)'}


def gpu_target(backend: str) -> str:
    """The expression for the chip of a backend `compile:ARCH`; empty for other backends."""
    return _TARGETS.get(backend.partition(":")[2], "")


@dataclass(frozen=True, kw_only=True)
class Body:
    """What fills the frame: statements as text, and for compilation the launch's specialisation."""

    above: tuple[str, ...] = ()
    """Statements between the kernel and the arrays: functions that make arrays, the allocator."""
    arrays: tuple[str, ...] = ()
    launch: str = ""
    checks: tuple[str, ...] = ()
    verdict: str = ""
    """The expression that is true when the result is right, behind the statements `checks`, or, where a script only
    compiles, what `ptx` shows; empty where neither is looked at."""
    dtypes: tuple[str, ...] = ()
    """Of the arrays."""
    signature: dict[str, str] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    divisible: tuple[int, ...] = ()
    options: dict[str, int | bool] = field(default_factory=dict)


def render(body: Body, program: Program | Verbatim, request: Request, *, spacing: int, tight: bool) -> str:
    """The script's text, ending in a newline, no line longer than `fuzz.repro.wrap.WIDTH` where it can be broken.

    request: what the script is to show and where. spacing: blank lines around functions. tight: as few lines as
    possible.
    """
    name = kind(request.backend)
    language = program.language if isinstance(program, Verbatim) else ""
    attributes = f'{{(i,): [["tt.divisibility", 16]] for i in {body.divisible}}}' if body.divisible else "{}"
    found = frame.signs(request.ways)
    functions = program.text(spacing=spacing)
    asserts = request.failure_kind == "assertion_missing"
    repeated = frame.repeated((*body.arrays, body.launch, *body.checks), body.verdict, launches=request.launches,
                              seen=request.seen) if request.launches > 1 and body.verdict and not asserts else []
    used = "\n".join((*body.above, *body.arrays, body.launch, *body.checks, body.verdict))
    modules = {"os": True, "re": found.isolated, "subprocess": found.isolated, "sys": True,
               "tempfile": language == "ttgir", "time": bool(repeated),
               "base64": "base64." in used, "zlib": "zlib." in used}
    text = _template().render(
        body=body, tight=tight, program=program, functions=functions, gap="\n" * spacing,
        heading=frame.heading(request.title, request.note, request.backend, repaired=request.repaired),
        together=tight and name == "interpreter" and not found.isolated,
        libraries=[one for one, needed in (
            ("numpy as np", "np." in used), ("torch", name != "compile"),
            ("triton", language != "gluon" or name == "compile" or re.search(
                r"(?<!from )\btriton\.(?!experimental)", f"{functions}\n{used}") is not None),
            ("triton.language as tl", not language)) if needed],
        modules=", ".join(one for one in sorted(modules) if modules[one]),
        isolation=frame.isolation(found) if found.isolated and not asserts else (),
        running=frame.running(found) if not asserts else (),
        hook=frame.HOOK, guard=frame.gpu_guard(functions, body.dtypes, tight=tight) if name == "cuda" else (),
        ending=frame.ending(body.verdict, only_repaired=request.only_repaired),
        survived=frame.survived(only_repaired=request.only_repaired),
        repeated=repeated, repaired=request.repaired,
        repairs="" if Repairs.of(request.subject) == Repairs() else f"interpreter.Repairs.of({request.subject!r})",
        interpreted=name == "interpreter", compiled=name == "compile",
        asserts=asserts, attributes=attributes, language=language,
        constructor="GluonASTSource" if language else "ASTSource",
        synchronise="torch.cuda.synchronize()" if name == "cuda" else "",
        compilation=f"triton.compile({'path' if language == 'ttgir' else 'source'}, "
                    f"target={gpu_target(request.backend)}, options={body.options})")
    assert isinstance(text, str)
    text = _broken_signatures(text)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if tight:
        lines = [line for line in lines if line]
    return wrapped("\n".join(lines) + "\n")


def fits(text: str) -> bool:
    """Whether a script is short enough for an issue."""
    return text.count("\n") <= MAX_LINES and all(len(line) <= PAGE for line in text.splitlines())


def too_long(text: str) -> str:
    """Says that it is not."""
    longest = max(map(len, text.splitlines()))
    wide = f" of up to {longest} columns" if longest > PAGE else ""
    return f"the script takes {len(text.splitlines())} lines{wide}, more than {MAX_LINES} of {PAGE} columns"


def _broken_signatures(text: str) -> str:
    """Function heads longer than WIDTH on several lines, as long as the script has lines to spare."""
    lines = text.strip().splitlines()
    for number in reversed(range(len(lines))):
        line = lines[number]
        if line.startswith("def ") and len(line) > WIDTH:
            parts = textwrap.wrap(line, WIDTH, subsequent_indent=" " * 8, break_long_words=False)
            if len(lines) + len(parts) - 1 <= MAX_LINES:
                lines[number:number + 1] = parts
    return "\n".join(lines)
