"""`pygpu.vectorize`: functions of scalars over arrays of any shape, in one fused pass.

    lin_comb = vectorize(lambda a, x, b, y: a*x + b*y)
    lin_comb(2.0, xs, 3.0, ys)             # NumPy's broadcasting; scalars alone give a scalar

Arrays are cut into rows of ROW elements, so that they fit any device. With images among the
arguments the result is an image, and everything is read at the same pixel.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shorten, shortened, shown
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike, Storage, rows_of, stored
from pygpu.execution import travel
from pygpu.execution.arguments import broadcasting
from pygpu.execution.arguments.annotations import user_type
from pygpu.execution.arguments.convert import result_dtype
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import Out, Wanted, natural_dtype
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.execution.inspection.lowered import Lowered
from pygpu.execution.large import labels, sources
from pygpu.execution.large.elementwise import elementwise
from pygpu.execution.programs.calls import Programs, Run
from pygpu.execution.programs.gate import SHUT, Gate, Gates
from pygpu.execution.programs.options import Options
from pygpu.execution.programs.specialise import Specialisation
from pygpu.execution.scalar_arguments import Bound, plain_signature, with_known
from pygpu.types import Type


def _scalars(results: Any) -> Any:
    """Results of one element as Python's numbers, or vectors."""
    if isinstance(results, tuple):
        return tuple([_scalars(result) for result in results])
    return broadcasting.scalar(results.reshape(results.shape[2:]))


def _apply(function: Any, arguments: Any, read: Any, keywords: Any, p: Any) -> Any:
    """The program: the function of scalars and of texels at p, the last given by keyword."""
    values = [image(p) if is_image else image for image, is_image in zip(arguments, read)]  # noqa: B905
    by_place = len(values) - len(keywords)
    return function(*values[:by_place], **dict(zip(keywords, values[by_place:])))  # noqa: B905


@record(frozen=False)
class _Over:
    """Arguments over arrays, and where the results go."""

    flat: list[Any]
    keywords: list[str]
    count: int
    is_scalar: bool
    shape: tuple[int, ...] = ()
    types: tuple[Type, ...] = ()
    is_tuple: bool = False
    outs: list[NDArray[Any] | None] = field(default_factory=list)  # the caller's
    results: list[NDArray[Any]] = field(default_factory=list)

    def wanted(self) -> Wanted:
        dtypes = [result.dtype.newbyteorder("=") for result in self.results]
        return Wanted("array", "", tuple(dtypes))

    def finished(self) -> list[NDArray[Any]]:
        """The results, put where the caller wants them."""
        for index, target in enumerate(self.outs):
            if target is not None and target is not self.results[index]:
                target[...] = self.results[index]
                self.results[index] = target
        return self.results


class Vectorized:
    """A function of scalars that takes arrays. Made by `vectorize`."""

    __wrapped__: Callable[..., Any]

    def __init__(
        self, function: Callable[..., Any], options: Options, values: Mapping[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self._values = dict(values)
        known = {name: v for name, v in values.items() if user_type(v) is None}
        self._plain = plain_signature(function, values)
        self._known = known
        signature = Signature.by_roles(
            _apply,
            function=Known(with_known(function, known)),
            arguments="object",
            read=Known(None),
            keywords=Known(()),
            p="position",
        )
        signature.name = getattr(function, "__name__", "function")
        signature.has_neighbours = False  # elements of arrays are no pixels
        self._options = options
        self._compiled = Programs(_apply, signature, options.target)
        self._compiled.fast = options.is_fast
        self._dtype = None if options.dtype is None else result_dtype(options.dtype)
        self._gates = Gates()

    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        if out is None and not kwargs:
            try:
                for gate in self._gates.find(args):
                    results = gate.enter(self._compiled, args, kwargs, None, dtype)
                    if results is not SHUT:
                        return results if gate.shape is None else _scalars(results)
            except Exception as error:
                shorten(error)
                raise
        if labels.holds_labelled(args, kwargs):
            return labels.call(self, args, kwargs | {"out": out, "dtype": dtype})
        if sources.holds_dask((*args, *kwargs.values())):
            if out is not None:
                raise TypeError(sources.NO_OUT)
            return elementwise(self, args, kwargs, dtype)
        with shortened:
            return self._call(args, kwargs, out, dtype)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, dtype: Any) -> Any:
        given = Bound.of(self._plain, self._name(), args, kwargs)
        asked = self._dtype if dtype is None else result_dtype(dtype)
        by_place = not given.keywords and len(args) == len(given.values)
        plain = (dtype,) if by_place and out is None else None
        if given.has_images:
            return self._over_images(given, asked, out, plain)
        return self._over_arrays(given, asked, out, plain)

    def lower(self, *args: Any, out: Any = None, dtype: Any = None, **kwargs: Any) -> Lowered:
        """Compile for these arguments without running: the program's texts and figures."""
        with shortened:
            given = Bound.of(self._plain, self._name(), args, kwargs)
            asked = self._dtype if dtype is None else result_dtype(dtype)
            if given.has_images:
                arguments, wanted = self._texels(given)[0], Wanted("image", "", asked)
            else:
                over = self._arrays(given, asked, out)
                arguments, wanted = (
                    self._cut(over, *broadcasting.first_cut(over.count)),
                    over.wanted(),
                )
            return Lowered.of(
                self._name(), self._compiled.specialisation(arguments, wanted), self.__wrapped__
            )

    def _name(self) -> str:
        return self._compiled.signature.name

    # ---- arrays

    def _over_arrays(
        self, given: Bound, dtype: np.dtype[Any] | None, out: Any, plain: Any = None
    ) -> Any:
        """The results, each of the broadcast shape (and an axis of components for vectors).
        `plain`: (the dtype that a call asked for,) where it gave all arguments by their places."""
        over = self._arrays(given, dtype, out)
        wanted = over.wanted()
        for start, rows, width in broadcasting.cuts(over.count):
            stop = start + rows * width
            parts = [
                result.reshape(over.count, type.size)[start:stop].reshape(rows, width, type.size)
                for result, type in zip(over.results, over.types, strict=True)
            ]
            arguments = self._cut(over, start, rows, width)
            where = functools.partial(_index, over.shape, start, width)
            size = rows, width
            run = self._compiled.run(arguments, wanted, out=Out(parts), shape=size, where=where)
            run.presented()
        if plain is not None and over.count:
            self._remember(given, over, run.specialisation, *plain)
        results: list[Any] = over.finished()
        if over.is_scalar and out is None:
            results = [broadcasting.scalar(result) for result in results]
        return tuple(results) if over.is_tuple else results[0]

    def _remember(self, given: Bound, over: _Over, made: Specialisation, dtype: Any) -> None:
        """Have a gate for calls like one, uncut where a program is prepared for all elements."""
        computed = [output.dtype for output in made.task.outputs]
        is_as_computed = computed == [result.dtype for result in over.results]
        if over.count <= broadcasting.ROW * broadcasting.ROWS and is_as_computed:
            shape = over.shape or (1, 1)
            rows, width = rows_of(shape)
            arguments = self._cut(over, 0, rows, width)
            results = [
                Storage.of(result.reshape(rows, width, -1), shape) for result in over.results
            ]
            run = Run(made, over.wanted(), results, None, [], arguments)
            marked = () if over.is_scalar else None
            gate = Gate.of_elements(given.names, given.values, run, dtype, marked)
            if gate is not None and gate.prepared is not None:
                self._gates = self._gates.having(tuple(given.values), gate)

    def _arrays(self, given: Bound, dtype: np.dtype[Any] | None, out: Any) -> _Over:
        """What is to be computed: arguments broadcast, places for the results."""
        named = list(zip(given.names, given.values, strict=True))
        arguments = [broadcasting.argument(value, name) for name, value in named]
        arrays = {
            n: a for n, a in zip(given.names, arguments, strict=True) if isinstance(a, np.ndarray)
        }
        try:
            shape = np.broadcast_shapes(*[array.shape for array in arrays.values()])
        except ValueError:
            got = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ValueError(f"the shapes do not broadcast: {got}") from None
        count = math.prod(shape)
        flat = [
            broadcasting.flat(a, shape, count) if isinstance(a, np.ndarray) else a
            for a in arguments
        ]
        over = _Over(flat, given.keywords, count, not arrays, shape)
        over.types, over.is_tuple = self._compiled.types(
            self._cut(over, *broadcasting.first_cut(count))
        )
        shapes = [shape if type.is_scalar else (*shape, type.size) for type in over.types]
        over.outs = broadcasting.places(out, shapes)
        over.results = [
            target
            if target is not None and broadcasting.is_direct(target, flat)
            else np.empty(each, (dtype or natural_dtype(type)) if target is None else target.dtype)
            for target, each, type in zip(over.outs, shapes, over.types, strict=True)
        ]
        return over

    def _cut(self, over: _Over, start: int, rows: int, width: int) -> Arguments:
        """Some of the arguments' elements, seen as images of so many rows."""
        stop = start + rows * width
        arguments = tuple(
            [
                broadcasting.as_image(np.ascontiguousarray(a[start:stop]).reshape(rows, width))
                if isinstance(a, (np.ndarray, np.flatiter))
                else a
                for a in over.flat
            ]
        )
        read = tuple([isinstance(a, ImageLike) for a in arguments])
        return self._flattened(arguments, read, over.keywords)

    def _flattened(self, arguments: Any, read: Any, keywords: Sequence[str]) -> Arguments:
        signature = self._compiled.signature
        function = signature.parameters[0].default
        return flatten(signature, [function, arguments, read, tuple(keywords), None])

    # ---- images

    def _over_images(
        self, given: Bound, dtype: np.dtype[Any] | None, out: Any, plain: Any = None
    ) -> Any:
        """The result as an image: what is no scalar is read at the same pixel. `plain`: (the dtype
        that a call asked for,) where it gave all arguments by their places."""
        arguments, shape = self._texels(given)
        size = shape if arguments.dims == len(shape) else rows_of(shape)
        run = self._compiled.run(arguments, Wanted("image", "", dtype), shape=size)
        run.storages = [storage.shaped(shape) for storage in run.storages]
        run.parent = sampler.of(next(v for v in given.values if isinstance(v, ImageLike)))
        results = run.presented()
        if out is None:
            gate = (
                None if plain is None else Gate.of_elements(given.names, given.values, run, *plain)
            )
            if gate is not None:
                self._gates = self._gates.having(tuple(given.values), gate)
            return results
        made = results if isinstance(results, tuple) else (results,)
        for target, image in zip(
            broadcasting.places(out, [r.shape for r in made]), made, strict=True
        ):
            if target is not None:
                target[...] = stored(np.asarray(image), target.dtype.newbyteorder("="))
        return out

    def _texels(self, given: Bound) -> tuple[Arguments, tuple[int, ...]]:
        """The arguments, all arrays as images, and the shape of the result. Signals, and volumes
        that need no broadcasting, are images of their rows: what reads its own place alone does not
        care how rows lie."""
        beside = [value for value in given.values if isinstance(value, ImageLike)]
        channels, dims = max(v.format.channels for v in beside), beside[0].dims
        arguments = [
            broadcasting.beside_images(value, name, channels, dims)
            for name, value in zip(given.names, given.values, strict=True)
        ]
        images = [a for a in arguments if isinstance(a, ImageLike)]
        try:
            if len({image.dims for image in images}) > 1:
                raise ValueError
            shape = np.broadcast_shapes(*[image.storage.shape for image in images])
        except ValueError:
            sizes = ", ".join(" x ".join(map(str, i.storage.shape)) for i in images)
            raise ValueError(f"images of different sizes: {sizes}") from None
        as_rows = len(shape) == 1 or all(image.storage.shape == shape for image in images)
        read = tuple([isinstance(a, ImageLike) for a in arguments])
        clamped = tuple(
            [broadcasting.clamped(a, as_rows) if isinstance(a, ImageLike) else a for a in arguments]
        )
        return self._flattened(clamped, read, given.keywords), shape

    # ---- looking at it

    def plain_binding(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], convert: Any = None
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments for the plain function, which it is inside another function."""
        if not self._known:
            return args, kwargs
        assert self._plain is not None
        names = [name for name in self._plain.parameters if name not in self._known]
        return (), self._known | dict(zip(names, args, strict=False)) | dict(kwargs)

    @property
    def target(self) -> str:
        """The target on which calls run."""
        return self._compiled.target

    def on(self, target: str) -> Vectorized:
        """The same function, compiled for another target."""
        with shortened:
            return Vectorized(self.__wrapped__, self._options._replace(target=target), self._values)

    def recompile(self) -> None:
        """Forget all programs."""
        self._compiled.clear()
        self._gates = Gates()

    def __reduce__(self) -> Any:
        return travel.reduced(self, Vectorized, (self.__wrapped__, self._options, self._values))

    def __repr__(self) -> str:
        shown = inspect.signature(self.__wrapped__) if self._plain is not None else "(...)"
        return f"<vectorized {self._name()}{shown}>"


def _index(shape: tuple[int, ...], start: int, width: int, coordinates: tuple[int, ...]) -> str:
    """Which element of arrays of a shape a pixel is, in rows of a width from an element on."""
    x, y = coordinates
    index = [int(n) for n in np.unravel_index(start + y * width + x, shape)]
    return f"index {index[0] if len(index) == 1 else tuple(index)}" if shape else ""


@overload
def vectorize(
    function: Callable[..., Any],
    /,
    *,
    target: str = "auto",
    dtype: Any = None,
    precision: str | None = None,
    **values: Any,
) -> Vectorized: ...


@overload
def vectorize(
    *, target: str = "auto", dtype: Any = None, precision: str | None = None, **values: Any
) -> Callable[[Callable[..., Any]], Vectorized]: ...


def vectorize(
    function: Callable[..., Any] | None = None,
    /,
    *,
    target: str = "auto",
    dtype: Any = None,
    precision: str | None = None,
    **values: Any,
) -> Any:
    """Compile a function of scalars into one of arrays, as NumPy broadcasts them.

    Floats are Float, integers Int, bools Bool; nothing is scaled. Scalars alone give a scalar, a
    pygpu.Image gives a pygpu.Image, tuples of results give tuples. `values` are known.
    `precision="fast"` is that of `pygpu.compile`.
    """
    options = Options(target, dtype, precision=precision)

    def decorate(function: Callable[..., Any]) -> Vectorized:
        with shortened:
            return _vectorized(function, options, values)

    with shortened:
        return decorate if function is None else decorate(function)


def _vectorized(function: Any, options: Options, values: Mapping[str, Any]) -> Vectorized:
    if not callable(function):
        raise TypeError(f"vectorize: takes a function, got {shown(function)}")
    return Vectorized(function, options, values)
