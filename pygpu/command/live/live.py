"""`Live`: what is shown now, which an edit of its file replaces.

live = Live(Request(waves, (), {}, shape=(480, 640)))
live.scene.frame()
if live.look(): ...                     # another scene, or what is wrong with the file
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence

from pygpu.command.live.scenes import Request, Scene, scene_of
from pygpu.command.live.sources import Source
from pygpu.execution.web.controls import Control


class Live:
    """What is shown now. Views ask `look` now and then; `number` counts what was shown before,
    `wrong` is what the user's file raised when it was last changed."""

    def __init__(self, request: Request) -> None:
        self.scene: Scene = scene_of(request)
        self.number = 0
        self.wrong = ""
        self._source = Source(request)

    @property
    def is_watched(self) -> bool:
        return self._source.path is not None

    def look(self) -> bool:
        """Take up the file if it has changed. Whether there is something else to show or to say."""
        if not self._source.changed():
            return False
        try:
            scene = scene_of(self._source.again())
            scene.frame()  # what does not compile is told, and the last that did stays
            self.scene, self.wrong = scene, ""
            self.number += 1
        except Exception as error:  # the file may say anything while it is edited
            self.wrong = "".join(traceback.format_exception_only(error)).rstrip()
        return True


def kept(
    before: Sequence[Control], values: Mapping[str, list[float]], now: Sequence[Control]
) -> dict[str, list[float]]:
    """What controls stand at after an edit: as before, unless it begins them elsewhere."""
    begun = {control.name: control.value for control in before}
    same = {each.name for each in now if begun.get(each.name) == each.value}
    return {each.name: [*(values[each.name] if each.name in same else each.value)] for each in now}
