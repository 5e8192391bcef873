"""PyTorch by torch.compile: shifted views of the padded image, which it fuses into one kernel."""

from __future__ import annotations

from typing import Any, Final

import torch
import torch._dynamo

from benchmarks.gpu_peers import Case, Job, module, slug, with_triton
from benchmarks.pixels import STAGES, Fetch, Let, Stage, Tap, spelled

NAME: Final = "torch.compile"
NAMES: Final = {
    "sqrt": "torch.sqrt", "exp": "torch.exp", "floor": "torch.floor", "abs": "torch.abs",
    "min": "least", "max": "most", "select": "torch.where", "int": "whole", "float": "real",
}  # fmt: skip
HEAD: Final = """\
import torch
from torch.nn.functional import pad

def least(a, b):
    return torch.minimum(a, b) if isinstance(b, torch.Tensor) else a.clamp(max=b)

def most(a, b):
    return torch.maximum(a, b) if isinstance(b, torch.Tensor) else a.clamp(min=b)

def whole(value):
    return value.to(torch.int64)

def real(value):
    return value.to(torch.float32) if isinstance(value, torch.Tensor) else float(value)

def function(image):
"""
seconds = with_triton.seconds
clear = with_triton.clear


def version() -> str:
    torch.zeros(1, device="cuda")
    return torch.__version__


def make(case: Case) -> Job | None:
    image = torch.from_numpy(case.image).cuda()
    if case.kernel == "sum":
        scale = 255 if case.is_bytes else 1
        return Job(image.sum, lambda: float(image.sum()) / scale)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    torch._dynamo.reset()
    functions = []
    for index, stage in enumerate(stages):
        ends = [case.is_bytes and index == at for at in (0, len(stages) - 1)]
        made = module(f"torch_{slug(case)}_{index}", _function(stage, *ends))
        functions.append(torch.compile(made.function, dynamic=False, fullgraph=True))

    def run() -> Any:
        value = image
        for function in functions:
            value = function(value)
        return value

    return Job(run, lambda: run().cpu().numpy())


def _function(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> str:
    """The text of a function of an image: what is evaluated from text the compiler cannot see
    into, so it is a module's."""
    across, down = stage.reach
    has_channels = len(stage.results) == 4

    def shifted(dx: int, dy: int, channel: int) -> str:
        if has_channels:
            return f"wide[..., {channel}]"
        top, left = down + dy, across + dx
        return f"padded[{top} : {top} + height, {left} : {left} + width]"

    body = []
    for line in stage.lines:
        match line:
            case Tap(name, dx, dy, channel):
                body.append(f"{name} = {shifted(dx, dy, channel)}")
            case Fetch(name, x, y):
                body.append(f"{name} = wide[({y}).clamp(0, height - 1), ({x}).clamp(0, width - 1)]")
            case Let(name, _, text):
                body.append(f"{name} = {spelled(text, NAMES)}")
    results = ", ".join(stage.results)
    body.append(f"result = torch.stack([{results}], -1)" if has_channels else f"result = {results}")
    if writes_bytes:
        body.append("result = (result.clamp(0, 1) * 255).round().to(torch.uint8)")
    wide = f"image.to(torch.float32) * {1 / 255!r}" if reads_bytes else "image"
    pad = f"pad(wide[None, None], ({across}, {across}, {down}, {down}), mode='replicate')[0, 0]"
    head = [
        "height, width = image.shape[:2]",
        f"wide = {wide}",
        f"padded = {pad if across or down else 'wide'}",
    ]
    if not stage.is_local:
        head.append("x = torch.arange(width, device=image.device)[None, :]")
        head.append("y = torch.arange(height, device=image.device)[:, None]")
    return "\n".join([HEAD, *[f"    {line}" for line in [*head, *body, "return result"]], ""])
