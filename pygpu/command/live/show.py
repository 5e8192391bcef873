"""`pygpu.show`: a function at work, in a window, a notebook or a local page.

pygpu.show(waves, shape=(480, 640))                     # mouse, time and sliders
pygpu.show(edges, photo, controls={"gain": (0, 10)})
pygpu.show(edges, pygpu.frames(0))                      # of the camera
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from pygpu.command.live import server, widget, window
from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Request
from pygpu.command.live.sources import AGAIN, Reached
from pygpu.core.errors import guarded, shown
from pygpu.execution.web.controls import PLACES


@guarded
def show(
    function: Any,
    *images: Any,
    shape: tuple[int, int] | None = None,
    controls: Mapping[str, Any] | None = None,
    iterate: int | None = None,
    where: str | None = None,
    **arguments: Any,
) -> None:
    """Show what a function makes, while its numbers are changed and its file is edited.

    `function` is compiled, plain Python over whole images, a pipeline or a `shadertoy`; `images`
    and `arguments` are those of a call, `shape` (height, width) of what has no image. Numbers get
    sliders (`controls` as in `export`), a parameter `time` is the seconds that go by, `mouse`
    (Vec2) the pointer's place in pixels, as positions are counted. An image may be an iterator of
    frames, such as `pygpu.frames(0)`, the camera. `iterate=k` runs a simulation, k rounds a
    picture. Floats are shown from 0 to 1.

    `where` is "notebook", "window" or "page" (a local page in the browser); None takes the first of
    them that is here. A window or a page stays until it is closed or Ctrl-C is pressed; in a
    notebook `show` returns. When the function's file changes it is executed again and the new
    function goes on with what controls stand at. TypeError and ValueError name what does not fit;
    where there is no screen for a window, or no notebook, there is an OSError.
    """
    if where is not None and where not in PLACES:
        raise ValueError(f"where: takes {', '.join(map(repr, PLACES))} or None; got {shown(where)}")
    if iterate is not None and (isinstance(iterate, bool) or operator.index(iterate) < 1):
        raise ValueError(f"iterate: takes the rounds of a picture, 1 or more; got {shown(iterate)}")
    request = Request(function, images, arguments, controls, shape, iterate)
    if AGAIN.get():
        raise Reached(request)
    live = Live(request)
    live.scene.frame()  # what is wrong with the call is told here, in the caller's traceback
    if where == "notebook" or (where is None and widget.is_notebook()):
        widget.show(live)
    elif where == "window" or (where is None and window.is_here()):
        window.show(live)
    else:
        server.show(live)
