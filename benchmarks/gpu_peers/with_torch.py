"""PyTorch by torch.compile: shifted views of the padded image, which it fuses into one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
import torch._dynamo

from benchmarks.gpu_peers import Case, Job, with_triton
from benchmarks.pixels import STAGES, Stage, evaluate

NAME: Final = "torch.compile"
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
    functions = [
        torch.compile(
            _function(
                stage, index == 0 and case.is_bytes, index == len(stages) - 1 and case.is_bytes
            ),
            dynamic=False,
        )
        for index, stage in enumerate(stages)
    ]

    def run() -> Any:
        value = image
        for function in functions:
            value = function(value)
        return value

    return Job(run, lambda: run().cpu().numpy())


def _function(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> Callable[[Any], Any]:
    across, down = stage.reach

    def function(image: Any) -> Any:
        height, width = image.shape[:2]
        wide = image.to(torch.float32) * (1 / 255) if reads_bytes else image
        padded = wide
        if across or down:
            padded = torch.nn.functional.pad(
                wide[None, None], (across, across, down, down), mode="replicate"
            )[0, 0]

        def texel(dx: int, dy: int, channel: int) -> Any:
            if image.ndim == 3:
                return wide[..., channel]
            return padded[down + dy : down + dy + height, across + dx : across + dx + width]

        scope = {
            "x": torch.arange(width, device=image.device)[None, :],
            "y": torch.arange(height, device=image.device)[:, None],
            "width": width,
            "height": height,
            "F": float,
            "sqrt": torch.sqrt,
            "exp": torch.exp,
            "floor": torch.floor,
            "abs": torch.abs,
            "minimum": _clipped(torch.minimum, "max"),
            "maximum": _clipped(torch.maximum, "min"),
            "select": torch.where,
            "to_int": lambda v: v.to(torch.int64),
            "to_float": lambda v: v.to(torch.float32) if isinstance(v, torch.Tensor) else float(v),
            "fetch": lambda x, y: wide[y.clamp(0, height - 1), x.clamp(0, width - 1)],
        }
        results = evaluate(stage, texel, scope)
        result = torch.stack(results, -1) if len(results) > 1 else results[0]
        return (result.clamp(0, 1) * 255).round().to(torch.uint8) if writes_bytes else result

    return function


def _clipped(function: Callable[..., Any], bound: str) -> Callable[..., Any]:
    """minimum or maximum, of which one may be a number."""

    def clipped(a: Any, b: Any) -> Any:
        return function(a, b) if isinstance(b, torch.Tensor) else a.clamp(**{bound: b})

    return clipped
