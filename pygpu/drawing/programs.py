"""The programs of draws: what is compiled for a class of shaders is kept with the class.

A shader that is drawn again in the same way (trails.py) goes straight to its program.

    program, uniforms, images = found(shader, mesh, state, device)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pygpu.core.device import Device
from pygpu.core.drawing import Blend, Cull
from pygpu.core.host.records import record
from pygpu.core.storage import Storage
from pygpu.devices import targets
from pygpu.drawing.checks import check, checks_of
from pygpu.drawing.drawings import Made, arguments_of, compiled, translate
from pygpu.drawing.mesh import Mesh
from pygpu.drawing.shader import Shader
from pygpu.drawing.trails import Trail
from pygpu.execution.arguments.parameters import Arguments
from pygpu.execution.programs.specialise import COMPILING
from pygpu.ssa import Constant

LIMIT: Final = 128  # drawings kept of one class of shaders
TRAILS: Final = 4  # of one class: shaders of different structure by turns have one each
WAYS: Final = 32  # to draw what one trail leads to: other meshes, states, devices


@record
class State:
    """What of a draw is compiled in, besides the shader."""

    depth: bool
    cull: Cull
    blend: Blend
    samples: int


class Found(NamedTuple):
    """A drawing, and what the shader gives it."""

    made: Made
    uniforms: Sequence[Constant]
    images: list[Storage]


def found(shader: Shader, mesh: Mesh, state: State, device: Device) -> Found:
    """The drawing for these, kept or compiled now. Nothing is kept if it fails."""
    way = mesh.widths, state, device.name
    for trail in type(shader)._trails:
        given = trail.follow(shader)
        if given is not None:
            made = trail.kept.get(way)
            if made is None or made.changed():
                made = _made(shader, mesh, arguments_of(shader), state, device)
                _keep(trail, way, made)
            return Found(made, given.uniforms, given.images)
    arguments = arguments_of(shader)
    made = _made(shader, mesh, arguments, state, device)
    _remember(shader, arguments, way, made)
    return Found(made, arguments.uniforms, [each.storage for each in arguments.images])


def check_draw(
    shader: Shader, mesh: Mesh, state: State, device: Device, size: tuple[int, int]
) -> None:
    """Raise what goes wrong in the shader's methods; what was translated for that is kept."""
    drawings, arguments = type(shader)._drawings, arguments_of(shader)
    key = ("checked", *arguments.key, mesh.widths, state.cull, state.samples, device.name)
    with COMPILING.lock:
        checks = drawings.get(key)
        if checks is None or checks.changed():
            checks = checks_of(shader, mesh, arguments, device, state.cull, state.samples)
            drawings[key] = checks
    check(checks, shader, mesh, arguments, size)


def _remember(shader: Shader, arguments: Arguments, way: Any, made: Made) -> None:
    """Keep the trail that leads to a drawing, if the shader has one and still is what was drawn."""
    cls = type(shader)
    trail = Trail.of(shader)
    if trail is not None and arguments_of(shader).key == arguments.key:
        _keep(trail, way, made)
        cls._trails = (trail, *cls._trails[: TRAILS - 1])


def _keep(trail: Trail, way: Any, made: Made) -> None:
    if len(trail.kept) >= WAYS:
        trail.kept = {}
    trail.kept[way] = made


def _made(shader: Shader, mesh: Mesh, arguments: Arguments, state: State, device: Device) -> Made:
    key = (*arguments.key, mesh.widths)
    drawings = type(shader)._drawings
    made = drawings.get((key, state, device.name))
    if made is not None and not made.changed():
        return made  # type: ignore[no-any-return]
    with COMPILING.lock:
        translated = drawings.get(key)
        if translated is None or translated.changed():
            translated = translate(shader, mesh.geometry, arguments)
        drawing = replace(
            translated.drawing,
            depth=state.depth, cull=state.cull, blend=state.blend, samples=state.samples,
        )  # fmt: skip
        for type_ in drawing.colours if state.blend == "alpha" else ():
            if type_.size != 4:
                raise ValueError(
                    f"blend='alpha' takes colours of 4 components, the fourth is alpha; "
                    f"{type(shader).__name__}.fragment gives {type_.size}"
                )
        name = type(shader).__name__
        program = targets.drawing(device, drawing)
        made = compiled(translated, drawing, program, device.name, name)
        drawings[key] = translated
        drawings[key, state, device.name] = made
        while len(drawings) > LIMIT:
            del drawings[next(iter(drawings))]
    return made
