"""Modules that are imported later: each is run once, when something of it is first asked for."""

import gc
import importlib
import sys
from types import ModuleType

import pytest

import pygpu
from processes import forking, run
from pygpu.core.host.later import later, running

TEXTS = {
    "__init__": '"""A room."""',
    "late": "import time\ntime.sleep(0.02)\nRUNS = globals().get('RUNS', 0) + 1\nvalue = 3\n",
    "early": "from pygpu.core.host.later import later\n"
    "with later():\n    from late_room import late\n\n"
    "def ask():\n    return late.value\n",
    "broken": "raise OSError('no such thing')",
}


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A package of modules that nobody has imported."""
    folder = tmp_path / "late_room"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "late_room"]:
        del sys.modules[name]


def is_run(name):
    return "RUNS" in object.__getattribute__(sys.modules[name], "__dict__")


def test_a_module_is_run_when_something_of_it_is_asked_for(room):
    from late_room import early

    assert not is_run("late_room.late")
    assert early.ask() == early.ask() == 3
    late = sys.modules["late_room.late"]
    assert (late.RUNS, type(late)) == (1, ModuleType)
    assert early.late is late


def test_names_that_python_asks_for_run_nothing(room):
    from late_room import early

    assert early.late.__file__.endswith("late.py")
    assert hasattr(early.late, "__spec__")
    assert not is_run("late_room.late")
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = early.late.other
    assert is_run("late_room.late")


def test_who_takes_a_name_from_it_runs_it(room):
    from late_room import early  # noqa: F401
    from late_room.late import value

    assert value == 3


def test_what_fails_is_tried_again(room):
    with later():
        from late_room import broken
    for _ in range(2):
        with pytest.raises(OSError, match="no such thing"):
            _ = broken.value


def test_modules_in_c_are_imported_at_once(monkeypatch):
    monkeypatch.delitem(sys.modules, "cmath", raising=False)
    with later():
        import cmath
    assert cmath.exp(0) == 1


def test_imports_beside_the_block_are_as_ever(room):
    with later():
        from late_room import early
    from late_room import late

    assert is_run("late_room.late")
    assert early.ask() == 3
    assert late.RUNS == 1


def test_threads_that_ask_at_once_find_a_whole_module(room):
    import threading

    from late_room import early

    found = []
    threads = [threading.Thread(target=lambda: found.append(early.ask())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 8
    assert early.late.RUNS == 1


@forking
def test_forks_wait_for_modules_that_other_threads_run():
    run(
        """
        import threading, time
        from pygpu.core.host.forks import IMPORTING
        begun, ended = threading.Event(), []
        def work():
            with IMPORTING, IMPORTING:
                begun.set()
                time.sleep(0.1)
                ended.append(1)
        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        with IMPORTING:  # which this thread itself may hold
            pid = os.fork()
        assert ended
        if not pid:
            with IMPORTING:
                os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        thread.join()
        """
    )


def test_modules_that_are_there_are_no_work_for_the_collector(monkeypatch):
    """Where a program has frozen its objects, it takes milliseconds to ask how many."""
    asked, before = [], pygpu.random
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(True) or 1)
    assert pygpu.random is before
    with running():
        importlib.import_module("pygpu.language.random")
    assert not asked
