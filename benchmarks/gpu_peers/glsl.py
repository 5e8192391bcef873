"""GLSL compute programs by hand: storage buffers, four pixels of several rows a thread.

A thread loads a row's four pixels at once and those at the sides clamped, keeps what it has loaded
in registers and begins each result as soon as its rows are there: no branch, no shared memory. Of
several blocks and groups the fastest is taken. Widths are multiples of 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import moderngl
import numpy as np

from benchmarks.gpu_peers import Case, Job, best, gl_buffers, ours
from benchmarks.gpu_peers.gl_buffers import empty, read, uploaded
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Fetch, Let, Stage, Tap, spelled
from pygpu.devices.opengl import context as opengl

NAME: Final = "GLSL by hand"
NAMES: Final = {"select": "choose"}
GROUPS: Final = ((64, 1), (32, 4))
HEAD: Final = """\
#version 430 core
layout(local_size_x = {x}, local_size_y = {y}) in;
layout(std430, binding = 0) readonly buffer source_block {{ {source} source[]; }};
layout(std430, binding = 1) writeonly buffer target_block {{ {target} target[]; }};
uniform int width;
uniform int height;
float choose(bool c, float a, float b) {{ return c ? a : b; }}
float byte_at(uint word, int at) {{ return float((word >> (8 * at)) & 255u) * (1.0 / 255.0); }}
"""

seconds = ours.seconds
clear = gl_buffers.clear


def version() -> str:
    with opengl.context() as gl:
        return gl.version


def make(case: Case) -> Job | None:
    if case.kernel == "mandelbrot":
        return _chosen(case, [(_mandelbrot, (1, 1))], ((8, 8), (16, 8), (64, 1)))
    if case.kernel == "sum":
        return _sum(case)
    stages = STAGES[case.kernel]
    if len(stages) > 1:
        return _two_passes(case, stages)
    stage = stages[0]
    if case.image.ndim == 3:
        return _chosen(case, [(lambda *group: _colours(stage, case.is_bytes, *group), (1, 1))])
    if not stage.is_local:
        return _chosen(case, [(lambda *group: _single(stage, case.is_bytes, *group), (1, 1))])
    return _chosen(case, _blocks(stage, case.is_bytes, case.is_bytes))


def _blocks(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> list[Any]:
    """The program with several rows a thread, and the pixels that a thread makes."""
    counts = (1, 2, 4) if stage.reach == (0, 0) else (2, 4, 8)
    return [
        (
            lambda *group, rows=rows: _block(stage, rows, reads_bytes, writes_bytes, *group),
            (4, rows),
        )
        for rows in counts
    ]


# ---------------------------------------------------------------- programs


def _block(stage: Stage, rows: int, reads_bytes: bool, writes_bytes: bool, x: int, y: int) -> str:
    """Four pixels of each of some rows."""
    across, down = stage.reach
    lines = [
        HEAD.format(
            x=x,
            y=y,
            source="uint" if reads_bytes else "vec4",
            target="uint" if writes_bytes else "vec4",
        ),
        "void main() {",
        "int words = width / 4, column = int(gl_GlobalInvocationID.x);",
        f"int first = {rows} * int(gl_GlobalInvocationID.y);",
        "if (column >= words || first >= height) return;",
    ]
    unpacked = "unpackUnorm4x8(source[{}])" if reads_bytes else "source[{}]"
    ready: dict[int, list[str]] = {}
    for row, column in product(range(rows), range(4)):
        at = -down
        for line in stage.lines:
            if isinstance(line, Tap):
                at = max(at, row + line.dy)
            elif isinstance(line, Let):
                ready.setdefault(at, []).append(_let(line, stage, row, column, across))
    for row in range(-down, rows + down):
        lines.append(f"int row{row + down} = clamp(first + {row}, 0, height - 1) * words;")
        base = f"row{row + down}"
        parts = [("column", f"m{row + down}")]
        for step in range(1, -(-across // 4) + 1):
            left, right = f"l{step}_{row + down}", f"r{step}_{row + down}"
            at = unpacked.format(f"{base} + max(column - {step}, 0)")
            lines.append(f"vec4 {left} = {at};")
            lines.append(f"if (column < {step}) {left} = vec4({left}.x);")
            at = unpacked.format(f"{base} + min(column + {step}, words - 1)")
            lines.append(f"vec4 {right} = {at};")
            lines.append(f"if (column + {step} >= words) {right} = vec4({right}.w);")
        for place, name in parts:
            lines.append(f"vec4 {name} = {unpacked.format(f'{base} + {place}')};")
        lines += ready.get(row, [])
    (result,) = stage.results
    for row in range(rows):
        names = ", ".join(_register(result, stage, row, column) for column in range(4))
        value = f"packUnorm4x8(vec4({names}))" if writes_bytes else f"vec4({names})"
        lines.append(
            f"if (first + {row} < height) target[(first + {row}) * words + column] = {value};"
        )
    return "\n".join([*lines, "}"])


def _let(line: Let, stage: Stage, row: int, column: int, across: int) -> str:
    taps = {tap.name: tap for tap in stage.taps}

    def register(found: re.Match[str]) -> str:
        return _register(found[0], stage, row, column, taps)

    own = "|".join([*taps, *_lets(stage)])
    text = re.sub(rf"\b(?:{own})\b", register, spelled(line.text, NAMES))
    return f"float {line.name}_{row}_{column} = {text};"


def _lets(stage: Stage) -> list[str]:
    return [line.name for line in stage.lines if isinstance(line, Let)]


def _register(
    name: str, stage: Stage, row: int, column: int, taps: dict[str, Tap] | None = None
) -> str:
    """What holds a number of one of the thread's pixels."""
    tap = (taps if taps is not None else {t.name: t for t in stage.taps}).get(name)
    if tap is None:
        return f"{name}_{row}_{column}"
    place, line = column + tap.dx, row + tap.dy + stage.reach[1]
    step, component = divmod(place, 4)
    part = f"m{line}" if step == 0 else f"r{step}_{line}" if step > 0 else f"l{-step}_{line}"
    return f"{part}.{'xyzw'[component]}"


def _lines(stage: Stage, texel: Callable[[str, str, int], str]) -> list[str]:
    lines = []
    for line in stage.lines:
        match line:
            case Tap(name, dx, dy, channel):
                lines.append(f"float {name} = {texel(f'x + {dx}', f'y + {dy}', channel)};")
            case Fetch(name, x, y):
                lines.append(f"float {name} = {texel(x, y, 0)};")
            case Let(name, kind, text):
                lines.append(f"{kind} {name} = {spelled(text, NAMES)};")
    return lines


def _colours(stage: Stage, is_bytes: bool, x: int, y: int) -> str:
    """One RGBA pixel a thread: 16 bytes of floats, 4 of bytes."""
    stored = "uint" if is_bytes else "vec4"
    packed = "packUnorm4x8({})" if is_bytes else "{}"
    unpacked = "unpackUnorm4x8({})" if is_bytes else "{}"
    results = f"vec4({', '.join(stage.results)})"
    return "\n".join(
        [
            HEAD.format(x=x, y=y, source=stored, target=stored),
            "void main() {",
            "int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);",
            "if (x >= width || y >= height) return;",
            f"vec4 texel = {unpacked.format('source[y * width + x]')};",
            *_lines(stage, lambda x, y, channel: f"texel.{'xyzw'[channel]}"),
            f"target[y * width + x] = {packed.format(results)};",
            "}",
        ]
    )


def _single(stage: Stage, is_bytes: bool, x: int, y: int) -> str:
    """One pixel a thread, of bytes four, for texels anywhere."""
    at = "clamp({1}, 0, height - 1) * width + clamp({0}, 0, width - 1)"
    (result,) = stage.results
    if not is_bytes:
        body = [
            "int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);",
            "if (x >= width || y >= height) return;",
            *_lines(stage, lambda x, y, channel: f"source[{at.format(x, y)}]"),
            f"target[y * width + x] = {result};",
        ]
    else:
        body = [
            "int left = 4 * int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);",
            "if (left >= width || y >= height) return;",
            "vec4 four;",
            "for (int part = 0; part < 4; part++) {",
            "int x = left + part, place;",
            *_lines(stage, lambda x, y, channel: f"byte_of({at.format(x, y)})"),
            f"four[part] = {result};",
            "}",
            "target[(y * width + left) / 4] = packUnorm4x8(four);",
        ]
    stored = "uint" if is_bytes else "float"
    return "\n".join(
        [
            HEAD.format(x=x, y=y, source=stored, target=stored),
            "float byte_of(int at) { return byte_at(source[at / 4], at % 4); }" if is_bytes else "",
            "void main() {",
            *body,
            "}",
        ]
    )


def _mandelbrot(x: int, y: int) -> str:
    return (
        HEAD.format(x=x, y=y, source="float", target="int")
        + f"""
uniform float left;
uniform float top;
uniform float scale;
void main() {{
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= width || y >= height) return;
    float cx = left + scale * float(x), cy = top + scale * float(y), u = 0.0, v = 0.0;
    int n = 0;
    while (n < {ROUNDS} && u * u + v * v <= 4.0) {{
        float next = u * u - v * v + cx;
        v = 2.0 * u * v + cy;
        u = next;
        n++;
    }}
    target[y * width + x] = n;
}}"""
    )


SUM: Final = """\
#version 430 core
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer source_block { SOURCE source[]; };
layout(std430, binding = 1) writeonly buffer target_block { float target[]; };
uniform int count;
shared float part[256];
void main() {
    uint at = gl_LocalInvocationID.x, threads = gl_NumWorkGroups.x * 256u;
    float total = 0.0;
    for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += threads)
        total += VALUE;
    part[at] = total;
    for (uint half_ = 128u; half_ > 0u; half_ /= 2u) {
        barrier();
        if (at < half_) part[at] += part[at + half_];
    }
    if (at == 0u) target[gl_WorkGroupID.x] = part[0];
}
"""


# ---------------------------------------------------------------- running them


def _chosen(case: Case, ways: list[Any], groups: Any = GROUPS) -> Job:
    """The fastest of some programs in some groups."""
    height, width = case.size
    with opengl.context() as gl:
        source = uploaded(case.image)
        texel = np.dtype(np.int32) if case.kernel == "mandelbrot" else case.dtype
        shape = case.image.shape
        target = empty(math.prod(shape) * texel.itemsize)
        jobs = {}
        for (text, pixels), group in product(ways, groups):
            if case.kernel == "rotation" and case.is_bytes:
                pixels = (4, 1)
            run = _dispatcher(gl, text(*group), source, target, (width, height), pixels, group)
            name = f"{pixels[0]} x {pixels[1]} pixels, groups of {group[0]} x {group[1]}"
            jobs[name] = Job(run, lambda: read(target, shape, texel))
        if case.kernel == "mandelbrot":
            jobs = {name: _with_view(job, case) for name, job in jobs.items()}
    return best(jobs, seconds)


def _with_view(job: Job, case: Case) -> Job:
    left, top, step = view(case.size)
    program = job.run.program  # type: ignore[attr-defined]
    program["left"], program["top"], program["scale"] = left, top, step
    return job


def _dispatcher(
    gl: Any, text: str, source: Any, target: Any, size: Any, pixels: Any, group: Any
) -> Callable[[], None]:
    try:
        program = gl.gl.compute_shader(text)
    except moderngl.Error as error:
        raise RuntimeError(f"{error}\n{text}") from None
    for name, value in zip(("width", "height"), size, strict=True):
        if name in program:
            program[name] = value
    across = -(-size[0] // (pixels[0] * group[0]))
    down = -(-size[1] // (pixels[1] * group[1]))

    def run() -> None:
        source.bind_to_storage_buffer(0)
        target.bind_to_storage_buffer(1)
        program.run(across, down, 1)

    run.program = program  # type: ignore[attr-defined]
    return run


def _two_passes(case: Case, stages: tuple[Stage, ...]) -> Job:
    """Along rows into floats, then along columns."""
    height, width = case.size
    across, down = stages
    with opengl.context() as gl:
        source = uploaded(case.image)
        between = empty(4 * width * height)
        target = empty(width * height * case.dtype.itemsize)
        first, second = (
            {
                f"{pixels[1]} rows, groups of {group}": Job(
                    _dispatcher(gl, text(*group), *ends, (width, height), pixels, group),
                    lambda: read(target, case.image.shape, case.dtype),
                )
                for (text, pixels), group in product(ways, GROUPS)
            }
            for ways, ends in (
                (_blocks(across, case.is_bytes, False), (source, between)),
                (_blocks(down, False, case.is_bytes), (between, target)),
            )
        )
    one, two = best(first, seconds), best(second, seconds)

    def run() -> None:
        with opengl.context() as gl:
            one.run()
            gl.gl.memory_barrier()
            two.run()
            gl.gl.memory_barrier()

    return Job(run, two.result, f"{one.note}; {two.note}")


def _sum(case: Case) -> Job:
    """Partial sums by groups that stride over the image, then one group over those."""
    with opengl.context() as gl:
        source = uploaded(case.image)
        jobs = {}
        for groups in (256, 1024, 2048):
            parts = empty(4 * groups)
            total = empty(4)
            stored = "uvec4" if case.is_bytes else "vec4"
            four = "dot({}, vec4(1.0))"
            value = four.format("source[i]")
            if case.is_bytes:
                words = [four.format(f"unpackUnorm4x8(source[i].{c})") for c in "xyzw"]
                value = " + ".join(words)
            text = SUM.replace("SOURCE", stored).replace("VALUE", value)
            first = gl.gl.compute_shader(text)
            text = SUM.replace("SOURCE", "float").replace("VALUE", "source[i]")
            second = gl.gl.compute_shader(text)
            first["count"], second["count"] = case.image.nbytes // 16, groups

            def run(first=first, second=second, parts=parts, total=total, groups=groups) -> None:
                source.bind_to_storage_buffer(0)
                parts.bind_to_storage_buffer(1)
                first.run(groups, 1, 1)
                gl.gl.memory_barrier()
                parts.bind_to_storage_buffer(0)
                total.bind_to_storage_buffer(1)
                second.run(1, 1, 1)
                gl.gl.memory_barrier()

            def result(run=run, total=total) -> float:
                with opengl.context():
                    run()
                return float(read(total, (1,), np.dtype(np.float32))[0])

            jobs[f"{groups} groups"] = Job(run, result)
    return best(jobs, seconds)
