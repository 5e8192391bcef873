"""What an OpenGL driver grants, and what of a device its name tells.

limits = read_limits(context, integer, is_software(context.info["GL_RENDERER"]))
limits.texture_size
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import Any, Final

from pygpu.codegen.glsl.writer import NARROW_BUFFERS, SUBGROUP, Dialect
from pygpu.core.host.records import record

SOFTWARE: Final = ("llvmpipe", "softpipe", "swrast", "software", "gdi generic")
MEMORY: Final = {"GL_NVX_gpu_memory_info": 0x9047, "GL_ATI_meminfo": 0x87FC}  # in KiB
IMAGES: Final = 0x90CE  # GL_MAX_FRAGMENT_IMAGE_UNIFORMS
_SUBGROUP_SIZE: Final = 0x9532  # GL_SUBGROUP_SIZE_KHR
KHR_SUBGROUPS: Final = "GL_KHR_shader_subgroup"
WARP: Final = 64  # where the driver does not tell
_BEFORE_VOLTA: Final = re.compile(
    r"GeForce (?!RTX|GTX 16|MX[45])|Quadro (?!RTX|T|GV)|Tesla (?!V|T4|P100)|TITAN (?!V|RTX)"
    r"|NVS |GRID |Tegra"
)


@record
class Limits:
    """What the driver grants."""

    texture_size: int
    outputs: int
    textures: int
    uniform_components: int
    block_size: int
    version: int  # 330, 450, ...
    images: int  # textures bound as images, by fragment programs
    storage_blocks: int  # 0 where there are no compute programs
    storage_size: int  # bytes of a storage block
    groups: int  # groups of threads along any axis
    across: int  # groups of threads along x, of which some drivers take more
    warp: int  # threads of a group that go in step, a power of two
    memory: int  # bytes of the device's own; 0 where the driver does not tell


def read_limits(gl: Any, integer: Callable[[int], int], in_software: bool) -> Limits:
    """The limits of moderngl's context. `integer` reads a number that moderngl does not ask for,
    and gives 0 where there is no way to ask."""
    info, version = gl.info, gl.version_code
    knows_warp = KHR_SUBGROUPS in gl.extensions
    told = [] if in_software else [name for known, name in MEMORY.items() if known in gl.extensions]
    return Limits(
        info["GL_MAX_TEXTURE_SIZE"],
        min(info["GL_MAX_DRAW_BUFFERS"], info["GL_MAX_COLOR_ATTACHMENTS"]),
        info["GL_MAX_TEXTURE_IMAGE_UNITS"],
        info["GL_MAX_FRAGMENT_UNIFORM_COMPONENTS"],
        info["GL_MAX_UNIFORM_BLOCK_SIZE"],
        version,
        integer(IMAGES) if version >= 420 else 0,
        info.get("GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS", 0),
        info.get("GL_MAX_SHADER_STORAGE_BLOCK_SIZE", 0),
        min(info.get("GL_MAX_COMPUTE_WORK_GROUP_COUNT", (0,))),
        info.get("GL_MAX_COMPUTE_WORK_GROUP_COUNT", (0,))[0],
        (integer(_SUBGROUP_SIZE) if knows_warp else 0) or WARP,
        integer(told[0]) << 10 if told else 0,
    )


def dialect_of(info: Mapping[str, Any], extensions: Container[str], limits: Limits) -> Dialect:
    """What the text of programs must heed. Where Mesa's optimiser works, comparisons are made in
    precise functions; with those, NVIDIA's would cease to fuse what is compared. NVIDIA's devices
    convert to the nearest int (PTX, cvt), which tests on them hold."""
    renderer: str = info["GL_RENDERER"]
    in_software = is_software(renderer)
    narrow = NARROW_BUFFERS in extensions
    is_nvidia = info["GL_VENDOR"].startswith("NVIDIA")
    # Others choose for each program how wide its subgroups are.
    subgroups = is_nvidia and KHR_SUBGROUPS in extensions and limits.warp == SUBGROUP
    return Dialect(
        limits.version,
        "Mesa" in info["GL_VERSION"],
        limits.block_size,
        fused=limits.version >= 400 and not in_software,
        images=limits.version >= 430 and in_software,
        narrow=narrow,
        lanes=narrow and has_fast_float16(renderer),
        uniform_blocks=not in_software,
        saturates=is_nvidia,
        subgroups=subgroups,
        gathers=not in_software,
    )


def is_software(renderer: str) -> bool:
    """Whether the processor does the work."""
    return any(name in renderer.lower() for name in SOFTWARE)


def has_fast_float16(renderer: str) -> bool:
    """Whether a device of NVIDIA's computes two float16 at once: all do since Volta, but of those
    before it, which their names tell, P100 alone; the others are many times slower (CUDA C
    Programming Guide, throughput of arithmetic instructions)."""
    return not _BEFORE_VOLTA.search(renderer)
