"""`f.iterate`: many rounds on the device, the result of each being the input of the next.

heat = diffuse.iterate(photo, 100, rate=0.2)
u, v = react.iterate((u, v), 1000)

What ends rounds early, and arguments that change from round to round, are in rounds.py.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

import numpy as np

from pygpu.core.errors import DeviceError, shown
from pygpu.core.errors import asked as asked_of
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.sampler import of
from pygpu.core.storage import ImageLike, NumberLike, Storage, stored, texels
from pygpu.execution.arguments.convert import is_pil, result_dtype
from pygpu.execution.arguments.parameters import Arguments, Given, flatten
from pygpu.execution.arguments.results import (
    Form,
    ImageMaker,
    Out,
    Wanted,
    form_of,
    info_of,
    picture_of,
)
from pygpu.execution.arguments.rounds import Each, Ending, check_each, places_of
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.large.sources import NO_OUT, holds_dask
from pygpu.execution.programs.bars import Bar
from pygpu.execution.programs.calls import Programs, Run
from pygpu.types import INTEGERS

with later():
    from pygpu.devices import recording
    from pygpu.execution.large import calls as large


class Asked(NamedTuple):
    """What is asked of the result, and when rounds end."""

    out: Any
    dtype: Any
    ending: Ending


def iterate(
    compiled: Programs,
    image: Any,
    n: int,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    asked: Asked,
) -> Any:
    """n rounds of a compiled function. See runtime.Compiled.iterate."""
    try:
        rounds = operator.index(n)
    except TypeError:
        raise TypeError(f"iterate: n takes a number of rounds, got {shown(n)}") from None
    if rounds < 0:
        raise ValueError(f"iterate: n takes a number of rounds, got {n}")
    signature = compiled.signature
    several = isinstance(image, tuple)
    state = list(image) if isinstance(image, tuple) else [image]
    slots = _image_slots(signature, len(state))
    values = _collect(signature, slots, state, args, kwargs)
    changing = check_each(values, rounds, [p.name for p in signature.parameters])
    rounds_of = _Rounds(compiled, values, slots, rounds, changing, asked)
    if holds_dask(state):
        laid = rounds_of.lazily()
        return laid if several else laid[0]
    if rounds == 0:
        plain = [v for place, v in enumerate(values) if place not in changing]
        kept = [p for place, p in enumerate(signature.parameters) if place not in changing]
        arguments = flatten(Signature(compiled.function, kept), plain)
        given = [arguments.images[place] for place in _places(arguments, state)]
        return _unchanged(given, several, form_of(arguments.deciding)[0], asked.out, asked.dtype)
    results = rounds_of.results()
    return tuple(results) if several else results[0]


@record(eq=False)
class _Rounds:
    """Rounds of a function that is given these values, of which those in `slots` are the images
    that a round makes anew, and those at the places `changing` an `Each`."""

    compiled: Programs
    values: list[Any]
    slots: Sequence[int]
    rounds: int
    changing: Sequence[int]
    asked: Asked

    @property
    def state(self) -> list[Any]:
        """The images of the next round."""
        return [self.values[slot] for slot in self.slots]

    def take(self, made: Sequence[Any]) -> None:
        """Give the next round what a round has made."""
        for slot, image in zip(self.slots, made, strict=True):
            self.values[slot] = image

    def arguments(self, index: int) -> Arguments:
        """The arguments of a round."""
        current = [v.values[index] if isinstance(v, Each) else v for v in self.values]
        return flatten(self.compiled.signature, current)

    def made(self, run: Run) -> list[Any]:
        """What a round gives, which is as many images as are iterated."""
        got, count = len(run.storages), len(self.slots)
        if got != count:
            raise TypeError(
                f"iterate: {self.compiled.signature.name}() returns {got} image{'s' * (got > 1)} "
                f"and {count} {'are' if count > 1 else 'is'} iterated: as many must come out as "
                "go in"
            )
        results = run.presented()
        return list(results) if isinstance(results, tuple) else [results]

    def results(self) -> list[Any]:
        """The results of the last round, in the form that was given. Where rounds may end before
        their number is reached, the last one is made again, in that form."""
        compiled, (out, dtype, ending) = self.compiled, self.asked
        notes = None if ending.until is None else recording.written_in(compiled.device())
        if notes is not None:
            return self.written(notes)
        arguments = self.arguments(0)
        form = form_of(arguments.deciding)
        places = _places(arguments, self.state)
        asking = self.rounds if ending.until is not None else self.rounds - 1
        done = 0
        with closing(Bar(asking, "round", compiled.signature.name)) as bar:
            while done < asking:
                arguments = self.arguments(done)
                count = 1 if bar.is_shown else min(ending.unasked(done, asking), _TOGETHER)
                others = range(done + 1, done + count) if self.changing else ()
                several = [arguments, *map(self.arguments, others)]
                run = _at_once(compiled, several, count, places) if count > 1 else None
                if run is None:
                    run, count = compiled.run(arguments, Wanted("image"), order=places), 1
                results = self.made(run)
                done += count
                bar.advance()
                if ending.is_reached(done, self.rounds, results) or done == self.rounds:
                    break
                self.take(results)
            else:
                arguments = self.arguments(self.rounds - 1)
        targeted = None if out is None else Out.of(out)
        wanted = compiled.wanted(form, targeted, dtype)
        return self.made(compiled.run(arguments, wanted, out=targeted, order=places))

    def written(self, notes: recording.Recording) -> list[Any]:
        """Rounds that end by a number of the device's, written down as a loop, which begins where a
        round gives what it is given: dtypes and boundaries are settled."""
        compiled, (out, dtype, ending) = self.compiled, self.asked
        if self.changing or out is not None or compiled.wanted(_IMAGE, None, dtype).dtype:
            raise DeviceError("iterate: until= with each(...), out= or dtype= is not written down")
        every, until = ending.every, ending.until
        assert until is not None, "only rounds that may end early are written down as a loop"
        for done in range(self.rounds):
            first, state, arguments = len(notes.steps), self.state, self.arguments(done)
            order = _places(arguments, state)
            made = self.made(compiled.run(arguments, Wanted("image"), order=order))
            if done and all(of(new) is of(old) for new, old in zip(made, state, strict=True)):
                break
            if done > 0 and done % every == 0:
                raise DeviceError("iterate: a round makes images of another kind than it is given")
            self.take(made)
        else:
            return made
        ask, loops = len(notes.steps), len(notes.loops)
        answer = asked_of(until, *state)
        if not isinstance(answer, NumberLike) or answer.format.channels != 1:
            raise DeviceError(
                f"iterate: until gives {shown(answer)}; what is written down is a number that "
                "images are reduced to (.sum(), .max()), or computed from such"
            )
        if len(notes.loops) > loops:
            raise DeviceError("iterate: until= within what is asked is not written down")
        pairs = [
            (notes.place(old.storage), notes.place(new.storage))
            for old, new in zip(state, made, strict=True)
        ]
        place = notes.place(answer.storage)
        steps = first, ask, len(notes.steps)
        notes.loops.append(recording.Loop(*steps, tuple(pairs), place, done, self.rounds, every))
        return state

    def lazily(self) -> tuple[Any, ...]:
        """The rounds of Dask arrays, as Dask arrays."""
        out, dtype, ending = self.asked
        if out is not None:
            raise TypeError(NO_OUT)
        if self.rounds == 0:
            return tuple([large.converted(image, dtype) for image in self.state])
        turns = {place: v.values for place, v in enumerate(self.values) if isinstance(v, Each)}
        work = large.Iterated(self.compiled, self.values, self.slots, turns)
        return large.iterate(work, self.rounds, dtype, ending)


_IMAGE: Final[tuple[Form, str]] = ("image", "")
_TOGETHER: Final = 1 << 16  # rounds of one job of a device, which has the arguments of each


def _at_once(
    compiled: Programs, several: Sequence[Arguments], count: int, places: Sequence[int]
) -> Run | None:
    """So many rounds by one job of the device, with the same arguments or each its own; or None."""
    first = several[0]
    kept = [given.original for given in first.images]
    for each in several:
        if each.key != first.key or any(
            given.original is not image for given, image in zip(each.images, kept, strict=True)
        ):
            return None  # a value that is compiled in, or an image, is another
    uniforms = [each.uniforms for each in several]
    return compiled.rounds(first, uniforms * (count // len(uniforms)), places)


def _places(arguments: Arguments, values: Sequence[Any]) -> list[int]:
    """Which of the call's images the values are."""
    return places_of(values, [given.original for given in arguments.images])


def _image_slots(signature: Signature, count: int) -> list[int]:
    """The first `count` parameters that are images."""
    slots = [i for i, p in enumerate(signature.parameters) if p.role == "image"]
    if len(slots) < count or not slots:
        raise TypeError(
            f"iterate: {count} image{'s' * (count > 1)} given, and {signature.name}() takes "
            f"{len(slots)}"
        )
    return slots[:count]


def _collect(
    signature: Signature,
    slots: Sequence[int],
    state: Sequence[Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> list[Any]:
    """All values, where `args` are those of the parameters that are not iterated."""
    places = [i for i in signature.positional if i not in slots]
    named = {signature.parameters[i].name: v for i, v in zip(slots, state, strict=True)}
    if len(args) > len(places):
        raise TypeError(
            f"iterate: {signature.name}() takes {len(places)} "
            f"argument{'s' * (len(places) != 1)} by place besides the "
            f"images that are iterated, got {len(args)}"
        )
    for i, value in zip(places, args, strict=False):
        named[signature.parameters[i].name] = value
    twice = named.keys() & kwargs.keys()
    if twice:
        raise TypeError(f"iterate: {signature.name}() got two values for {min(twice)!r}")
    required = [signature.parameters[i] for i in signature.required]
    images = [p for p in required if p.role == "image"]
    missing = [str(p) for p in images if p.name not in named.keys() | kwargs.keys()]
    if missing and len(state) == 1:
        together = f"{signature.name}.iterate(({', '.join(str(p.name) for p in images)}), n)"
        raise TypeError(
            f"{signature.name}() needs {', '.join(missing)}; images that are all made anew: "
            f"{together}"
        )
    return signature.collect((), named | dict(kwargs))


def _unchanged(state: Sequence[Given], several: bool, form: Form, out: Any, dtype: Any) -> Any:
    """The input, as n = 0 rounds give it back."""
    if out is not None:
        target = Out.of(out)
        types = [given.sampler.type for given in state]
        target.check(types, several, state[0].storage.shape)
        for index, given in enumerate(state):
            seen = texels(given.storage.host().copy(), given.sampler.format)
            target.fill(index, Storage.of(seen, given.storage.shape), None)
        return out
    if dtype is None:
        results = [_copied(given.original) for given in state]
    else:
        results = [_converted(given, form, result_dtype(dtype)) for given in state]
    return tuple(results) if several else results[0]


def _copied(original: Any) -> Any:
    """What the caller gave, where it can be changed a copy of it."""
    if isinstance(original, ImageLike):
        return original
    return original.copy() if is_pil(original) else np.array(original)


def _converted(given: Given, form: Form, dtype: np.dtype[Any]) -> Any:
    """The texels in another dtype."""
    seen = texels(given.storage.seen(), given.sampler.format)
    array = np.array(stored(seen, dtype))
    if form == "pil":
        return picture_of(array, info_of([given]))
    reading = given.sampler
    return (
        array
        if form == "array"
        else ImageMaker.wrap(
            array,
            given.storage.dims,
            boundary=reading.boundary,
            cval=reading.cval,
            interpolation=reading.interpolation,
            normalize=reading.format.kind not in INTEGERS,
            info=info_of([given]),
        )
    )
