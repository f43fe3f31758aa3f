"""Launchers of Triton 3.6 are built without optimisation, every other module as Triton builds it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import triton
from triton.backends.nvidia import driver

from fuzz.backends import launchers

MODULE = """
#include <Python.h>
static PyObject *optimised(PyObject *self, PyObject *none) {
#ifdef __OPTIMIZE__
    Py_RETURN_TRUE;
#else
    Py_RETURN_FALSE;
#endif
}
static PyMethodDef methods[] = {{"optimised", optimised, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "made", NULL, -1, methods};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&module); }
"""


@pytest.mark.parametrize(("name", "optimised"), [(launchers.LAUNCHER, False), ("cuda_utils", True)])
def test_only_launchers_are_built_without_optimisation(name: str, optimised: bool, tmp_path: Path) -> None:
    source = tmp_path / "made.c"
    source.write_text(MODULE.replace("NAME", name))
    path = launchers.build(name, str(source), str(tmp_path), [str(tmp_path)], [], ["c"])
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.optimised() is optimised


def test_versions_without_launchers_and_builders_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.knobs.build, "impl", None)
    launchers.build_quickly()
    assert (triton.knobs.build.impl is launchers.build) == hasattr(driver, "make_launcher")
    other = lambda *given: ""  # noqa: E731
    monkeypatch.setattr(triton.knobs.build, "impl", other)
    launchers.build_quickly()
    assert triton.knobs.build.impl is other
