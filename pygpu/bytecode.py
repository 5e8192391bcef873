"""CPython's bytecode, 3.11 to 3.15, as one canonical instruction list.

With its tables, `opcodes`, this is all that knows versions.  The list is for a stack machine.
Locals are slots by name; a slot may hold a cell, and those of free variables do from the start.
Jumps name indices of the list.  Decoding does not fail: what is not supported becomes an
UNSUPPORTED instruction, an error only for who reaches it, and nothing follows it.  Handlers of
exceptions are code like any other, entered from the instructions that they guard.

    def f(x): return x + 1    ─▶    LOAD x, CONST 1, BINARY +, RETURN

The canonical instructions, with what they take from the stack (its top last) and leave there:

    CONST value        -> value            NULL               -> NULL
    POP                a ->                COPY i             the i-th from the top, again
    SWAP i             the top with the i-th from the top
    LOAD name          -> slot             STORE name         a -> ; UNBOUND empties the slot
    DELETE name        empties the slot    LOAD_CLEAR name    -> slot or UNBOUND; empties it
    CELL name          wraps the slot in a new cell (an empty one if the slot is)
    DEREF SETREF DELDEREF name             through the cell in the slot
    GLOBAL SETGLOBAL DELGLOBAL name        -> value; a -> ; nothing
    NAME STORENAME DELNAME name            the same in a class body's namespace
    LOCALS             -> that namespace
    DICT_DEREF DICT_GLOBAL name            namespace -> its entry, else the cell's or the global
    ATTR name          a -> a.name         SETATTR name       value a ->
    DELATTR name       a ->                SUPER name         super class self -> attribute
    ITEM               a i -> a[i]         SETITEM            value a i ->
    DELITEM            a i ->              SLICE n            start stop [step] -> slice
    UNARY op           - ~ not +           BINARY op          a b -> a op b; also +=, -=, ...
    COMPARE op         a b -> a < b        IS IN inverted     a b -> a is b; a in b
    TUPLE LIST SET n   n values -> it      MAP n              n keys and values -> dict
    KEYMAP n           n values, keys -> dict
    APPEND ADD i       a -> ; to the i-th from the top then; MAPADD takes key and value
    EXTEND UPDATE MERGE i                  the same with a whole; MERGE refuses a key twice
    TO_TUPLE           list -> tuple
    UNPACK n           a -> n values, the first on top
    UNPACK_EX (n, m)   a -> n values, a list, m values, the first on top
    CALL (n, names)    a b n values -> result; the last values are the arguments of those names;
                       a NULL: b(*values), b NULL: a(*values), else a(b, *values)
    CALL_EX            a b tuple mapping-or-NULL -> result; a and b likewise
    FUNCTION           code -> function
    SETFUNC what       value function -> function; 1 defaults, 2 keyword defaults,
                       4 annotations, 8 closure, 16 annotate function
    BUILDCLASS         -> __build_class__
    ITER               a -> iterator; a may be one already; a loop's on 3.15 puts a NULL above it
    FOR target         pushes the next item of the iterator ITERATOR_SLOTS from the top, or drops
                       these slots and jumps
    JUMP target        BRANCH (test, target): a -> ; test true false none notnone
    RETURN             a ->                YIELD              a -> what was sent
    RESULT             -> what the generator returned that a FOR to here has ended
    RAISE n            [exception [cause]] ->; n = 0: the exception being handled
    RERAISE            exception ->
    PUSH_EXC           exception -> the one handled before, exception: it is handled now
    POP_EXC            exception ->; it is the one handled now
    MATCH_EXC          exception class -> exception, answer
    MATCH_GROUP        rest class -> rest without what is of the class, that or None
    UNHANDLED          exception list -> what is raised again after handlers of groups, or None
    ENTER              context -> its exit, what its enter gives
    SPECIAL name       context -> its method, NULL
    EXIT i             calls the exit that is i-th from the top with the exception on top -> result
    FORMAT (conversion, has_spec)          value [spec] -> string; conversion '' s r a
    STRING n           n strings -> one
    LEN MATCH_SEQ MATCH_MAP                a -> a, answer
    MATCH_KEYS         a keys -> a keys, values or None
    MATCH_CLASS n      a class names -> attributes or None; n of __match_args__
    IMPORT name        level names -> module                  IMPORT_FROM name: m -> m, attribute
    UNSUPPORTED name   what it is, in the user's words
"""

import dis
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any, Final, NamedTuple, final

from pygpu.core.host.records import record
from pygpu.frontend.decode.flow import Graph
from pygpu.frontend.decode.jumps import (
    NOWHERE,
    TURNS,
    Draft,
    Handler,
    Position,
    ask_for_iterators,
    delegate,
    graph_of,
    handlers_of,
    mark_expressions,
    merge_inverse_branches,
    merge_jumps,
    prune,
    resolve,
    take_plain_calls,
    targets_of,
    unrotate,
)
from pygpu.frontend.decode.opcodes import (
    ITERATOR_SLOTS,
    RULES,
    TRUTH_TESTS,
    VERSION,
    Tables,
    unsupported,
)

__all__ = ["ITERATOR_SLOTS", "NULL", "Code", "Handler", "Instruction", "Span", "decode"]


@final
class _Null:
    """The type of NULL."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL"


NULL: Final = _Null()
"""What the NULL instruction pushes: no callable, no bound object, no keywords."""


class Span(NamedTuple):
    """Where in the source: lines from 1, columns in UTF-8 bytes from 0, None where unknown."""

    line: int | None
    end_line: int | None
    column: int | None
    end_column: int | None


class Instruction(NamedTuple):
    """One canonical instruction."""

    op: str
    arg: Any
    position: Position

    @property
    def span(self) -> Span:
        """Where it stands: made when it is asked for, as few are."""
        return Span(*self.position)


@record(eq=False, weak=True)
class Code:
    """A decoded code object. `handlers` says of the instructions in a `try` or `with` where they go
    when they raise: with that much of the stack left, a NULL if `marked`, and the exception.
    `refused`: whether one of the instructions is of a construct that is not supported; `receives`:
    whether a generator uses what it is sent."""

    code: CodeType
    instructions: tuple[Instruction, ...]
    graph: Graph
    handlers: Mapping[int, Handler]
    refused: bool
    receives: bool


def decode(code: CodeType) -> Code:
    """The code object as canonical instructions, with their graph; remembered."""
    return _decode(_Identity(code))


@final
class _Identity:
    """A code object as a key by identity: 3.11 calls two equal that differ in their columns."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.code is other.code


@lru_cache(maxsize=1024)
def _decode(key: _Identity) -> Code:
    drafts = _translate(key.code)
    if VERSION >= (3, 15):
        ask_for_iterators(drafts)
    if key.code.co_name == "<genexpr>":
        mark_expressions(drafts)
    resolve(drafts)
    delegate(drafts)
    take_plain_calls(drafts)
    merge_inverse_branches(drafts)
    unrotate(drafts)
    merged = merge_jumps(drafts)
    drafts = prune(drafts)
    if merged:
        merge_inverse_branches(drafts)
        drafts = prune(drafts)
    graph = graph_of(drafts)
    if not graph.reducible:
        # CPython's compiler is not known to make such code; an editor of bytecode may.
        drafts = [Draft("UNSUPPORTED", "a loop with two entrances", drafts[0].position, 0)]
        graph = graph_of(drafts)
    refused = any(draft.op == "UNSUPPORTED" for draft in drafts)
    receives = any(draft.op == "YIELD" and after.op != "POP" for draft, after in pairwise(drafts))
    return Code(key.code, _finish(drafts), graph, handlers_of(drafts), refused, receives)


# Reading CPython's instructions.

_RULES: Final = [RULES.get(name, unsupported(name)) for name in dis.opname]
_CACHE: Final = dis.opmap["CACHE"]
_EXTENDED_ARG: Final = dis.opmap["EXTENDED_ARG"]
_JUMPS: Final = frozenset(dis.hasjrel)
_BACKWARD: Final = frozenset(code for code in dis.hasjrel if "BACKWARD" in dis.opname[code])


def _read(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Offset, opcode and argument of each instruction; the argument of a jump is its target."""
    units = code.co_code
    extended = 0
    for offset in range(0, len(units), 2):
        opcode = units[offset]
        if opcode == _CACHE:
            continue
        argument = units[offset + 1] | extended
        if opcode == _EXTENDED_ARG:
            extended = argument << 8
            continue
        extended = 0
        if opcode in _JUMPS:
            base = offset + 2
            while base < len(units) and units[base] == _CACHE:
                base += 2
            argument = base - 2 * argument if opcode in _BACKWARD else base + 2 * argument
        yield offset, opcode, argument


def _numbers(table: bytes) -> Iterator[int]:
    """The numbers of an exception table: big-endian in units of six bits, bit 6 says go on."""
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            yield number
            number = 0


def _guarded(code: CodeType) -> Callable[[int], Handler | None]:
    """The handler of each offset, None where there is none. A handler that does nothing but clean
    up before the function is left (a comprehension's, a generator's) is none."""
    numbers = _numbers(code.co_exceptiontable)
    entries: dict[int, Handler] = {}
    handlers: dict[tuple[int, int], Handler] = {}
    for start, length, target, depth in zip(numbers, numbers, numbers, numbers, strict=True):
        handler = Handler(2 * target, depth >> 1, bool(depth & 1))
        handler = handlers.setdefault((2 * target, depth), handler)
        entries.update(dict.fromkeys(range(2 * start, 2 * (start + length)), handler))

    def guard(offset: int) -> Handler | None:
        handler = around = entries.get(offset)
        while around is not None and dis.opname[code.co_code[around.target]] != "PUSH_EXC_INFO":
            around = entries.get(around.target)
        return handler if around is not None else None

    return guard


_OPCODES: Final = dis.opmap
_BACK_TO_SEND: Final = _OPCODES.get("JUMP_BACKWARD_NO_INTERRUPT")  # sends on: in `yield from`
_CALL_KW: Final = _OPCODES.get("CALL_KW")
_TRUTH_TESTS: Final = frozenset([_OPCODES[name] for name in TRUTH_TESTS if name in _OPCODES])

# An instruction that leaves the next one nothing to do, where that is one of these.
_SWALLOWS: Final = {
    _OPCODES[name]: frozenset([_OPCODES[one] for one in others if one in _OPCODES])
    for name, others in {
        "RETURN_GENERATOR": ("POP_TOP",),
        "CONVERT_VALUE": ("FORMAT_SIMPLE",),
        # 3.13 split END_FOR in two; FOR has dropped the iterator.
        **({"END_FOR": ("POP_TOP", "POP_ITER")} if VERSION >= (3, 13) else {}),
    }.items()
    if name in _OPCODES
}


def _translate(code: CodeType) -> list[Draft]:
    """The instructions by their rules; jumps still name offsets."""
    tables = Tables(code.co_consts, code.co_names, _slots(code), code.co_flags)
    positions: list[Position] = list(code.co_positions())
    positions += [NOWHERE] * (len(code.co_code) // 2 - len(positions))  # of edited code
    guard = _guarded(code) if code.co_exceptiontable else None

    drafts: list[Draft] = []
    last = -1
    for offset, opcode, argument in _read(code):
        before, last = last, opcode
        if before in _SWALLOWS and last in _SWALLOWS[before]:
            continue
        if last in _TRUTH_TESTS and _is_truth(drafts[-2:]):
            del drafts[-2:]
        position = positions[offset >> 1]
        if last == _BACK_TO_SEND and dis.opname[code.co_code[argument]] != "SEND":
            opcode = dis.opmap["JUMP_BACKWARD"]  # out of a handler that stands behind
        handler = guard(offset) if guard is not None else None
        made = _RULES[opcode](tables, argument)
        for op, arg in made:
            if op == "CALL" and (last == _CALL_KW or (drafts and drafts[-1].op == "KW_NAMES")):
                arg = (arg[0], drafts.pop().arg)
            drafts.append(Draft(op, arg, position, offset, handler))
        if len(made) > 1 and made[1][0] in ("LOAD", "STORE"):
            drafts[-1].position = (*position[:2], None, None)  # a pair has that of its first half
    return drafts


def _slots(code: CodeType) -> tuple[str, ...]:
    """The names of the local slots; free variables, which come last, keep theirs.

    An inlined comprehension's variable may have a slot beside a free variable of that name.
    """
    free = set(code.co_freevars)
    names = [f"{name}'" if name in free else name for name in code.co_varnames]
    names += [name for name in code.co_cellvars if name not in code.co_varnames]
    return (*names, *code.co_freevars)


def _is_truth(drafts: list[Draft]) -> bool:
    """Whether the drafts are the two `not` of one instruction."""
    return (
        len(drafts) == 2
        and all((draft.op, draft.arg) == ("UNARY", "not") for draft in drafts)
        and drafts[0].offset == drafts[1].offset
    )


# Positions for carets.

_POINTED: Final = frozenset(
    {"BRANCH", "ITER", "FOR", "ENTER", "MATCH_EXC", "MATCH_GROUP", "UNSUPPORTED"}
)


def _finish(drafts: list[Draft]) -> tuple[Instruction, ...]:
    """The instructions, their spans as the user would point at them.

    Up to 3.13 some tests and loops claim the whole statement; the value tested or iterated over
    is what is meant.
    """
    targets = targets_of(drafts)
    for place, draft in enumerate(drafts):
        if draft.op not in _POINTED:
            continue
        if draft.op == "FOR":
            draft.position = _iterable(drafts, place) or draft.position
        elif draft.op != "UNSUPPORTED" or draft.arg == "async with":
            draft.position = _source(drafts, place, targets) or draft.position
    return tuple([Instruction(draft.op, draft.arg, draft.position) for draft in drafts])


def _source(drafts: list[Draft], place: int, targets: set[int]) -> Position | None:
    """The position of what made the value on top of the stack, if one instruction did."""
    while place > 0 and place not in targets:
        place -= 1
        match drafts[place].op:
            case "STORE" | "SETREF" | "SETGLOBAL":  # of a walrus, after its COPY
                continue
            case "COPY" if drafts[place].arg == 1:
                continue
            case op if op in TURNS or op == "SWAP":
                return None
        position = drafts[place].position
        return position if position[2] is not None else None
    return None


def _iterable(drafts: list[Draft], place: int) -> Position | None:
    """The position of the ITER that made the loop's iterator, if it stands right before it."""
    for draft in reversed(drafts[max(place - 8, 0) : place]):
        if draft.op in TURNS:
            return None
        if draft.op == "ITER":
            return draft.position
    return None
