"""Which variables are still read: what else a frame's variables hold is of no use where paths meet.

A variable is *live* at a block if some path from there reads it before it is assigned anew. Only
live variables are joined, carried through loops and handed on out of regions.

    live_at(code)[block]            # the names of the live variables of a block
    still_read(code, block, locals) # the variables that are live there
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

from pygpu.bytecode import Code

_READS: Final = frozenset(
    {*("LOAD", "DELETE", "LOAD_CLEAR", "CELL"), *("DEREF", "SETREF", "DELDEREF", "DICT_DEREF")}
)
_ASSIGNS: Final = frozenset({"STORE", "DELETE", "LOAD_CLEAR"})
_ALL_READ: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})  # they read any variable

_LIVE: Final[WeakKeyDictionary[Code, Mapping[int, frozenset[str]] | None]] = WeakKeyDictionary()


def live_at(code: Code) -> Mapping[int, frozenset[str]] | None:
    """The live variables of each block; None where all may be read."""
    if code not in _LIVE:
        _LIVE[code] = _live(code)
    return _LIVE[code]


def still_read(code: Code, block: int, locals: dict[str, Any]) -> dict[str, Any]:
    """Of the variables those that are read from the block on. What the walk keeps beside the
    function's own variables has a name that begins with a dot, and stays."""
    live = live_at(code)
    if live is None or block < 0:
        return locals
    wanted = live[block]
    if wanted.issuperset(locals):
        return locals
    return {n: value for n, value in locals.items() if n in wanted or n[0] == "."}


def _live(code: Code) -> Mapping[int, frozenset[str]] | None:
    names = code.code.co_names
    if not _ALL_READ.isdisjoint(names):
        return None
    always: set[str] = set()
    if "super" in names:  # without arguments it reads these
        always = {"__class__", *code.code.co_varnames[:1]}
    graph, handlers = code.graph, code.handlers
    reads: dict[int, frozenset[str]] = {}
    assigns: dict[int, frozenset[str]] = {}
    raised: dict[int, set[int]] = {}
    for block, end in graph.blocks.items():
        read, assigned = set(always), set[str]()
        for op, name, _ in code.instructions[block:end]:
            if op in _READS and name not in assigned:
                read.add(name)
            if op in _ASSIGNS:
                assigned.add(name)
        reads[block], assigns[block] = frozenset(read), frozenset(assigned)
        if handlers:
            raised[block] = {handlers[at].target for at in range(block, end) if at in handlers}
    live = dict.fromkeys(graph.order, frozenset[str]())
    changed = True
    while changed:
        changed = False
        for block in reversed(graph.order):
            after = frozenset[str]().union(*[live[target] for target in graph.successors[block]])
            # a handler is entered from amid the block, before what it assigns later
            amid = [live[target] for target in raised.get(block, ())]
            found = reads[block].union(after - assigns[block], *amid)
            if found != live[block]:
                live[block], changed = found, True
    return live
