"""Programs of the gallery as C, printed from their SSA: the results are PyGPU's own."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

from benchmarks.gallery import capture, with_c

PHOTO = np.random.default_rng(0).integers(0, 256, (24, 40, 3)).astype(np.uint8)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("name", ["swirl", "chroma_key", "life", "median", "truchet"])
def test_programs_of_the_gallery_are_printed_as_c(name: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    monkeypatch.syspath_prepend(str(capture.FOLDER))
    runs = capture.captured(name, PHOTO)
    assert runs
    for run in runs:
        expected, found = run.outs(), run.outs()
        run.call(expected)
        with_c.make(run)(found)
        for a, b in zip(expected, found, strict=True):
            same = np.isclose(a.astype(np.float64), b.astype(np.float64), 1e-3, 1e-3, True)
            assert np.mean(same) > 0.995, run.name
    assert np.nextafter(0.0, 1.0) != 0.0  # a compiled program changes no arithmetic of the process
