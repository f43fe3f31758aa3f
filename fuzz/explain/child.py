"""The process that answers a request: it imports torch and Triton, and compiles or interprets.

Started as `python -m tridiff.fuzz.explain.child FOLDER PARENT`: the request lies in FOLDER as `request.json`, the
answer is left there as `answer.json`, and it ends with the process of number PARENT. Under TRITON_INTERPRET=1 it
interprets. A compiler that aborts ends only this process.
"""

import os
import sys
from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.request import Compiled, Interpreted, Request
from tridiff.fuzz.workers.zygote import die_with_parent


def main(folder: Path) -> None:
    """Answer the request that lies in the folder."""
    request = msgspec.json.decode((folder / "request.json").read_bytes(), type=Request)
    answer: Compiled | Interpreted
    if os.environ.get("TRITON_INTERPRET") == "1":
        from tridiff.fuzz.explain.traced import interpreted

        try:
            answer = interpreted(request)
        except TridiffError as error:
            answer = Interpreted(problem=error.problem, fix=error.fix)
    else:
        from tridiff.fuzz.explain.compiled import compiled

        try:
            answer = compiled(request, folder)
        except TridiffError as error:
            answer = Compiled(problem=error.problem, fix=error.fix)
    (folder / "answer.json").write_bytes(msgspec.json.encode(answer))


if __name__ == "__main__":
    die_with_parent(int(sys.argv[2]))
    main(Path(sys.argv[1]))
