"""The frame of a standalone script."""

import textwrap
from dataclasses import dataclass, field

import jinja2

from tridiff.fuzz.backends import kind
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro.source import Program
from tridiff.fuzz.repro.verbatim import Verbatim

WIDTH = 110
"""Columns beyond which a signature is broken and nothing more is put on a line."""

MAX_LINES = 40
"""Lines of a script that someone will read in an issue."""

_TEMPLATE = """\
# {{ title }}{{ "; " + note if tight and note }}
{% if note and not tight %}
# {{ note }}
{% endif %}
{% if interpreted %}
import os{{ '; os.environ["TRITON_INTERPRET"] = "1"' if tight }}
{% endif %}
{% if isolated %}
import subprocess
import sys
{% endif %}
{% if language == "ttgir" %}
import tempfile
{% endif %}
{% if isolated %}
if len(sys.argv) == 1:  # a crash or a hang must not take the verdict with it
    try:
        failed = subprocess.run([sys.executable, __file__, "run"], timeout=60).returncode != 0
    except subprocess.TimeoutExpired:
        failed = True
    print("BUG" if failed else "OK")
    sys.exit()
{% endif %}
{% if interpreted and not tight %}
os.environ["TRITON_INTERPRET"] = "1"
{% endif %}
{% if numpy %}
import numpy as np
{% endif %}
{% if not compiled %}
import torch
{% endif %}
import triton
{% if not language %}
import triton.language as tl
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
{{ gap if not language }}{{ functions }}
{% if language == "ttgir" %}

path = tempfile.mkdtemp() + "/kernel.ttgir"
with open(path, "w") as file:
    file.write(TEXT)
{% if compiled %}
source = path
{% elif isolated or not raises %}
{% if scratch %}
triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
{% endif %}
kernel = triton.compile(path, target=triton.runtime.driver.active.get_current_target())
{% endif %}
{% endif %}
{{ gap }}{% if compiled -%}
{% if language != "ttgir" %}
source = {{ constructor }}(fn={{ program.kernel }}, signature={{ body.signature }}, constexprs={{ body.constants }},
                   attrs={{ attributes }})
{% endif %}
{% if isolated %}
triton.compile(source, target={{ gpu }}, options={{ body.options }})
{% else %}
try:
    triton.compile(source, target={{ gpu }}, options={{ body.options }})
    print("OK")
except Exception as error:
    print(error)
    print("BUG")
{% endif %}
{% else %}
{% for line in body.arrays %}
{{ line }}
{% endfor %}
{% if isolated %}
{{ body.launch }}
{{ synchronise }}
{% elif raises or asserts %}
try:
{% if language == "ttgir" %}
    kernel = triton.compile(path, target=triton.runtime.driver.active.get_current_target())
{% endif %}
    {{ body.launch }}
{% if synchronise %}
    {{ synchronise }}
{% endif %}
    print("{{ "BUG" if asserts else "OK" }}")
except Exception as error:
    print(error)
    print("{{ "OK" if asserts else "BUG" }}")
{% else %}
{{ body.launch }}
{% for line in body.checks %}
{{ line }}
{% endfor %}
print("OK" if {{ body.verdict }} else "BUG")
{% endif %}
{% endif %}
"""

_ENVIRONMENT = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
                                  keep_trailing_newline=True, autoescape=False)

_TARGETS = {"gfx942": 'GPUTarget("hip", "gfx942", 64)', "sm_80": 'GPUTarget("cuda", 80, 32)',
            "sm_90": 'GPUTarget("cuda", 90, 32)', "sm_100": 'GPUTarget("cuda", 100, 32)'}


@dataclass(frozen=True, kw_only=True)
class Body:
    """What fills the frame: statements as text, and for compilation the launch's specialisation."""

    arrays: tuple[str, ...] = ()
    launch: str = ""
    checks: tuple[str, ...] = ()
    verdict: str = ""
    """The expression that is true when the result is right, behind the statements `checks`."""
    signature: dict[str, str] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    divisible: tuple[int, ...] = ()
    options: dict[str, int | bool] = field(default_factory=dict)


def render(body: Body, program: Program | Verbatim, *, title: str, note: str, backend: str, failure: Verdict,
           failure_kind: str, spacing: int, tight: bool) -> str:
    """The script's text, ending in a newline.

    title, note: comment lines at the top, note may be empty. failure: how the finding shows; crashes and hangs are
    looked at from another process. failure_kind: as in the signature. spacing: blank lines around functions. tight:
    as few lines as possible.
    """
    name = kind(backend)
    language = program.language if isinstance(program, Verbatim) else ""
    attributes = f'{{(i,): [["tt.divisibility", 16]] for i in {body.divisible}}}' if body.divisible else "{}"
    text = _ENVIRONMENT.from_string(_TEMPLATE).render(
        body=body, tight=tight, title=title, note=note, program=program,
        functions=program.text(spacing=spacing), gap="\n" * spacing,
        interpreted=name == "interpreter", compiled=name == "compile",
        isolated=failure in (Verdict.CRASH, Verdict.HANG), raises=failure is Verdict.COMPILE_ERROR,
        asserts=failure_kind == "assertion_missing",
        attributes=attributes, language=language, constructor="GluonASTSource" if language else "ASTSource",
        scratch=isinstance(program, Verbatim) and "global_scratch_alloc" in program.source,
        synchronise="torch.cuda.synchronize()" if name == "cuda" else "",
        gpu=_TARGETS.get(backend.partition(":")[2], ""),
        numpy=any("np." in line for line in (*body.arrays, *body.checks)))
    assert isinstance(text, str)
    text = _broken_signatures(text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


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
