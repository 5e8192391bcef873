"""A window of what is shown, by Tk: the picture, and beside it what controls change.

    if is_here(): show(live)                # until it is closed

Space stops and starts the clock, `s` saves the picture, Escape or `q` closes.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from pygpu.command.live.live import Live, kept
from pygpu.execution.web.controls import POINTERS, Control, pointed

LOOK: Final = 0.3  # seconds between looks at the function's file
PAUSE: Final = 5  # milliseconds between pictures, for Tk to do its work
IDLE: Final = 40  # milliseconds between looks at what may have changed
PART: Final = 0.8  # of the screen that a picture takes at most
SMALLEST: Final = 256  # pixels smaller pictures are enlarged to, or a little less


def is_here() -> bool:
    """Whether there is a screen, and Tk to draw on it."""
    try:
        tkinter = importlib.import_module("tkinter")  # some systems have Python without it
    except ImportError:
        return False
    try:
        tkinter.Tk().destroy()
    except tkinter.TclError:
        return False
    return True


def show(live: Live) -> None:
    """Show it, and return when the window is closed."""
    try:
        tk = importlib.import_module("tkinter")
    except ImportError:
        raise ImportError(
            "where='window' needs Tk (Debian: apt install python3-tk); where='page' needs nothing"
        ) from None
    try:
        root = tk.Tk()
    except tk.TclError as error:
        raise OSError(
            f"where='window' needs a screen, and Tk finds none: {error}; where='page' needs none"
        ) from None
    view = Window(live, root, tk)
    try:
        root.mainloop()
    except KeyboardInterrupt:
        view.close()
    if view.failed is not None:
        raise view.failed


class Window:
    """The window of one live function. Tk calls `_turn` again and again."""

    def __init__(self, live: Live, root: Any, tk: Any) -> None:
        self.live, self.root, self.tk = live, root, tk
        self.failed: BaseException | None = None
        self.values = {each.name: [*each.value] for each in live.scene.controls}
        self.running = True  # the clock
        self.wanted = True  # another picture
        self.scale = 1.0  # pixels of the screen for one of the picture
        self.frame: NDArray[np.uint8] | None = None
        self._photo: Any = None
        self._vars: dict[str, list[Any]] = {}
        self._looked = self._ticked = time.perf_counter()
        self._height = 0
        self._build()
        self._after = root.after(0, self._turn)
        root.protocol("WM_DELETE_WINDOW", self.close)
        for key in ("<Escape>", "q"):
            root.bind(key, lambda _: self.close())
        root.bind("<space>", lambda _: self.play())
        root.bind("s", lambda _: self.save())

    def close(self) -> None:
        self.root.after_cancel(self._after)
        self.root.destroy()

    def play(self) -> None:
        """Let the clock go on, or stop it."""
        self.running = not self.running
        self._ticked = time.perf_counter()

    def save(self) -> Path | None:
        """Save the picture beside other files of this name: NAME.png, NAME-2.png and so on."""
        if self.frame is None:
            return None
        name, number = self.live.scene.name, 1
        while (path := Path(f"{name}.png" if number == 1 else f"{name}-{number}.png")).exists():
            number += 1
        PILImage.fromarray(self.frame).save(path)
        self.message.config(text=f"saved {path}")
        return path

    # ---- what is in it

    def _build(self) -> None:
        tk, root = self.tk, self.root
        root.title(self.live.scene.name)
        self.picture = tk.Label(root, borderwidth=0)
        self.picture.grid(row=0, column=0, sticky="n")
        for event, button in (
            ("<Motion>", "up"),
            ("<B1-Motion>", "down"),
            ("<Button-1>", "pressed"),
            ("<ButtonRelease-1>", "up"),
        ):
            self.picture.bind(event, lambda e, b=button: self._point(e.x, e.y, b))
        # Carets of messages stand below what they mean.
        self.message = tk.Label(root, anchor="w", justify="left", font="TkFixedFont")
        self.message.grid(row=1, column=0, columnspan=2, sticky="we")
        self.panel: Any = None
        self._fill()

    def _fill(self) -> None:
        """The controls."""
        if self.panel is not None:
            self.panel.destroy()
        self.panel = self.tk.Frame(self.root, padx=8, pady=4)
        self._vars = {}
        for control in self.live.scene.controls:
            if control.kind in POINTERS:
                continue
            for part in range(len(control.value)):
                self._add(control, part)
        if self._vars:
            self.panel.grid(row=0, column=1, sticky="n")

    def _add(self, control: Control, part: int) -> None:
        """A field for one number."""
        tk = self.tk
        name = control.name.replace("_", " ")
        label = f"{name} {'xyzw'[part]}" if len(control.value) > 1 else name
        now = self.values[control.name][part]
        if control.kind == "check":
            variable = tk.BooleanVar(self.root, bool(now))
            changed = lambda: self._set(control.name, part, float(variable.get()))  # noqa: E731
            tk.Checkbutton(self.panel, text=label, variable=variable, command=changed).pack(
                anchor="w"
            )
        else:
            variable = tk.DoubleVar(self.root, now)
            tk.Scale(
                self.panel,
                label=label,
                variable=variable,
                from_=control.low,
                to=control.high,
                resolution=control.step,
                orient="horizontal",
                length=240,
                command=lambda text: self._set(control.name, part, float(text)),
            ).pack()
        self._vars.setdefault(control.name, []).append(variable)

    def _set(self, name: str, part: int, number: float) -> None:
        if self.values[name][part] != number:
            self.values[name][part] = number
            self.wanted = True

    def _point(self, x: int, y: int, button: str) -> None:
        place = ((x + 0.5) / self.scale - 0.5, (y + 0.5) / self.scale - 0.5)
        for control in self.live.scene.controls:
            if control.kind in POINTERS:
                now = self.values[control.name]
                self.values[control.name] = pointed(control, now, place, self._height, button)
                self.wanted = True

    # ---- what it does

    def _turn(self) -> None:
        """Take up what has changed, and show the picture of now."""
        try:
            self._look()
            self._tick()
            moves = self.live.scene.moves
            if self.wanted or moves:
                self.wanted = False
                self._draw()
            busy = moves or self.wanted or (self.running and self._clocks())
            self._after = self.root.after(PAUSE if busy else IDLE, self._turn)
        except BaseException as error:  # Tk would print it and go on
            self.failed = error
            self.root.destroy()

    def _look(self) -> None:
        now = time.perf_counter()
        if now - self._looked < LOOK:
            return
        self._looked, number, before = now, self.live.number, self.live.scene.controls
        if not self.live.look():
            return
        self.message.config(text=self.live.wrong)
        if self.live.number != number:
            self.values = kept(before, self.values, self.live.scene.controls)
            self._fill()
            self.wanted = True

    def _clocks(self) -> list[Control]:
        return [control for control in self.live.scene.controls if control.kind == "time"]

    def _tick(self) -> None:
        now = time.perf_counter()
        passed, self._ticked = min(now - self._ticked, 0.25), now
        for control in self._clocks() if self.running else []:
            at = (self.values[control.name][0] + passed) % control.high
            self.values[control.name][0] = at
            self._vars[control.name][0].set(at)
            self.wanted = True

    def _draw(self) -> None:
        try:
            self.frame = self.live.scene.frame(self.values)
        except Exception as error:  # of the user's function, for what controls stand at
            self.message.config(text=f"{type(error).__name__}: {error}")
            return
        height, width = self.frame.shape[:2]
        self._height = height
        screen = (self.root.winfo_screenwidth(), self.root.winfo_screenheight())
        larger = max(1, SMALLEST // max(width, height))
        self.scale = min(larger, PART * screen[0] / width, PART * screen[1] / height)
        shown = PILImage.fromarray(self.frame)
        if self.scale != 1:
            size = max(1, round(width * self.scale)), max(1, round(height * self.scale))
            how = PILImage.Resampling.NEAREST if self.scale > 1 else PILImage.Resampling.BILINEAR
            shown = shown.resize(size, how)
        from PIL import ImageTk  # it imports tkinter, which a system may lack

        if self._photo is None or (self._photo.width(), self._photo.height()) != shown.size:
            self._photo = ImageTk.PhotoImage(shown, master=self.root)
            self.picture.config(image=self._photo)
        else:
            self._photo.paste(shown)
