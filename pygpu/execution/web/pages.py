"""Recordings as pages: programs, images, controls and results as one HTML file.

    with recorded() as recording: result = f(photo)
    page = Page(recording, "f", ...)
    page.html()                        # nothing in it is fetched from elsewhere

What the page does is in engine.js, which computes, watch.js, which says what goes wrong there, and
page.js, which its reader meets, beside this file; page.html is around them, with page.css.
"""

from __future__ import annotations

import base64
import html
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from pygpu.codegen.glsl.writer import TABLE_WIDTH, BoundTable
from pygpu.codegen_glsl import FragmentProgram
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.devices.noting import TaskStep
from pygpu.devices.opengl.drawn import Drawn
from pygpu.devices.recording import Loop, MeshStep, Recording
from pygpu.execution.web.controls import Control
from pygpu.execution.web.meshes import Meshes, textures
from pygpu.execution.web.pictures import described, texture
from pygpu.execution.web.programs import passes
from pygpu.ssa import Constant, Value

HERE: Final = Path(__file__).parent
# Which uniform of which step is a control's: (step, index).
PLACES: Final = frozenset(("onto", "depths"))  # images that a mesh is drawn over
Uses = Mapping[tuple[int, int], str]


@record(eq=False, frozen=False)
class Page:
    """What is on a page. `names` are those of given images by place, `results` the places of what
    is shown, `state` the pairs of places (given, made) that a round hands on, `formats` those of
    given images, `numbers` the controls that are images of one texel, by place. Where `follows`,
    all is as large as the first picture, which may change."""

    recording: Recording
    name: str
    story: str
    python: str
    names: dict[int, str]
    formats: dict[int, Format]
    results: list[tuple[int, Format]]
    controls: list[Control]
    uses: Uses
    follows: bool = False
    state: list[tuple[int, int]] = field(default_factory=list)
    rounds: int = 0
    numbers: dict[int, str] = field(default_factory=dict)

    def goes_on(self, rounds: int, state: Sequence[int]) -> None:
        """Let the page make this many rounds for each picture that it shows. In the next round the
        results take the places of the images `state`. TypeError where a result is no image of the
        same kind."""
        self.rounds = rounds
        self.state = list(zip(state, [place for place, _ in self.results], strict=True))
        images, made = self.recording.images, dict(self.results)
        for old, new in self.state:
            kept, found = [
                f"{images[place].height, images[place].width, format.channels} of {format.dtype}"
                for place, format in ((old, self.formats[old]), (new, made[new]))
            ]
            if kept != found:
                raise TypeError(
                    f"iterate: {self.name}() makes an image {found} of one {kept}, which it cannot "
                    "take the place of: sizes, channels and dtypes must be the same"
                )

    def html(self) -> str:
        """The page."""
        data = self.data()
        return filled(data, self.story, self.python, scripts(data))

    def data(self) -> dict[str, Any]:
        """All that the script needs to know."""
        programs, starts = _Programs(), [0]
        steps: list[dict[str, Any]] = []
        for number, step in enumerate(self.recording.steps):
            steps += programs.steps(step, self._uniforms(number, step))
            starts.append(len(steps))
        meshes = programs.meshes.packed
        loops = [
            replace(each, first=starts[each.first], ask=starts[each.ask], end=starts[each.end])
            for each in self.recording.loops
        ]
        slots = _Slots(self, steps, loops)
        steps = slots.placed(steps)
        pictures = [
            described(self.recording.images[place], self.formats[place], name)
            | {"slot": slots.at[place]}
            for place, name in self.names.items()
        ]
        return {
            "name": self.name,
            "programs": _zipped(programs.texts) if meshes else programs.texts,
            "meshes": meshes,
            "slots": slots.slots,
            "pictures": pictures,
            "numbers": [
                {"slot": slots.at[place], "control": name} for place, name in self.numbers.items()
            ],
            **_once(steps),
            "loops": [slots.loop(each) for each in loops],
            "results": [
                {"slot": slots.at[place], **texture(format)} for place, format in self.results
            ],
            "state": [[slots.at[old], slots.at[new]] for old, new in self.state],
            "rounds": self.rounds,
            "follows": self.follows,
            "controls": [control.described() for control in self.controls],
        }

    def _uniforms(self, number: int, step: TaskStep | MeshStep) -> list[Any]:
        """What each uniform of a step is: a control's name, or a constant."""
        return [
            {"control": self.uses[number, index]}
            if (number, index) in self.uses
            else _numbers(value)
            for index, value in enumerate(step.uniforms)
        ]


def scripts(data: Mapping[str, Any]) -> str:
    """What runs a page's programs."""
    names = ["engine.js", *(["meshes.js"] if data["meshes"] else [])]
    return "\n".join([(HERE / name).read_text("utf-8") for name in names])


def filled(data: Mapping[str, Any], story: str, python: str, script: str) -> str:
    """The text of a page; `script` comes before that of pages."""
    own = "\n".join([(HERE / name).read_text("utf-8") for name in ("watch.js", "page.js")])
    parts = {
        "TITLE": html.escape(data["name"]),
        "STORY": html.escape(story),
        "PYTHON": html.escape(python),
        "STYLE": (HERE / "page.css").read_text("utf-8"),
        "SCRIPT": f"{script}\n{own}",
        # "<" begins neither a tag nor a comment within a script that way
        "DATA": json.dumps(_told(data), separators=(",", ":")).replace("<", "\\u003c"),
    }
    text = (HERE / "page.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->", part)
    return text


def _told(data: Any) -> Any:
    """The same with strings for the numbers that JSON has not, of which scripts make them again."""
    if isinstance(data, float) and not math.isfinite(data):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(data, "NaN")
    if isinstance(data, Mapping):
        return {name: _told(value) for name, value in data.items()}
    return [*map(_told, data)] if isinstance(data, list | tuple) else data


def _zipped(programs: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Programs in few bytes, for pages whose meshes take many."""
    data = zlib.compress(json.dumps(programs, separators=(",", ":")).encode(), 9)
    return {"zlib": base64.b64encode(data).decode("ascii")}


def _once(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All steps, each once, and the order in which they run: rounds repeat theirs."""
    places: dict[str, int] = {}
    order = [places.setdefault(json.dumps(step), len(places)) for step in steps]
    return {"steps": [json.loads(step) for step in places], "order": order}


class _Programs:
    """The texts of all tasks, each once."""

    def __init__(self) -> None:
        self.texts: list[dict[str, Any]] = []
        self._of: dict[Task, list[Drawn]] = {}
        self._places: dict[str, int] = {}
        self.meshes = Meshes()

    def steps(self, step: TaskStep | MeshStep, uniforms: Sequence[Any]) -> list[dict[str, Any]]:
        """What the page draws for a step, images by their places: a program, and another for the
        blocks of pixels at the edges where there is one; or a mesh."""
        if isinstance(step, MeshStep):
            return [self._mesh(step, uniforms)]
        if step.task not in self._of:
            self._of[step.task] = passes(step.task)
        return [
            {
                "draws": [self._draw(step, program, uniforms) for program in part.texts],
                "outputs": [step.outputs[index] for index in part.indices],
                **_reach(step, part),
            }
            for part in self._of[step.task]
        ]

    def _draw(
        self, step: TaskStep, program: FragmentProgram, uniforms: Sequence[Any]
    ) -> dict[str, Any]:
        return {
            "program": self._add(program, step.task),
            "inputs": _of_named(step.inputs, program.images),
            "uniforms": _of_named(uniforms, program.uniforms),
            "sized": _of_named(step.inputs, program.widths),
        }

    def _mesh(self, step: MeshStep, uniforms: Sequence[Any]) -> dict[str, Any]:
        texts = self.meshes.texts(step.drawing)
        both, (read, sized) = texts.both, textures(step, texts)
        program = {
            "text": texts.fragment.text,
            "vertices": texts.vertex.text,
            "images": list(read),
            "uniforms": _setters(both.uniforms, step.drawing.vertex.uniforms),
            "widths": list(sized),
            "last": None,
            "tables": [_table(table) for table in both.tables],
        }
        draw = {
            "program": self._place(program),
            "inputs": list(read.values()),
            "uniforms": _of_named(uniforms, both.uniforms),
            "sized": list(sized.values()),
        }
        return {**self.meshes.step(step), "draws": [draw]}

    def _add(self, program: FragmentProgram, task: Task) -> int:
        described = {
            "text": program.text,
            "vertices": program.vertices,
            "images": [name for name in program.images if name is not None],
            "uniforms": _setters(program.uniforms, task.function.uniforms),
            "widths": [name for name in program.widths if name is not None],
            "last": program.last,
            "tables": [_table(table) for table in program.tables],
        }
        return self._place(described)

    def _place(self, described: dict[str, Any]) -> int:
        """Where a program is among those of the page."""
        text = described["vertices"] + described["text"]
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(described)
        return self._places[text]


def _of_named(values: Sequence[Any], names: Sequence[str | None]) -> list[Any]:
    """The values that a program has a name for."""
    return [value for value, name in zip(values, names, strict=True) if name is not None]


def _reach(step: TaskStep, part: Drawn) -> dict[str, Any]:
    """How far blocks look to their sides: passes/blocks/block.py has more on it."""
    halves = part.halves
    if halves is None or part.edges is None:
        return {}
    reach = [[step.inputs[image], *far] for image, far in halves.reach.items()]
    return {"reach": reach, "clamped": halves.are_clamped, "flat": halves.is_flat}


def _setters(names: Sequence[str | None], values: Sequence[Value]) -> list[list[str]]:
    """The uniforms that a program has, and how each is set."""
    named = zip(names, values, strict=True)
    return [[name, _setter(value)] for name, value in named if name is not None]


def _setter(value: Value) -> str:
    """How WebGL sets a uniform: gl.uniform3fv, say, is "3fv"."""
    kind = {"float": "f", "int": "i", "uint": "ui", "bool": "i"}[value.type.kind]
    return f"{value.type.size}{kind}v"


def _numbers(value: Constant) -> list[Any]:
    """The components of a constant."""
    parts = value if isinstance(value, tuple) else (value,)
    return [float(x) for x in parts]


def _table(table: BoundTable) -> dict[str, Any]:
    values = np.ascontiguousarray(table.values)
    return {
        "name": table.name,
        "block": table.is_block,
        "kind": values.dtype.kind,
        "width": TABLE_WIDTH,
        "rows": base64.b64encode(values.tobytes()).decode("ascii"),
    }


class _Slots:
    """Textures for images: what is not needed any more makes room for what comes."""

    def __init__(self, page: Page, steps: Sequence[dict[str, Any]], loops: Sequence[Loop]) -> None:
        self.page = page
        self.slots: list[dict[str, Any]] = []
        self.at: dict[int, int] = {}
        self.formats = dict(page.formats)
        for step in page.recording.steps:
            self.formats.update(zip(step.outputs, step.makes, strict=True))
        self.last: dict[int, int] = {}
        first: dict[int, int] = {}
        for number, drawn in enumerate(steps):
            for place in _touched(drawn):
                self.last[place] = number
                first.setdefault(place, number)
        # images from before a loop, and those that its next round reads, keep their slots
        for loop in loops:
            handed = {loop.answer, *[place for pair in loop.state for place in pair]}
            for place in {p for drawn in steps[loop.first : loop.end] for p in _touched(drawn)}:
                if place in handed or first[place] < loop.first:
                    self.last[place] = max(self.last[place], loop.end - 1)
        kept = [*page.names, *page.numbers, *(place for place, _ in page.results)]
        self.kept = {*kept, *(place for pair in page.state for place in pair)}
        self.free: dict[str, list[int]] = {}
        for place in (*page.names, *page.numbers):
            self._give(place)

    def placed(self, steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The steps, images by their slots."""
        found = []
        over: dict[int, list[int]] = {}  # the images that nothing reads after each step
        for place in sorted(self.last.keys() - self.kept):
            over.setdefault(self.last[place], []).append(place)
        for number, step in enumerate(steps):
            for place in step["outputs"]:
                if place not in self.at:
                    self._give(place)
            found.append(self._by_slot(step))
            for place in over.get(number, ()):
                self.free.setdefault(self._key(place), []).append(self.at[place])
        return found

    def loop(self, loop: Loop) -> dict[str, Any]:
        """A loop, as the script has it."""
        state = [[self.at[old], self.at[new]] for old, new in loop.state]
        said = {name: getattr(loop, name) for name in ("first", "ask", "end", "done", "count")}
        return {**said, "every": loop.every, "state": state, "answer": self.at[loop.answer]}

    def _by_slot(self, step: dict[str, Any]) -> dict[str, Any]:
        """A step with slots in place of images."""
        made = step | {
            "outputs": [self.at[place] for place in step["outputs"]],
            "draws": [
                draw | {key: [self.at[place] for place in draw[key]] for key in ("inputs", "sized")}
                for draw in step["draws"]
            ],
        }
        for key in PLACES & step.keys():
            made[key] = [self.at[place] for place in step[key]]
        if "reach" in step:
            made["reach"] = [[self.at[place], *far] for place, *far in step["reach"]]
        return made

    def _key(self, place: int) -> str:
        return json.dumps(self._described(place))

    def _described(self, place: int) -> dict[str, Any]:
        image = self.page.recording.images[place]
        fixed = not self.page.follows or place in list(self.page.names)[1:]
        size = [image.width, image.height] if fixed else None
        return {"size": size, **texture(self.formats[place])}

    def _give(self, place: int) -> None:
        free = self.free.get(self._key(place))
        if free:
            self.at[place] = free.pop()
            return
        self.at[place] = len(self.slots)
        self.slots.append(self._described(place))


def _touched(step: dict[str, Any]) -> set[int]:
    """The images that a step reads, asks for their size, or makes."""
    read = [place for draw in step["draws"] for key in ("inputs", "sized") for place in draw[key]]
    read += [place for key in PLACES for place in step.get(key, ())]
    return {*read, *step["outputs"], *[place for place, *_ in step.get("reach", ())]}
