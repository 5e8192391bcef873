"""Instructions in the making, and their jumps put in order.

CPython's compiler copies tests, splits branches and inlines calls, each version in its own way.
What is here undoes that without asking for the version: where a shape is not there, nothing
changes.  Jumps name indices of the list from `resolve` on.
"""

from bisect import bisect_left
from itertools import pairwise
from typing import Any, Final

from pygpu.core.host.records import record
from pygpu.frontend.decode.flow import Graph
from pygpu.frontend.decode.opcodes import INLINED_CALLS

Position = tuple[int | None, int | None, int | None, int | None]
NOWHERE: Final = (None, None, None, None)


@record(eq=False, frozen=False)
class Handler:
    """Where instructions go that raise, and what of the stack they find there."""

    target: int
    depth: int  # how much of the stack is left
    marked: bool  # whether there is room for CPython's last instruction below the exception


@record(frozen=False)
class Draft:
    """An instruction in the making; its position is as in Span."""

    op: str
    arg: Any
    position: Position
    offset: int
    handler: Handler | None = None

    @property
    def raises(self) -> bool:
        """Whether it may raise."""
        return self.op not in _SAFE


ENDS: Final = frozenset({"RETURN", "RAISE", "RERAISE", "UNSUPPORTED"})
TURNS: Final = ENDS | {"JUMP", "BRANCH", "FOR"}
_ENDS_BLOCKS: Final = TURNS | {"YIELD"}
_SHORT: Final = 8  # instructions before a jump that are compared: twice what CPython copies
_SAFE: Final = frozenset(
    {
        *("CONST", "NULL", "POP", "COPY", "SWAP", "JUMP", "STORE", "LOAD_CLEAR", "CELL", "SETREF"),
        *("TUPLE", "LIST", "TO_TUPLE", "FUNCTION", "SETFUNC", "RETURN", "PUSH_EXC", "POP_EXC"),
    }
)
_INVERSE: Final = {"false": "true", "true": "false", "none": "notnone", "notnone": "none"}


_JUMPS: Final = frozenset({"JUMP", "FOR", "SEND", "BRANCH"})


def target_of(draft: Draft) -> int | None:
    """Where the instruction may jump to."""
    if draft.op not in _JUMPS:
        return None
    target: int = draft.arg[1] if draft.op == "BRANCH" else draft.arg
    return target


def targets_of(drafts: list[Draft]) -> set[int]:
    """Where the instructions may jump to."""
    return {
        draft.arg[1] if draft.op == "BRANCH" else draft.arg
        for draft in drafts
        if draft.op in _JUMPS
    }


def _aim_at(drafts: list[Draft], places: list[int]) -> None:
    """Let jumps and handlers name places in a list of what they name now."""
    for draft in drafts:
        if draft.op in _JUMPS:
            target = target_of(draft)
            assert target is not None
            _aim(draft, bisect_left(places, target))
    for handler in {draft.handler for draft in drafts if draft.handler is not None}:
        handler.target = bisect_left(places, handler.target)


def _aim(draft: Draft, target: int) -> None:
    draft.arg = (draft.arg[0], target) if draft.op == "BRANCH" else target


def resolve(drafts: list[Draft]) -> None:
    """Let jumps name indices instead of offsets."""
    _aim_at(drafts, [draft.offset for draft in drafts])


def ask_for_iterators(drafts: list[Draft]) -> None:
    """Let who makes a generator expression ask for the iterator, as up to 3.14: on 3.15 it does so
    itself, called with what it runs through. Such a call is given nothing else, not even a NULL."""
    waiting: list[Position] = []  # of expressions that are made and not called yet
    place = 1
    while place < len(drafts):
        before, draft = drafts[place - 1 : place + 1]
        if draft.op == "FUNCTION" and before.op == "CONST" and before.arg.co_name == "<genexpr>":
            waiting.append(draft.position)
        alone = draft.op == "CALL" and draft.arg == (0, ()) and before.op != "NULL"
        if alone and waiting and draft.position == waiting[-1]:
            waiting.pop()
            drafts.insert(place, Draft("ITER", None, draft.position, draft.offset, draft.handler))
            place += 1
        place += 1


def mark_expressions(drafts: list[Draft]) -> None:
    """Let the outer loop of a generator expression, and its `yield`, stand where it does, as up to
    3.13: on 3.14 they stand at what it runs through and at what is yielded."""
    start = next(place for place, draft in enumerate(drafts) if draft.arg == ".0")
    outer = next((draft for draft in drafts if draft.op == "FOR"), None)
    for draft in drafts:
        if draft is outer or draft.op == "YIELD":
            draft.position = drafts[start].position


def delegate(drafts: list[Draft]) -> None:
    """Make a loop of `yield from`: its SEND, which sends what the generator was sent, is a FOR, for
    nothing is sent. RESULT stands where the loop is left, if the value of `yield from` is used."""
    for place, draft in enumerate(drafts):
        if draft.op != "SEND":
            continue
        sent, end = drafts[place - 1], draft.arg
        result = end if drafts[end].op == "RESULT" else end - 1
        sent.op, sent.arg = "JUMP", place
        draft.op, draft.arg = "FOR", result
        is_used = drafts[result + 1].op != "POP"
        made = ("RESULT", None) if is_used else ("CONST", None)
        drafts[result].op, drafts[result].arg = made


def take_plain_calls(drafts: list[Draft]) -> None:
    """Leave out the inlined calls with generator expressions of 3.14 and 3.15.

    They stand behind a test, `f is any` with the function below kept by COPY 1: jump to where it
    goes when it fails, the plain call.
    """
    for place, test in enumerate(drafts[:-1]):
        if test.op != "IS" or place < 2:
            continue
        copy, constant, _, branch = drafts[place - 2 : place + 2]
        if (copy.op, constant.op, branch.op) != ("COPY", "CONST", "BRANCH"):
            continue
        if any(constant.arg is function for function in INLINED_CALLS):
            copy.op, copy.arg = "JUMP", branch.arg[1]


def merge_inverse_branches(drafts: list[Draft]) -> None:
    """Make a branch over a jump one branch: from 3.12 on conditional jumps backward are two."""
    targets = targets_of(drafts)
    for place, (branch, jump) in enumerate(pairwise(drafts)):
        if branch.op != "BRANCH" or jump.op != "JUMP" or place + 1 in targets:
            continue
        test, target = branch.arg
        if target == place + 2:
            branch.arg = (_INVERSE[test], jump.arg)
            jump.arg = target


def unrotate(drafts: list[Draft]) -> None:
    """Undo the copy of a `while` test at the loop's bottom that CPython makes up to 3.13.

    With it, a loop with `continue` looks like two.  The copy has the positions of the original;
    where both turn out to do the same, the bottom jumps to the top.
    """
    place = len(drafts)
    while place > 1:
        place -= 1
        if drafts[place].op != "BRANCH" or drafts[place].arg[1] > place:
            continue
        body = drafts[place].arg[1]
        top: dict[object, int] = {}
        for index in range(body):
            top.setdefault(_fingerprint(drafts[index]), index)
        start = place + 1
        while start > body and _fingerprint(drafts[start - 1]) in top:
            start -= 1
        for copy in range(start, place):
            original = top[_fingerprint(drafts[copy])]
            if _same(drafts, copy, original):
                drafts[copy].op, drafts[copy].arg = "JUMP", original
                place = copy
                break


def _fingerprint(draft: Draft) -> object:
    """What a copy has in common with its original: all but where it jumps, and when."""
    if draft.op in ("BRANCH", "JUMP", "FOR"):
        return draft.op, draft.position
    return draft.op, id(draft.arg) if draft.op == "CONST" else draft.arg, draft.position


def _same(drafts: list[Draft], one: int, other: int) -> bool:
    """Whether it makes no difference at which of two places the execution goes on."""
    agreed: set[tuple[int, int]] = set()
    waiting = [(one, other)]
    while waiting:
        pair = waiting.pop()
        if pair[0] == pair[1] or pair in agreed:
            continue
        agreed.add(pair)
        one, other = pair
        if max(pair) >= len(drafts):
            return False
        left, right = drafts[one], drafts[other]
        if left.op == "JUMP":
            waiting.append((left.arg, other))
        elif right.op == "JUMP":
            waiting.append((one, right.arg))
        elif left.op != right.op or left.handler is not right.handler:
            return False
        elif left.op == "BRANCH":
            (test, target), (other_test, other_target) = left.arg, right.arg
            if test == other_test:
                waiting += [(one + 1, other + 1), (target, other_target)]
            elif test == _INVERSE[other_test]:
                waiting += [(one + 1, other_target), (target, other + 1)]
            else:
                return False
        elif left.op == "FOR":
            waiting += [(one + 1, other + 1), (left.arg, right.arg)]
        elif not (left.arg is right.arg or (left.op != "CONST" and left.arg == right.arg)):
            return False
        elif left.op not in ENDS:
            waiting.append((one + 1, other + 1))
    return True


def merge_jumps(drafts: list[Draft]) -> bool:
    """Let jumps that do the same before be one, and say whether there were any: each `break` of a
    `for` drops the iterator and jumps. A loop with one exit carries no word of which was taken."""
    same: dict[object, int] = {}
    kept = list(range(len(drafts)))  # the place, here or behind, at which the same is done
    length, merged = 0, False  # of what is done before a jump, from its last instruction on
    for place in reversed(kept[:]):
        draft = drafts[place]
        length = 0 if draft.op in _ENDS_BLOCKS else length + 1
        if draft.op == "JUMP":
            kept[place] = kept[draft.arg] if draft.arg > place else place
        elif 0 < length <= _SHORT and place + 1 < len(drafts):
            # A POP raises nothing: where it stands does not matter.
            does = "POP" if draft.op == "POP" else (_fingerprint(draft), id(draft.handler))
            kept[place] = same.setdefault((does, kept[place + 1]), place)
            if kept[place] != place:
                draft.op, draft.arg = "JUMP", kept[place]
                merged = True
    return merged


def prune(drafts: list[Draft]) -> list[Draft]:
    """Only what execution reaches: no undone copies, no jumps to the next."""
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        place = waiting.pop()
        while place not in reached:  # and what comes after it, as far as that goes
            reached.add(place)
            draft = drafts[place]
            if draft.handler is not None and draft.raises:
                waiting.append(draft.handler.target)
            if draft.op in TURNS:
                target = target_of(draft)
                if target is not None:
                    waiting.append(target)
                if draft.op == "JUMP" or draft.op in ENDS:
                    break
            place += 1

    kept = sorted(reached)
    while True:
        idle = {
            place
            for place, following in pairwise(kept)
            if drafts[place].op == "JUMP" and place < drafts[place].arg <= following
        }
        if not idle:
            break
        kept = [place for place in kept if place not in idle]

    pruned = [drafts[place] for place in kept]
    _aim_at(pruned, kept)
    return pruned


def handlers_of(drafts: list[Draft]) -> dict[int, Handler]:
    """The handlers of those instructions that have one and may raise."""
    return {
        place: draft.handler
        for place, draft in enumerate(drafts)
        if draft.handler is not None and draft.raises
    }


def graph_of(drafts: list[Draft]) -> Graph:
    jumps: dict[int, tuple[int, ...]] = {}
    turns = [(place, draft) for place, draft in enumerate(drafts) if draft.op in _ENDS_BLOCKS]
    for place, draft in turns:
        if draft.op in ENDS:
            jumps[place] = ()
        elif draft.op == "JUMP":
            jumps[place] = (draft.arg,)
        elif draft.op == "YIELD":  # a generator's frame may stop there
            jumps[place] = (place + 1,)
        else:
            jumps[place] = (place + 1, draft.arg if draft.op == "FOR" else draft.arg[1])
    guarded = {place: handler.target for place, handler in handlers_of(drafts).items()}
    raising = [place for place, draft in enumerate(drafts) if draft.raises] if guarded else []
    return Graph(len(drafts), jumps, {place: guarded.get(place) for place in raising})
