"""Functions of whole images on the command line: pipelines, ready filters, Python over images.

function = whole_of(edges, "auto", {})   # None of functions of a pixel
function(image, sigma=2.0, dtype="uint8").save("out.png")
"""

import inspect
import os
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import pygpu
from pygpu import Image, Position
from pygpu.devices import targets
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.pipeline import Pipeline
from pygpu.execution.web.controls import GIVEN


@pygpu.compile
def _same(im: Image, p: Position) -> Any:
    return im(p)


class Whole:
    """A function of whole images, called as compiled functions are: with a dtype of its results."""

    def __init__(self, function: Callable[..., Any], target: str) -> None:
        self.function = function
        if target != "auto":
            os.environ["PYGPU_TARGET"] = target  # this process has one function to run

    @property
    def target(self) -> str:
        """The name of the device on which it runs."""
        return targets.choose("auto").name

    def __call__(self, *images: Image, dtype: Any = None, **values: Any) -> Any:
        result = self.function(*images, **values)
        if isinstance(result, tuple):
            return tuple([_converted(each, dtype) for each in result])
        return _converted(result, dtype)

    def lower(self, *images: Image, **values: Any) -> Any:
        """The texts of a pipeline's stages."""
        function: Any = self.function
        if not isinstance(function, Pipeline):
            function = pygpu.pipeline(function)
        return function.lower(*images, **values)


def _converted(result: Any, dtype: Any) -> Any:
    if not isinstance(result, Image | np.ndarray):
        kind = type(result).__name__
        raise TypeError(f"the result is no image but of type {kind}: it has no picture to be saved")
    if dtype is None:
        return result
    wanted = np.dtype(dtype)
    if wanted.kind in "iu" and result.dtype.kind in "iu" and result.max() > np.iinfo(wanted).max:
        raise ValueError(f"{result.max()} does not fit in {wanted}: --dtype says what holds it")
    return _same(result, dtype=dtype)


def whole_of(function: Any, target: str, values: Mapping[str, Any]) -> Whole | None:
    """The function, if it is one of whole images."""
    if isinstance(function, Pipeline):
        return Whole(function.on(target) if target != "auto" else function, target)
    return Whole(function, target) if is_whole(function, values) else None


def needs_image(function: Callable[..., Any], values: Mapping[str, Any]) -> bool:
    """Whether a function's first parameter has to be given something."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None or first.name in {*values, *GIVEN}:
        return False
    return first.default is first.empty


def is_whole(function: Any, values: Mapping[str, Any]) -> bool:
    """Whether a function is a ready filter, or plain Python of an image and no position."""
    if not isinstance(function, types.FunctionType):
        return False
    if function.__module__.startswith("pygpu.filters."):
        return True
    parameters = inspect.signature(function).parameters.values()
    asked = [p for p in parameters if p.default is p.empty and p.name not in values]
    if len(asked) == 1 and asked[0].annotation is inspect.Parameter.empty:
        return True  # def levels(im, least=0.5): a function of a pixel has a position, too
    signature = Signature.of(function, values)
    return signature.has_image and signature.position is None
