"""What `f.lower(...)` gives: the texts of a program and the figures of its making.

    lowered = edges.lower(photo)
    print(lowered.source); lowered.stats["taps"] == 16

`lowered.glsl` is its fragment program even where there is no OpenGL.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from pygpu import ssa
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.execution.inspection import html
from pygpu.execution.programs.extents import Extended
from pygpu.execution.programs.specialise import Specialisation
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import CLEAN, apply

with later():
    from pygpu import codegen_glsl


@record
class Lowered:
    """A program that was compiled and not run.

    `ssa` is the intermediate representation before and after optimisation, `source` the program
    generated for the target (GLSL, LLVM IR, or the representation itself), `stats` counts texels
    read (`taps`), operations, stages (where the function was taken apart into some), unrolled
    iterations, and the milliseconds of each phase. `extended` are the images that are smaller than
    the result, so that their boundaries show: meant so, or given by accident. A notebook shows the
    Python function, its SSA and its GLSL side by side.
    """

    name: str
    target: str
    ssa: str
    source: str
    stats: dict[str, Any] = field(default_factory=dict)
    extended: tuple[Extended, ...] = ()
    _function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    _made: Specialisation | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        made: Specialisation,
        function: Callable[..., Any],
        extended: tuple[Extended, ...] = (),
    ) -> Lowered:
        """The texts of a program that was made of a Python function."""
        translated = made.translated
        before = str(translated.translation.function)
        return cls(
            name,
            made.device.name,
            f"# before optimisation\n{before}\n\n# after\n{translated.function}{_stages(made)}",
            made.program.source,
            _statistics(made),
            extended,
            function,
            made,
        )

    @property
    def python(self) -> str:
        """The user's function, empty where its source is not to be had."""
        try:
            return textwrap.dedent(inspect.getsource(inspect.unwrap(self._function)))  # type: ignore[arg-type]
        except (OSError, TypeError):
            return ""

    @property
    def glsl(self) -> str:
        """The function as a GLSL fragment program, whatever the target. No driver is needed."""
        if self._made is None:
            return ""
        task = self._made.task
        plain = apply(CLEAN, lower_boundary(task.function))
        return codegen_glsl.fragment_program(replace(task, function=plain)).text

    def __repr__(self) -> str:
        return f"<{self.name} lowered for {self.target}: {self._phrase()}>"

    def _phrase(self) -> str:
        return "; ".join([_phrase(self.stats), *map(str, self.extended)])

    def _repr_html_(self) -> str:
        before, _, after = self.ssa.partition("\n\n# after\n")
        parts = [
            html.heading(self.name, f"for {self.target}: {self._phrase()}"),
            html.panes([("Python", self.python), ("SSA", after), ("GLSL", self.glsl)]),
            html.folded("SSA before optimisation", before.partition("\n")[2]),
        ]
        if self.source != self.glsl:
            language = "program" if self._made is None else self._made.device.language
            parts.append(html.folded(f"{language} of the {self.target} target", self.source))
        return html.framed(*parts)


def _stages(made: Specialisation) -> str:
    """The functions that a program was taken apart into, if it was."""
    stages = made.program.stages
    return "".join(
        f"\n\n# stage {number} of {len(stages)}\n{function}"
        for number, function in enumerate(stages, 1)
    )


def _statistics(made: Specialisation) -> dict[str, Any]:
    ops = [op for op in ssa.walk(made.translated.function.body) if op.code != "constant"]
    times = {phase: round(1e3 * seconds, 3) for phase, seconds in made.times.items()}
    return {
        "taps": sum(op.code == "load" for op in ops),
        "ops": len(ops),
        "loops": sum(op.code == "loop" for op in ops),
        **({"stages": len(made.program.stages)} if made.program.stages else {}),
        **made.translated.translation.statistics,
        "time": times,
    }


def _phrase(stats: dict[str, Any]) -> str:
    counts = [
        f"{value} {name.removesuffix('s') if value == 1 else name}"
        for name, value in stats.items()
        if name != "time"
    ]
    return ", ".join([*counts, f"{sum(stats['time'].values()):.1f} ms"])
