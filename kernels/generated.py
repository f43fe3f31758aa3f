"""From the source text of a generated kernel to a module that Triton, tracebacks and `inspect` can read.

Nothing is written to disk: the text is registered with `linecache`, which is where `inspect` looks for the
source of a jit function. A worker that lives through a night of generated kernels must not grow, so only the
latest modules are kept, and those few for good that are asked for as lasting.
"""

from __future__ import annotations

import hashlib
import linecache
import types
from collections import OrderedDict

KEPT = 64
"""Modules kept; the least recently used one goes first. A module in use elsewhere lives on, without source."""

_modules: OrderedDict[str, types.ModuleType] = OrderedDict()
_lasting: set[str] = set()


def load(source: str, *, name: str, fresh: bool = False, lasting: bool = False) -> types.ModuleType:
    """The module that `source` defines; equal text under an equal name is executed once, or anew if it is to be fresh:
    a kernel that was refused, for one, keeps what the attempt left in it, and may be refused otherwise the next time.

    name: an identifier that says what was generated; it shows in tracebacks and in line information. lasting: the
    module and its source stay, as those of a file do, whatever else is loaded or forgotten: for functions that somebody
    holds on to, which the interpreter reads when they first run. The text is code of this project's own generators,
    never text from a corpus file. Raises whatever executing it raises.
    """
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not an identifier; name the generated module like a Python module")
    digest = hashlib.blake2b(source.encode(), digest_size=8).hexdigest()
    filename = f"<generated {name} {digest}>"
    if lasting:
        _lasting.add(filename)
    if filename in _modules and not fresh:
        _modules.move_to_end(filename)
        return _modules[filename]
    module = types.ModuleType(f"generated.{name}_{digest}")
    module.__file__ = filename
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        # Annotations are what they would be in a file of somebody's own, not the strings that this file has.
        exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del linecache.cache[filename]
        _lasting.discard(filename)
        raise
    _modules[filename] = module
    _modules.move_to_end(filename)
    passing = [one for one in _modules if one not in _lasting]
    for oldest in passing[:-KEPT]:
        _drop(oldest)
    return module


def forget() -> None:
    """Have every module executed anew that is asked for again, but for lasting ones. Called after a failure, which a
    kernel may remember."""
    for filename in _modules.keys() - _lasting:
        _drop(filename)


def _drop(filename: str) -> None:
    del _modules[filename]
    linecache.cache.pop(filename, None)
