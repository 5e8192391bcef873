"""Instructions on a choice of known strings, enum members or tuples, executed by Python for all
options at once: what they give is looked up by which option it is, without a path for each.

    WEIGHTS[unit], len(unit), unit.upper(), unit + "s", int(digit), mode.value, node[0], len(node)
"""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pygpu.bytecode import NULL
from pygpu.core.host.later import later
from pygpu.frontend.flow.choices import is_one_of, possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.joins.choosing import WORDS
from pygpu.frontend.values.callables import Bound
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.objects import Dict, List
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Tuple, same_known

with later():
    from pygpu.frontend.collections import texts, words

# What has no effect, and gives for a string what Python gives.
_FUNCTIONS: Final[frozenset[Any]] = frozenset([int, ord, len, str, bool, float, repr])
_METHODS: Final = frozenset(
    name for name in dir(str) if name[0] != "_" and name not in ("format", "format_map", "join")
)
_PLACES: Final[frozenset[Any]] = frozenset([str.index, str.rindex])  # where they raise elsewhere
_SIMPLE: Final = (str, int, float, bool, tuple, slice, types.NoneType)
_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "*": operator.mul,
    "%": operator.mod,
}
_LONGEST: Final = 9  # characters of a string that says an int of 32 bits for sure


def at_once(w: ControlFlow, state: State, op: str, arg: Any) -> bool:
    """Execute the next instruction for all options of a choice on the stack, where it can be."""
    rule = _RULES.get(op)
    return rule is not None and rule(w, state, arg)


def _is_method(function: Any) -> bool:
    """Whether it is a method of a known string."""
    is_builtin = isinstance(function, types.BuiltinMethodType)
    return is_builtin and type(function.__self__) is str and function.__name__ in _METHODS


def _is_of_words(value: Any) -> bool:
    return type(value) is Choice and all(type(option) is str for option in value.options)


def _words_left(w: ControlFlow, choice: Choice) -> Choice:
    """A choice of which strings alone are left, with one of them in place of what it cannot be."""
    left = [choice.options[place] for place in sorted(possible(w, choice))]
    if len(left) == len(choice.options) or not all(type(option) is str for option in left):
        return choice
    words = [each if type(each) is str else left[0] for each in choice.options]
    return Choice(choice.which, tuple(words), choice.why)


def _attr(w: ControlFlow, state: State, name: str) -> bool:
    choice = _words_left(w, state.stack[-1])
    if _is_of_words(choice) and name in _METHODS:
        state.stack[-1] = Bound(getattr(str, name), (choice,))
        return True
    if len(choice.options) > choice.CHOICES and texts.is_written(choice):
        state.stack[-1] = texts.of_letters(w, choice)  # there are too many methods to choose from
        return False
    if name not in ("value", "name"):
        return False
    if not all(isinstance(option, enum.Enum) for option in choice.options):
        return False
    return _replaced(w, state, 1, choice, lambda option: getattr(option, name))


def _call(w: ControlFlow, state: State, arg: tuple[int, tuple[str, ...]]) -> bool:
    count, names = arg
    second, first = state.stack[-count - 1], state.stack[-count - 2]
    function: Any = first if second is NULL else second if first is NULL else None
    if count != 1 or names:
        return False
    choice = state.stack[-1]
    if function is len and _is_of_tuples(choice):
        made = _lengths(w, choice)
    elif function in _FUNCTIONS:
        made = of_words(w, function, (choice,))
    elif _is_method(function):
        made = of_words(w, getattr(str, function.__name__), (function.__self__, choice))
    else:
        return False
    if made is NotImplemented:
        return False
    state.stack[-count - 2 :] = [made]
    return True


def of_words(w: ControlFlow, function: Any, args: tuple[Any, ...]) -> Any:
    """What a function without effects gives of a choice of strings, NotImplemented of others."""
    is_method = isinstance(function, types.MethodDescriptorType) and function.__objclass__ is str
    if not is_method and function not in _FUNCTIONS:
        return NotImplemented
    chosen = [each for each in args if type(each) is Choice]
    others = [each for each in args if type(each) is not Choice]
    if not chosen or not all(map(_is_of_words, chosen)):
        return NotImplemented
    if not all(isinstance(x, _SIMPLE) for x in others):
        return NotImplemented
    if any(each.which.value is not chosen[0].which.value for each in chosen):
        return _of_several(w, function, args, chosen[0])
    if function is int and any(len(option) > _LONGEST for option in chosen[0].options):
        return NotImplemented
    if function is int or function is ord:
        return words.number_of_each(w, function, chosen[0])
    if function in _PLACES and len(chosen) == 1:
        return words.number_of_each(w, partial(_with, function, args, chosen[0]), chosen[0])
    left = possible(w, chosen[0])
    try:
        found = {
            place: function(*[x.options[place] if type(x) is Choice else x for x in args])
            for place in left
        }
    except Exception:  # whatever Python says of an option is for its own path
        return NotImplemented
    return _of_each(w, chosen[0], found, left)


def _with(function: Any, args: tuple[Any, ...], choice: Choice, option: Any) -> Any:
    return function(*[option if x is choice else x for x in args])


def _of_several(w: ControlFlow, function: Any, args: tuple[Any, ...], first: Choice) -> Any:
    """What a function gives of several choices: of the others, for each option of the first."""
    made: Any = None
    for place in possible(w, first):
        parts = [
            x.options[place] if type(x) is Choice and x.which.value is first.which.value else x
            for x in args
        ]
        its = of_words(w, function, tuple(parts))
        if its is NotImplemented:
            return NotImplemented
        made = its if made is None else w.choose(w.compare("==", first.which, place), its, made)
    return made


def _item(w: ControlFlow, state: State, arg: Any) -> bool:
    container, index = state.stack[-2:]
    if type(container) is Choice and texts.is_text(container) and not w.handled():
        _has_letter(w, state, container, index)
    if _is_of_words(container) and type(index) in (int, slice):
        return _replaced(w, state, 2, container, lambda word: word[index])
    if _is_of_tuples(container) and type(index) is int:
        return _item_of_tuples(w, state, container, index)
    if not _is_of_words(index):
        return False
    held = w.peek(container) if type(container) is Dict else container
    if type(held) is not dict:
        return False
    w.environment.dependencies.add(container)
    return _replaced(w, state, 2, index, held.__getitem__)


def _has_letter(w: ControlFlow, state: State, choice: Choice, index: Any) -> None:
    """From an index on a choice of strings is none that has no letter there."""
    if type(index) is not int and not isinstance(index, Dynamic):
        return
    left, at = possible(w, choice), index if type(index) is int else 0
    words = {place: choice.options[place] for place in left if type(choice.options[place]) is str}
    short = frozenset([i for i, word in words.items() if not -len(word) <= at < len(word)])
    if short and short != left:
        said = said_by(operator.getitem, "", 0)
        w.check(is_one_of(w, choice.which, short, left), IndexError, "index out of range", said)
        state.facts = {**state.facts, choice.which.value: left - short}


def _is_of_tuples(value: Any) -> bool:
    return type(value) is Choice and all(
        type(option) is tuple or (type(option) is Tuple and option.cls is tuple)
        for option in value.options
    )


def _held(option: Any) -> tuple[Any, ...]:
    items: tuple[Any, ...] = option.items if type(option) is Tuple else option
    return items


def _lengths(w: ControlFlow, choice: Choice) -> Any:
    """len(choice); what is asked of it is known of the choice, too."""
    counts = [len(_held(option)) for option in choice.options]
    if len({counts[place] for place in possible(w, choice)}) == 1:
        return counts[min(possible(w, choice))]
    made = words.by_option(w, choice.which, counts)
    w.meanings.counts[made.value] = choice.which, tuple(counts)
    return made


def _len(w: ControlFlow, state: State, arg: Any) -> bool:
    if not _is_of_tuples(state.stack[-1]):
        return False
    state.stack.append(_lengths(w, state.stack[-1]))
    return True


def _item_of_tuples(w: ControlFlow, state: State, choice: Choice, index: int) -> bool:
    """Put the item of a choice of tuples in its place."""
    made = _item_of_each(w, state, choice, index)
    if made is NotImplemented:
        return False
    state.stack[-2:] = [made]
    return True


def _unpack(w: ControlFlow, state: State, count: int) -> bool:
    choice = state.stack[-1]
    left = possible(w, choice) if _is_of_tuples(choice) else ()
    if not left or any(len(_held(choice.options[place])) != count for place in left):
        return False
    items = [_item_of_each(w, state, choice, index) for index in reversed(range(count))]
    if any(item is NotImplemented for item in items):
        return False
    state.stack[-1:] = items
    return True


def _item_of_each(w: ControlFlow, state: State, choice: Choice, index: int) -> Any:
    """What the tuples of a choice hold at an index: from there on it is none that is too short.
    NotImplemented where each is a path of its own."""
    left = possible(w, choice)
    held = {place: _held(choice.options[place]) for place in left}
    inside = frozenset([i for i, items in held.items() if -len(items) <= index < len(items)])
    found = {place: held[place][index] for place in inside}
    known = not any(isinstance(value, Abstract) for value in found.values())
    if not inside or (inside != left and not known and w.handled()):
        return NotImplemented
    if inside != left:
        short = is_one_of(w, choice.which, left - inside, left)
        w.check(short, IndexError, "index out of range", said_by(operator.getitem, (), 0))
        if not w.handled():  # what handles that has the choice as it was
            state.facts = {**state.facts, choice.which.value: inside}
    made = _of_each(w, choice, found, inside)
    if made is NotImplemented and known and not all(map(scalar_kind, found.values())):
        some = found[min(inside)]
        every = range(len(choice.options))
        made = Choice(choice.which, tuple([found.get(i, some) for i in every]), choice.why)
    return made


def _binary(w: ControlFlow, state: State, symbol: str) -> bool:
    a, b = state.stack[-2:]
    are_texts = symbol in ("+", "+=") and texts.is_text(a) and texts.is_text(b)
    are_words = are_texts and _is_of_words(a) and _is_of_words(b)
    if are_words or (are_texts and (texts.is_written(a) or texts.is_written(b))):
        state.stack[-2:] = [texts.joined(w, "", (a, b))]
        return True
    apply = _OPERATORS.get(symbol)
    if apply is None:
        return False
    if _is_of_words(a) and isinstance(b, _SIMPLE):
        return _replaced(w, state, 2, a, lambda word: apply(word, b))
    if _is_of_words(b) and isinstance(a, _SIMPLE):
        return _replaced(w, state, 2, b, lambda word: apply(a, word))
    return False


def _iter(w: ControlFlow, state: State, arg: Any) -> bool:
    """Of what is written on one path alone its characters: no iterators that go on apart."""
    choice = state.stack[-1]
    if not texts.is_written(choice):
        return False
    state.stack[-1] = w.iterate(List(texts.letters(w, choice)))
    return True


def _replaced(
    w: ControlFlow, state: State, count: int, choice: Choice, apply: Callable[[Any], Any]
) -> bool:
    """Put what is made of each option in place of the topmost values; whether that could be done:
    where Python refuses one, or they are of different kinds, each is a path of its own."""
    left = possible(w, choice)
    try:
        found = {place: apply(choice.options[place]) for place in left}
    except Exception:  # whatever Python says of an option is for its own path
        return False
    made = _of_each(w, choice, found, left)
    if made is NotImplemented:
        return False
    state.stack[-count:] = [made]
    return True


def _of_each(w: ControlFlow, choice: Choice, found: dict[int, Any], left: frozenset[int]) -> Any:
    values = list(found.values())
    if any(isinstance(value, Abstract) for value in values):
        return NotImplemented
    if all(same_known(value, values[0]) for value in values):
        return values[0]
    kinds = set(map(type, values))
    if kinds == {bool}:
        return is_one_of(w, choice.which, frozenset([i for i in left if found[i]]), left)
    every = range(len(choice.options))
    options = [found.get(place, values[0]) for place in every]
    if kinds == {int} and all(-(2**31) <= value < 2**31 for value in values):
        return words.by_option(w, choice.which, options)
    if kinds == {float}:
        return w.item(tuple(options), choice.which)
    if kinds == {str} and len(options) <= WORDS:
        return Choice(choice.which, tuple(options), choice.why)
    return NotImplemented


_RULES: Final[dict[str, Callable[[ControlFlow, State, Any], bool]]] = {
    "ATTR": _attr,
    "BINARY": _binary,
    "CALL": _call,
    "ITEM": _item,
    "ITER": _iter,
    "LEN": _len,
    "UNPACK": _unpack,
}
