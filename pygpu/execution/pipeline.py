"""`pygpu.pipeline`: a plain Python function over whole images, run as few programs.

    @pygpu.pipeline
    def corners(im, k=0.04):
        xx, xy, yy = box(products(im))
        return response(xx, xy, yy, k)

The function is called at each call. What it calls is noted (pipelines/deferred.py), put together
(pipelines/plans.py) and run (pipelines/stages.py) when it returns, or when a value is asked for.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, overload

import numpy as np

from pygpu.core.errors import DeviceError, shortened, shown
from pygpu.core.host.later import later
from pygpu.core.storage import ImageLike, NumberLike
from pygpu.devices import targets
from pygpu.execution import travel
from pygpu.execution.arguments.annotations import user_type
from pygpu.execution.arguments.convert import array_of, is_picture, is_pil
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.large import labels
from pygpu.execution.large.sources import holds_dask, is_dask, seen
from pygpu.execution.pipelines.deferred import Graph, current, deferring
from pygpu.execution.pipelines.stages import Runner
from pygpu.execution.pipelines.steady import Steady
from pygpu.execution.pipelines.takes import Take, Takes
from pygpu.execution.pipelines.together import images_of
from pygpu.execution.pipelines.unseen import Unseen
from pygpu.execution.programs.options import Options, fast_within
from pygpu.language.vectors import Vector

with later():
    from pygpu.execution import framewise
    from pygpu.execution.inspection import reports
    from pygpu.execution.large import gathered  # it imports Dask
    from pygpu.execution.web import recorded


class Pipeline:
    """A function over whole images whose calls are put together. Made by `pipeline`."""

    __wrapped__: Callable[..., Any]
    __name__: str
    __pygpu_whole__ = True

    def __init__(
        self, function: Callable[..., Any], target: str = "auto", fast: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self._fast = fast
        self._target = targets.check(target)
        self._runner = Runner(self._target)
        self._takes = Takes(functools.partial(Steady.of, function, Pipeline))
        self._signature = inspect.signature(function)
        self._dims = _dims(function)
        # How many arguments by position need no binding, and the coordinates of each.
        self._least, self._positional = _by_position(self._signature, self._dims)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        take = self._take(args, kwargs) if current() is None else None
        if take is not None:
            try:
                values = *args, *kwargs.values()
                form = _form([*zip(values, self._dims_of(args, kwargs), strict=True)])
                is_array = form == "array"  # what is given is not kept, then
                wrap = ImageMaker.around if is_array else ImageMaker.wrap
                results = take.play(self._pictures(args, kwargs, wrap), is_array)
                return _presented(results, form)
            except (DeviceError, MemoryError, ArithmeticError, TypeError):
                self._takes.forget()  # the long way says which line asks for what cannot be
        with fast_within(self._fast):
            return self._called(args, kwargs)

    def __reduce__(self) -> Any:
        return travel.reduced(self, Pipeline, (self.__wrapped__, self._target, self._fast))

    def _take(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Take | None:
        """What such a call does, if that is known, or found out now."""
        device, takes = targets.choose(self._target), self._takes
        keys = takes.keys(args, kwargs, device, self._fast)
        for key in keys:
            take = takes.find(key)
            if take is not None:
                return take
        key = next((key for key in keys if not takes.is_refused(key)), None)
        if key is None or not takes.is_due(key):
            return None
        pictures = self._pictures(args, kwargs)
        if any(isinstance(value, np.ndarray) for value in pictures):
            takes.refuse(key)
            return None
        if key is not keys[-1]:  # as if no float counted
            places = enumerate(pictures)
            pictures = [Unseen.given(i) if type(v) is float else v for i, v in places]

        def call(graph: Graph, values: Sequence[Any]) -> Any:
            named = dict(zip(kwargs, values[len(args) :], strict=True))
            with deferring(graph):
                return self.__wrapped__(*values[: len(args)], **named)

        with fast_within(self._fast):
            return takes.rehearse(key, pictures, call, self._runner, device)

    def _pictures(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        wrap: Callable[[Any, int], ImageLike] = ImageMaker.wrap,
    ) -> list[Any]:
        """The arguments, arrays among them as the images that functions are given."""
        values, dims = (*args, *kwargs.values()), self._dims_of(args, kwargs)
        return [_with_pictures(value, n, wrap) for value, n in zip(values, dims, strict=True)]

    def _dims_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[int]:
        """How many coordinates the parameter of each argument asks for."""
        dims = [*self._positional, *[2] * len(args)][: len(args)]
        return dims + [self._dims.get(name, 2) for name in kwargs]

    def _called(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if current() is not None:  # called by another pipeline
            return self.__wrapped__(*args, **kwargs)
        if labels.holds_labelled(args, kwargs):
            return labels.call(self, args, kwargs)
        if holds_dask((*args, *kwargs.values())):
            return self._lazily(args, kwargs)
        return self._run(args, kwargs, self._runner.settle)

    def _lazily(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The function over Dask arrays, which put calls off by themselves. Operators between calls
        are Dask's, so that all arrays are given as functions see their texels."""
        bound = self._bound(args, kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = _with_pictures(value, self._dims.get(name, 2), _seen)
        return _as_results(self.__wrapped__(*bound.args, **bound.kwargs))

    def _run(self, args: Sequence[Any], kwargs: Mapping[str, Any], settle: Any) -> Any:
        given, bound = args, None
        dims: Sequence[int] = self._positional
        if kwargs or not self._least <= len(args) <= len(dims):
            bound = self._bound(args, kwargs)
            given = tuple(bound.arguments.values())
            dims = [self._dims.get(name, 2) for name in bound.arguments]
        leaves = [*zip(given, dims, strict=False)]
        form = _form(leaves)
        graph = Graph(targets.choose(self._target), settle)
        with deferring(graph):
            values = [_with_pictures(value, dims, ImageMaker.wrap) for value, dims in leaves]
            if bound is None:
                result = self.__wrapped__(*values)
            else:
                bound.arguments.update(zip(bound.arguments, values, strict=True))
                result = self.__wrapped__(*bound.args, **bound.kwargs)
            graph.settle([image.storage for image in images_of(result)])
        return _presented(result, form)

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """The arguments by name. A TypeError names the function and what it takes."""
        try:
            return self._signature.bind(*args, **kwargs)
        except TypeError as error:
            names = self._signature.parameters
            asked = [name for name in kwargs if name not in names and name in _OPTIONS]
            more = f"; {asked[0]}= is an option of the functions that it calls" if asked else ""
            with shortened:
                raise TypeError(f"{self.__name__}({', '.join(names)}): {error}{more}") from None

    def map(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        """Call for each frame of a stack: an array (T, H, W) or (T, H, W, C) gives (T, ...), frames
        that come one by one give a generator. The first argument varies, the others are given as
        in a call."""
        with shortened:
            dims = self._positional[0] if self._positional else 2
            return framewise.mapped(self, dims)(images, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> reports.LoweredPipeline:
        """Run for these arguments, and say which stages there were."""
        stages: list[reports.StageReport] = []

        def settle(graph: Graph, wanted: set[int]) -> None:
            before = stages[-1].job + 1 if stages else 0
            found = reports.reported(self._runner, graph, wanted)
            stages.extend([replace(each, job=before + each.job) for each in found])

        with fast_within(self._fast):
            self._run(args, kwargs, settle)
        return reports.LoweredPipeline(self.__name__, self.target, tuple(stages))

    def export(
        self,
        path: str | os.PathLike[str],
        *images: Any,
        controls: Mapping[str, Any] | None = None,
        iterate: int | None = None,
        **arguments: Any,
    ) -> Path:
        """One HTML file that repeats the pipeline's steps in the browser: the path. Numbers have
        controls unless Python decides by them what the steps are. See `Compiled.export`."""
        with fast_within(self._fast):
            return recorded.export_recorded(
                self.__wrapped__, path, images, arguments, controls, iterate=iterate
            )

    @property
    def target(self) -> str:
        """The name of the device on which calls run."""
        return targets.choose(self._target).name

    def on(self, target: str) -> Pipeline:
        """The same pipeline, for another target."""
        return Pipeline(self.__wrapped__, target, self._fast)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<pipeline {self.__name__}, target {self._target!r}>"


_OPTIONS: Final = ("dtype", "out", "shape", "target", "boundary")


def _form(given: Sequence[tuple[Any, int]]) -> str:
    """What the results are: images if any was given, else what the first picture was. Values come
    with the coordinates that their parameters ask for."""
    leaves = [(leaf, dims) for value, dims in given for leaf in _leaves(value)]
    if any(isinstance(value, ImageLike) for value, _ in leaves):
        return "image"
    for value, dims in leaves:
        if is_pil(value):
            return "pil"
        if _is_array(value, dims):
            return "array"
    return "image"


def _leaves(value: Any) -> Sequence[Any]:
    if type(value) is tuple:
        return value
    return tuple(value.values()) if type(value) is dict else (value,)


def _is_array(value: Any, dims: int) -> bool:
    """Whether it is an array that stands for an image, or for what the parameter is: vectors,
    weights and NumPy's numbers have too few axes and are given as they are."""
    if isinstance(value, Vector) or not is_picture(value):
        return False
    return getattr(value, "ndim", dims) >= dims


def _dims(function: Callable[..., Any]) -> dict[str, int]:
    """How many coordinates the parameters annotated as signals, images and volumes have."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that are not there yet, or never
        hints = getattr(function, "__annotations__", {})
    found = {name: user_type(hint) for name, hint in hints.items()}
    return {name: kind[1] for name, kind in found.items() if kind and kind[0] == "image"}


def _by_position(signature: inspect.Signature, dims: Mapping[str, int]) -> tuple[int, list[int]]:
    """Of a function whose parameters all may come by position: how many must be given, and how many
    coordinates each has. Else none may be given so."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature.parameters.values()
    if any(parameter.kind not in kinds for parameter in parameters):
        return 1, []
    least = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    return least, [dims.get(parameter.name, 2) for parameter in parameters]


def _with_pictures(value: Any, dims: int, become: Callable[[Any, int], Any]) -> Any:
    """A value in which pictures, and arrays given for a signal or a volume, became something else;
    those of `*rest` and `**named` parameters, too."""
    if type(value) is tuple:
        return tuple([_with_pictures(each, dims, become) for each in value])
    if type(value) is dict:
        return {name: _with_pictures(each, dims, become) for name, each in value.items()}
    if isinstance(value, ImageLike) or not (is_pil(value) or _is_array(value, dims)):
        return value
    return become(value, dims)


def _seen(picture: Any, dims: int) -> Any:
    """A Dask array, or an array beside one, as functions see its texels."""
    if not is_dask(picture):
        return seen(array_of(picture), dims)
    made = seen(picture, dims)
    return made if made is picture else gathered.Seen.of(made, picture, dims)


def _as_results(result: Any) -> Any:
    """Floats of Dask's operators as those of results, 32 bits wide, and bytes that were only moved
    as these; in lists, tuples, dicts too."""
    if isinstance(result, dict):
        return {name: _as_results(value) for name, value in result.items()}
    if type(result) in (list, tuple):
        return type(result)([_as_results(value) for value in result])
    result = gathered.as_stored(result) if is_dask(result) else result
    is_wide = is_dask(result) and result.ndim > 0 and result.dtype == np.float64
    return result.astype(np.float32) if is_wide else result


def _presented(result: Any, form: str) -> Any:
    """A result as the caller gets it: images become what went in, numbers of a device are read
    unless images stay there, too."""
    if form == "image":
        return result
    if isinstance(result, ImageLike):
        image: Any = result
        return image.to_pil() if form == "pil" else image.numpy()
    if isinstance(result, NumberLike):
        return result.item()
    if isinstance(result, dict):
        return {name: _presented(value, form) for name, value in result.items()}
    if isinstance(result, tuple) and hasattr(result, "_make"):
        return result._make([_presented(value, form) for value in result])
    if isinstance(result, (list, tuple)):
        return type(result)([_presented(value, form) for value in result])
    return result


@overload
def pipeline(
    function: Callable[..., Any], /, *, target: str = "auto", precision: str | None = None
) -> Pipeline: ...


@overload
def pipeline(
    *, target: str = "auto", precision: str | None = None
) -> Callable[[Callable[..., Any]], Pipeline]: ...


def pipeline(
    function: Callable[..., Any] | None = None,
    /,
    *,
    target: str = "auto",
    precision: str | None = None,
) -> Any:
    """Make one thing of a plain Python function over whole images: `@pygpu.pipeline`, or
    `pygpu.pipeline(f, target="cpu")`.

    The function is called at each call, with pictures as `pygpu.Image`s. Compiled functions,
    filters, operators of images and `iterate` are noted there and computed together when it
    returns, or when a value is asked for (a reduction, `float(v)`, `np.asarray(image)`). What comes
    back is what went in: arrays, PIL images or images. Results are those of the same calls made one
    by one. A call of the same structure, sizes and types compiles nothing. With
    `precision="fast"` all functions that it calls are as `pygpu.compile` makes them by that.
    """
    with shortened:
        fast = Options(precision=precision).is_fast

    def decorate(function: Callable[..., Any]) -> Pipeline:
        with shortened:
            if isinstance(function, Pipeline):
                return Pipeline(function.__wrapped__, target, fast)
            if not callable(function) or isinstance(function, type):
                raise TypeError(f"pipeline: takes a function over images, got {shown(function)}")
            return Pipeline(function, target, fast)

    if function is None:
        return decorate
    with shortened:
        return decorate(function)
