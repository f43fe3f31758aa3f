"""What the contract (launch.md §1 to §8) says of unusual launches, as far as it does."""

from fnmatch import fnmatchcase

from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.versions import before

_ONE, _SIX = "(1, 1, 1) (5,)", "(2, 3, 1) (5,)"
_DUE: dict[str, Answers] = {
    "nothing": {"launches": _SIX, "compiled": "False"}, "closure": {
        "scope": "True", "another": "CompileTimeAssertionFailure", "launches": _SIX, "noted": "[constexpr[3]]"},
    "foreign name": {"as": "CompilationError", "launches": ""}, "conflict": {"as": "RuntimeError", "launches": ""},
    "by type": {"launches": "(1, 1, 1) (5, 2.0, 3.0, 16, True)",
                "signature": "{'x': '*i32', 'n': 'i64', 'f': 'fp32', 't': 'fp32', 'k': 'i32', 'b': 'u1', "
                             "'C': 'constexpr'}"},
    "constant memory": {"launches": _ONE, "signature": "{'x': '*i32', 'y': '*ki32', 'n': 'i32'}"},
    "more arguments": {"launches": _ONE}, "by name only": {"launches": _ONE},
    "by name only, by place": {"as": "TypeError", "launches": ""},
    "inspected": {"launches": f"{_ONE}; {_ONE}", "compiled": "False"},
    "function": {"function": "True", "same": "True"}, "functions": {"launches": "(1, 1, 1) (5, 3); (1, 1, 1) (5, 3)"},
    "failing together": {"errors": "['CompileTimeAssertionFailure', 'CompileTimeAssertionFailure']",
                         "left": "[0, 0, 0]", "active": "False"},
    "unheard": {"same": "True", "compiled": "", "launches": f"{_ONE}; {_ONE}"},
    "unloaded": {"seen": "['before None kernel', 'after module kernel', 'gone module kernel']", "unloaded": "1"},
    "unhooked": {"launches": _SIX, "unloaded": "1"}, "no clusters' queue": {"as": "ValueError", "launches": ""},
    "addresses": {"as": "RuntimeError"}, "variables": {"variables": "True", "lines": "True", "launches": _SIX},
    "other assembler": {"other": "True", "same code": "True", "launches": f"{_ONE}; {_ONE}"},
    "old chip": {"target": "True"},
    "text of ptx": {"launches": "(2, 1, 1) (5,)", "stages": "ptx cubin"},
    "one block": {"launches": "(2, 1, 1) (5,)", "blocks": "1", "warps": "4", "stages": "ttgir llir ptx cubin"},
    "lines of *": {"launches": f"(2, 1, 1) (5,); {_SIX}", "own": "True"},
    "other *": {"taken": "True", "code": "True"}, "overridden": {"without": "True", "taken": "True"},
    "disassembled": {"as": ""}, "few threads": {"as": "OutOfResources", "launches": ""},
    "global memory": {"mode": "gsan", "registers": "None", "loads": "True"},
    "floats*": {"mode": "fpsan", "loads": "True"},
    "order*": {"mode": "consan", "registers": "None"}, "indices": {"mode": "iisan", "registers": "None"},
    "expected zeros": {"mode": "fpsan"}, "zeros": {"launches": _ONE}, "gluon": {"registers": "True", "launches": _ONE},
    "not debugged": {"debug": "[True, False, True, True, True, True]"}, "long name": {"launches": _SIX},
    "inspected otherwise": {"kinds": "[0, 1, 2, 3]"},
    "printed PTX": {"printed": "// -----// NVPTX Dump //----- // // //", "launches": _SIX},
    "log of ptxas": {"launches": _SIX}, "profiled": {"launches": _SIX, "scratch": "[]"},
}
"""By ways, or patterns of them; of an empty answer nothing is due but that there is none of that name."""
_SINCE = {"more arguments": "3.9.0", "by name only": "3.9.0", "by name only, by place": "3.9.0", "function": "3.7.0",
          "inspected otherwise": "3.7.0",
          "global memory": "3.9.0", "floats*": "3.9.0", "order*": "3.9.0", "indices": "3.9.0",
          "expected zeros": "3.9.0", "zeros": "3.9.0", "failing together": "3.9.0", "no clusters' queue": "3.9.0",
          "unloaded": "3.8.0", "unhooked": "3.8.0"}
"""The first release that offers what the way asks for."""


def unusual(choices: Choices, version: str) -> Answers:
    way = str(choices["way"])
    if any(fnmatchcase(way, name) and before(version, since) for name, since in _SINCE.items()):
        return {}
    found = _DUE.get(way) or next((due for name, due in _DUE.items() if fnmatchcase(way, name)), {})
    return {name: text for name, text in found.items() if text or name in ("launches", "compiled")}
