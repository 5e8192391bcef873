"""Pipelines go to other processes as compiled functions do: by name where they can be imported,
else by value."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position

PHOTO = np.random.default_rng(0).random((30, 20)).astype(np.float32)


@pygpu.compile
def slope(im: Image, p: Position):
    return im(p + (1, 0)) - im(p)


@pygpu.pipeline
def steep(im):
    found = slope(im)
    return found > 0.1 * found.max()


def times(gain: float):
    @pygpu.pipeline(target="cpu", precision="fast")
    def scaled(im):
        return slope(im) * gain

    return scaled


def test_one_that_can_be_imported_goes_by_name() -> None:
    steep(PHOTO)
    assert pickle.loads(pickle.dumps(steep)) is steep


def test_one_made_in_a_function_goes_by_value() -> None:
    pytest.importorskip("cloudpickle", reason="no cloudpickle")
    made = times(3)
    expected = made(PHOTO)
    payload = pickle.dumps(made)
    again = pickle.loads(payload)
    assert pickle.loads(payload) is again  # one for each process, with what it has compiled
    assert np.array_equal(again(PHOTO), expected)
    assert again._fast


def test_a_process_runs_it() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert np.array_equal(pool.submit(steep, PHOTO).result(), steep(PHOTO))
