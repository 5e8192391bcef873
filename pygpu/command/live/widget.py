"""What is shown in a notebook: the function's page in a frame, or pictures with widgets beside.

    show(live)                              # returns; edits of the function's file are taken up

Pages need no process once they are shown, so that they go on in a saved notebook. What a browser
cannot run is computed in the kernel, by ipywidgets.
"""

from __future__ import annotations

import html
import importlib
import io
import sys
import threading
import time
from typing import Any, Final

from PIL import Image as PILImage

from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Scene
from pygpu.core.errors import DeviceError
from pygpu.core.host.optional import optional
from pygpu.execution.web.controls import POINTERS, Control

LOOK: Final = 0.3  # seconds between looks at the function's file
TICK: Final = 50  # milliseconds between pictures while the clock goes
AROUND: Final = 260  # pixels of a page besides its picture


def is_notebook() -> bool:
    """Whether this is a notebook's kernel."""
    return hasattr(_shell(), "kernel")


def _shell() -> Any:
    """What runs cells; None in other programs."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def show(live: Live) -> None:
    """Display it, and watch its file as long as the kernel lives."""
    if _shell() is None:
        raise OSError(
            "where='notebook': no notebook runs this program; where='page' and 'window' need none"
        )
    display = importlib.import_module("IPython.display").display
    handle = display(view(live.scene), display_id=True)
    if live.is_watched:
        threading.Thread(target=_watch, args=(live, handle), daemon=True).start()


def _watch(live: Live, handle: Any) -> None:
    while True:
        time.sleep(LOOK)
        number = live.number
        if not live.look():
            continue
        if live.number != number:
            handle.update(view(live.scene))
        else:
            print(live.wrong)


def view(scene: Scene) -> Any:
    """What a notebook displays of a scene."""
    try:
        return _Frame(scene.page().html(), scene.frame().shape[0])
    except DeviceError:
        return _widgets(scene)


class _Frame:
    """A page within a notebook's."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" allow="camera" style="width: 100%; '
            f'height: {min(self.height, 640) + AROUND}px; border: 0"></iframe>'
        )


def _widgets(scene: Scene) -> Any:
    widgets: Any = optional("ipywidgets")
    if widgets is None:
        raise ImportError(
            "in a notebook, what a browser cannot run by itself needs ipywidgets: "
            "pip install 'pygpu[notebooks]'"
        )
    picture = widgets.Image(format="png", layout={"max_width": "100%"})
    message = widgets.HTML()
    values = {control.name: [*control.value] for control in scene.controls}

    def draw(_: Any = None) -> None:
        try:
            picture.value, message.value = _png(scene, values), ""
        except Exception as error:  # of the user's function, for what controls stand at
            message.value = html.escape(f"{type(error).__name__}: {error}")

    fields = []
    for control in scene.controls:
        for part in range(len(control.value)):
            field, *more = _fields(widgets, control, part)

            def changed(change: Any, name: str = control.name, part: int = part) -> None:
                values[name][part] = float(change["new"])
                draw()

            field.observe(changed, "value")
            fields += [*more, field]
    if scene.moves:
        play = widgets.Play(max=2**31 - 1, interval=TICK, description="frames")
        play.observe(draw, "value")
        fields.append(play)
    draw()
    return widgets.HBox([widgets.VBox([picture, message]), widgets.VBox(fields)])


def _fields(widgets: Any, control: Control, part: int) -> list[Any]:
    """The field of one number, and before it what moves it."""
    several = len(control.value) > 1
    label = f"{control.name} {'xyzw'[part]}" if several else control.name
    now = control.value[part]
    if control.kind == "check":
        return [widgets.Checkbox(bool(now), description=label)]
    if control.kind in POINTERS:
        return [widgets.FloatText(now, description=label)]
    kind = widgets.IntSlider if control.is_whole else widgets.FloatSlider
    step = int(control.step) if control.is_whole else control.step
    low, high = (int(x) if control.is_whole else x for x in (control.low, control.high))
    field = kind(now, min=low, max=high, step=step, description=label)
    if control.kind != "time":
        return [field]
    play = widgets.Play(max=int(1000 * control.high / TICK), interval=TICK, repeat=True)

    def ticked(change: Any) -> None:
        field.value = change["new"] * TICK / 1000

    play.observe(ticked, "value")
    return [field, play]


def _png(scene: Scene, values: dict[str, list[float]]) -> bytes:
    file = io.BytesIO()
    PILImage.fromarray(scene.frame(values)).save(file, "PNG", compress_level=1)
    return file.getvalue()
