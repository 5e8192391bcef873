"""What all tests share: targets, golden texts, and the reason why OpenGL's tests are skipped.

    def test_scale(target): ...  # once for each target, skipped where it is missing
    def test_text(golden): golden.check("ssa/scale.txt", text)  # --bless rewrites the file

PYGPU_REQUIRE_GL=1 makes a missing target a failure.
"""

import difflib
import gc
import logging
import os
import sys
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import settings

from pygpu.core.errors import DeviceError
from pygpu.devices import targets
from pygpu.devices.opengl.driver.context import Context

os.environ.setdefault("PYGPU_VERIFY", "1")  # check the representation after every pass
# Software OpenGL compiles for longer than it runs here: it need not optimise.
os.environ.setdefault("GALLIVM_PERF", "nopt")
# Processes that tests start find modules where this one does, however it was told.
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(map(os.path.abspath, sys.path)))

TARGETS = ("interpreter", "cpu", "fragment", "compute")
GOLDENS = Path(__file__).parent / "goldens"

settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless", action="store_true", help="rewrite the texts under tests/goldens from the tests"
    )
    parser.addoption(
        "--target", action="append", choices=TARGETS, help="run targeted tests on this one alone"
    )


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test's targets follow one another: what all of them are compared with is computed once by
    the process that runs them."""
    if "target" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--target") or TARGETS
        metafunc.parametrize("target", [t for t in TARGETS if t in chosen], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """What is there before the tests, hundreds of thousands of objects, is no garbage: collections,
    which many tests ask for, leave it out."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What a page of the documentation has the logger tell is not told in the tests after it; what
    a module's tests leave alive stays as long as the process, and is no garbage either."""
    logging.getLogger("pygpu").setLevel(logging.NOTSET)
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture
def target(request: pytest.FixtureRequest) -> str:
    """The name of a target that is here; the test is skipped on the others."""
    require(request.param)
    return request.param


def require(target: str) -> None:
    """Skip the test where the target is missing; fail it where PYGPU_REQUIRE_GL asks for it."""
    reason = missing(target)
    if reason and os.environ.get("PYGPU_REQUIRE_GL", "0") != "0":
        pytest.fail(f"PYGPU_REQUIRE_GL is set, but {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)


def missing(target: str) -> str | None:
    """Why a target cannot be used here, in one line; None where it can."""
    if target not in _MISSING:
        _MISSING[target] = _ask(target)
    return _MISSING[target]


_MISSING: dict[str, str | None] = {}


def _ask(target: str) -> str | None:
    try:
        targets.open_device(target)
    except (DeviceError, ImportError) as error:
        return str(error).partition("\n")[0]
    return None


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled for no target in particular is compiled for the cpu."""
    monkeypatch.setenv("PYGPU_TARGET", "cpu")


@pytest.fixture
def texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of OpenGL are printed and not handed to the driver: in software it compiles large
    ones for many seconds."""
    monkeypatch.setattr(Context, "program", lambda *_, **__: MagicMock())


@pytest.fixture
def colours() -> np.ndarray:
    """The gallery's small photograph: floats (H, W, 3)."""
    import gallery  # few tests need it

    return gallery.floats()


@pytest.fixture
def grey(colours: np.ndarray) -> np.ndarray:
    """The same in grey, as float32 holds it."""
    from gallery_numpy import GREY

    return (colours @ GREY).astype(np.float32).astype(np.float64)


class Golden:
    """Compares texts with committed files; with --bless, writes the files."""

    def __init__(self, bless: bool) -> None:
        self.bless = bless

    def check(self, name: str, text: str) -> None:
        """The text equals tests/goldens/<name>."""
        path = GOLDENS / name
        if self.bless:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if expected != text:
            diff = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), f"goldens/{name}", "now", lineterm=""
            )
            pytest.fail(
                "\n".join(
                    [f"{name} differs from its golden text (make bless, then review)", *diff]
                ),
                pytrace=False,
            )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden.check(name, text)`: the text is the committed one."""
    return Golden(request.config.getoption("--bless"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once why targets were skipped; pytest alone would only count."""
    reasons = {
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"skipped: {reason}")
