"""Compiled functions: what `pygpu.compile` gives, and what a call of it does.

A call binds its arguments, looks up (or makes) the program for them, runs it, and gives back what
went in: an array for arrays, a PIL image for PIL images, a pygpu.Image for pygpu.Images.

    edges = compile(edgeDetect, kernel=sobel)
    result = edges(photo)

What few programs ask of a compiled function is imported when it is first asked for.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from pygpu.core.errors import check_flag, shorten, shortened, shown
from pygpu.core.host.later import later
from pygpu.execution.arguments import plain
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Out, form_of
from pygpu.execution.arguments.signatures import Signature, wrapped
from pygpu.execution.bound import BoundMethod
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.extents import Extended
from pygpu.execution.programs.gate import SHUT, Gate, Gates
from pygpu.execution.programs.options import Options
from pygpu.execution.programs.specialise import Specialisation

with later():
    from pygpu.execution import frames, iteration, travel
    from pygpu.execution.arguments import rounds, several
    from pygpu.execution.inspection import html, lowered
    from pygpu.execution.inspection import profile as profiling
    from pygpu.execution.large import calls as large
    from pygpu.execution.large import labels, sources
    from pygpu.execution.web import export


class Compiled(Programs):
    """A function of images that runs at every position of a whole image at once.

    Made by `compile`. Its keywords at a call: `out` (an array, or a tuple of them, for the
    results), `shape` ((H, W) of the results) and `dtype`.
    """

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        target: str = "auto",
        dtype: Any = None,
        check: bool = False,
        precision: str | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        super().__init__(function, signature, target, dtype, check)
        self.fast = Options(precision=precision).is_fast
        self._gates = Gates()

    # ---- calling

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        shape: tuple[int, ...] | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> Any:
        try:
            for gate in self._gates.find(args):
                if shape is gate.shape or gate.is_shape(shape):
                    results = gate.enter(self, args, kwargs, out, dtype)
                    if results is not SHUT:
                        return results
        except Exception as error:
            shorten(error)
            raise
        signature = self.signature
        if "xarray" in sys.modules and labels.holds_labelled(args, kwargs):
            asked = {"out": out, "shape": shape, "dtype": dtype}
            return labels.call(self, args, kwargs | asked)
        if signature.position is not None:
            placed = plain.arguments(signature, args, kwargs)
            if placed is not None:
                with shortened:
                    plain.check_images(signature, *placed)
                return plain.call_at(self.__wrapped__, signature, *placed)
        elif shape is None and out is None and not signature.has_image:
            return plain.call(self.__wrapped__, signature, signature.collect(args, kwargs))
        with shortened:
            values = signature.collect(args, kwargs)
            calls = several.calls_of(signature, values, args, kwargs)
            if calls is not None:
                return self._each(calls, out=out, shape=shape, dtype=dtype)
            if "dask.array" in sys.modules and sources.holds_dask((*args, *kwargs.values())):
                return large.call(self, values, out=out, shape=shape, dtype=dtype)
            cleared = self.cleared
            arguments = flatten(signature, values)
            targeted = None if out is None else Out.of(out)
            wanted = self.wanted(form_of(arguments.deciding), targeted, dtype)
            run = self.run(arguments, wanted, out=targeted, shape=shape)
            made = Gate.after(signature, args, kwargs, run, dtype, shape)
            if made is not None and cleared == self.cleared:  # else it is of a program forgotten
                self._gates = self._gates.having(args, made)
            return run.presented()

    def _each(self, calls: Sequence[Any], *, out: Any, **options: Any) -> tuple[Any, ...]:
        """The results of several calls, given their arguments; `out` is a tuple of as many."""
        outs = (None,) * len(calls) if out is None else out
        if not isinstance(outs, tuple) or len(outs) != len(calls):
            raise TypeError(f"out: takes a tuple of {len(calls)}, one for each image of a tuple")
        pairs = zip(calls, outs, strict=True)
        return tuple([self(*args, **kwargs, **options, out=one) for (args, kwargs), one in pairs])

    def lower(
        self,
        *args: Any,
        out: Any = None,
        shape: tuple[int, ...] | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> lowered.Lowered:
        """Compile for these arguments without running: the program's texts and figures."""
        with shortened:
            arguments = flatten(self.signature, self.signature.collect(args, kwargs))
            targeted = None if out is None else Out.of(out)
            wanted = self.wanted(form_of(arguments.deciding), targeted, dtype)
            if shape is not None or (targeted is not None and not arguments.images):
                arguments.asked = len(self.size(shape, arguments, targeted))
            made = self.specialisation(arguments, wanted)
            return self._lowered(made, self.extended(made, arguments, shape, targeted))

    def _lowered(
        self, made: Specialisation, extended: tuple[Extended, ...] = ()
    ) -> lowered.Lowered:
        return lowered.Lowered.of(self.signature.name, made, self.__wrapped__, extended)

    def iterate(
        self,
        image: Any,
        n: int,
        *args: Any,
        out: Any = None,
        dtype: Any = None,
        until: Callable[..., Any] | None = None,
        every: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """n rounds: the result becomes the first image of the next round, the other arguments
        stay. For a function of several images that returns as many, `image` is a tuple. Between
        rounds nothing is rounded to 8 bits; n = 0 gives the input back.

        `until` is given the images of the state, and the rounds end when what it gives is true:
        it is asked after every `every` rounds (16) and at the end. An argument
        `pygpu.each(values)` has another value in each round."""
        if labels.holds_labelled((image, *args), kwargs):
            options = {"out": out, "dtype": dtype, "until": until, "every": every}
            return labels.call(self.iterate, (image, n, *args), kwargs | options)
        with shortened:
            asked = iteration.Asked(out, dtype, rounds.Ending.of(until, every))
            return iteration.iterate(self, image, n, args, kwargs, asked)

    def export(
        self,
        path: str | os.PathLike[str],
        *args: Any,
        controls: Mapping[str, Any] | None = None,
        iterate: int | None = None,
        shape: tuple[int, int] | None = None,
        **kwargs: Any,
    ) -> Path:
        """One HTML file that runs the function in the browser (WebGL 2), with nothing to fetch: the
        path. The arguments are those of a call. The images come with the page, until others are
        dropped on it; each number that is given has a control, of a range guessed from its value,
        or as `controls` says by name: (least, greatest), (least, greatest, step), "colour", "time",
        or False for none. With `iterate` the page runs live as a simulation: so many rounds for
        each picture shown, results in place of the first images. DeviceError says what cannot go
        there."""
        with shortened:
            return export.export(
                self, path, args, kwargs, controls=controls, iterate=iterate, shape=shape
            )

    def map(
        self,
        *args: Any,
        out: Any = None,
        shape: tuple[int, ...] | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Call for each frame of a stack: an array with axes before those of an image, (T, H, W) or
        (T, H, W, C), gives (T, ...), by one program. The first image varies; others do where they
        have more axes than a call takes, and what does not vary is given as in a call. `out` is an
        array for all frames. A generator or an iterable of frames gives a generator, which computes
        a frame when it is asked for."""
        if labels.holds_labelled(args, kwargs):
            return labels.call(
                self.map, args, kwargs | {"out": out, "shape": shape, "dtype": dtype}
            )
        with shortened:
            return frames.map_over(self, self, args, kwargs, out=out, shape=shape, dtype=dtype)

    # ---- as a plain function

    def plain_binding(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        convert: Callable[[type, Any], Any] = plain.in_class,
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments for the plain function: see plain.binding."""
        return plain.binding(self.signature, args, kwargs, convert)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundMethod(self, instance)

    # ---- looking at it

    @property
    def programs(self) -> list[lowered.Lowered]:
        """What has been compiled so far: one program for each set of types and known values."""
        return [self._lowered(made) for made in self.specialisations()]

    def profile(
        self, *args: Any, shape: tuple[int, ...] | None = None, dtype: Any = None, **kwargs: Any
    ) -> profiling.Profile:
        """Run as a call with these arguments would, several times, and say how long the device
        took, how many bytes that moved, and how near to the speed of a copy that is. DeviceError
        where the images are too large for the device at once."""
        with shortened:
            return profiling.profile(self, args, kwargs, shape=shape, dtype=dtype)

    def on(self, target: str) -> Compiled:
        """The same function, compiled for another target, which shares what it is in SSA."""
        with shortened:
            options = self._options()._replace(target=target)
            other = Compiled(self.__wrapped__, self.signature, *options)
            other.share(self)
            return other

    def _options(self) -> Options:
        return Options(self._target, self._dtype, self._check, "fast" if self.fast else None)

    def recompile(self) -> None:
        """Forget all programs: the next call sees what has changed inside outside objects."""
        self.clear()

    def clear(self) -> None:
        super().clear()
        self._gates = Gates()

    def __repr__(self) -> str:
        signature = self.signature
        dynamic = [str(p) for p in signature.parameters if p.role != "known"]
        known = [str(p) for p in signature.parameters if p.role == "known"]
        shown = "; known ".join(", ".join(part) for part in (dynamic, known) if part)
        if not dynamic and known:
            shown = f"known {shown}"
        return f"<compiled {signature.name}({shown}), target {self._target!r}>"

    def _repr_html_(self) -> str:
        signature = self.signature
        return html.framed(
            html.heading(signature.name, f"compiled for target {self._target!r}"),
            html.table(("parameter", "is"), [p.described() for p in signature.parameters]),
        )

    def __reduce__(self) -> Any:
        parts = (self.__wrapped__, self.signature.parameters, self._options())
        return travel.reduced(self, _made_again, parts)


def _made_again(
    function: Callable[..., Any], parameters: Sequence[Any], options: Options
) -> Compiled:
    return Compiled(function, Signature(function, parameters), *options)


@overload
def compile(
    function: Callable[..., Any],
    /,
    *,
    target: str = "auto",
    dtype: Any = None,
    check: bool = False,
    precision: str | None = None,
    **values: Any,
) -> Compiled: ...


@overload
def compile(
    *,
    target: str = "auto",
    dtype: Any = None,
    check: bool = False,
    precision: str | None = None,
    **values: Any,
) -> Callable[[Callable[..., Any]], Compiled]: ...


def compile(
    function: Callable[..., Any] | None = None,
    /,
    *,
    target: str = "auto",
    dtype: Any = None,
    check: bool = False,
    precision: str | None = None,
    **values: Any,
) -> Any:
    """Compile a function of images, on its first call, into one that makes whole images.

    Use it as `compile(f)`, `compile(f, kernel=sobel)`, `@compile` or `@compile(kernel=sobel)`.
    `values` are known at compile time, whatever the annotations say; a PyGPU type as a value
    (`sigma=Float`) makes the parameter dynamic. `target` is "auto", "fragment", "compute" or
    "cpu"; `dtype` that of the results, float32, int32, uint32 or bool where it is not
    given.

    With `check` (or PYGPU_CHECK=1) what goes wrong at run time is raised after the run, as Python
    would raise it at the first such position: a failing assertion, a `raise` that is reached, an
    index out of its table, an integer division by zero, an int() of what no int can hold. Images
    must be of the results' size then. Without it assertions cost nothing, and a pixel whose path
    ends by raising is NaN (0, False).

    With `precision="fast"` functions may err by 2**-12 of what they give, and take less time.
    """
    namespace = sys._getframe(1).f_locals
    with shortened:
        check_flag("check", check)
    options = Options(target, dtype, bool(check), precision)

    def decorate(function: Any) -> Any:
        with shortened:
            return _compile(function, values, options, namespace)

    with shortened:
        return decorate if function is None else decorate(function)


def _compile(
    function: Any, values: dict[str, Any], options: Options, namespace: Mapping[str, Any]
) -> Any:
    """`compile` for whatever is callable: methods, partials and callable objects too."""
    match function:
        case Compiled():
            return _compile(function.__wrapped__, values, options, namespace)
        case staticmethod():
            return staticmethod(_compile(function.__func__, values, options, namespace))
        case functools.partial():
            bound = _partial_values(function)
            return _compile(function.func, bound | values, options, namespace)
        case types.MethodType() | BoundMethod():
            compiled = _compile(function.__func__, values, options, namespace)
            return compiled.__get__(function.__self__)
    call = getattr(type(function), "__call__", None)  # noqa: B004  the method itself is wanted
    if isinstance(call, (types.FunctionType, Compiled)):
        return _compile(call, values, options, namespace).__get__(function)
    return _compiled(function, values, options, namespace)


def _compiled(
    function: Any, values: dict[str, Any], options: Options, namespace: Mapping[str, Any]
) -> Compiled:
    """`compile` for a plain function."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f"compile: takes a function written in Python, got {shown(function)} "
            f"({type(function).__name__})"
        )
    written = Signature.of(function, values, namespace)
    parameters = [wrapped(parameter, ImageMaker.wrap) for parameter in written.parameters]
    return Compiled(function, Signature(function, parameters), *options)


def _partial_values(partial: functools.partial[Any]) -> dict[str, Any]:
    """What a functools.partial has bound, by name."""
    names = list(inspect.signature(partial.func).parameters)
    return dict(zip(names, partial.args, strict=False)) | partial.keywords
