"""What the objects of a function hold, and what follows when one changes.

What an object holds stands in the `State` of the path that is being walked, so that each side of a
branch has a world of its own. All reads and changes go through the heap, for two things depend on
them. An object that may be another one under a second name (an alias) is a Conflict once that has
changed. And items that were taken in advance: Python's iterators and views take an item when it is
asked for; ours list all items at once where they can. What was read to list them is noted. When
that changes while items are left, the items of zip, enumerate, reversed and of a dict's views are
taken again, by position; of others (a generator expression, map) it can only be said that they have
been changed.

    heap.write(xs, (1, 2))
    heap.follow(rows, {xs}, row, count)          # `rows` lists what enumerate(xs) gives
    heap.write(xs, (1, 2, 3))                    # brings what is left of `rows` up to date
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from pygpu.core.errors import CompileError
from pygpu.core.host.records import record
from pygpu.frontend.values.lazy import Bounded, Growing
from pygpu.frontend.values.objects import Array, Cell, List, Namespace, Object, Yielded, youngest
from pygpu.frontend.values.objects import Iterator as Taken
from pygpu.frontend.values.states import Aliases, State
from pygpu.frontend.values.values import ABSENT, ELSEWHERE, Choice, Conflict, Unset, describe, kept

_CHANGED: Final = (
    "the items of this iterator were taken before {what} that they depend on was changed: make a "
    "list of them first"
)

_GROWN: Final = (
    "{what} changed size while it was iterated, where Python raises a RuntimeError: iterate a list "
    "of its items"
)

# What makes the row at a place anew, from the row that stands there. It holds nothing dynamic.
Row = Callable[[Any, int], Any]


@record
class Follower:
    """What was read to list the items; `row` makes one anew, `count` says how many there are.
    `late` gives what the iterator holds if its items are to be taken one by one, None if they
    cannot be any more. Where `kept` says that a change has left the items, nothing is done."""

    reads: set[Object]
    row: Row | None = None
    count: Callable[[], int] | None = None
    late: Callable[[], Any] | None = None
    kept: Callable[[], bool] | None = None
    what: str = ""


class Heap:
    """The objects of one walk. `error` makes what is raised for a program that is refused, `slots`
    what a list holds whose items are asked for by their places."""

    def __init__(
        self, error: Callable[[str], CompileError], slots: Callable[[Growing], Any]
    ) -> None:
        self.state = State({}, [], {})  # the world that is being walked
        self.aliases = Aliases()
        self.stale: list[Object] = []  # what may be an object that has changed: to be read again
        self.dead: tuple[tuple[int, int], ...] = ()  # from, below: serials of another world's
        self.grows = False  # whether there may be a list that holds a Growing
        self.fills = False  # whether a comprehension's items may have been put into slots
        self.spells = False  # whether a string may be spelled: a list of its letters
        self.looked_at = 0  # objects, where paths met and lists grew
        self._error = error
        self._slots = slots
        self._noting: list[set[Object]] = []
        self._followers: WeakKeyDictionary[Object, Follower] = WeakKeyDictionary()
        self._followed: WeakKeyDictionary[Object, WeakSet[Object]] = WeakKeyDictionary()

    # ------------------------------------------------------------ reading and writing

    def peek(self, handle: Object) -> Any:
        """What an object holds now, be it a Conflict."""
        for reads in self._noting:
            reads.add(handle)
        contents = self.state.get(handle)
        return self._placed(handle, contents) if contents.__class__ is Growing else contents

    def as_it_stands(self, handle: Object) -> Any:
        """What an object holds now; of a list that was added to under conditions a Growing."""
        contents = self.state.get(handle)
        if contents.__class__ is not Growing:
            return self.read(handle)
        for reads in self._noting:
            reads.add(handle)
        return contents

    def _placed(self, handle: Object, contents: Growing) -> Any:
        """What a list holds, put into slots from now on."""
        made = self.state.heap[handle] = self._slots(contents)
        return made

    def read(self, handle: Object) -> Any:
        """What an object holds now."""
        if self._noting:
            for reads in self._noting:
                reads.add(handle)
        contents = self.state.heap.get(handle, handle)
        if contents is handle:
            contents = self.state.get(handle)
        if isinstance(contents, Conflict):
            raise self._error(contents.message)
        if contents is ABSENT:
            raise self._error(ELSEWHERE)
        if contents.__class__ is Growing:
            return self._placed(handle, contents)
        if type(handle) is Namespace:  # whose names are asked for, too
            for value in contents.values():
                for one in value.options if type(value) is Choice else (value,):
                    if isinstance(one, Unset if one is not value else Conflict):
                        raise self._error(one.message)
        return contents

    def write(self, handle: Object, contents: Any) -> None:
        """Let an object hold something else from now on."""
        if handle.outside:
            raise self._error(
                f"{describe(handle)} {handle.outside}: it can only be read; "
                "change a copy, made where it gets this name, as in 'b = a.copy()'"
                if isinstance(handle.outside, str)
                else kept(handle)
            )
        views = list(self.aliases.views(handle))
        known = set(views)
        for view in views:  # and what may be one of these in turn
            self.state.heap[view] = Conflict(
                f"{describe(view)} may be one that has been changed since under another name: read "
                "it before that, or give it a copy where it gets this name, as in 'b = a.copy()'"
            )
            if view.either is not None:
                self.stale.append(view)
            more = [other for other in self.aliases.views(view) if other not in known]
            known.update(more)
            views += more
        if type(handle) is Array and handle.base is not None:
            self.write(handle.base, _replaced(self.read(handle.base), handle.places, contents))
            return
        if type(handle) is Namespace:
            self.write(handle.owner, contents)
            return
        self.state.heap[handle] = contents
        if self._followed:
            self._changed(handle)

    # ------------------------------------------------------------ aliases

    def alias(self, handle: Object, view: Object) -> bool:
        """Note that a view, which can only be read, may be the object; whether that is new."""
        return self.aliases.add(handle.whole if type(handle) is Array else handle, view)

    def alias_joined(
        self,
        aliases: Iterable[tuple[Object, Object]],
        pairs: Mapping[tuple[Object, Object], Any],
        around: bool = False,
    ) -> list[tuple[Object, Object]]:
        """Note what a join has made, and give what was noted: `aliases` are pairs of an object and
        a joined object that may be it, `pairs` says what was made of each two objects. What was
        made of two objects may be whatever either of them may be, and what may be either may be it.
        So may the first of the two, where a loop that carries it has come `around`."""
        noted = [(old, joined) for old, joined in aliases if self.alias(old, joined)]
        if self._followed:
            self._follow_joined(pairs)
        shared = [
            (two, made) for two, made in pairs.items() if isinstance(made, Object) and made.outside
        ]
        objects = self.aliases.objects
        for two, made in shared:
            more = (made, two[0]) if around and two[0].outside else (made,)
            for old in dict.fromkeys([old for one in (*two, made) for old in objects(one)]):
                noted += [(old, view) for view in more if self.alias(old, view)]
        for two, made in pairs.items():
            if not isinstance(made, Object) or made.outside or made in two:
                continue
            for view in dict.fromkeys([view for one in two for view in self.aliases.views(one)]):
                if view is not made and view not in two and self.alias(made, view):
                    noted.append((made, view))
        return noted

    # ------------------------------------------------------------ items taken in advance

    @contextmanager
    def noted(self) -> Iterator[set[Object]]:
        """The set of the objects that are read in the block. At its end those that were made in the
        block are left out: whoever changes one of them got it from an item that was taken, so that
        Python would show the change, too."""
        before, reads = youngest(), set[Object]()
        self._noting.append(reads)
        try:
            yield reads
        finally:
            self._noting.pop()
            reads.difference_update([each for each in reads if each.serial > before])

    def follower(self, made: Object) -> Follower | None:
        """What an iterator's or a list's items were taken from, if that has been noted."""
        return self._followers.get(made)

    def follow(
        self,
        made: Any,
        reads: set[Object],
        row: Row | None = None,
        count: Callable[[], int] | None = None,
        late: Callable[[], Any] | None = None,
    ) -> Any:
        """`made` itself, an iterator or list of items that were taken now."""
        if isinstance(made, (Taken, List)) and made not in self._followers and reads:
            source = self.state.get(made)[0] if isinstance(made, Taken) else ()
            if isinstance(source, (tuple, Yielded)):
                below = [self._followers[r].reads for r in reads if r in self._followers]
                below.append({r.base for r in reads if isinstance(r, Array) and r.base is not None})
                reads = reads.union(*below)
                self._followers[made] = Follower(reads, row, count, late)
                for read in reads:
                    self._followed.setdefault(read, WeakSet()).add(made)
        return made

    def _follow_joined(self, pairs: Mapping[tuple[Object, Object], Any]) -> None:
        """Note of iterators that a join has made what either was taken from."""
        for two, made in pairs.items():
            found = [self._followers[each].reads for each in two if each in self._followers]
            if not found or not isinstance(made, Object) or made in self._followers:
                continue
            reads = set[Object]().union(*found)
            reads |= {one for both, one in pairs.items() if not reads.isdisjoint(both)} - {made}
            self._followers[made] = Follower(reads)
            for read in reads:
                self._followed.setdefault(read, WeakSet()).add(made)

    def follow_kept(self, made: Taken, read: Object, kept: Callable[[], bool], what: str) -> Taken:
        """`made` itself, which goes on as long as `kept` holds when the object is written to, and
        ends with an error that names `what` else."""
        self._followers[made] = Follower({read}, kept=kept, what=what)
        self._followed.setdefault(read, WeakSet()).add(made)
        return made

    def _changed(self, handle: Object) -> None:
        """Bring up to date what was taken from an object that has just been written to."""
        for made in tuple(self._followed.get(handle, ())):
            contents = self.state.get(made)
            if contents is ABSENT or isinstance(contents, Conflict):
                continue
            if any(first <= made.serial < end for first, end in self.dead):
                continue  # made on a path that is not this one
            follower = self._followers[made]
            if follower.kept is not None:
                if not follower.kept():
                    self.state.heap[made] = Conflict(_GROWN.format(what=follower.what))
                continue
            source, index = contents if isinstance(made, Taken) else (contents, 0)
            rows = self.state.get(source) if isinstance(source, Yielded) else source
            if isinstance(rows, Bounded):
                self.state.heap[made] = Conflict(_CHANGED.format(what=describe(handle)))
            if not isinstance(rows, tuple) or not isinstance(index, int) or index >= len(rows):
                continue
            renewed = _renewed(follower, rows, index)
            late = follower.late() if follower.late and index == 0 else None
            if late is not None:
                self.state.heap[made] = late
            elif renewed is None:
                what = "a variable" if isinstance(handle, Cell) else describe(handle)
                self.state.heap[made] = Conflict(_CHANGED.format(what=what))
            else:
                self.state.heap[made] = (renewed, index) if isinstance(made, Taken) else renewed
            self._changed(made)


def _replaced(whole: Any, places: Any, contents: Any) -> Any:
    """A base's contents where a view of it has got others."""
    new = whole.astype(object if contents.dtype == object else whole.dtype, order="C")
    new.reshape(-1)[places] = contents if places.ndim else contents[()]
    return new


def _renewed(follower: Follower, rows: tuple[Any, ...], index: int) -> tuple[Any, ...] | None:
    """The items as they are now; None if that cannot be said."""
    if follower.row is None or follower.count is None:
        return None
    try:
        count = follower.count()
        if count > len(rows) and not rows:
            return None
        new = [follower.row(rows[min(k, len(rows) - 1)], k) for k in range(index, count)]
    except (IndexError, CompileError):  # also of a list whose length only the device knows now
        return None
    return (*rows[:index], *new)
