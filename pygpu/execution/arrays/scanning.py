"""`pygpu.scan`: running folds along an axis, by any associative function.

Elements are folded block by block, the blocks' folds are scanned in the same way, and each element
is the fold of its block up to it, after the scan of all blocks before. So sums of floats err by the
logarithm of their length, equally on all devices, and an element is read a few times in all. Rows
and columns of single numbers are scanned by code of the device where it has any.

    scan(np.add, [3, 1, 2])                # 3, 4, 6
    scan(np.maximum, photo, axis=0, reverse=True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from pygpu.core.errors import guarded, shown
from pygpu.core.host.records import record
from pygpu.core.storage import Format, ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.arrays.lines import Lines, Taken, element, place, taken
from pygpu.execution.arrays.passes import COUNT, IMAGES, NUMBERS, host_image, made
from pygpu.execution.arrays.recall import Form, Plan, Plans
from pygpu.execution.arrays.turning import worked
from pygpu.execution.arrays.values import HOWS, checked, fold_of, folded, identity, settled
from pygpu.execution.arrays.whole import scanning as whole_scan
from pygpu.execution.arrays.whole import shown_as
from pygpu.types import Type

BLOCK: Final = 8  # elements folded at once


@guarded
def scan(
    function: Callable[..., Any],
    image: Any,
    axis: int | None = -1,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    initial: Any = None,
    target: str = "auto",
) -> Any:
    """Each element becomes the fold by `function(a, b)`, which is associative, of all elements of
    its line up to it: cumulative sums, maxima, products.

    `image` is an array (N,), an image or anything that one is made of; what comes back is what
    went in, of texels as functions see them. Lines run along NumPy's `axis`, channels not counted;
    None: all texels are one line, and the result has one axis.
    `exclusive` leaves out the element itself, `reverse` begins at the end. `initial` comes before
    all others; an exclusive scan has it first, and needs it unless the function is np.add,
    np.multiply, np.maximum or np.minimum.
    """
    if not callable(function):
        raise TypeError(f"scan: function takes a function, got {shown(function)}")
    targets.check(target)
    with targets.at_once():
        is_plain = initial is None and not exclusive
        how = Code(function), known_key(axis), bool(reverse)
        key = _PLANS.key(target, (image,), *how) if is_plain else None
        plan = _PLANS.find(key)
        if plan is not None:
            return plan.run((image,))
        given = taken(image, "scan", target)
        scanning = Scan(function, target, sign=-1 if reverse else 1)

        def work(turned: Sequence[Taken], lines: Lines) -> list[Any]:
            if key is not None and turned[0].is_itself:
                _plan(key, scanning, turned[0], lines)
            return [_scanned(scanning, turned[0], lines, bool(exclusive), initial)]

        return worked(work, [given], axis, target)[0]


@record
class Scan:
    """What to scan by, and where: `sign` is 1, or -1 where a scan begins at the end."""

    function: Callable[..., Any]
    target: str
    is_tuple: bool = False
    sign: int = 1


_PLANS: Final = Plans()


def _plan(key: Any, scanning: Scan, given: Taken, lines: Lines) -> None:
    """Write down what scans all of an image at once, where something does."""
    state, target = (given.image,), scanning.target
    types = settled(scanning.function, (given.image.format.type,), False, target, "scan")
    whole = whole_scan(scanning.function, False, state, types, lines, target, scanning.sign < 0)
    if whole is not None:
        form = Form.of(given, Format(natural_dtype(types[0]), types[0].size, normalize=False))

        def run(images: Sequence[Any]) -> Any:
            return form.image(whole.run([images[0].storage])[0], images[0])

        _PLANS.keep(key, Plan(run, (whole.join,)))


def _scanned(scanning: Scan, given: Taken, lines: Lines, exclusive: bool, initial: Any) -> Any:
    """The result in the form that was given."""
    function, target = scanning.function, scanning.target
    types = settled(function, (given.image.format.type,), False, target, "scan")
    dtype = natural_dtype(types[0])
    first = None
    if initial is not None:
        first = checked(initial, types[0], "scan: initial")
    elif exclusive:
        first = identity(function, types[0])
        if first is None:
            raise TypeError(
                "scan: exclusive=True takes initial=, what comes before the first element: an "
                "identity of the function"
            )
    if given.count == 0:
        return given.array().astype(dtype)
    state = inclusive(scanning, (given.image,), lines, types)
    if first is not None:
        roles = {
            "function": "function",
            "how": "known",
            "image": IMAGES,
            "first": IMAGES,
            "count": COUNT,
        }
        finish = made(_after, roles, target, function, "scan")
        known = lines.layout, exclusive, scanning.sign
        values = {"how": known, "image": state, "first": (first,), "count": lines.count}
        state = finish(lines.shape, [dtype], **values)
    return given.back(state[0])


def _after(function: Any, how: Any, image: Any, first: Any, count: Any, p: Any) -> Any:
    """The scan with its first value, of the inclusive scan without."""
    layout, exclusive, sign = how
    if not exclusive:
        return fold_of(function, first[0], image[0](p))
    line, i = element(layout, p)
    after = fold_of(function, first[0], image[0](place(layout, line, i - sign)))
    return first[0] if i == (0 if sign > 0 else count - 1) else after


# ---------------------------------------------------------------- passes


def inclusive(
    scanning: Scan, state: tuple[ImageLike, ...], lines: Lines, types: Sequence[Type]
) -> tuple[ImageLike, ...]:
    """The scan of values, an image for each part, along lines: images of these types."""
    along, row = lines.layout
    if along != "folded":
        found = _by_device(scanning, state, types, 1 if along == "x" else 0)
        if found is not None:
            return (found,)
    how = scanning.function, scanning.is_tuple
    whole = whole_scan(*how, state, types, lines, scanning.target, scanning.sign < 0)
    if whole is not None:
        return tuple(map(shown_as, whole.run([image.storage for image in state])))
    if along != "folded":
        return _along(scanning, state, lines, types)
    rows = -(-lines.count // row)
    within = _along(scanning, state, Lines(("x", 0), rows, row, (lines.count - 1) % row + 1), types)
    if rows == 1:
        return within
    sums = _run(_ends, scanning, (rows, 1), types, state=within, width=row)
    before = inclusive(scanning, sums, Lines(("y", 0), 1, rows), types)
    return _run(_below, scanning, (rows, row), types, state=within, before=before, rows=rows)


def _by_device(
    scanning: Scan, state: tuple[ImageLike, ...], types: Sequence[Type], axis: int
) -> ImageLike | None:
    """The scan along an axis of the storage by a device's own code; None where it has none."""
    device, how = targets.choose(scanning.target), HOWS.get(scanning.function)
    alike = how is not None and state[0].format.type == types[0] and types[0].is_scalar
    if how is None or not alike or scanning.is_tuple or scanning.sign < 0:
        return None
    if targets.limits(device) is not None or state[0].storage.dtype.itemsize != 4:
        return None
    found = device.scanned(state[0].storage.host()[..., 0], axis, how)
    return None if found is None else host_image(found[..., None])


def _along(
    scanning: Scan, state: tuple[ImageLike, ...], lines: Lines, types: Sequence[Type]
) -> tuple[ImageLike, ...]:
    """The scan along rows or columns."""
    blocks = -(-lines.count // BLOCK)
    sizes = lines.lines - 1, lines.count, lines.short or lines.count
    shared: dict[str, Any] = {"layout": lines.layout, "sizes": sizes}
    before: tuple[ImageLike, ...] = ()
    if blocks > 1:
        fewer = replace(lines, count=blocks, short=-(-lines.short // BLOCK))
        sums = _run(_blocks, scanning, fewer.shape, types, state=state, **shared)
        before = inclusive(scanning, sums, fewer, types)
    return _run(_within, scanning, lines.shape, types, state=state, before=before, **shared)


def _run(
    function: Callable[..., Any],
    scanning: Scan,
    shape: tuple[int, int],
    types: Sequence[Type],
    **values: Any,
) -> tuple[ImageLike, ...]:
    roles: dict[str, Any] = {"function": "function", "how": "known", "layout": "known"}
    roles |= {"state": IMAGES, "before": IMAGES, "sizes": NUMBERS, "width": COUNT, "rows": COUNT}
    roles = {name: role for name, role in roles.items() if name in ("function", "how", *values)}
    run = made(function, roles, scanning.target, scanning.function, "scan")
    dtypes = [natural_dtype(type) for type in types]
    return run(shape, dtypes, how=(scanning.is_tuple, scanning.sign), **values)


def _blocks(function: Any, how: Any, layout: Any, state: Any, sizes: Any, p: Any) -> Any:
    """The folds of blocks. Blocks are counted from where the scan begins, and so are elements: the
    last block of a line has those there are."""
    (is_tuple, sign), (last, count, short) = how, sizes
    line, block = element(layout, p)
    length = short if line == last else count
    start = (block if sign > 0 else (length - 1) // BLOCK - block) * BLOCK
    total = _value(state, layout, line, start if sign > 0 else length - 1 - start)
    for k in range(1, BLOCK):
        i = start + k
        if i < length:
            value = _value(state, layout, line, i if sign > 0 else length - 1 - i)
            total = folded(function, is_tuple, total, value)
    return total


def _within(
    function: Any, how: Any, layout: Any, state: Any, before: Any, sizes: Any, p: Any
) -> Any:
    """The folds of elements with those before them: of their block, and of all blocks before."""
    (is_tuple, sign), (last, count, short) = how, sizes
    line, x = element(layout, p)
    length = short if line == last else count
    i = x if sign > 0 else length - 1 - x
    total = _value(state, layout, line, x)
    for k in range(1, BLOCK):
        if i % BLOCK >= k:
            total = folded(function, is_tuple, _value(state, layout, line, x - sign * k), total)
    if not before:  # one block a line
        return total
    block = i // BLOCK
    at = block - 1 if sign > 0 else (length - 1) // BLOCK - block + 1
    if block > 0:
        total = folded(function, is_tuple, _value(before, layout, line, at), total)
    return total


def _value(state: Any, layout: Any, line: Any, i: Any) -> Any:
    """The value at an element of a line, a tuple of its parts."""
    return tuple([image(place(layout, line, i)) for image in state])


def _ends(function: Any, how: Any, state: Any, width: Any, p: Any) -> Any:
    """The last scanned value of each row."""
    return tuple([image((width - 1 if how[1] > 0 else 0, p.y)) for image in state])


def _below(function: Any, how: Any, state: Any, before: Any, rows: Any, p: Any) -> Any:
    """The scans of rows after that of all rows before them."""
    is_tuple, sign = how
    total = tuple([image(p) for image in state])
    if p.y != (0 if sign > 0 else rows - 1):
        rest = tuple([image((0, p.y - sign)) for image in before])
        total = folded(function, is_tuple, rest, total)
    return total
