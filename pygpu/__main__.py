"""`python -m pygpu`, and `pygpu`: see pygpu/command/cli.py. Pictures are decoded meanwhile."""

import gc
import importlib
import itertools
import os
import sys
from pathlib import Path

from pygpu.image.files import ahead


def _pictures(arguments: list[str]) -> list[str]:
    """The JPEGs that a command line seems to read."""
    if arguments[:1] != ["run"] or "--watch" in arguments or os.cpu_count() == 1:
        return []
    return [
        str(Path(path))  # as the command has it
        for before, path in itertools.pairwise(arguments)
        if path.lower().endswith((".jpg", ".jpeg")) and before not in ("-o", "--output")
    ]


def main() -> int:
    """Run the process's command line; the exit status."""
    paths = _pictures(sys.argv[1:])
    decoding = ahead.begin(paths) if paths else None
    try:
        # Which takes long, while JPEGs are decoded.
        status: int = importlib.import_module("pygpu.command.cli").main()
        return status
    finally:
        if decoding:
            decoding.stop()
        gc.freeze()  # what is left goes with the process: looking for circles in it takes 40 ms


if __name__ == "__main__":
    sys.exit(main())
