"""The cache on disk: what is kept, what is not, and that nothing there can break a program."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

from pygpu.core.host import cache


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


@pytest.mark.parametrize("damage", [b"", b"abc", b"\0\0\0\0code", bytes(16), bytes(99)])
def test_a_damaged_file_is_no_entry_and_goes(folder: Path, damage: bytes) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.write_bytes(damage)
    assert cache.get("native", "key") is None
    assert files(folder) == []


def test_every_bit_of_a_file_counts(folder: Path) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert cache.get("native", "key") is None
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert cache.get("native", "key") is None
    path.write_bytes(whole)
    assert cache.get("native", "key") == b"code"


def test_a_file_under_the_name_of_another_is_no_entry(folder: Path) -> None:
    cache.put("native", "a", b"code of a")
    (path,) = files(folder)
    content = path.read_bytes()
    cache.put("native", "b", b"code of b")
    (other,) = set(files(folder)) - {path}
    other.write_bytes(content)
    assert cache.get("native", "b") is None
    assert cache.get("native", "a") == b"code of a"


def test_folders_where_files_should_be_are_no_entries(folder: Path) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.unlink()
    path.mkdir()
    assert cache.get("native", "key") is None
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") is None
    assert files(folder) == []
    (folder / cache.LAYOUT / "target").write_bytes(b"a file where a folder should be")
    cache.put("target", "key", b"cpu")
    assert cache.get("target", "key") is None
    cache.clear()


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYGPU_CACHE_DIR")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: "~/.cache/pygpu")
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")
    cache._default_folder.cache_clear()
    assert cache.place() is None
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") is None
    cache._default_folder.cache_clear()


@pytest.mark.parametrize("chosen", ["", "/tmp/chosen"])
def test_the_folder_is_the_one_that_platformdirs_says(
    chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", chosen)
    cache._default_folder.cache_clear()
    assert cache._default_folder() == Path(platformdirs.user_cache_dir("pygpu", appauthor=False))
    cache._default_folder.cache_clear()


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


def test_the_bound_holds_after_every_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 10_000)
    for number in range(60):
        cache.put(("native", "other")[number % 2], str(number), bytes(number * 13))
        if number % 7 == 0:  # another process, which this one does not hear of
            alone(f"cache.LIMIT = 10_000; cache.put('native', 'theirs {number}', bytes(3000))")
        assert sum(path.stat().st_size for path in files(folder)) <= 10_000
    assert cache.get("other", "59") == bytes(59 * 13)
    cache.put("native", "larger than all", bytes(10_000))
    assert cache.get("native", "larger than all") is None
    assert cache.get("other", "59") is not None


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


# ---------------------------------------------------------------- processes that end badly

# The cache alone, so that the process begins quickly.
ALONE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("cache", sys.argv[1])
cache = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cache)
"""


@contextmanager
def started(code: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process that runs this text, with `cache` in it."""
    arguments = [sys.executable, "-S", "-c", ALONE + textwrap.dedent(code), str(cache.__file__)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, **options) as child:  # type: ignore[call-overload]
        yield child


def alone(code: str, **options: object) -> None:
    """Run this text in a process that is to end well."""
    with started(code, **options) as child:
        assert child.wait(60) == 0


def test_a_process_killed_while_it_writes_leaves_no_half_entry(folder: Path) -> None:
    code = """
    print("writing", flush=True)
    for i in range(1 << 30):
        cache.put("native", str(i % 10), bytes([i % 251]) * (1 << 18))
    """
    chance = random.Random(0)
    for _ in range(12):
        with started(code) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(chance.uniform(0, 0.02))
            child.kill()
        for i in range(10):
            found = cache.get("native", str(i))
            assert found is None or (len(found) == 1 << 18 and len(set(found)) == 1)
    cache.put("native", "0", b"after")
    assert cache.get("native", "0") == b"after"
    for path in files(folder):
        os.utime(path, (1000, 1000))
    cache._sweep(folder / cache.LAYOUT, cache.LIMIT)
    assert not [path for path in files(folder) if path.suffix == ".new"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX's")
def test_what_a_full_disk_does_not_hold_is_no_entry(folder: Path) -> None:
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # writing more is refused
    cache.put("native", "large", bytes(5000))
    assert cache.get("native", "large") is None
    cache.put("native", "small", bytes(500))
    assert cache.get("native", "small") == bytes(500)
    """
    alone(code)
    assert len(files(folder)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are POSIX's")
def test_a_folder_that_is_read_only_is_read(folder: Path) -> None:
    cache.put("native", "key", b"code")
    code = """
    assert cache.get("native", "key") == b"code"
    cache.put("native", "key", b"other")
    cache.put("native", "second", b"code")
    cache.put("other", "key", b"code")
    assert cache.get("native", "key") == b"code"
    assert cache.get("native", "second") is None
    cache.clear()
    assert cache.get("native", "key") == b"code"
    """
    folders = [folder, folder / cache.LAYOUT, folder / cache.LAYOUT / "native"]
    for path in folders:
        path.chmod(0o555)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("permissions are not for this user")
        alone(code)
    finally:
        for path in folders:
            path.chmod(0o755)
    assert len(files(folder)) == 1


# ---------------------------------------------------------------- what others may have written

posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are POSIX's")


@posix
def test_folders_and_files_are_for_this_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        cache.put("native", "key", b"code")
    finally:
        os.umask(before)
    (path,) = files(folder)
    made = [folder, folder / cache.LAYOUT, folder / cache.LAYOUT / "native"]
    assert [each.stat().st_mode & 0o777 for each in made] == [0o700] * 3
    assert path.stat().st_mode & 0o777 == 0o600


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_no_entry(folder: Path, mode: int) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.chmod(mode)
    assert cache.get("native", "key") is None
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") == b"code"


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_is_no_cache(folder: Path, mode: int) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.parent.chmod(mode)
    assert cache.get("native", "key") is None
    cache.put("native", "second", b"code")
    assert files(folder) == [path]
    path.parent.chmod(0o700)
    assert cache.get("native", "key") == b"code"


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root's rights")
def test_a_file_or_folder_of_another_user_is_no_entry(folder: Path) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    os.chown(path, 12345, 12345)
    assert cache.get("native", "key") is None
    cache.put("native", "key", b"code")
    os.chown(path.parent, 12345, 12345)
    assert cache.get("native", "key") is None
    os.chown(path.parent, 0, 0)
    assert cache.get("native", "key") == b"code"
    os.chown(folder, 12345, 12345)  # nothing is made there that this user could not write
    cache.put("new", "key", b"code")
    assert cache.get("native", "key") == b"code"
    os.chown(folder / cache.LAYOUT, 12345, 12345)
    cache.put("another", "key", b"code")
    assert not (folder / cache.LAYOUT / "another").exists()


@posix
def test_a_link_is_no_entry(folder: Path, tmp_path: Path) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.get("native", "key") is None
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") == b"code"
    assert not path.is_symlink()
    assert (tmp_path / "elsewhere").exists()


@posix
@pytest.mark.parametrize("depth", [1, 2])
def test_a_link_to_a_folder_is_no_cache(depth: int, folder: Path, tmp_path: Path) -> None:
    """It may lead to where this user keeps files that others have written."""
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    linked = path.parents[depth - 1]
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    assert cache.get("native", "key") is None
    before = {each: each.stat().st_mtime_ns for each in (tmp_path / "elsewhere").rglob("*")}
    cache.put("native", "other", b"code")
    cache.clear()
    after = {each: each.stat().st_mtime_ns for each in (tmp_path / "elsewhere").rglob("*")}
    assert after == before  # nothing is written there, and nothing removed


@posix
def test_pipes_and_devices_keep_nobody_waiting(folder: Path) -> None:
    cache.put("native", "key", b"code")
    (path,) = files(folder)
    path.unlink()
    os.mkfifo(path, 0o600)
    alone("assert cache.get('native', 'key') is None")
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")
    alone("assert cache.get('native', 'key') is None")
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") == b"code"


def test_a_system_without_owners_has_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid", raising=False)
    cache.put("native", "key", b"code")
    assert cache.get("native", "key") == b"code"
