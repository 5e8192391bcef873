"""What a function is given while it is found out what it does: images and floats that it may
compute with and hand on, but not look at.

    strength = Unseen.given(1)         # the call's second argument, whatever it will be
    level = 0.5 * strength             # another one
    level.value({1: 1.5})              # 0.75, when the call is done again
    level > 0.5, int(level)            # LookedAt: what the function does next depends on it

and what such a function returned: places of the images that were made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.host.records import record
from pygpu.core.sampler import of
from pygpu.core.storage import Awaited, Format, ImageLike, NumberLike, Storage, UnseenNumber
from pygpu.language.operators import Operators

# The operators of floats that give floats.
_ARITHMETIC: Final = frozenset(
    (operator.add, operator.sub, operator.mul, operator.truediv)
    + (operator.floordiv, operator.mod, operator.pow, operator.neg, operator.pos, operator.abs)
)


class LookedAt(BaseException):
    """A function looks at texels or at a number: what it does next depends on them. It is no
    `Exception`, so that nothing on its way takes it for one."""


class UnseenTexels(Awaited):
    """The texels of an image that nobody may look at."""

    __slots__ = ()

    @property
    def settled(self) -> Storage:
        raise LookedAt

    @classmethod
    def like(cls, storage: Storage) -> UnseenTexels:
        """Such texels in place of a storage's, of its size and dtype."""
        hidden = cls((storage.height, storage.width), storage.channels, storage.dtype)
        hidden.shape = storage.shape
        return hidden


def unseen(image: Any) -> Any:
    """The image, not to be looked at."""
    texels = UnseenTexels.like(image.storage)
    return type(image)._of(texels, of(image), image._dtype, dict(image.info))


def _look(self: Any, *args: Any) -> Any:
    raise LookedAt


class Unseen(Operators, UnseenNumber):
    """A float as a function of others: `place` says which one it is of those that a call knows, or
    `function` is computed of operands."""

    __slots__ = ("function", "operands", "place")

    format = Format(np.dtype(np.float32), 1, normalize=False)

    def __init__(self, place: int, function: Any = None, operands: Sequence[Any] = ()) -> None:
        self.place, self.function, self.operands = place, function, operands

    @classmethod
    def given(cls, place: int) -> Unseen:
        """The number of that place."""
        return cls(place)

    @property
    def storage(self) -> Storage:  # type: ignore[override]
        raise LookedAt

    def item(self) -> Any:
        raise LookedAt

    def _binary(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        if isinstance(right if left is self else left, ImageLike):
            return NotImplemented  # the image's own operator takes the number
        if function not in _ARITHMETIC or not (_is_number(left) and _is_number(right)):
            raise LookedAt
        return Unseen(-1, function, (left, right))

    def _unary(self, function: Callable[..., Any]) -> Any:
        if function not in _ARITHMETIC:
            raise LookedAt
        return Unseen(-1, function, (self,))

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __round__ = __trunc__ = _look
    __floor__ = __ceil__ = __hash__ = __str__ = __format__ = __array__ = __len__ = _look
    __iter__ = __getitem__ = __contains__ = __reduce_ex__ = _look

    def __matmul__(self, other: Any) -> Any:
        return self._binary(operator.matmul, self, other)

    __rmatmul__ = __matmul__

    def value(self, known: Mapping[int, Any]) -> Any:
        """The number, by those that are known now."""
        if self.function is None:
            return known[self.place]
        return self.function(*[value_of(each, known) for each in self.operands])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        image = next((each for each in inputs if isinstance(each, ImageLike)), None)
        if image is not None:
            beside: Any = image
            return beside.__array_ufunc__(ufunc, method, *inputs, **options)
        if method != "__call__" or options or ufunc.nout != 1 or not all(map(_is_number, inputs)):
            raise LookedAt
        with np.errstate(all="ignore"):
            try:
                tried = ufunc(*[1.0 if isinstance(each, Unseen) else each for each in inputs])
            except TypeError:  # it takes no floats
                raise LookedAt from None
        if np.asarray(tried).dtype.kind != "f":
            raise LookedAt
        return Unseen(-1, ufunc, inputs)


def value_of(value: Any, known: Mapping[int, Any]) -> Any:
    """An operand, by the numbers that are known now."""
    return value.value(known) if isinstance(value, Unseen) else value


def _is_number(value: Any) -> bool:
    """Whether a float computed with it is one: Python's and NumPy's floats and ints."""
    return isinstance(value, (Unseen, float, int, np.floating, np.integer))


# ---------------------------------------------------------------- what it returns

NUMBERS: Final = (float, int, bool, str, type(None))


@record
class Place:
    """Stands in a result for one of the images that were made."""

    index: int


def put_together(result: Any, image: Callable[[int], Any]) -> Any:
    cls = type(result)
    if cls is Place:
        return image(result.index)
    if cls is dict:
        return {name: put_together(value, image) for name, value in result.items()}
    if cls in (tuple, list):
        return cls([put_together(value, image) for value in result])
    return result


def template(result: Any, made: list[Any]) -> Any:
    """A result with places for its images, added to those made. LookedAt for what is neither."""
    cls = type(result)
    if isinstance(result, ImageLike):
        for place, image in enumerate(made):
            if image is result:
                return Place(place)
        made.append(result)
        return Place(len(made) - 1)
    if cls is dict:
        return {name: template(value, made) for name, value in result.items()}
    if cls in (tuple, list):
        return cls([template(value, made) for value in result])
    if cls in NUMBERS and not isinstance(result, NumberLike):
        return result
    raise LookedAt
