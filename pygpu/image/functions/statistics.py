"""What some of NumPy's functions give of large images, from folds that are quicker than NumPy's own
passes over texels: places of extremes, variances, and all that leave NaNs out of images without.

    rules(others)[np.nanmean](np.nanmean, (im,), {})
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import asked
from pygpu.core.programs import How
from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.image.functions import sums

Rule = Callable[[Any, Any, Any], Any]

# NumPy's functions that leave NaNs out, each with the function that it is where there are none.
_PLAIN: Final = {
    np.nanmean: np.mean,
    np.nansum: np.sum,
    np.nanvar: np.var,
    np.nanstd: np.std,
    np.nanmax: np.max,
    np.nanmin: np.min,
    np.nanargmax: np.argmax,
    np.nanargmin: np.argmin,
}


def rules(others: Mapping[Any, Rule]) -> dict[Any, Rule]:
    """The rules of these functions; those of `others` are asked where they do not apply."""
    found: dict[Any, Rule] = {
        function: _either(_placed, others[function]) for function in (np.argmax, np.argmin)
    }
    found |= {function: _either(_spread, others[function]) for function in (np.var, np.std)}
    found[np.count_nonzero] = _either(_counted, others[np.count_nonzero])
    found[np.ptp] = _either(_range, others[np.ptp])
    mean = functools.partial(_mean, rule=others[np.mean])
    found[np.average] = _either(mean, others[np.average])
    every = {**others, **found}
    for function, plain in _PLAIN.items():
        known = functools.partial(_known, plain=plain, rule=every[plain])
        found[function] = _either(known, others[function])
    return found


def _either(rule: Callable[..., Any], other: Rule) -> Rule:
    """A rule for large images that are read where they are; where it gives nothing the other."""

    def both(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        bound = asked(signature(function).bind, *args, **kwargs)
        given = {n: v for n, v in bound.arguments.items() if v is not np._NoValue}
        image = given.pop("a", None)
        is_large = isinstance(image, ImageLike) and sums.is_large(image)
        found = rule(function, image, given) if is_large else None
        return other(function, args, kwargs) if found is None else found

    return both


@functools.cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _known(
    function: Any, image: ImageLike, given: Mapping[str, Any], plain: Any, rule: Rule
) -> Any:
    """What leaves NaNs out, of an image whose results show that it has none."""
    if given.keys() - {"axis", "ddof"}:
        return None
    values: Any = image
    is_placed = plain in (np.argmax, np.argmin)
    if image.format.kind == "float" and is_placed and np.isnan(values.max()):
        return None
    with np.errstate(invalid="ignore"):
        found = rule(plain, (image,), dict(given))
    return None if np.isnan(found).any() else found


def _mean(function: Any, image: ImageLike, given: Mapping[str, Any], rule: Rule) -> Any:
    return None if given.keys() - {"axis"} else rule(np.mean, (image,), dict(given))


def _range(function: Any, image: Any, given: Mapping[str, Any]) -> Any:
    """How far the greatest is from the least."""
    if image.format.kind != "float" or given.keys() - {"axis"}:
        return None
    return image.max(**given) - image.min(**given)


def _counted(function: Any, image: ImageLike, given: Mapping[str, Any]) -> Any:
    """How many numbers are not 0: as they are stored, and as they are seen."""
    return None if given else np.count_nonzero(image.storage.host())


def _placed(function: Any, image: ImageLike, given: Mapping[str, Any]) -> Any:
    """The place of the first extreme among all numbers, in raster order."""
    if any(each is not None for each in given.values()):
        return None
    array = image.storage.host()
    if not array.flags.c_contiguous:
        return None
    how: How = "max" if function is np.argmax else "min"
    place = targets.choose("auto").place(array.reshape(-1), how)
    return None if place is None else np.intp(place)


def _spread(function: Any, image: Any, given: Mapping[str, Any]) -> Any:
    """The variance, or its root."""
    if given.keys() - {"axis", "ddof"}:
        return None
    found = sums.variance(image, given.get("axis"), given.get("ddof", 0))
    return np.sqrt(found) if function is np.std and found is not None else found
