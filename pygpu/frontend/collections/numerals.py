"""What an int is written as: its characters, one for each digit, of which only the device knows
which they are and how many.

    form = Form(10, 10, signed=True)
    count(w, n, form)                   # len(str(n))
    letters(w, n, form)                 # a Bounded of at least one and at most eleven characters
    letter(w, n, form, -1)              # the last one: a Choice of "-", "0" to "9"

Counted from the right a digit is `n // base**k % base`, which costs a division by a known number.
Counted from the left it is one of n shifted to the left as far as it goes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Natural, tuple_of
from pygpu.language.scalars import Int, UInt

with later():
    from pygpu.frontend.walked import special

_SIGN: Final = "-"
_DIGITS: Final = "0123456789abcdef"
_POWERS: Final = tuple([10**place for place in range(10)])
_BITS: Final = {2: 1, 8: 3, 16: 4}  # of a digit, by base
_MOST: Final = {2: 32, 8: 11, 10: 10, 16: 8}  # digits that 32 bits have, by base


@record
class Form:
    """How an int is written: `most` is how many digits it has at the most, `width` to how many
    characters, the sign among them, it is filled up by zeros. The prefix stands after the sign."""

    base: int
    most: int
    signed: bool
    width: int = 0
    prefix: str = ""
    is_upper: bool = False
    digits: int = 0  # of which a single one is: 2 of `int(c)`; 0: as many as the base has

    @property
    def slots(self) -> int:
        """Digits at the most, zeros in front of them included."""
        return max(self.most, self.width - len(self.prefix))

    @property
    def least(self) -> int:
        """Digits at the least."""
        return max(1, self.width - len(self.prefix) - self.signed)

    @property
    def alphabet(self) -> str:
        """All characters there may be, in ascending order."""
        known = _SIGN * self.signed + _DIGITS[: self.digits or self.base]
        if self.signed:  # what is moved by a sign is chosen, too
            known += "".join([one for one in self.prefix if one not in known])
        return known.upper() if self.is_upper else known


_form = functools.cache(Form)  # one object for equal ones: where paths meet they are one value


def form_of(
    w: Evaluator, number: Any, base: int = 10, width: int = 0, prefix: str = "", is_upper: Any = 0
) -> Form | None:
    """How an int is written without more characters than needed; None where it cannot be done."""
    most, signed, few = _MOST[base], not ranges.is_natural(w, number), 0
    if isinstance(number, Dynamic):
        low, high = ranges.range_of(w, number.value)
        most = len(format(max(-low, high), {2: "b", 8: "o", 10: "d", 16: "x"}[base]))
        few = high + 1 if most == 1 and not signed else 0
    form = _form(base, most, signed, width, prefix, bool(is_upper), few)
    is_long = base == 10 and signed and form.slots > _MOST[base]
    return None if form.slots > 64 or is_long else form


def form_of_all(forms: Sequence[Form]) -> Form | None:
    """The form of what is one of several numbers; None where they are written in several ways."""
    styles = {(form.base, form.width, form.prefix, form.is_upper) for form in forms}
    base, *style = styles.pop()
    most, signed = max(form.most for form in forms), any(form.signed for form in forms)
    return None if styles else _form(base, most, signed, *style)


# ---------------------------------------------------------------- numbers of digits


def count(w: Evaluator, number: Any, form: Form) -> Any:
    """How many characters there are."""
    made = _count_digits(w, _size(w, number, form), number, form)
    made = w.binary("+", made, len(form.prefix)) if form.prefix else made
    if form.signed:
        made = w.binary("+", made, w.choose(_is_negative(w, number), 1, 0))
    return Natural(made.value) if isinstance(made, Dynamic) else made


def _is_negative(w: Evaluator, number: Any) -> Any:
    return w.compare("<", number, 0)


def _size(w: Evaluator, number: Any, form: Form) -> Any:
    """The number without its sign."""
    if not form.signed:
        return number
    back = w.choose(_is_negative(w, number), w.unary("-", number), number)
    is_small = form.base == 10 and form.most < 10
    return back if is_small else w.call(UInt, back)


def _count_digits(w: Evaluator, size: Any, number: Any, form: Form) -> Any:
    digits: Any = 1
    if form.base in _BITS and form.most > 1:
        bits, length = _BITS[form.base], w.call(special.bit_length, size)
        digits = w.binary("//", w.binary("+", length, bits - 1), bits)
        digits = w.call(max, w.call(Int, digits), 1)
    elif form.base == 10:
        for power in _POWERS[1 : form.most]:
            digits = w.binary("+", digits, w.choose(w.compare(">=", size, power), 1, 0))
    filled: Any = form.width - len(form.prefix)
    if filled <= 1:
        return digits
    if form.signed:
        filled = w.choose(_is_negative(w, number), filled - 1, filled)
    elif filled >= form.most:
        return filled
    return w.call(max, digits, filled)


# ---------------------------------------------------------------- digits


def _from_right(w: Evaluator, size: Any, form: Form, place: Any) -> Any:
    """The digit that has as many behind it as `place` says."""
    if form.base in _BITS:
        bits = _BITS[form.base]
        if not isinstance(place, Abstract) and place * bits >= 32:
            return 0
        moved = w.binary(">>", size, w.binary("*", place, bits))
        return _as_int(w, w.binary("&", moved, form.base - 1))
    if isinstance(place, Abstract):
        power = w.item(_POWERS, place)
    elif place < len(_POWERS):
        power = _POWERS[place]
    else:
        return 0
    is_first = not isinstance(place, Abstract) and place == 0
    moved = size if is_first else w.binary("//", size, power)
    is_last = not isinstance(place, Abstract) and place == form.most - 1
    return _as_int(w, moved if is_last else w.binary("%", moved, 10))


def _as_int(w: Evaluator, digit: Any) -> Any:
    return w.call(Int, digit) if scalar_kind(digit) == "uint" else digit


def _from_left(w: Evaluator, size: Any, length: Any, form: Form) -> list[Any]:
    """The digits in order; those behind the last one are anything."""
    slots = form.slots
    if not isinstance(length, Abstract):
        return [_from_right(w, size, form, length - 1 - at) for at in range(length)]
    if form.base in _BITS:
        last = [w.binary("-", length, at + 1) for at in range(slots)]
        return [_from_right(w, size, form, w.call(max, place, 0)) for place in last]
    most = min(slots, 9)  # digits that 32 bits have room for, whatever they are
    gap = w.call(max, w.binary("-", most, length), 0)
    moved = w.binary("*", size, w.item(_POWERS, gap))
    if slots > most:
        moved = w.choose(w.compare(">", length, most), w.binary("//", size, 10), moved)
    digits = []
    for at in range(most):
        digit = w.binary("//", moved, _POWERS[most - 1 - at]) if at < most - 1 else moved
        digits.append(_as_int(w, w.binary("%", digit, 10) if at else digit))
    return digits + [_as_int(w, w.binary("%", size, 10))] * (slots - most)


# ---------------------------------------------------------------- characters


def _letter(w: Evaluator, which: Any, form: Form) -> Any:
    """A character of the alphabet."""
    if not isinstance(which, Abstract):
        return form.alphabet[which]
    assert isinstance(which, Dynamic)
    return Choice(which, tuple(form.alphabet), "it is a character of a number")


def letters(w: Evaluator, number: Any, form: Form, backwards: bool = False) -> Any:
    """All characters, as what a list holds; backwards where `[::-1]` asks for that."""
    size = _size(w, number, form)
    length = _count_digits(w, size, number, form)
    if backwards:
        digits = [_from_right(w, size, form, place) for place in range(form.slots)]
    else:
        digits = _from_left(w, size, length, form)
    if form.signed:
        return _signed(w, number, digits, length, form, backwards)
    found = [_letter(w, digit, form) for digit in digits]
    if not backwards:
        return _slots(w, [*form.prefix, *found], length, len(form.prefix), form)
    made = _slots(w, found, length, 0, form)
    if not form.prefix:
        return made
    made = made if isinstance(made, Bounded) else Bounded(made, *[len(made)] * 3)
    return lists.appended(w, made, form.prefix[::-1])


def _slots(w: Evaluator, items: list[Any], length: Any, more: int, form: Form) -> Any:
    """The first of some characters, as many as there are digits and `more`."""
    if not isinstance(length, Abstract):
        return tuple(items[: length + more])
    length = w.binary("+", length, more) if more else length
    return Bounded(tuple(items), length, form.least + more, len(items))


def _signed(
    w: Evaluator, number: Any, digits: list[Any], length: Any, form: Form, backwards: bool
) -> Bounded:
    """Characters, with a sign where the number has one."""
    negative = _is_negative(w, number)
    alphabet = form.alphabet
    others = [alphabet.index(one) for one in form.prefix]
    shown = [w.binary("+", digit, 1) for digit in digits]
    slots = []
    if backwards:
        ends = [*others[::-1], 0, 0]
        for at in range(len(shown) + len(others) + 1):
            one: Any = shown[at] if at < len(shown) else 0
            for behind in range(len(others) + 1):
                if at - behind >= 0:
                    here = w.compare("==", length, at - behind)
                    one = w.choose(here, ends[behind], one)
            slots.append(_letter(w, one, form))
    else:
        plain = [*others, *shown, 0]
        for at, one in enumerate(plain):
            slots.append(_letter(w, w.choose(negative, plain[at - 1] if at else 0, one), form))
    whole = w.binary("+", length, w.choose(negative, len(others) + 1, len(others)))
    least = form.least + len(others)
    return Bounded(tuple(slots), whole, least, len(slots))


def letter(w: Evaluator, number: Any, form: Form, index: Any) -> Any:
    """One of the characters."""
    is_known = not isinstance(index, Abstract)
    if form.signed or form.prefix or (is_known and index >= 0):
        held = letters(w, number, form)
        if isinstance(held, Bounded):
            return lists.item(w, held, index)
        return w.item(tuple_of(held), index)
    size = _size(w, number, form)
    length = _count_digits(w, size, number, form)
    if not is_known:
        back = w.binary("-", w.binary("-", length, 1), index)
        place = w.choose(w.compare("<", index, 0), w.binary("-", -1, index), back)
    else:
        place = -1 - index
        if place >= form.slots:
            raise IndexError("string index out of range")
    if not is_known or place >= form.least:
        outside = w.compare(">=", place, length)
        outside = outside if is_known else w.choose(w.compare("<", place, 0), True, outside)
        w.check(outside, IndexError, "string index out of range")
    if not is_known:
        place = w.call(min, w.call(max, place, 0), form.slots - 1)
    return _letter(w, _from_right(w, size, form, place), form)
