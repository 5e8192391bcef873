"""Marks and attempts: how a walk goes back to where it was.

A fallback tries one way and, where that is refused, another: a loop is unrolled or is one of the
device, a generator's items are taken at once or one by one. What the way that failed has emitted
and changed must leave no trace; nothing else in the front end takes such things back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pygpu.frontend.values.evaluator import Evaluator, Mark
from pygpu.frontend.values.objects import youngest
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import NotKnown

T = TypeVar("T")


class Marking(Evaluator, Protocol):
    """What of an evaluator is marked besides."""

    unrolled: int
    inlined: int
    undone: int


def mark(w: Marking, state: State | None = None) -> Mark:
    """Where the walk is, in a world of that state."""
    build = w.build
    return Mark(
        state=(state or w.state).fork(),
        region=build.region,
        operations=len(build.region.ops),
        emitted=build.count,
        tables=len(build.tables),
        frames=len(w.frames),
        at=w.frames[-1].at if w.frames else 0,
        conditions=w.conditions,
        sites=len(w.environment.sites),
        kept=len(w.kept),
        raising=len(w.frames[-1].raising) if w.frames else 0,
        unrolled=w.unrolled,
        inlined=w.inlined,
        aliases=w.heap.aliases.copy(),
        dead=w.heap.dead,
        serial=youngest(),
    )


def rewind(w: Marking, to: Mark, until: int | None = None) -> None:
    """Undo all that was walked since the mark; objects older than `until` were made by that."""
    build = w.build
    build.region = to.region
    del to.region.ops[to.operations :]
    w.undone += build.count - to.emitted
    build.count = to.emitted
    del build.tables[to.tables :]
    del w.frames[to.frames :]
    if w.frames:
        w.frames[-1].at = to.at
        del w.frames[-1].raising[to.raising :]
    w.conditions = to.conditions
    w.environment.forget_calls(to.sites)
    del w.kept[to.kept :]
    w.unrolled, w.inlined = to.unrolled, to.inlined
    w.heap.aliases = to.aliases.copy()
    w.heap.dead = (*to.dead, (to.serial, youngest() if until is None else until))
    w.state = to.state.fork()


class Attempt:
    """What is walked in a `with` block, to be undone unless it is kept: see `Evaluator.attempt`."""

    def __init__(self, w: Marking, since: Mark | None) -> None:
        self.w = w
        self.since = since
        self.kept = False

    def __enter__(self) -> Attempt:
        w, since = self.w, self.since
        self.live = w.state  # the state that the step being walked has in hand
        self.before = mark(w)
        if since is not None:
            assert since.region is w.build.region
            self.operations = since.region.ops[since.operations :]
            self.tables = w.build.tables[since.tables :]
            self.sites = w.environment.sites[since.sites :]
            rewind(w, since)
        return self

    def keep(self, result: T) -> T:
        self.kept = True
        return result

    def made(self, make: Callable[[], T]) -> T:
        try:
            return self.keep(make())
        except (SyntaxError, NotKnown, AssertionError, RecursionError, MemoryError):
            raise
        except Exception:
            self.kept = True
            raise

    def __exit__(self, *error: object) -> None:
        w, since, live = self.w, self.since, self.live
        if not self.kept:
            if since is not None:
                rewind(w, since)
                since.region.ops.extend(self.operations)
                w.build.tables.extend(self.tables)
                for site in self.sites:
                    w.environment.count_call(site)
            rewind(w, self.before)
        now = w.state
        live.locals, live.heap = now.locals, now.heap
        live.stack[:] = now.stack  # in place: a step may be about to push what it was given
        w.state = live
