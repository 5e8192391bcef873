"""Meshes on pages: a drawing as a pair of programs of browsers, its vertices packed.

draws = Meshes()
draws.step(step)                     # what the page's meshes.js draws
draws.packed                         # vertices and triangles of each mesh, once
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.codegen.drawing import DrawTexts
from pygpu.core.drawing import Drawing, Geometry
from pygpu.core.errors import DeviceError
from pygpu.devices.meshes.opengl import texts_of
from pygpu.devices.recording import MeshStep, same_mesh
from pygpu.execution.web import vertices
from pygpu.execution.web.programs import BROWSER, OUTPUTS, TEXTURES, check_numbers

ATTRIBUTES: Final = 16  # of a vertex, which WebGL 2 grants
VARYINGS: Final = 15  # vectors that a vertex hands on


class Meshes:
    """The meshes of a page, each once."""

    def __init__(self) -> None:
        self.geometries: list[Geometry] = []
        self._used: list[set[str]] = []  # the attributes of each mesh that programs read
        self._texts: dict[Drawing, DrawTexts] = {}

    @property
    def packed(self) -> list[dict[str, Any]]:
        return [
            {
                "attributes": {
                    name: vertices.packed(geometry.attributes[name], geometry.triangles)
                    for name in sorted(used)
                },
                "triangles": vertices.whole(geometry.triangles.ravel()),
            }
            for geometry, used in zip(self.geometries, self._used, strict=True)
        ]

    def texts(self, drawing: Drawing) -> DrawTexts:
        """The programs of a drawing. DeviceError where a browser need not have room for it."""
        if drawing not in self._texts:
            _check(drawing)
            self._texts[drawing] = texts_of(drawing, BROWSER)
        return self._texts[drawing]

    def step(self, step: MeshStep) -> dict[str, Any]:
        """What is drawn, and how, without what its programs are given."""
        drawing, draw, texts = step.drawing, step.draw, self.texts(step.drawing)
        place = self._place(draw.geometry)
        self._used[place].update(texts.given)
        own = len(draw.images[0]) + len(draw.images[1])
        over = step.inputs[own : own + len(draw.onto or ())]
        return {
            "mesh": place,
            "attributes": list(zip(texts.attributes, texts.given, strict=True)),
            "outputs": list(step.outputs),
            "channels": [type.size for type in drawing.colours],
            "clear": [[*colour, *[0.0] * (4 - len(colour))] for colour in draw.clear],
            "onto": list(over),
            "depths": [step.inputs[-1]] if draw.depths is not None else [],
            "depth": drawing.depth,
            "cull": drawing.cull,
            "blend": drawing.blend,
            "samples": drawing.samples,
        }

    def _place(self, geometry: Geometry) -> int:
        for place, each in enumerate(self.geometries):
            if same_mesh(each, geometry):
                return place
        self.geometries.append(geometry)
        self._used.append(set())
        return len(self.geometries) - 1


def textures(step: MeshStep, texts: DrawTexts) -> tuple[dict[str, int], dict[str, int]]:
    """The images that the pair of programs reads, by the names of their samplers, and those whose
    widths it asks for, by the names of the uniforms."""
    first = len(step.draw.images[0])
    places = step.inputs[:first], step.inputs[first:]
    read: dict[str, int] = {}
    sized: dict[str, int] = {}
    for stage, text in enumerate((texts.vertex, texts.fragment)):
        for found, names in ((read, text.images), (sized, texts.widths[stage])):
            named = zip(names, places[stage], strict=False)
            found.update({name: place for name, place in named if name is not None})
    if len(read) > TEXTURES:
        raise DeviceError(f"a shader reads {len(read)} images at once; browsers take {TEXTURES}")
    return read, sized


def _check(drawing: Drawing) -> None:
    """DeviceError where a drawing needs more than every browser has."""
    handed = len(drawing.fragment.inputs)
    for count, what, most in (
        (len(drawing.colours), "images to draw into", OUTPUTS),
        (len(drawing.vertex.inputs), "attributes", ATTRIBUTES),
        (handed, "values handed from vertices to fragments", VARYINGS),
    ):
        if count > most:
            raise DeviceError(f"a shader has {count} {what}; browsers take {most}")
    check_numbers(drawing.vertex.uniforms)
