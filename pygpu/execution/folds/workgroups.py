"""Folds by groups of lanes, on a target that has such: what is compiled for them, and kept.

A fold is a function of a pixel, its value, and a function of two values. Both are translated alone;
the types of values are those that folding does not change any more (a sum of bools is an int).

    groups = Groups(Source.of(value, [...]), Source.of(join, [...]), [])
    folded = groups.fold(device, [...], BOTH, whole=True)     # None: to be done otherwise
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError
from pygpu.core.host import log
from pygpu.core.host.records import record
from pygpu.core.programs import Along, FoldProgram, FoldTask
from pygpu.core.storage import ImageLike, Storage
from pygpu.execution.arguments.parameters import NUMBER, Arguments, flatten
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.arrays.passes import with_last
from pygpu.execution.programs.specialise import COMPILING, LIMIT, Cache, Translated, dump, translate
from pygpu.language.scalars import UInt
from pygpu.language.vectors import CLASSES
from pygpu.ssa import Constant
from pygpu.types import KINDS, Type, vector, wider


@record
class Folded:
    """Arrays (rows, columns, channels), one for each part of a value."""

    parts: list[NDArray[Any]]
    is_tuple: bool


@record(eq=False)
class Ready:
    """A fold's program, what it is given besides the images, and the functions it was made of."""

    program: FoldProgram
    beside: tuple[Storage, ...]
    uniforms: tuple[Constant, ...]
    is_tuple: bool
    sources: tuple[Translated, ...]

    def run(
        self,
        images: Sequence[Storage],
        whole: bool,
        fewest: bool = False,
        numbers: Sequence[Constant] = (),
    ) -> Folded:
        """The fold of all texels (`whole`), or what groups have made of parts, `fewest` of them
        where values may be folded however many there are. `numbers` are given in place of the last
        of the uniforms."""
        inputs, uniforms = [*images, *self.beside], with_last(self.uniforms, numbers)
        if whole:
            return Folded(self.program.whole(inputs, uniforms), self.is_tuple)
        return Folded(self.program.partials(inputs, uniforms, fewest), self.is_tuple)

    def kept(self, images: Sequence[Storage]) -> list[Storage] | None:
        """The fold of all texels as storages of one texel: see FoldProgram.kept."""
        return self.program.kept([*images, *self.beside], self.uniforms)


@record
class _Made:
    """A fold's programs (None: there are none), and what they were made of."""

    program: FoldProgram | None
    sources: tuple[Translated, ...] = ()
    captured: tuple[ImageLike, ...] = ()
    is_tuple: bool = False

    def changed(self) -> bool:
        return any(source.changed() for source in self.sources)


class Source(NamedTuple):
    """A function of Python, and what its parameters are."""

    function: Callable[..., Any]
    signature: Signature

    @classmethod
    def of(cls, function: Callable[..., Any], parameters: Sequence[Parameter]) -> Source:
        return cls(function, Signature(function, parameters))

    def translated(self, arguments: Arguments, cache: Cache) -> Translated:
        return translate(self.function, self.signature, arguments, cache)


class Groups:
    """The programs of a fold. `join` has two parameters more than `known` are given, the values."""

    def __init__(self, value: Source, join: Source, known: Sequence[Any]) -> None:
        self.value, self.join, self.known = value, join, list(known)
        self._values, self._joins = Cache(), Cache()
        self._made: dict[Any, _Made] = {}

    def fold(self, device: Device, given: list[Any], along: Along, whole: bool) -> Folded | None:
        """The fold of the images among the arguments of `value`, along the axes `along`: all of it
        (`whole`, along BOTH), or what groups have made of parts. None where the device has no
        groups, or they cannot do it."""
        found = self.ready(device, given, along)
        if found is None:
            return None
        ready, images = found
        return ready.run(images, whole)

    def ready(
        self, device: Device, given: list[Any], along: Along
    ) -> tuple[Ready, list[Storage]] | None:
        """The program that folds along these axes, and the images among the arguments."""
        if not device.has_groups:
            return None
        arguments = flatten(self.value.signature, given)
        key = (*arguments.key, along, device.name)
        made = self._made.get(key)
        if made is None or made.changed():
            with COMPILING.lock:
                made = self._make(device, arguments, along)
                if len(self._made) >= LIMIT:
                    self._made.pop(next(iter(self._made)))
                self._made[key] = made
        storages = [image.storage for image in arguments.images]
        if made.program is None or not made.program.takes(storages[0].height, storages[0].width):
            return None
        beside = tuple([image.storage for image in made.captured])
        uniforms = tuple(arguments.uniforms)
        ready = Ready(made.program, beside, uniforms, made.is_tuple, made.sources)
        return ready, storages

    def _make(self, device: Device, arguments: Arguments, along: Along) -> _Made:
        try:
            value = self.value.translated(arguments, self._values)
            found = self._joined(value)
        except Exception as error:  # whoever folds otherwise finds it too, and says it better
            log.info("no fold by groups: %s", error)
            return _Made(None)
        if found is None:
            return _Made(None, (value,))
        join, types = found
        if value.translation.faults or join.translation.faults:  # read by whoever runs programs
            return _Made(None, (value, join))
        captured = value.translation.captured
        inputs = [given.sampler.format for given in arguments.images]
        inputs += [image.format for image in captured]
        count = sum(given.rank != NUMBER for given in arguments.images)
        task = FoldTask(value.function, join.function, inputs, count, types, along)
        try:
            program = device.fold(task)
        except DeviceError as error:
            log.warning("no fold by groups: %s", error)
            program = None
        if program is not None:
            dump("source", program.source)
        return _Made(program, (value, join), captured, value.translation.is_tuple)

    def _joined(self, value: Translated) -> tuple[Translated, list[Type]] | None:
        """The function of two values, and their types; None where it does not give such values,
        or reads images."""
        types = [output.type for output in value.function.outputs]
        is_tuple = value.translation.is_tuple
        for _ in KINDS:
            samples = [_sample(types, is_tuple) for _ in range(2)]
            arguments = flatten(self.join.signature, [*self.known, *samples])
            join = self.join.translated(arguments, self._joins)
            after = [output.type for output in join.function.outputs]
            if join.translation.is_tuple != is_tuple or join.function.images:
                return None
            if [type.size for type in after] != [type.size for type in types]:
                return None
            both = list(map(wider, types, after))
            if both == types:
                return join, types
            types = both
        return None


def _sample(types: Sequence[Type], is_tuple: bool) -> Any:
    """A value of these types, made of objects that nothing else holds."""
    zeros: dict[str, Callable[[], Any]] = {"float": float, "int": int, "uint": UInt, "bool": bool}
    parts = []
    for type in types:
        zero = zeros[type.kind]()
        parts.append(zero if type.is_scalar else CLASSES[vector(type.kind, type.size)](zero))
    return tuple(parts) if is_tuple else parts[0]
