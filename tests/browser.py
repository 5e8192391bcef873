"""A headless browser for tests: Debian's Chromium with WebGL in software, driven by Playwright.

with browser_page() as page: page.goto(path.as_uri()); page.evaluate("pygpu.ready")
"""

import base64
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium's own software, and Mesa's: SwiftShader rounds corners of triangles to 1/16 of a pixel.
SWIFTSHADER = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
MESA = ("--use-angle=gl-egl",)
OPTIONS = (
    "--use-gl=angle",
    "--ignore-gpu-blocklist",
    "--no-sandbox",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    # Nobody sees the window: what puts it together takes as long as the pages' own programs.
    "--disable-gpu-compositing",
)


def missing() -> str:
    """Why there is no browser here; empty where there is one."""
    if not any(map(shutil.which, NAMES)):
        return "no browser: install Debian's chromium"
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "no playwright: pip install playwright"
    return ""


@contextmanager
def browser_page(webgl: tuple[str, ...] = SWIFTSHADER, **options: Any) -> Iterator[Any]:
    """An empty page, with the browser's options for `webgl`. The test is skipped where there is no
    browser, or fails where PYGPU_REQUIRE_BROWSER asks for one."""
    reason = missing()
    if reason and os.environ.get("PYGPU_REQUIRE_BROWSER", "0") != "0":
        pytest.fail(f"PYGPU_REQUIRE_BROWSER is set, but {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)
    path = next(filter(None, map(shutil.which, NAMES)))
    with _driver() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path,
            args=[*OPTIONS, *webgl],
            env={**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"},
        )
        yield chromium.new_page(**options)
        chromium.close()


@contextmanager
def _driver() -> Iterator[Any]:
    """Playwright, of which a thread may have one: who comes while it runs shares it."""
    from playwright.sync_api import sync_playwright

    if _RUNNING:
        yield _RUNNING[0]
        return
    with sync_playwright() as playwright:
        _RUNNING.append(playwright)
        try:
            yield playwright
        finally:
            _RUNNING.clear()


_RUNNING: list[Any] = []


def opened(page: Any, file: Path) -> None:
    """Open a page of PyGPU's and wait until it has drawn. AssertionError for anything that it or
    the browser says is wrong."""
    wrong: list[str] = []
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    page.evaluate("pygpu.ready")
    said = page.inner_text("#message.wrong") if page.query_selector("#message.wrong") else ""
    assert not wrong, wrong
    assert not said, said


def result(page: Any, index: int = 0) -> np.ndarray:
    """The texels of a result, (H, W, C)."""
    made = page.evaluate(READ, index)
    texels = np.frombuffer(base64.b64decode(made["texels"]), np.float64)
    return texels.reshape(made["height"], made["width"], 4)[..., : made["channels"]]


# As one text: Playwright checks each number of a list.
READ = """async (index) => {
  const made = pygpu.read(index);
  const bytes = new Blob([Float64Array.from(made.texels)]);
  const url = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(bytes);
  });
  return { ...made, texels: url.slice(url.indexOf(",") + 1) };
}"""
