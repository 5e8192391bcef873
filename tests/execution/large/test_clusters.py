"""Compiled functions on clusters of processes: they travel, compile once, and survive a death."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.devices.cpu.threads import thread_count

da = pytest.importorskip("dask.array", reason="no dask")
distributed = pytest.importorskip("dask.distributed", reason="no distributed")

RNG = np.random.default_rng(0)
PHOTO = RNG.random((120, 160)).astype(np.float32)


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread each on this machine, that die and come again."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pygpu.compile
def edges(im: Image, p: Position):
    gx, gy = im(p + (1, 0)) - im(p + (-1, 0)), im(p + (0, 1)) - im(p + (0, -1))
    return np.hypot(gx, gy)


def amplified(gain: float):
    """A function that no worker can import."""

    def shifted(im: Image, p: Position):
        return gain * im(p + (2, 1))

    return shifted


def test_functions_travel_by_name_and_by_value(client) -> None:
    array = da.from_array(PHOTO, chunks=(50, 70))
    np.testing.assert_array_equal(edges(array).compute(), edges(PHOTO))
    closure = pygpu.compile(amplified(3.0))
    np.testing.assert_array_equal(closure(array).compute(), closure(PHOTO))


def test_folds_rounds_and_pipelines(client) -> None:
    array = da.from_array(PHOTO, chunks=(50, 70))
    total = pygpu.reduce(np.add, edges(array))
    np.testing.assert_allclose(total.compute(), edges(PHOTO).sum(dtype=np.float64), rtol=1e-5)
    blur = pygpu.compile(blurred)
    np.testing.assert_array_equal(blur.iterate(array, 5).compute(), blur.iterate(PHOTO, 5))
    both = pygpu.pipeline(blurred_edges)
    np.testing.assert_array_equal(both(array).compute(), both(PHOTO))


def blurred(im: Image, p: Position):
    return 0.25 * (im(p + (1, 0)) + im(p + (-1, 0)) + im(p + (0, 1)) + im(p + (0, -1)))


def blurred_edges(im):
    return edges(pygpu.compile(blurred)(im))


def test_a_process_compiles_once(client) -> None:
    client.run(pygpu.compile(blurred).iterate, PHOTO, 1)  # what a worker imports and starts
    before = client.run(emitted)
    array = da.from_array(PHOTO, chunks=(10, 20))  # 96 chunks
    pygpu.compile(amplified(2.5))(array).compute()
    after = client.run(emitted)
    assert all(after[worker] - before[worker] <= 1 for worker in after)


def test_workers_of_one_thread_compute_by_one(client) -> None:
    assert set(client.run(thread_count).values()) == {1}


def emitted() -> int:
    """How many plans this process has compiled."""
    from pygpu.execution.large import plans

    return sum(each.cache_info().misses for each in (plans._of_chunks, plans._with_whole))


def slow(block: np.ndarray, folder: str) -> np.ndarray:
    """A chunk that takes its time, and says in which process."""
    if block.size:  # Dask asks here, with nothing, for the dtype
        Path(folder, f"{os.getpid()}").touch()
        time.sleep(0.1)
    return block


def test_a_killed_worker_loses_nothing_but_time(client, tmp_path: Path) -> None:
    array = da.from_array(PHOTO, chunks=(20, 40)).map_blocks(slow, str(tmp_path), dtype=np.float32)
    want = edges.iterate(PHOTO, 3)
    future = client.compute(edges.iterate(array, 3))
    begun = time.monotonic()
    while not any(tmp_path.iterdir()) and time.monotonic() < begun + 60:
        time.sleep(0.02)
    victim = int(next(tmp_path.iterdir()).name)
    assert victim != os.getpid()
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(future.result(timeout=120), want)


def test_errors_of_a_worker_reach_the_user(client) -> None:
    divided = pygpu.compile(quotient, check=True)
    with pytest.raises(ZeroDivisionError):
        divided(da.from_array(PHOTO, chunks=(50, 70))).compute()


def quotient(im: Image, p: Position):
    return 1 // int(im(p))


def test_threads_of_one_process_share_what_is_compiled() -> None:
    array = da.from_array(PHOTO, chunks=(13, 17))
    found: list[np.ndarray] = []

    def run() -> None:
        found.append(edges(array).compute(scheduler="threads", num_workers=4))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found:
        np.testing.assert_array_equal(each, edges(PHOTO))
