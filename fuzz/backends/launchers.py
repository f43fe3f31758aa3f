"""Triton 3.6 writes a C launcher for every new signature and has the C compiler optimise it.

Half of all drawn programs have a signature of their own, and `-O3` takes 0.3 s of a core for a launcher that runs a few
times; without optimisation it is 0.1 s. Later versions have one launcher for all signatures, and nothing to change.
"""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import triton

LAUNCHER = "__triton_launcher"
"""What 3.6 calls the module of a launcher; other modules are built once per cache, as Triton builds them."""


def build(name: str, source: str, folder: str, library_dirs: list[str], include_dirs: list[str],
          libraries: list[str]) -> str:
    """The path of the shared library made of the C file `source`; for `triton.knobs.build.impl`.

    Raises CalledProcessError when the compiler fails, RuntimeError when there is none.
    """
    compiler = triton.knobs.build.cc or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise RuntimeError("Failed to find C compiler. Please specify via CC environment variable.")
    made = str(Path(folder) / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    scheme = sysconfig.get_default_scheme()
    # Debian's own scheme names a folder that has no headers.
    python = sysconfig.get_paths("posix_prefix" if scheme == "posix_local" else scheme)["include"]
    named = [f"-l:{one}" if ".so" in one or one.endswith(".a") else f"-l{one}" for one in libraries]
    subprocess.check_call(
        [compiler, source, "-O0" if name == LAUNCHER else "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", made, *named,
         *(f"-L{one}" for one in library_dirs),
         *(f"-I{one}" for one in (*include_dirs, folder, python, *sorted(triton.knobs.build.backend_dirs)))],
        stdout=subprocess.DEVNULL, close_fds=False)
    return made


def build_quickly() -> None:
    """Have this process build launchers without optimisation, where the version has any and nobody else builds them."""
    from triton.backends.nvidia import driver

    if hasattr(driver, "make_launcher") and getattr(triton.knobs.build, "impl", build) is None:
        triton.knobs.build.impl = build
