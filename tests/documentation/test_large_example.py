"""The example of a slide that does not fit in memory, on one that does."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("zarr", reason="no zarr")
da = pytest.importorskip("dask.array", reason="no dask")
ndimage = pytest.importorskip("scipy.ndimage", reason="no scipy")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    from examples.large import __main__ as example

    return example


@pytest.fixture
def counted(
    example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Runs the example for a size: its mask, how many cells SciPy finds in it, what it prints."""

    def run(size: str) -> tuple[np.ndarray, int, str]:
        told = ["--size", size, "--chunk", "150", "--out", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["large", *told])
        example.main()
        mask = da.from_zarr(tmp_path / "cells.zarr").compute()
        return mask, ndimage.label(mask, np.ones((3, 3)))[1], capsys.readouterr().out

    return run


def test_all_cells_are_counted(example, counted) -> None:
    _, count, printed = counted("704x448")
    assert example.cells.cells_in(448, 704) == count > 40
    assert f"{count} of {count} cells" in printed


def test_cells_at_a_border_are_counted(counted) -> None:
    mask, count, printed = counted("680x480")
    assert mask[-1].any() or mask[:, -1].any()
    assert f": {count} cells" in printed


@pytest.mark.parametrize("told", [("--chunk", "0"), ("--cluster", "-1"), ("--chunk", "1.5")])
def test_numbers_that_make_no_sense_are_refused(
    example, told: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["large", *told])
    with pytest.raises(SystemExit):
        example.main()
    assert f"takes a whole number from {told[0] == '--chunk':d} on" in capsys.readouterr().err


def test_components_less_holes(example) -> None:
    mask = (np.random.default_rng(0).random((80, 90)) < 0.4).astype(np.uint8)
    quads = int(example.cells.corners(np.pad(mask, 1), dtype=np.int32).sum())
    components = ndimage.label(mask, np.ones((3, 3)))[1]
    holes = ndimage.label(np.pad(mask, 1) == 0)[1] - 1
    assert quads == 4 * (components - holes)


def test_threshold_between_two_heaps(example) -> None:
    counts = np.zeros(example.cells.BITS, np.int32)
    counts[40:60], counts[150:170] = 1 << 20, 1 << 19
    assert 60 <= example.cells.between(counts) * example.cells.BITS <= 150
