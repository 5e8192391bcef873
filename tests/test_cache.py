"""The cache on disk: what is kept, what is not, and that nothing there can break a program."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from pygpu import cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYGPU_CACHE", "1")
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("**/*") if path.is_file())


def test_what_is_put_comes_back() -> None:
    assert cache.get("native", "key") is None
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") == b"code"
    assert cache.get("native", b"key") == b"code"
    assert cache.get("other", "key") is None
    assert cache.get("native", "another") is None


def test_a_later_entry_replaces_an_earlier_one() -> None:
    cache.put("native", "key", b"old")
    cache.put("native", "key", b"")
    assert cache.get("native", "key") == b""


def test_it_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put("native", "key", b"code")
    monkeypatch.setenv("PYGPU_CACHE", "0")
    assert cache.get("native", "key") is None
    cache.put("native", "second", b"code")
    assert len(files(folder)) == 1


@pytest.mark.parametrize("damage", [b"", b"abc", b"\0\0\0\0code"])
def test_a_damaged_file_is_no_entry_and_goes(folder: Path, damage: bytes) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.write_bytes(damage)
    assert cache.get("native", "key") is None
    assert files(folder) == []


def test_a_folder_that_cannot_be_made_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") is None
    cache.clear()


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.put("native", "key", b"code")
    assert files(folder) == []
    assert cache.get("native", "key") is None


def test_the_least_recently_used_go_first(folder: Path) -> None:
    for name in ("a", "b", "c"):
        cache.put("native", name, b"x" * 1000)
    for age, path in enumerate(files(folder)):
        os.utime(path, (1000 + age, 1000 + age))
    cache.get("native", "a")
    cache._sweep(folder / cache.LAYOUT, 1500)
    assert cache.get("native", "a") is not None
    assert len(files(folder)) == 1


def test_clear_removes_everything(folder: Path) -> None:
    cache.put("native", "a", b"1")
    cache.put("other", "b", b"2")
    cache.clear()
    assert files(folder) == []


def _write(number: int) -> None:
    for _ in range(50):
        cache.put("native", "shared", bytes([number]) * 5000)
        found = cache.get("native", "shared")
        assert found is None or len(set(found)) == 1


def test_processes_may_write_at_once() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        pool.map(_write, range(3))
    found = cache.get("native", "shared")
    assert found is not None
    assert len(found) == 5000
