"""The reference front end of GLSL, as a check of the texts that are printed."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

VALIDATOR: Final = shutil.which("glslangValidator")


def validate(texts: list[str], folder: Path, kind: str = "frag") -> None:
    """glslangValidator, the reference front end, has nothing against the programs."""
    if VALIDATOR is None:
        pytest.skip("no glslangValidator (Debian: glslang-tools)")
    files = []
    for index, text in enumerate(texts):
        path = folder / f"{index}.{kind}"
        path.write_text(text)
        files.append(str(path))
    answer = subprocess.run([VALIDATOR, *files], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + texts[0]
