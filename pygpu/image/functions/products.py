"""What NumPy's functions that multiply and count give of signals: convolutions, correlations, sums
of products and how often there is each number, by programs of the device.

    rules(others)[np.convolve](np.convolve, (signal, [1, 2, 1]), {"mode": "same"})

Of whole numbers results are NumPy's: those that may not fit an `Int` are left to it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import whole
from pygpu.core.sampler import inherited, make
from pygpu.core.sampler import of as sampler_of
from pygpu.core.storage import ImageLike, NumberLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.execution.folds.reduction import reduce
from pygpu.runtime import Compiled
from pygpu.types import INT, vector

Rule = Callable[[Any, Any, Any], Any]

LARGEST: Final = 2**31 - 1  # of ints
GROUPS: Final = 1 << 22  # numbers of which programs count each
PART: Final = 32  # products that are summed by themselves: roundings grow with the parts' number


def rules(others: Mapping[Any, Rule]) -> dict[Any, Rule]:
    """The rules of these functions; those of `others` are asked where they do not apply."""
    mine: dict[Any, Callable[..., Any]] = {
        np.convolve: lambda a, v, mode="full": _slid(a, v, mode, is_turned=True),
        np.correlate: lambda a, v, mode="valid": _slid(a, v, mode, is_turned=False),
        np.dot: _product,
        np.inner: _product,
        np.vdot: _product,
        np.bincount: _counts,
    }
    return {function: _either(rule, others[function]) for function, rule in mine.items()}


def _either(rule: Callable[..., Any], other: Rule) -> Rule:
    signature = inspect.signature(rule)

    def both(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:  # other options, or NumPy's error
            return other(function, args, kwargs)
        found = rule(*bound.args, **bound.kwargs)
        return other(function, args, kwargs) if found is None else found

    return both


def _is_here() -> bool:
    """Whether NumPy computes where images are: its sums of products are quick."""
    return targets.is_on_host(targets.choose("auto"))


def _signal(value: Any) -> Any:
    """Numbers in a line as a signal; None of anything else."""
    if isinstance(value, ImageLike):
        is_line = value.dims == 1 and value.format.channels == 1
        return value if is_line and value.format.kind in ("float", "int") else None
    if not isinstance(value, (np.ndarray, list, tuple)):
        return None
    array = np.asarray(value)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        return None
    if array.dtype.kind != "f" and max(-int(array.min()), int(array.max())) > LARGEST:
        return None
    return ImageMaker.wrap(array, 1)


def _most(signal: Any) -> int:
    """The largest magnitude of ints."""
    return max(-int(signal.min()), int(signal.max()))


def _pair(a: Any, b: Any) -> tuple[ImageLike, ImageLike] | None:
    """Two signals of whose products sums are made; None where NumPy is to do it."""
    one, other = _signal(a), _signal(b)
    if one is None or other is None:
        return None
    if one.format.kind == other.format.kind == "int":
        count = min(one.storage.width, other.storage.width)
        if count * _most(one) * _most(other) > LARGEST:
            return None
    return one, other


# ---------------------------------------------------------------- convolutions


def _slid(a: Any, v: Any, mode: Any, is_turned: bool) -> Any:
    """Sums of products of a signal with another at each place; None where NumPy does it."""
    is_known = mode in ("full", "same", "valid")
    pair = None if _is_here() or not is_known else _pair(a, v)
    if pair is None:
        return None
    long, short = pair
    count, taps = long.storage.width, short.storage.width
    is_back = False  # whether results stand in the other order
    if taps > count:
        long, short, count, taps = short, long, taps, count
        is_back = not is_turned
    left = {"full": taps - 1, "same": taps // 2, "valid": 0}[mode]
    size = {"full": count + taps - 1, "same": count, "valid": count - taps + 1}[mode]
    zero = 0.0 if "float" in (long.format.kind, short.format.kind) else 0
    made: Any = _sliding(zero)(
        ImageMaker.make(long.storage, make(long.format)),
        ImageMaker.make(short.storage, make(short.format)),
        start=size - 1 - left if is_back else -left,
        step=-1 if is_back else 1,
        turned=(taps - 1, -1) if is_turned else (0, 1),
        shape=(size,),
    )
    image = a if isinstance(a, ImageLike) else v
    read = inherited(sampler_of(image), made.format)
    return ImageMaker.make(made.storage, read, info=image.info)


@functools.lru_cache(maxsize=2, typed=True)
def _sliding(zero: float) -> Compiled:
    numbers = {"start": INT, "step": INT, "turned": vector("int", 2), "zero": Known(zero)}
    signature = Signature.by_roles(_slide, long=1, short=1, **numbers, p="position")
    return Compiled(_slide, signature)


def _slide(long: Any, short: Any, start: Any, step: Any, turned: Any, zero: Any, p: Any) -> Any:
    """The sum of products at a place, of those elements that there are."""
    first, by = turned
    place, count, taps = start + step * p, long.width, short.width
    least, most = max(0, -place), min(taps, count - place)
    total = zero
    for low in range(least, most, PART):
        part = zero
        for k in range(low, min(low + PART, most)):
            part += short(first + by * k) * long(place + k)
        total += part
    return total


# ---------------------------------------------------------------- sums and counts


def _product(a: Any, b: Any) -> Any:
    """The sum of products of two signals of one length."""
    pair = None if _is_here() else _pair(a, b)
    if pair is None or pair[0].storage.width != pair[1].storage.width:
        return None
    found = reduce(np.add, *pair, map=_times)
    if isinstance(found, NumberLike):
        return found
    return np.float64(found) if isinstance(found, float) else np.int64(found)


def _times(a: Any, b: Any) -> Any:
    return a * b


def _counts(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """How often there is each number, or the sum of its weights."""
    numbers, least = _signal(x), whole(minlength)
    if numbers is None or numbers.format.kind != "int" or least is None or least < 0:
        return None
    lowest, highest = (int(each) for each in (numbers.min(), numbers.max()))
    groups = max(highest + 1, least)
    if lowest < 0 or groups > GROUPS:
        return None
    if weights is None and _is_here():
        found = targets.choose("auto").counted(numbers.storage.host(), groups)
        return None if found is None else found[:, 0]
    if weights is None:
        return reduce(np.add, numbers, map=_one, by=_itself, groups=groups).astype(np.intp)
    beside = None if _is_here() else _signal(weights)
    if beside is None or beside.storage.width != numbers.storage.width:
        return None
    if beside.format.kind == "int" and beside.storage.width * _most(beside) > LARGEST:
        return None
    sums = reduce(np.add, numbers, beside, map=_second, by=_first, groups=groups)
    return sums.astype(np.float64)


def _one(number: Any) -> Any:
    return 1


def _itself(number: Any) -> Any:
    return number


def _first(number: Any, weight: Any) -> Any:
    return number


def _second(number: Any, weight: Any) -> Any:
    return weight
