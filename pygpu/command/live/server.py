"""The local page of what is shown: on this machine alone, until Ctrl-C.

    with Served(live) as served: webbrowser.open(served.url)

The page runs by itself where a browser can; else it asks for each picture. `/events` tells it what
becomes of the function's file.
"""

from __future__ import annotations

import json
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self

from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Scene
from pygpu.core.errors import DeviceError
from pygpu.execution.web import pages

LOOK: Final = 0.2  # seconds between looks at the function's file
HERE: Final = Path(__file__).parent
LOCAL: Final = ("127.0.0.1", "localhost")


class Served:
    """The page of a live function, served while this is open."""

    def __init__(self, live: Live, port: int = 0) -> None:
        self.live = live
        self._server = ThreadingHTTPServer((LOCAL[0], port), _answering(live))
        self._server.daemon_threads = True
        self.url = f"http://{LOCAL[0]}:{self._server.server_port}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def show(live: Live) -> None:
    """Serve the page, open it, and wait for Ctrl-C."""
    with Served(live) as served:
        print(f"{live.scene.name}: {served.url} (Ctrl-C ends it)", flush=True)
        webbrowser.open(served.url)
        try:
            while True:
                time.sleep(LOOK)
                if live.look():
                    print(live.wrong or f"{live.scene.name}: changed", flush=True)
        except KeyboardInterrupt:
            print()


def page_of(scene: Scene) -> str:
    """The page of a scene: by itself where a browser can run it, else of pictures made here."""
    script = (HERE / "live.js").read_text("utf-8")
    try:
        text = scene.page().html()
    except DeviceError:
        text = _served_page(scene)
    return text.replace("</body>", f"<script>\n{script}</script>\n</body>")


def _served_page(scene: Scene) -> str:
    data: dict[str, Any] = {
        "name": scene.name,
        "served": True,
        "moving": scene.moves,
        "controls": [control.described() for control in scene.controls],
        "results": [{"slot": 0}],
        "rounds": 0,
        **{part: [] for part in ("programs", "meshes", "slots", "pictures", "steps", "state")},
    }
    script = (Path(pages.__file__).parent / "served.js").read_text("utf-8")
    script = f"{pages.scripts(data)}\n{script}"
    return pages.filled(data, scene.story, scene.python, script)


class _Handler(BaseHTTPRequestHandler):
    """Answers the page's browser."""

    live: Live

    def do_GET(self) -> None:
        if not self._is_from_here():
            return
        if self.path == "/events":
            self._events()
        elif self.path == "/":
            self._answer(page_of(self.live.scene).encode(), "text/html; charset=utf-8")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        if not self._is_from_here() or self.path != "/frame":
            return
        length = int(self.headers.get("Content-Length", 0))
        try:
            frame = self.live.scene.frame(json.loads(self.rfile.read(length)))
        except Exception as error:  # of the user's function
            said = f"{type(error).__name__}: {error}"
            self._answer(said.encode(), "text/plain; charset=utf-8", status=500)
            return
        height, width, _ = frame.shape
        size = {"X-Size": f"{width} {height}"}
        self._answer(frame.tobytes(), "application/octet-stream", size)

    def _is_from_here(self) -> bool:
        """Whether this machine's address was asked, and not a name that resolves to it."""
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host not in LOCAL:
            self.send_error(403)
        return host in LOCAL

    def _events(self) -> None:
        """Tell of changes until the page is closed."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        number, wrong = self.live.number, ""
        try:
            while True:
                if self.live.number != number:
                    number = self.live.number
                    self._tell("changed", "")
                if self.live.wrong != wrong:
                    wrong = self.live.wrong
                    self._tell("wrong", wrong)
                self.wfile.write(b":\n\n")  # raises once nobody listens
                self.wfile.flush()
                time.sleep(LOOK)
        except OSError:
            return

    def _tell(self, event: str, data: str) -> None:
        self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())

    def _answer(
        self, body: bytes, kind: str, more: dict[str, str] | None = None, status: int = 200
    ) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body))} | (more or {})
        for name, value in {**headers, "Cache-Control": "no-store"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the user's."""


def _answering(live: Live) -> type[_Handler]:
    return type("Handler", (_Handler,), {"live": live})
