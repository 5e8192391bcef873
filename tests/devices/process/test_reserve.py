"""Memory of results that is used again: never while anything reads it, and no more than is said."""

import gc
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.devices import targets
from pygpu.devices.process import reserve
from pygpu.devices.process.reserve import (
    BEHIND,
    LINE,
    NEAR,
    PAGE,
    SOON,
    WAITING,
    Reserve,
    apart,
    clear,
)

SHAPE, FLOAT = (40, 50, 3), np.dtype("float32")
NBYTES = 40 * 50 * 3 * 4


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(reserve, "LEAST", 1)


def address_of(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_back_when_the_last_view_goes():
    memory = Reserve()
    array = memory.empty(SHAPE, FLOAT)
    first, row = address_of(array), array[3]
    del array
    gc.collect()
    assert address_of(memory.empty(SHAPE, FLOAT)) != first
    del row
    gc.collect()
    assert address_of(memory.empty(SHAPE, FLOAT)) == first


@pytest.mark.parametrize(("least", "is_kept"), [(NBYTES, True), (NBYTES + 1, False)])
def test_who_asks_says_from_which_size_on_memory_is_kept(least, is_kept):
    memory = Reserve()
    array = memory.empty(SHAPE, FLOAT, least)
    del array
    gc.collect()
    assert (memory.nbytes > 0) is is_kept


def test_nothing_is_kept_of_arrays_that_outlive_the_interpreter():
    memory = Reserve()
    loan = reserve._Loan(np.empty(NBYTES, np.uint8), memory)
    loan.__del__(lambda: True)
    assert not memory.returned
    assert not memory.kept


def test_arrays_are_as_others():
    array = Reserve().empty(SHAPE, FLOAT)
    assert array.shape == SHAPE
    assert array.dtype == FLOAT
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert type(array) is np.ndarray


def test_no_more_is_kept_than_is_said():
    memory = Reserve(3 * NBYTES)
    held = [memory.empty(SHAPE, FLOAT) for _ in range(5)]
    last = [address_of(array) for array in held[2:]]
    while held:
        held.pop(0)
    assert list(memory.kept) == last
    assert memory.nbytes == 3 * NBYTES
    memory.clear()
    assert (memory.nbytes, len(memory.kept)) == (0, 0)


def test_memory_of_another_size_is_not_taken():
    memory = Reserve()
    first = address_of(memory.empty(SHAPE, FLOAT))
    assert memory.nbytes == NBYTES
    assert address_of(memory.empty((7, 5), FLOAT)) != first


def test_memory_of_a_little_more_is_taken_and_comes_back_whole():
    memory = Reserve()
    first = address_of(memory.empty((90, 100), FLOAT))
    smaller = memory.empty((88, 98), FLOAT)
    assert (address_of(smaller), smaller.shape, memory.nbytes) == (first, (88, 98), 0)
    del smaller
    assert memory.nbytes == 4 * 90 * 100
    other = memory.empty((89, 100), FLOAT)
    assert address_of(other) == first
    assert address_of(memory.empty((89, 100), FLOAT)) != first
    del other
    assert address_of(memory.empty((60, 100), FLOAT)) != first  # a third would be left over


def shifted(im: Image, p: Position):
    return im(p + (1, 0)) + 1.0


def test_results_stay_what_they_are():
    compiled = pygpu.compile(shifted, target="cpu")
    arrays = [np.full((60, 70), float(k), np.float32) for k in range(12)]
    results = [compiled(array) for array in arrays]
    views = [compiled(array)[::2, 3:] for array in arrays]
    for k, (result, view) in enumerate(zip(results, views, strict=True)):
        assert (result == k + 1).all()
        assert (view == k + 1).all()


def test_threads_get_memory_of_their_own():
    compiled, wrong = pygpu.compile(shifted, target="cpu"), []

    def work(seed):
        for k in range(60):
            array = np.full((60, 70), float(seed * 100 + k), np.float32)
            if not (compiled(array) == seed * 100 + k + 1).all():
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_device_lets_go_of_it():
    pygpu.compile(shifted, target="cpu")(np.zeros((60, 70), np.float32))
    assert reserve.RESERVE.nbytes > 0
    targets.open_device("cpu").clear()
    assert reserve.RESERVE.nbytes == 0


@pytest.mark.parametrize("pitch", [2048, 4096, 8192, 12288, 4000, 4032])
def test_results_lie_behind_no_row_that_is_loaded_near_them(pitch):
    assert min((apart(pitch) - row * pitch) % PAGE for row in NEAR) >= BEHIND
    assert apart(pitch) % LINE == 0


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("at", [0, 16, 2048 + 48, 5 * PAGE + 4032])
def test_large_arrays_begin_where_they_are_asked_to(monkeypatch, is_kept, at):
    monkeypatch.setattr(reserve, "LEAST", 1 if is_kept else 1 << 40)
    memory = Reserve()
    shape = WAITING // 64, 16
    arrays = [memory.empty(shape, FLOAT, at=at) for _ in range(3)]
    for number, array in enumerate(arrays):
        array[:] = number
        assert address_of(array) % PAGE == at // LINE * LINE % PAGE
        assert array.shape == shape
    assert (
        [int(array.min()) for array in arrays]
        == [int(array.max()) for array in arrays]
        == [0, 1, 2]
    )


@pytest.mark.parametrize("give", [np.asarray, Image])
def test_new_results_lie_apart_from_what_they_are_computed_from(give):
    texels = np.ones((1024, 1024), np.float32)
    function = pygpu.compile(lambda im=Image, p=Position: im(p + (1, 0)) * 2, target="cpu")
    for _ in range(3):  # the first call, and those through a gate
        given = give(texels)
        result = function(given)
        read, made = [
            each if give is np.asarray else each.storage.host() for each in (given, result)
        ]
        behind = (address_of(made) - address_of(read)) % PAGE
        assert apart(4096) - LINE < behind <= apart(4096)
        assert np.all(np.asarray(result) == 2)


def test_chunks_of_dask_arrays_lie_apart_from_what_they_are_computed_from(monkeypatch):
    da = pytest.importorskip("dask.array")
    beside, made = Reserve.beside, []

    def noted(self, shape, dtype, array):
        made.append((array, beside(self, shape, dtype, array)))
        return made[-1][1]

    monkeypatch.setattr(Reserve, "beside", noted)
    chunked = da.ones((2048, 2048), chunks=1024, dtype=np.float32)
    function = pygpu.compile(lambda im=Image, p=Position: im(p + (1, 0)) * 2, target="cpu")
    whole = function(chunked).compute(scheduler="single-threaded")
    kept = function(chunked).persist(scheduler="single-threaded")
    assert np.all(whole == 2)
    assert address_of(whole) % PAGE == apart(PAGE)
    read = [(array, result) for array, result in made if array is not None]
    assert len(read) >= len(kept.dask) == 4
    for array, result in read:
        behind = (address_of(result) - address_of(array)) % PAGE
        assert apart(array.strides[0]) - LINE < behind <= apart(array.strides[0])


def test_a_power_of_two_is_kept_wherever_it_begins():
    memory = Reserve()
    array = memory.empty((8192, 8192), FLOAT, at=5 * LINE)
    del array
    gc.collect()
    assert len(memory.kept) + len(memory.returned) == 1


def test_more_bytes_than_a_number_holds_are_a_memory_error() -> None:
    def shade(p: pygpu.Position):
        return p.x * 0.5

    with pytest.raises(MemoryError, match=r"no memory for an array of shape"):
        pygpu.compile(shade, target="cpu")(shape=(2**31 - 1, 2**31 - 1))


@pytest.mark.parametrize("name", ["", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_freed_memory_is_kept_unless_the_user_says_what_becomes_of_it(monkeypatch, name):
    asked = []
    loaded = SimpleNamespace(mallopt=lambda *numbers: asked.append(numbers))
    monkeypatch.setattr(reserve.ctypes, "CDLL", lambda _: loaded)
    for each in [each for each in os.environ if each.startswith(("MALLOC_", "GLIBC_TUNABLES"))]:
        monkeypatch.delenv(each)
    if name:
        monkeypatch.setenv(name, "1")
    reserve.keep_freed()
    assert asked == ([] if name or os.name != "posix" else [(-3, 32 << 20), (-1, 64 << 20)])
    monkeypatch.setattr(reserve.ctypes, "CDLL", lambda _: object())
    reserve.keep_freed()  # a C library without it


@pytest.mark.parametrize("place", [0, LINE, 2048, PAGE - LINE])
@pytest.mark.parametrize("numbers", [(1,), (18, 30), (40,), (52,)])
def test_rows_that_are_kept_lie_before_no_result_of_whole_pages(numbers, place):
    kept = tuple((number, 8192 + LINE) for number in numbers)
    shift = clear(kept, ((place, 8192),))
    assert shift % LINE == 0
    near = [(place - shift - k * LINE) % PAGE for number in numbers for k in range(number)]
    assert min(near) >= SOON
    assert 0 <= clear(((70, 8192 + LINE),), ((place, 8192),)) < PAGE  # which have no such place


@pytest.mark.parametrize("pitch", [6144, 8000])
def test_rows_that_are_kept_lie_before_as_few_rows_of_results_as_can_be(pitch):
    def near(shift):
        stored = np.unique(np.arange(64) * pitch % PAGE)
        behind = (stored[:, None] - shift - np.arange(12) * LINE) % PAGE
        return np.count_nonzero(behind < SOON)

    found = near(clear(((12, 8192 + LINE),), ((0, pitch),)))
    assert found == min(near(shift) for shift in range(0, PAGE, LINE))
    assert found == 0 or pitch == 8000
