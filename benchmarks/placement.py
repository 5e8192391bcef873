"""Does it matter where two large buffers lie? Copies between pairs of buffers on a GPU.

python -m benchmarks.placement [--mib 256] [--rounds 7]

A copy multiplies by 1.5 what it moves, 16 bytes a thread. Times are medians of timer queries in
microseconds, which software drivers leave at 0. What came of it stands in benchmarks/NOTES.md.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from statistics import median
from typing import Any, Final

import numpy as np

from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context

KIB, MIB = 1 << 10, 1 << 20
OFFSETS: Final = (0, 256, 4 * KIB, 64 * KIB, MIB, 2 * MIB, 3 * MIB, 8 * MIB, 32 * MIB, 64 * MIB)
PADDINGS: Final = (-64 * KIB, -4 * KIB, 64 * KIB, MIB, 2 * MIB - 4 * KIB, 2 * MIB + 64 * KIB)

HEAD: Final = """\
#version 430 core
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer source_block { vec4 source[]; };
layout(std430, binding = 1) writeonly buffer target_block { vec4 target[]; };
"""
COPY: Final = (
    HEAD
    + """
void main() {
    target[gl_GlobalInvocationID.x] = 1.5 * source[gl_GlobalInvocationID.x];
}
"""
)
NEAR: Final = (
    HEAD
    + """
void main() {  // a group moves 256 KiB in a row
    uint at = gl_WorkGroupID.x * 16384u + gl_LocalInvocationID.x;
    for (int round = 0; round < 16; round++) {
        vec4 texels[4];
        for (int k = 0; k < 4; k++)
            texels[k] = source[at + uint(256 * k)];
        for (int k = 0; k < 4; k++)
            target[at + uint(256 * k)] = 1.5 * texels[k];
        at += 1024u;
    }
}
"""
)
READ: Final = (
    HEAD
    + """
void main() {
    uint at = gl_WorkGroupID.x * 2048u + gl_LocalInvocationID.x;
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 8; k++)
        sum += source[at + uint(256 * k)];
    if (sum.x == 12345.678)
        target[at] = sum;
}
"""
)
FILL: Final = (
    HEAD
    + """
uint mixed(uint x) {  // Wellons, "hash prospector": lowbias32
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16);
}
void main() {
    uvec4 at = 4u * gl_GlobalInvocationID.x + uvec4(0, 1, 2, 3);
    target[at.x / 4u] = vec4(mixed(at.x), mixed(at.y), mixed(at.z), mixed(at.w)) / 4294967296.0;
}
"""
)
IMAGES: Final = """\
#version 430 core
layout(local_size_x = 64, local_size_y = 4) in;
layout(binding = 0, rgba32f) readonly uniform image2D source;
layout(binding = 1, rgba32f) writeonly uniform image2D target;
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    imageStore(target, p, 1.5 * imageLoad(source, p));
}
"""
TEXTS: Final = {"copy": COPY, "near": NEAR, "read": READ, "fill": FILL}
GROUP: Final = {"copy": 4 * KIB, "near": 256 * KIB, "read": 32 * KIB, "fill": 4 * KIB}  # bytes
Pair = tuple[Any, Any]


class Bench:
    """The programs, and how often each is timed."""

    def __init__(self, gl: Context, rounds: int) -> None:
        self.gl, self.rounds = gl, rounds
        self.query = gl.gl.query(time=True)
        self.programs = {name: gl.gl.compute_shader(text) for name, text in TEXTS.items()}

    def run(self, name: str, pair: Pair, nbytes: int, offset: int = 0) -> None:
        """Over so many bytes of both; of the target from `offset` on."""
        pair[0].bind_to_storage_buffer(0, 0, nbytes)
        pair[1].bind_to_storage_buffer(1, offset, nbytes)
        self.programs[name].run(nbytes // GROUP[name], 1, 1)

    def time(self, name: str, pairs: Sequence[Pair], nbytes: int, offset: int = 0) -> float:
        """The median of runs over these pairs, taken by turns; the first turn does not count."""
        times = []
        for turn in range(self.rounds + 1):
            for pair in pairs:
                with self.query:
                    self.run(name, pair, nbytes, offset)
                if turn:
                    times.append(self.query.elapsed / 1e3)
        return median(times)

    def buffers(
        self, count: int, nbytes: int, make: Callable[[int], Any] | None = None
    ) -> list[Any]:
        """Buffers in their order of allocation, full of random numbers."""
        made = [make(nbytes) if make else self.gl.gl.buffer(reserve=nbytes) for _ in range(count)]
        for buffer in made:
            self.run("fill", (buffer, buffer), nbytes // MIB * MIB)
        return made


@contextmanager
def released(buffers: list[Any]) -> Iterator[list[Any]]:
    try:
        yield buffers
    finally:
        for buffer in buffers:
            buffer.release()


def sparse(gl: Context) -> Callable[[int], Any] | None:
    """Makes buffers by GL_ARB_sparse_buffer, all of their pages committed."""
    signatures = {
        "glCreateBuffers": (ctypes.c_int, ctypes.c_void_p),
        "glNamedBufferStorage": (ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint),
        "glNamedBufferPageCommitmentARB": (
            ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_ubyte,
        ),
    }  # fmt: skip
    addresses = {name: gl.platform.load(name) for name in signatures}
    if "GL_ARB_sparse_buffer" not in gl.gl.extensions or not all(addresses.values()):
        return None
    create, store, commit = [
        ctypes.CFUNCTYPE(None, *types)(addresses[name]) for name, types in signatures.items()
    ]

    def make(nbytes: int) -> Any:
        name = ctypes.c_uint()
        create(1, ctypes.addressof(name))
        store(name.value, nbytes, None, 0x0400 | 0x0100)  # sparse, written by the host
        commit(name.value, 0, nbytes, 1)
        return gl.gl.external_buffer(name.value, nbytes)

    return make


# ---------------------------------------------------------------- experiments


def pairs_of(bench: Bench, buffers: Sequence[Any], nbytes: int) -> str:
    """Each pair hot, then pairs by turns, so that none finds what its last run left."""
    hot = [bench.time("copy", [pair], nbytes) for pair in combinations(buffers, 2)]
    turns = list(zip(buffers[::2], buffers[1::2], strict=False))
    times = " ".join(f"{t:.0f}" for t in hot)
    slow = max(hot) / max(min(hot), 1e-3)
    return f"{times}; slowest {slow:.2f}; by turns {bench.time('copy', turns, nbytes):.0f}"


def images_of(bench: Bench, nbytes: int) -> str:
    """Pairs of textures of four floats, as images."""
    gl, width = bench.gl.gl, 2048
    height = max(nbytes // 16 // width, 4)
    program = gl.compute_shader(IMAGES)
    with released([gl.texture((width, height), 4, dtype="f4") for _ in range(6)]) as textures:
        found = []
        for source, target in combinations(textures, 2):
            times = []
            for _ in range(bench.rounds + 1):
                source.bind_to_image(0, read=True, write=False)
                target.bind_to_image(1, read=False, write=True)
                with bench.query:
                    program.run(width // 64, height // 4, 1)
                times.append(bench.query.elapsed / 1e3)
            found.append(median(times[1:]))
    return " ".join(f"{t:.0f}" for t in found)


def mapped(bench: Bench, nbytes: int) -> str:
    """A copy before and after the host has mapped its target."""
    with released(bench.buffers(2, nbytes)) as (source, target):
        before = bench.time("copy", [(source, target)], nbytes)
        target.read_into(np.empty(nbytes, np.uint8))
        after = bench.time("copy", [(source, target)], nbytes)
    return f"{before:.0f}, then {after:.0f}"


def shown(nbytes: int) -> str:
    return f"{nbytes / MIB:g}M" if abs(nbytes) >= MIB else f"{nbytes / KIB:g}K"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with opengl.context() as gl:
        nbytes = options.mib * MIB
        bench = Bench(gl, options.rounds)
        print(f"{gl.description}; {options.mib} MiB a buffer; microseconds")
        with released(bench.buffers(6, nbytes)) as buffers:
            alone = [bench.time("read", [(buffer, buffers[0])], nbytes) for buffer in buffers]
            print("reading each:", *(f"{t:.0f}" for t in alone))
            print("pairs:", pairs_of(bench, buffers, nbytes))
            near = [bench.time("near", [pair], nbytes) for pair in combinations(buffers, 2)]
            print("pairs, 256 KiB a group:", *(f"{t:.0f}" for t in near))
        for padding in PADDINGS:
            with released(bench.buffers(4, nbytes + padding)) as buffers:
                print(f"longer by {shown(padding)}:", pairs_of(bench, buffers, nbytes - MIB))
        with released(bench.buffers(1, 3 * nbytes)) as (buffer,):
            steps = [step for step in OFFSETS if step <= nbytes]
            times = [bench.time("copy", [(buffer, buffer)], nbytes, nbytes + s) for s in steps]
            pairs = zip(steps, times, strict=True)
            print("in one buffer, so far apart:", *(f"{shown(s)} {t:.0f}" for s, t in pairs))
        for size in (nbytes // 4, nbytes // 2, 2 * nbytes, 4 * nbytes):
            with released(bench.buffers(4, size)) as buffers:
                read = bench.time("read", [(buffers[0], buffers[1])], size)
                print(f"{shown(size)}: reading {read:.0f}, pairs", pairs_of(bench, buffers, size))
        print("textures as images:", images_of(bench, nbytes))
        print("before and after the target is mapped:", mapped(bench, nbytes))
        for name, make in (
            ("sparse", sparse(gl)),
            ("in large pages", gl.pages and gl.pages.buffer),
        ):
            if make is not None:
                started = time.perf_counter()
                buffers = bench.buffers(6, nbytes, make)
                gl.gl.finish()
                each = (time.perf_counter() - started) / len(buffers)
                found = pairs_of(bench, buffers, nbytes)
                print(f"{name}, {1e3 * each:.0f} ms to make one:", found)


if __name__ == "__main__":
    main()
