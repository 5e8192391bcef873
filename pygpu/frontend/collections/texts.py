"""Strings of which the pixel chooses, or whose characters only the device knows: f-strings, `join`,
`format`, `str(n)`.

What is made of a choice of known things is a choice of strings, one for each option; of several
choices, one for each combination. What is written of an int is a `Numeral` (walked/written.py), and
what is made of more strings than `WORDS` is made of characters. What is made of anything else that
is not known can be handed on and dropped, as messages are.

    of_options(w, unit, str.upper)        # Choice(which, ("CM", "INCH"))
    joined(w, "-", ["a", unit])           # Choice(which, ("a-cm", "a-inch"))
    of_value(w, n, "03d")                 # a Numeral
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.collections.derived import plain_number
from pygpu.frontend.collections.moving import put_together
from pygpu.frontend.collections.words import by_option, word
from pygpu.frontend.joins import choosing, origins
from pygpu.frontend.joins.choosing import WORDS
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.kinds import Text, scalar_kind
from pygpu.frontend.values.lazy import Bounded, difference
from pygpu.frontend.values.objects import Instance, List
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Slice, Tuple, describe, tuple_of

with later():
    from pygpu.frontend.collections import numerals
    from pygpu.frontend.walked import library, special, written

# ---------------------------------------------------------------- choices of strings


def of_options(w: Evaluator, choice: Choice, apply: Callable[[Any], str]) -> Any:
    """A string made of each option of a choice."""
    unknown = next((each for each in choice.options if isinstance(each, Abstract)), None)
    if unknown is not None:
        return unknown if isinstance(unknown, Text) else Text(describe(unknown))
    return Choice(choice.which, tuple(map(apply, choice.options)), choice.why)


def repeated(w: Evaluator, text: str, times: Any) -> Any:
    """text * times, for a bool or an int of few values."""
    kind = scalar_kind(times)
    if not isinstance(times, Dynamic) or kind not in ("int", "uint", "bool"):
        return Text(describe(times))
    least, most = (0, 1) if kind == "bool" else ranges.range_of(w, times.value)
    least = max(least, 0)
    number = w.call(max, w.call(int, times), least)
    if most - least >= WORDS and len(text) * most <= choosing.SLOTS:
        least, size, every = least * len(text), w.binary("*", number, len(text)), tuple(text * most)
        made = List(())
        lists.hold(w, made, Bounded(every, size, least, len(every)))
        return _made(w, written.Written, letters=made)
    if most - least >= WORDS:
        return Text(describe(times), f"say how often at most, as in {text[:8]!r} * min(n, 9)")
    options = tuple([text * count for count in range(least, most + 1)])
    return w.item(options, w.binary("-", number, least)) if options else ""


def joined(w: Evaluator, separator: str, parts: Sequence[Any]) -> Any:
    """separator.join(parts), where some are not known."""
    made: Any = None
    for part in parts:
        if isinstance(part, Text):
            return part
        if is_written(part):
            return _of_characters(w, separator, parts)
        if isinstance(part, Choice) and any(isinstance(each, Abstract) for each in part.options):
            return of_options(w, part, str)
        made = part if made is None else _both(w, made, separator, part)
        if made is None:
            return _of_characters(w, separator, parts)
    return separator.join(()) if made is None else made


def _both(w: Evaluator, a: Any, separator: str, b: Any) -> Any:
    """a + separator + b, of strings and choices of strings; None where they are too many."""
    if not isinstance(a, Choice) and not isinstance(b, Choice):
        return separator.join((a, b))
    if not isinstance(a, Choice):
        return Choice(b.which, tuple([separator.join((a, x)) for x in b.options]), b.why)
    if not isinstance(b, Choice):
        return Choice(a.which, tuple([separator.join((x, b)) for x in a.options]), a.why)
    if a.which.value is b.which.value:
        pairs = zip(a.options, b.options, strict=True)
        return Choice(a.which, tuple([separator.join(pair) for pair in pairs]), a.why)
    count = len(b.options)
    if len(a.options) * count > WORDS:
        return None
    which = w.binary("+", w.binary("*", a.which, count), b.which)
    made = tuple([separator.join((x, y)) for x in a.options for y in b.options])
    return Choice(which, made, a.why)


def part(w: Evaluator, text: str, bounds: tuple[Any, Any, Any]) -> Any:
    """text[a:b], where a or b is not known: one of all that it can be where these are few and a
    knows b, else of characters that are not known."""
    free, *other = [end for end in bounds if isinstance(end, Dynamic)]
    width = difference(free.value, other[0].value) if other else 0
    if width is not None and not isinstance(bounds[2], Abstract) and free.type.kind != "float":
        reach = len(text) + abs(width)
        low, high = np.clip(ranges.range_of(w, free.value), -reach, reach).tolist()
        made = []
        for at in range(low, high + 1):
            ends = [
                at if e is free else at + width if isinstance(e, Dynamic) else e for e in bounds
            ]
            made.append(text[slice(*ends)])
        order = tuple(dict.fromkeys(made))
        if len(order) <= WORDS:
            place = w.binary("-", w.call(max, w.call(min, w.call(int, free), high), low), low)
            return w.item(tuple(made), place)
    return join(w, "", w.item(List(tuple(text)), Slice(bounds)))


def join(w: Evaluator, separator: str, items: Any) -> Any:
    """separator.join(items), of whatever length."""
    if isinstance(items, Text):
        return items
    if is_written(items):
        items = List(letters(w, items))
    elif not isinstance(items, (List, Tuple, tuple, list)):
        items = w.call(list, items)
    some = lists.in_slots(w, items)
    if some is None:
        parts = w.items(items)
        if not all(map(is_text, parts)):
            return Text(describe(items), _INSTEAD)
        return joined(w, separator, parts)
    if not all(map(is_text, some.items)):
        return Text(describe(items), _INSTEAD)
    if not separator or any(map(is_written, some.items)):
        return _made(w, written.Written, letters=letters_of_all(w, items, separator))
    made: Any = None
    for count in range(some.least, some.most + 1):
        its = joined(w, separator, some.items[:count])
        if not isinstance(its, (str, Choice)):
            return _made(w, written.Written, letters=letters_of_all(w, items, separator))
        is_it = w.compare("==", some.length, count)
        made = its if made is None else w.choose(is_it, its, made)
    return made


_INSTEAD: Final = (
    "look at the items themselves, as in len(items), and in items == ['a', 'b'] "
    "for ''.join(items) == 'ab'"
)


# ---------------------------------------------------------------- strings of characters


def is_written(value: Any) -> bool:
    """Whether a value is, or may be, a string whose characters only the device knows."""
    if isinstance(value, Choice):
        return is_text(value) and any(map(is_written, value.options))
    return isinstance(value, Instance) and issubclass(value.cls, written.Written)


def is_text(value: Any) -> bool:
    """Whether a value is a string, of whatever kind, or one of several."""
    if isinstance(value, Choice):
        return all(map(is_text, value.options))
    return isinstance(value, str) or is_written(value)


def _made(w: Evaluator, cls: type, **parts: Any) -> Instance:
    return Instance(cls, parts)


def of_letters(w: Evaluator, value: Any) -> Instance:
    """A string, or one of several, by its characters."""
    return _made(w, written.Written, letters=List(letters(w, value)))


def _of_characters(w: Evaluator, separator: str, parts: Sequence[Any]) -> Any:
    odd = next((part for part in parts if not is_text(part)), None)
    if odd is not None:
        return odd if isinstance(odd, Text) else Text(describe(odd))
    spread: list[Any] = []
    for part in parts:
        spread += [separator, part] if spread and separator else [part]
    return _made(w, written.Joined, parts=List(tuple(spread)))


def letters(w: Evaluator, value: Any) -> Any:
    """The characters of a string, as what a list holds."""
    if isinstance(value, str):
        return tuple(value)
    if not isinstance(value, Choice):
        return w.read(usable(w, w.attribute(value, "letters")))
    if is_written(value):
        held = [letters(w, each) for each in value.options]
        if not all(isinstance(each, tuple) and len(each) == len(held[0]) for each in held):
            held = [lists.held(w, List(each)) for each in held]
        return w.read(usable(w, _of_options(w, value, [*map(List, held)])))
    sizes = [len(option) for option in value.options]
    slots = []
    for at in range(max(sizes)):
        column = [option[at] if at < len(option) else "" for option in value.options]
        filled = next(letter for letter in column if letter)
        slots.append(Choice(value.which, tuple([one or filled for one in column]), value.why))
    if min(sizes) == max(sizes):
        return tuple(slots)
    length = by_option(w, value.which, sizes)
    return Bounded(tuple(slots), length, min(sizes), max(sizes))


def _is_letter(item: Any) -> bool:
    options = item.options if isinstance(item, Choice) else (item,)
    return all(isinstance(option, str) and len(option) == 1 for option in options)


def _most(w: Evaluator, part: Any) -> int:
    """How many characters a string has at the most."""
    if isinstance(part, str):
        return len(part)
    if isinstance(part, Choice):
        return max(_most(w, option) for option in part.options)
    form = w.peek(part).get("form")
    if form is None:
        most: int = lists.held(w, w.attribute(part, "letters")).most
        return most
    forms = form.options if isinstance(form, Choice) else (form,)
    sizes: list[int] = [each.slots + each.signed + len(each.prefix) for each in forms]
    return max(sizes)


def letters_of_all(w: Evaluator, parts: Any, separator: str = "") -> Any:
    """The characters of strings one after the other, in a list."""
    some = lists.in_slots(w, parts)
    if some is not None and not separator and all(map(_is_letter, some.items)):
        return parts
    most = sum(_most(w, part) for part in some.items[: some.most]) if some is not None else 0
    if most > choosing.SLOTS:
        raise w.error(
            f"a string of up to {most} characters is made here, and one whose length only the "
            f"device knows has at most {choosing.SLOTS}: say how large its numbers are, as in "
            "str(n % 100), or how many there are, as in a loop of known length"
        )
    held: list[Bounded] = []
    for place, part in enumerate(w.items(parts) if some is None else some.items[: some.most]):
        held.append(lists.held(w, List(letters(w, part))))
        if place and separator:
            held[-1] = put_together(w, choosing.as_slots(separator), held[-1])
        if some is not None:  # none of them where there is no such string
            count = w.choose(lists.is_there(w, some, place), held[-1].length, 0)
            held[-1] = held[-1].changed(held[-1].items, count, 0, held[-1].most)
    while len(held) > 1:  # neighbours, and then what has come of these: long ones are moved seldom
        pairs = zip(held[::2], held[1::2], strict=False)
        held = [put_together(w, *pair) for pair in pairs] + held[len(held) & ~1 :]
    total = held[0] if held else Bounded((), 0, 0, 0)
    made = List(())
    lists.hold(w, made, total)
    return made


# ---------------------------------------------------------------- what is written of values

_SPEC: Final = re.compile(r"(?:(.)?([<>^=]))?([-+ ])?(#)?(0)?(\d+)?([,_])?([bcdoxXsn]?)", re.DOTALL)
_BASES: Final = {"b": (2, "0b"), "o": (8, "0o"), "x": (16, "0x"), "X": (16, "0X")}


def of_value(w: Evaluator, value: Any, spec: str = "") -> Any:
    """format(value, spec), of what is not known; of an int and of strings its characters."""
    if isinstance(value, Text):
        return value
    value = choosing.number_in(value, w.state)
    is_bool = isinstance(value, Dynamic) and origins.same_of_all(
        w, value, lambda c: c in (bool, np.bool_)
    )
    if is_bool and not spec:
        return Choice(w.call(int, value), ("False", "True"), "")
    value = w.call(int, value) if is_bool else value
    found = _SPEC.fullmatch(spec)
    is_int = scalar_kind(value) in ("int", "uint")
    if found is None or not (is_int or is_written(value) or isinstance(value, Choice)):
        return Text(describe(value))
    fill, align, sign, prefix, zero, width, mark, letter = found.groups()
    size, sign = int(width or 0), (sign or "-").strip("-")
    if is_int and letter == "c" and not (sign or prefix or mark or align == "="):
        usual = fill or (zero if not align else None)
        return _justified(w, character(w, value), size, usual, align, ">")
    if not is_int:
        is_number = letter not in ("", "s") or prefix or align == "=" or sign or mark
        return Text(describe(value)) if is_number else _justified(w, value, size, fill, align, "<")
    if letter == "s":
        raise ValueError("Unknown format code 's' for object of type 'int'")
    if letter == "c":
        return Text(f"{describe(value)} by {spec!r}")
    base, known = _BASES.get(letter, (10, ""))
    fills = (zero and not align) or (align == "=" and fill == "0")
    if (align == "=" and not fills) or (mark and (fills or base != 10)):
        return Text(f"{describe(value)} by {spec!r}")
    known = known if prefix else ""
    made = numeral(w, value, base, size if fills else 0, known, letter == "X")
    made = w.call(special.grouped, value, mark) if mark else made
    if sign and not isinstance(made, Text):
        shorter = fills and size > 1
        other = numeral(w, value, base, size - 1, known, letter == "X") if shorter else made
        made = w.call(special.signed, value, sign, made, other)
    if isinstance(made, Text) or fills:
        return made
    return _justified(w, made, size, fill or (zero or None), align, ">")


def _justified(w: Evaluator, value: Any, size: int, fill: Any, align: Any, usual: str) -> Any:
    side = {"<": -1, ">": 1, "^": 0}[align or usual]
    return value if size <= 1 else justified(w, value, size, fill or " ", side)


def numeral(
    w: Evaluator, number: Any, base: int = 10, width: int = 0, prefix: str = "", is_upper: Any = 0
) -> Any:
    """What an int is written as."""
    if not isinstance(number, Dynamic) or scalar_kind(number) not in ("int", "uint"):
        return Text(describe(number))
    form = numerals.form_of(w, number, base, width, prefix, is_upper)
    if form is None:
        return Text(describe(number))
    if form.digits > 1 and form.slots == 1 and not prefix and scalar_kind(number) == "int":
        return Choice(number, tuple(form.alphabet), "it is a digit")
    return _made(w, written.Numeral, number=number, form=form)


def of_form(w: Evaluator, number: Any, form: Any, make: Callable[..., Any], *more: Any) -> Any:
    """What is made of an int by its form, which may be one for each path that writes it."""
    one = numerals.form_of_all(form.options) if isinstance(form, Choice) else form
    forms = form.options if one is None else (one,)
    return _of_options(w, form, [make(w, number, each, *more) for each in forms])


def _of_options(w: Evaluator, choice: Choice, made: Sequence[Any]) -> Any:
    """Which of some values belongs to the option that a choice is."""
    result, *more = made
    for place, own in enumerate(more, 1):
        result = w.call(library.chosen, w.compare("==", choice.which, place), own, result)
    return result


def filled(w: Evaluator, number: Any, form: Any, width: Any) -> Any:
    """str(n).zfill(width)"""
    made = numerals.form_of(w, number, form.base, max(form.width, width), form.prefix)
    if made is None or form.prefix or form.is_upper:
        text = _made(w, written.Numeral, number=number, form=form)
        return w.call(written.Written.zfill, text, width)
    return _made(w, written.Numeral, number=number, form=made)


def justified(w: Evaluator, value: Any, size: int, fill: str, side: int) -> Any:
    """s.rjust(size, fill), where the side is 1; -1: ljust, 0: center of format."""
    held = letters(w, value)
    length = held.length if isinstance(held, Bounded) else len(held)
    least = held.least if isinstance(held, Bounded) else length
    if least >= size:
        return value
    missing = w.call(max, w.binary("-", size, length), 0)
    before = {-1: 0, 1: missing, 0: w.binary("//", missing, 2)}[side]
    made = List(())
    most = size - least
    for part in (before, None, w.binary("-", missing, before)):
        added = held if part is None else Bounded((fill,) * most, part, 0, most)
        if part is not None and not isinstance(part, Abstract):
            added = (fill,) * part
        w.call(w.method(made, "extend"), List(added))
    return _made(w, written.Written, letters=made)


def character(w: Evaluator, code: Any) -> Any:
    """chr(code), of few that there may be."""
    low, high = ranges.range_of(w, code.value) if isinstance(code, Dynamic) else (-1, -1)
    if low < 0 or high - low >= WORDS:
        raise w.error(
            f"chr() takes an int that is known to be one of at most {WORDS}, as in chr(ord('a') + "
            f"n % 26), got {describe(code)}"
        )
    order = tuple(map(chr, range(low, high + 1)))
    return word(w.binary("-", code, low), order)


_PERCENT: Final = re.compile(r"%(?:%|([-+ 0]*)(\d+)?([bcdioxXs]))")


def percent(w: Evaluator, template: str, values: Any) -> Any:
    """template % values"""
    items = list(w.items(values)) if isinstance(values, (Tuple, tuple)) else [values]
    parts: list[Any] = []
    end = 0
    for found in _PERCENT.finditer(template):
        if "%" in template[end : found.start()] or (found[0] != "%%" and not items):
            return Text(describe(values))
        parts.append(template[end : found.start()])
        end = found.end()
        if found[0] == "%%":
            parts.append("%")
            continue
        value = items.pop(0)
        letter = {"i": "d"}.get(found[3], found[3])
        flags, width = found[1] or "", found[2] or ""
        align = "<" if "-" in flags else ">" if letter in "sc" else ""
        if letter == "s" or (letter == "c" and not scalar_kind(value)):
            parts.append(written_of(w, w.call(str, value), f"{align}{width}" if width else ""))
            continue
        sign = "" if letter == "c" else "+" if "+" in flags else " " if " " in flags else ""
        zero = "0" if "0" in flags and not align else ""
        value = plain_number(w, value)
        parts.append(written_of(w, value, f"{align}{sign}{zero}{width}{letter}"))
    if items or "%" in template[end:]:
        return Text(describe(values))
    return joined(w, "", [*parts, template[end:]])


def written_of(w: Evaluator, value: Any, spec: str) -> Any:
    """format(value, spec), of any value."""
    return of_value(w, value, spec) if isinstance(value, Abstract) else format(value, spec)


def formatted(w: Evaluator, template: str, args: Sequence[Any], keywords: Any) -> Any:
    """template.format(*args, **keywords), where a field is an argument as it is given."""
    parts: list[Any] = []
    waiting = iter(args)

    def argument(field: str) -> Any:
        if field.isdigit():
            return args[int(field)] if int(field) < len(args) else None
        return keywords.get(field) if field else next(waiting, None)

    for before, field, spec, conversion in string.Formatter().parse(template):
        parts.append(before)
        if field is None:
            continue
        value = argument(field)
        fields = [(own, name) for own, name, *_ in string.Formatter().parse(spec or "")]
        within = [(own, "" if name is None else argument(name)) for own, name in fields]
        if value is None or conversion or any(isinstance(each, Abstract) for _, each in within):
            return Text(describe(tuple_of(tuple(args))))
        parts.append(written_of(w, value, "".join([f"{own}{each}" for own, each in within])))
    return joined(w, "", parts)
