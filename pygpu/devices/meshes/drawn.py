"""What was drawn, as storages, and draws over other pictures, which wait.

A storage never changes: what is drawn over stays as it is for everybody who has it. Who goes on
drawing has it no more as soon as the call has returned,

    colour, depths = draw(first, ..., shape=(720, 1280), keep_depth=True)
    colour, depths = draw(second, ..., onto=colour, depth=depths)     # the first pictures are gone

but not before. So a draw over a picture waits until what came of it is read, or drawn over. A
texture that nobody else holds by then is drawn into as it is; one that somebody holds is copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.codegen.drawing import COPIES
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Awaited, Format, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import TEXTURE, Texture
from pygpu.devices.opengl.fragment import TRIANGLES, read_texture, upload
from pygpu.devices.opengl.passes import kept
from pygpu.passes.blocks.block_views import COLUMNS

FLOATS: Final = np.dtype("float32")
_LOST: Final = "the image was lost when the driver reset the device"


class Under:
    """A picture that is drawn over, or depths, as a texture. It holds no storage."""

    __slots__ = ("is_packed", "texture")

    def __init__(self, gl: Context, storage: Storage) -> None:
        plain = storage.plain(gl) if isinstance(storage, Drawn) else None
        self.texture: Texture | None = plain or upload(gl, storage)
        self.is_packed = plain is None and storage.channels == 1  # four pixels a texel

    def take(self, key: tuple[Any, ...]) -> Texture | None:
        """The texture, to be drawn into, if it is of this kind and nobody else holds it."""
        if self.texture is None or self.texture.key != key:
            return None
        if sys.getrefcount(self.texture) > 2:  # ours, and that of the question
            return None
        taken, self.texture = self.texture, None
        return taken


class Waiting:
    """A draw over pictures, until it is drawn."""

    def __init__(self, unders: Sequence[Under], render: Callable[[Context], list[Texture]]) -> None:
        self.unders, self.render = unders, render
        self.textures: list[Texture] | None = None
        self.failure = ""

    def texture(self, gl: Context, place: int) -> Texture:
        """One of the results, drawn now if it was not."""
        if self.textures is None:
            self.textures = self._rendered(gl)
            del self.render  # and what it was given
        return self.textures[place]

    def _rendered(self, gl: Context) -> list[Texture]:
        if self.failure:
            raise DeviceError(self.failure)
        if any(each.texture is not None and each.texture.context is not gl for each in self.unders):
            raise DeviceError(_LOST)
        try:
            with gl.aside():
                return self.render(gl)
        except BaseException:
            if any(each.texture is None for each in self.unders):
                self.failure = "the image was lost when its draw was interrupted"
            raise


class Drawn(Awaited):
    """A picture that is drawn when somebody asks for it, or one of one channel, in a texture of a
    pixel a texel, whose pixels are packed when it is read."""

    __slots__ = ("_made", "_place", "_work")

    def __init__(self, shape: tuple[int, int], channels: int, work: Waiting, place: int) -> None:
        super().__init__(shape, channels, FLOATS)
        self._work: Waiting | None = work
        self._place = place
        self._made: Storage | None = None

    def plain(self, gl: Context) -> Texture | None:
        """The texture that was drawn into, if it still is there."""
        if self._work is None:
            return None if self.channels == 1 else self.copies.get(TEXTURE)
        return self._work.texture(gl, self._place)

    @property
    def settled(self) -> Storage:
        """What was drawn, as any other image on the device."""
        if self._made is None:
            with opengl.context() as gl:
                if self._work is not None:
                    self._made = self._settled(gl, self._work.texture(gl, self._place))
                    self._work = None
        assert self._made is not None
        return self._made

    def _settled(self, gl: Context, texture: Texture) -> Storage:
        if self.channels == 1:
            if texture.context is not gl:
                raise DeviceError(_LOST)
            texture = packed(gl, texture, self.width, self.height)
        assert len(self.shape) == 2
        return kept(texture, TEXTURE, self.shape, Format(FLOATS, self.channels), read_texture)

    @property
    def devices(self) -> set[str]:
        return {TEXTURE} if self._made is None else self._made.devices


def packed(gl: Context, texture: Texture, width: int, height: int) -> Texture:
    """A texture of one channel with four pixels a texel, as all images of one channel are here."""
    made = gl.texture(-(-width // COLUMNS), height, 4, FLOATS, COLUMNS)
    program = gl.lasting_program(COPIES["pack"])
    with gl.aside():
        gl.framebuffer([made]).use()
        texture.glo.use(0)
        program.vertices.render(TRIANGLES, 3)
    return made
