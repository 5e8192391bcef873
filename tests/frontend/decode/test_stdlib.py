"""The standard library as a corpus: whatever CPython compiles is decoded."""

import importlib.util
from pathlib import Path

import pytest

from frontend.decode.source import check, codes, loops_in, loops_of
from pygpu.bytecode import decode

MODULES = (
    *("argparse", "ast", "bisect", "calendar", "collections", "colorsys", "dataclasses"),
    *("difflib", "fractions", "heapq", "inspect", "json.decoder", "json.scanner", "locale"),
    *("random", "shlex", "statistics", "textwrap", "tokenize", "typing"),
)


@pytest.mark.parametrize("module", MODULES)
def test_module_decodes(module: str) -> None:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    decoded = [decode(code) for code in codes(compile(text, module, "exec"))]
    for code in decoded:
        check(code)
    assert sum(map(loops_of, decoded)) <= loops_in(text)
