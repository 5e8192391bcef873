"""What belongs to one holder in the context: textures, buffers and programs of the driver's.

Finalisers may run in any thread, so they only queue what is to be freed.
"""

from __future__ import annotations

from typing import Any, Final

# The names under which storages keep what holds their texels: for fragment and compute programs.
TEXTURE: Final = "opengl"
BUFFER: Final = "opengl buffer"


class Held:
    """A texture or buffer that belongs to one holder, pooled or freed once that has gone. What has
    no key is not pooled. `context` is a Context, whose module builds on this one."""

    __slots__ = ("context", "glo", "key", "nbytes")

    def __init__(self, context: Any, glo: Any, key: Any, nbytes: int) -> None:
        self.context, self.glo, self.key, self.nbytes = context, glo, key, nbytes

    def __del__(self) -> None:
        if hasattr(self, "nbytes"):  # what set it last may have been interrupted
            self.context.garbage.append((self.key, self.glo, self.nbytes))


class Texture(Held):
    """Texels as samplers read them. `key` is (width, height, channels, dtype)."""

    __slots__ = ()


class Buffer(Held):
    """Bytes as compute programs read and write them."""

    __slots__ = ()


class Program(Held):
    """A program of the driver's, freed once nobody holds it. `vertices` draws it over everything;
    compute programs have none. `sizes` and `uniforms` are what its uniforms were set to."""

    __slots__ = ("__weakref__", "sizes", "uniforms", "vertices")

    def __init__(self, context: Any, glo: Any, vertices: Any) -> None:
        super().__init__(context, glo, None, 0)
        self.vertices = vertices
        self.sizes: Any = None
        self.uniforms: Any = None

    def dispatch(
        self, groups: tuple[int, int], most: int, top: Any, step: int, deep: int = 1
    ) -> None:
        """Run a compute program by groups across, down and deep, of which the driver takes so many
        along an axis at once. The uniform `top` says how far down they begin: so many steps a
        group. It is 0 before."""
        across, down = groups
        for first in range(0, down, most):
            if first and top is not None:
                top.value, self.sizes = first * step, None
            self.glo.run(across, min(down - first, most), deep)

    def __del__(self) -> None:
        if self.vertices is not None:
            self.context.garbage.append((None, self.vertices, 0))
        super().__del__()
