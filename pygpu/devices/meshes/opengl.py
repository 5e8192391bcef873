"""Drawings on OpenGL's own rasteriser, for the targets fragment and compute.

Colours are drawn into float32 textures with row 0 on top; those of two and four channels are the
results as they are. One channel is packed when it is read, four pixels a texel, as all images of
one channel are here; three channels lie in textures of four. Buffers of vertices stay with their
geometry. Pictures that are drawn over: see drawn.py.

    program = OpenGLDrawing(device, drawing)
    colour, = program.draw(draw)
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

from numpy.typing import NDArray

from pygpu.codegen.drawing import COPIES, DrawTexts, draw_program
from pygpu.codegen.glsl.writer import Dialect
from pygpu.core.drawing import Draw, Drawing, DrawProgram, Geometry, Stage
from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record
from pygpu.core.storage import Storage
from pygpu.devices.meshes.depths import depth_texture
from pygpu.devices.meshes.drawn import FLOATS, Drawn, Under, Waiting
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.device import OpenGLDevice
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer, Held, Program, Texture
from pygpu.devices.opengl.fragment import TRIANGLES, upload
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.if_conversion import convert_all
from pygpu.passes.simplify.pipeline import CLEAN, apply

VERTICES: Final = "opengl vertices"  # the name of a geometry's copy here
KEPT: Final = 16  # programs for which a geometry keeps how its buffers are bound


class OpenGLDrawing(DrawProgram):
    """A drawing's programs, made ready in the context now, and again where the driver has reset."""

    def __init__(self, device: OpenGLDevice, drawing: Drawing) -> None:
        count = len(drawing.colours)
        if count > device.granted.outputs:
            raise DeviceError(
                f"the shader draws into {count} images at once; this driver takes "
                f"{device.granted.outputs}"
            )
        self.drawing = drawing
        self.sizes = [type.size for type in drawing.colours]
        for stage in (drawing.vertex, drawing.fragment):
            Bindings.check(stage.function, device.granted.uniform_components)
        self.texts = texts_of(drawing, device.dialect)
        self.source = self.texts.text
        begun = time.perf_counter()
        with opengl.context() as gl:
            _check_samples(gl, drawing.samples)
            self._ready = _Ready(gl, self.texts)
        self.driver_seconds = time.perf_counter() - begun

    def draw(self, draw: Draw) -> list[Storage]:
        """See DrawProgram. Waits for nothing; over pictures it is drawn when somebody asks."""
        sizes = [*self.sizes, 1] if draw.keep_depth else self.sizes
        with opengl.context() as gl:
            gl.check_size(*draw.shape[::-1])
            over = _Over.of(gl, draw)
            rest = replace(draw, onto=None, depths=None) if over.all else draw
            work = Waiting(over.all, lambda gl: self._drawn(gl, rest, over))
            if not over.all:
                work.texture(gl, 0)
            return [Drawn(draw.shape, size, work, place) for place, size in enumerate(sizes)]

    def _drawn(self, gl: Context, draw: Draw, over: _Over) -> list[Texture]:
        """The textures drawn into: the colours, and the depths where they are kept."""
        if self._ready.held.context is not gl:
            self._ready = _Ready(gl, self.texts)
        targets = _Targets(gl, self.drawing, draw, over)
        self._ready.bind(gl, draw)
        targets.framebuffer.use()
        _render(gl, self.drawing, self._ready, draw.geometry)
        return targets.results(draw.keep_depth)


def texts_of(drawing: Drawing, dialect: Dialect) -> DrawTexts:
    """The programs of a drawing."""
    loose = dialect.loose
    stages = [_lowered(stage, loose) for stage in (drawing.vertex, drawing.fragment)]
    return draw_program(replace(drawing, vertex=stages[0], fragment=stages[1]), dialect)


def _lowered(stage: Stage, loose: bool) -> Stage:
    """The stage with all loads inside their images."""
    function = without_nans(stage.function, stage.images)
    function = convert_all(function) if loose else function
    return replace(stage, function=apply(CLEAN, lower_boundary(function)))


def _check_samples(gl: Context, samples: int) -> None:
    most = gl.gl.max_samples
    if samples > most:
        raise DeviceError(f"samples={samples}: this driver takes up to {most} ({gl.renderer})")


class _Ready:
    """The driver's program, and where what a draw brings is bound."""

    def __init__(self, gl: Context, texts: DrawTexts) -> None:
        self.held = gl.program(texts.fragment.text, vertices=texts.vertex.text)
        program, self.texts = self.held.glo, texts
        self.textures: list[tuple[int, int, int]] = []  # stage, image, unit
        self.widths: list[tuple[int, int, Any]] = []  # stage, image, uniform
        for stage, text in enumerate((texts.vertex, texts.fragment)):
            for index, name in enumerate(text.images):
                if name is not None and name in program:
                    unit = len(self.textures)
                    program[name].value = unit
                    self.textures.append((stage, index, unit))
            self.widths += [
                (stage, index, program[name])
                for index, name in enumerate(texts.widths[stage])
                if name is not None and name in program
            ]
        both = texts.both
        Bindings.check_textures(gl, both, len(self.textures))
        self.bindings = Bindings(gl, self.held, both, len(self.textures))

    def bind(self, gl: Context, draw: Draw) -> None:
        """Uniforms, tables and textures."""
        held = [upload(gl, draw.images[stage][index]) for stage, index, _ in self.textures]
        for texture, (_, _, unit) in zip(held, self.textures, strict=True):
            texture.glo.use(unit)
        widths = [draw.images[stage][index].width for stage, index, _ in self.widths]
        if widths != self.held.sizes:
            self.held.sizes = widths
            for width, (_, _, uniform) in zip(widths, self.widths, strict=True):
                uniform.value = width
        if self.bindings.buffers:
            gl.order.before(read=self.bindings.buffers)
        self.bindings.bind(draw.uniforms)


# ---------------------------------------------------------------- vertices


@record(frozen=False)
class _Buffers:
    """A geometry in the context: buffers of attributes, and how programs have them bound."""

    context: Context
    attributes: dict[str, Buffer] = field(default_factory=dict)
    triangles: Buffer | None = None
    bound: dict[Program, Held] = field(default_factory=dict)


def _vertices(gl: Context, ready: _Ready, geometry: Geometry) -> Any:
    """What draws the geometry with a program."""
    kept: _Buffers | None = geometry.copies.get(VERTICES)
    if kept is None or kept.context is not gl:
        kept = geometry.copies[VERTICES] = _Buffers(gl)
        kept.triangles = _buffer(gl, geometry.triangles)
    found = kept.bound.get(ready.held)
    if found is None:
        content = []
        for name, attribute in zip(ready.texts.attributes, ready.texts.given, strict=True):
            if name not in ready.held.glo:
                continue
            values = geometry.attributes[attribute]
            if attribute not in kept.attributes:
                kept.attributes[attribute] = _buffer(gl, values)
            buffer = kept.attributes[attribute].glo
            content.append((buffer, f"{values.shape[1]}f", name))
        assert kept.triangles is not None
        made = gl.gl.vertex_array(
            ready.held.glo, content, index_buffer=kept.triangles.glo, index_element_size=4
        )
        found = Held(gl, made, None, 0)
        while len(kept.bound) >= KEPT:
            del kept.bound[next(iter(kept.bound))]
        kept.bound[ready.held] = found
    return found.glo


def _buffer(gl: Context, values: NDArray[Any]) -> Buffer:
    made = gl.gl.buffer(values.tobytes())
    return Buffer(gl, made, None, values.nbytes)


def _render(gl: Context, drawing: Drawing, ready: _Ready, geometry: Geometry) -> None:
    """Draw the triangles into the framebuffer in use."""
    if not len(geometry.triangles):
        return
    vertices = _vertices(gl, ready, geometry)
    flags, driver = 0, gl.gl
    if drawing.depth:
        flags |= driver.DEPTH_TEST
        driver.depth_func = "<"
    if drawing.cull:
        flags |= driver.CULL_FACE
        driver.front_face = "cw"  # y is turned over
        driver.cull_face = drawing.cull
    if drawing.blend:
        flags |= driver.BLEND
        driver.blend_func = _factors(driver, drawing.blend)
    gl.enable_only(flags)
    try:
        vertices.render(TRIANGLES)
    finally:
        gl.enable_only(0)


def _factors(driver: Any, blend: str) -> tuple[int, int]:
    return {
        "alpha": (driver.SRC_ALPHA, driver.ONE_MINUS_SRC_ALPHA),
        "add": (driver.ONE, driver.ONE),
        "multiply": (driver.DST_COLOR, driver.ZERO),
    }[blend]


# ---------------------------------------------------------------- what is drawn into


@record
class _Over:
    """What is drawn over: a picture for each colour, or none, and depths."""

    colours: Sequence[Under]
    depths: Under | None

    @classmethod
    def of(cls, gl: Context, draw: Draw) -> _Over:
        depths = None if draw.depths is None else Under(gl, draw.depths)
        return cls([Under(gl, storage) for storage in draw.onto or ()], depths)

    @property
    def all(self) -> list[Under]:
        return [*self.colours, *([] if self.depths is None else [self.depths])]


class _Targets:
    """The textures that a draw goes into."""

    def __init__(self, gl: Context, drawing: Drawing, draw: Draw, over: _Over) -> None:
        self.gl, self.clear, self.over = gl, draw.clear, over
        self.samples = drawing.samples if drawing.samples > 1 else 0
        self.channels = [4 if len(each) == 3 else len(each) for each in draw.clear]
        height, width = draw.shape
        self.size = width, height
        under: list[Under | None] = [*over.colours] or [None] * len(self.channels)
        self.drawn = [self._taken(*each) for each in zip(under, self.channels, strict=True)]
        self.depths = self._taken(over.depths, 0) if drawing.depth else None
        self.framebuffer = gl.framebuffer(self.drawn, self.depths)
        self._begin()

    def _taken(self, under: Under | None, channels: int) -> Texture:
        """The texture of a picture that is nobody else's, or a new one; depths have no channels."""
        gl, size, samples = self.gl, self.size, self.samples
        key = (*size, channels, "f4") if channels else ("depths", *size, 0)
        make = partial(_colours, channels=channels) if channels else _depths
        taken = None if under is None or samples else under.take(key)
        return taken or make(gl, size, samples=samples)

    def _begin(self) -> None:
        """Clear, or put there what is drawn over, where that is not there already."""
        colours, depths = self.over.colours, self.over.depths
        if not colours:
            self.framebuffer.use()
            self.framebuffer.clear(*_four(self.clear[0]), depth=1.0)
            for texture, colour in zip(self.drawn, self.clear, strict=True):
                if colour != self.clear[0]:
                    self.gl.framebuffer([texture]).clear(*_four(colour))
        elif self.depths is not None and depths is None:
            self.gl.framebuffer([], self.depths).clear(depth=1.0)
        for texture, under in zip(self.drawn, colours, strict=bool(colours)):
            self._fill([texture], None, under, "colour")
        if depths is not None:
            self._fill([], self.depths, depths, "depth")

    def _fill(
        self, textures: Sequence[Texture], depths: Texture | None, under: Under, what: str
    ) -> None:
        """Draw a picture over the whole of a target that is not its own texture."""
        if under.texture is None:
            return
        gl = self.gl
        program = gl.lasting_program(COPIES[f"packed {what}" if under.is_packed else what])
        gl.framebuffer(textures, depths).use()
        under.texture.glo.use(0)
        driver = gl.gl
        driver.depth_func = "1"  # always
        gl.enable_only(driver.DEPTH_TEST if depths is not None else 0)
        try:
            program.vertices.render(TRIANGLES, 3)
        finally:
            gl.enable_only(0)

    def results(self, keep_depth: bool) -> list[Texture]:
        """What was drawn, and the depths where they are kept."""
        drawn = self.drawn
        if self.samples:
            new = partial(_colours, self.gl, self.size, samples=0)
            drawn = [new(channels=channels) for channels in self.channels]
            for many, one in zip(self.drawn, drawn, strict=True):
                target, source = self.gl.framebuffer([one]), self.gl.framebuffer([many])
                self.gl.gl.copy_framebuffer(target, source)
        if not keep_depth:
            return drawn
        assert self.depths is not None, "depths are kept where there are any"
        return [*drawn, self.depths]


def _colours(gl: Context, size: tuple[int, int], *, channels: int, samples: int) -> Texture:
    """A texture to be drawn into, undefined."""
    if samples:
        return _samples(gl, size, channels, samples)
    return gl.texture(*size, channels, FLOATS)


def _samples(gl: Context, size: tuple[int, int], channels: int, samples: int) -> Texture:
    """A texture of so many samples a pixel, which is only drawn into."""
    gl.check_size(*size)
    make = partial(gl.gl.texture, size, channels, dtype="f4", samples=samples)
    nbytes = 4 * channels * samples * math.prod(size)
    return gl.pooled(("samples", *size, channels, samples), make, nbytes)


def _depths(gl: Context, size: tuple[int, int], samples: int) -> Texture:
    """A texture of depths, undefined, to be drawn with."""
    gl.check_size(*size)
    make = partial(depth_texture, gl, size, samples)
    nbytes = 4 * max(samples, 1) * math.prod(size)
    return gl.pooled(("depths", *size, samples), make, nbytes)


def _four(colour: Sequence[float]) -> tuple[float, ...]:
    return (*colour, *(0.0,) * (4 - len(colour)))
