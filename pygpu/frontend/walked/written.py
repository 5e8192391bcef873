"""Strings whose characters only the device knows, as Python classes, which are walked: what is
written of ints, and what is made of that. And bytes, bytearrays and arrays of one kind of number.

    s = str(n)                          # Numeral: its characters are made when they are asked for
    s == s[::-1], int(s[:2]), s.count("7")
    memory = bytearray(8)
    memory[k] = n & 255
"""

import array
import struct
from collections.abc import Iterator
from typing import Any

from pygpu.frontend.walked import asked
from pygpu.frontend.walked.containers import Sequence, hold
from pygpu.language.scalars import UInt


class Written:
    """A string by its characters, each a string of one, in a list that may have a length which
    only the device knows."""

    stands_for = str
    number: Any = None  # whose digits they are

    def __init__(self, letters: Any) -> None:
        self.letters = letters

    def __len__(self) -> int:
        return len(self.letters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.letters)

    def __reversed__(self) -> Any:
        return reversed(self.letters)

    def __getitem__(self, index: Any) -> Any:
        found = self.letters[index]
        return Written(found) if isinstance(index, slice) else found

    def __contains__(self, part: Any) -> Any:
        return part[0] in self.letters if len(part) == 1 else self.find(part) >= 0

    def __eq__(self, other: object) -> Any:
        return isinstance(other, str) and self.letters == list(other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __lt__(self, other: Any) -> Any:
        return asked.before(self, other)

    def __gt__(self, other: Any) -> Any:
        return asked.before(other, self)

    def __le__(self, other: Any) -> Any:
        return not asked.before(other, self)

    def __ge__(self, other: Any) -> Any:
        return not asked.before(self, other)

    def __hash__(self) -> int:
        return 0

    def __add__(self, other: Any) -> Any:
        return asked.joined("", [self, other])

    def __radd__(self, other: Any) -> Any:
        return asked.joined("", [other, self])

    def __mul__(self, times: Any) -> Any:
        return asked.joined("", [self] * times)

    __rmul__ = __mul__

    def __str__(self) -> Any:
        return self

    def __int__(self) -> Any:
        return self.parsed(10)

    def __float__(self) -> Any:
        return float(self.parsed(10))

    def parsed(self, base: Any) -> Any:
        """int(s, base)"""
        if not self.letters:
            raise ValueError(f"invalid literal for int() with base {base}: ''")
        is_own = self.number is not None
        is_long = isinstance(self.number, UInt) if is_own else asked.greatest(self, base) >= 2**31
        number, sign = UInt(0) if is_long else 0, 1
        marks = {2: "b", 8: "o", 16: "x"}  # of prefixes
        for letter in self.letters:
            if letter == "-":
                sign = -1
            elif letter != marks.get(base, "-"):
                number = number * base + asked.digit(letter, base)
        return sign * number

    def encode(self, encoding: Any = "utf-8", errors: Any = "strict") -> Any:
        return bytes([ord(letter) for letter in self.letters])

    def count(self, part: Any, *bounds: Any) -> Any:
        letters, size = self.letters, len(part)
        if size == 1 and not bounds:
            return sum(letter == part for letter in letters)
        low, high = asked.bounds(len(letters), *bounds)
        if size == 0:
            return max(high - low + 1, 0) if low <= len(letters) else 0
        found, free = 0, low
        for start in range(asked.room(letters)):
            fits = free <= start and start + size <= high
            if fits and self._is_at(start, part):
                found += 1
                free = start + size
        return found

    def find(self, part: Any, *bounds: Any) -> Any:
        return self._last(part, reversed(range(asked.room(self.letters))), bounds)

    def rfind(self, part: Any, *bounds: Any) -> Any:
        return self._last(part, range(asked.room(self.letters)), bounds)

    def _last(self, part: Any, starts: Any, bounds: Any) -> Any:
        """The last of some places where it begins with a part; -1 where there is none."""
        found, size = -1, len(part)
        low, high = asked.bounds(len(self.letters), *bounds)
        for start in starts:
            fits = low <= start and start + size <= high
            if fits and self._is_at(start, part):
                found = start
        return found

    def _is_at(self, start: Any, part: Any) -> Any:
        """Whether a part stands at a place, from which there are as many characters."""
        return all(self.letters[start + i] == part[i] for i in range(len(part)))

    def index(self, part: Any, *bounds: Any) -> Any:
        return _there(self.find(part, *bounds))

    def rindex(self, part: Any, *bounds: Any) -> Any:
        return _there(self.rfind(part, *bounds))

    def startswith(self, part: Any, *bounds: Any) -> Any:
        if isinstance(part, tuple):
            return any(self.startswith(each, *bounds) for each in part)
        size = len(part)
        low, high = asked.bounds(len(self.letters), *bounds)
        return low + size <= high and self._is_at(low, part)

    def endswith(self, part: Any, *bounds: Any) -> Any:
        if isinstance(part, tuple):
            return any(self.endswith(each, *bounds) for each in part)
        size = len(part)
        low, high = asked.bounds(len(self.letters), *bounds)
        return low + size <= high and self._is_at(high - size, part)

    def isdigit(self) -> Any:
        return len(self.letters) > 0 and all(letter.isdigit() for letter in self.letters)

    isdecimal = isnumeric = isdigit

    def isspace(self) -> Any:
        return len(self.letters) > 0 and all(letter.isspace() for letter in self.letters)

    def islower(self) -> Any:
        has_some = any(letter.islower() for letter in self.letters)
        return has_some and not any(letter.isupper() for letter in self.letters)

    def isupper(self) -> Any:
        has_some = any(letter.isupper() for letter in self.letters)
        return has_some and not any(letter.islower() for letter in self.letters)

    def isalpha(self) -> Any:
        return len(self.letters) > 0 and all(letter.isalpha() for letter in self.letters)

    def isalnum(self) -> Any:
        return len(self.letters) > 0 and all(letter.isalnum() for letter in self.letters)

    def partition(self, part: Any) -> Any:
        place = self.find(part)
        if place < 0:
            return self, "", ""
        return self[:place], part, self[place + len(part) :]

    def rpartition(self, part: Any) -> Any:
        place = self.rfind(part)
        if place < 0:
            return "", "", self
        return self[:place], part, self[place + len(part) :]

    def upper(self) -> Any:
        return Written([letter.upper() for letter in self.letters])

    def lower(self) -> Any:
        return Written([letter.lower() for letter in self.letters])

    casefold = lower

    def swapcase(self) -> Any:
        return Written([letter.swapcase() for letter in self.letters])

    def capitalize(self) -> Any:
        return asked.joined("", [self[:1].upper(), self[1:].lower()])

    def title(self) -> Any:
        letters, is_within = [], False
        for letter in self.letters:
            letters.append(letter.lower() if is_within else letter.upper())
            is_within = letter.isalpha()
        return Written(letters)

    def replace(self, old: Any, new: Any) -> Any:
        if len(old) != 1 or len(new) > 1:
            asked.refuse("str.replace() of more than one character", "that of single ones")
        if len(new) == 0:
            return Written([letter for letter in self.letters if letter != old])
        return Written([new if letter == old else letter for letter in self.letters])

    def removeprefix(self, part: Any) -> Any:
        return Written(self.letters[len(part) :]) if self.startswith(part) else self

    def removesuffix(self, part: Any) -> Any:
        return self[: len(self) - len(part)] if self.endswith(part) else self

    def lstrip(self, letters: Any = " ") -> Any:
        kept: list[Any] = []
        for letter in self.letters:
            if len(kept) > 0 or letter not in letters:
                kept.append(letter)
        return Written(kept)

    def rstrip(self, letters: Any = " ") -> Any:
        return Written(Written(self.letters[::-1]).lstrip(letters).letters[::-1])

    def strip(self, letters: Any = " ") -> Any:
        return self.lstrip(letters).rstrip(letters)

    def zfill(self, width: Any) -> Any:
        letters = self.letters
        if asked.may_begin(self, "+-") and len(letters) > 0 and letters[0] in "+-":
            digits = asked.justified(Written(letters[1:]), width - 1, "0", 1)
            return asked.joined("", [letters[0], digits])
        return asked.justified(self, width, "0", 1)

    def rjust(self, width: Any, filling: Any = " ") -> Any:
        return asked.justified(self, width, filling, 1)

    def ljust(self, width: Any, filling: Any = " ") -> Any:
        return asked.justified(self, width, filling, -1)

    def center(self, width: Any, filling: Any = " ") -> Any:
        missing = max(width - len(self), 0)
        left = missing // 2 + (missing & width & 1)
        return asked.joined("", [filling * left, self, filling * (missing - left)])

    def translate(self, table: Any) -> Any:
        return "".join([letter.translate(table) for letter in self.letters])

    def split(self, sep: Any = None, maxsplit: Any = -1) -> Any:
        return asked.split(self, sep, maxsplit)

    def __getattr__(self, name: str) -> Any:
        asked.refuse_method(name)


def _there(place: Any) -> Any:
    if place < 0:
        raise ValueError("substring not found")
    return place


class Numeral(Written):
    """What an int is written as."""

    def __init__(self, number: Any, form: Any) -> None:
        self.number = number
        self.form = form

    @property
    def letters(self) -> Any:
        return asked.letters(self.number, self.form)

    def __len__(self) -> Any:
        return asked.count(self.number, self.form)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if index.start is None and index.stop is None and index.step == -1:
                return Written(asked.letters(self.number, self.form, True))
            return Written(self.letters[index])
        return asked.letter(self.number, self.form, index)

    def __reversed__(self) -> Any:
        return iter(asked.letters(self.number, self.form, True))

    def zfill(self, width: Any) -> Any:
        return asked.filled(self.number, self.form, width)


class Joined(Written):
    """Strings one after the other, of which some only the device knows."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    @property
    def letters(self) -> Any:
        return asked.letters_of_all(self.parts)


# ---------------------------------------------------------------- bytes, and arrays of a kind

STEPS = {"little": 1, "big": -1}
_RANGES = {"b": (-128, 127), "B": (0, 255), "h": (-(2**15), 2**15 - 1), "H": (0, 2**16 - 1)}


class Bytes(Sequence):
    """bytes"""

    stands_for: Any = bytes

    def __init__(self, source: Any = (), *encoding: Any) -> None:
        if isinstance(source, str):
            source = source.encode(*encoding)
        if isinstance(source, int):
            source = [0] * source
        hold(self, [self.stored(value) for value in source])

    def stored(self, value: Any) -> Any:
        """What is held of an item."""
        if not isinstance(value, int):
            raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        asked.holds(0 <= value <= 255, ValueError, "byte must be in range(0, 256)")
        return value

    def of(self, items: Any) -> Any:
        """Another one of some items."""
        return type(self)(items)

    def __getitem__(self, index: Any) -> Any:
        found = self.held_in_c[index]
        return self.of(found) if isinstance(index, slice) else found

    def __getattr__(self, name: str) -> Any:
        return asked.other(self, name)

    def __add__(self, other: Any) -> Any:
        return self.of([*self.held_in_c, *other])

    def __mul__(self, times: Any) -> Any:
        return self.of(self.held_in_c * times)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Any:
        kinds = bytes, bytearray, array.array
        return isinstance(other, kinds) and self.held_in_c == list(other)


class ByteArray(Bytes):
    """bytearray"""

    stands_for: Any = bytearray

    def __setitem__(self, index: Any, value: Any) -> None:
        is_slice = isinstance(index, slice)
        self.held_in_c[index] = [*map(self.stored, value)] if is_slice else self.stored(value)

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def append(self, value: Any) -> None:
        self.held_in_c.append(self.stored(value))

    def extend(self, values: Any) -> None:
        for value in values:
            self.append(value)

    def insert(self, index: Any, value: Any) -> None:
        self.held_in_c.insert(index, self.stored(value))

    def pop(self, index: Any = -1) -> Any:
        return self.held_in_c.pop(index)


class TypedArray(ByteArray):
    """array.array"""

    stands_for: Any = array.array

    def __init__(self, typecode: Any, values: Any = ()) -> None:
        hold(self, typecode, "typecode")
        if typecode in ("u", "w"):
            asked.refuse("an array of characters", "a list")
        hold(self, [self.stored(value) for value in values])

    def of(self, items: Any) -> Any:
        return TypedArray(self.typecode, items)

    def stored(self, value: Any) -> Any:
        if self.typecode in ("f", "d"):
            return float(value)
        if not isinstance(value, int):
            raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        if self.typecode in _RANGES:
            low, high = _RANGES[self.typecode]
            fits = low <= value <= high
            asked.holds(fits, OverflowError, f"the item is not between {low} and {high}")
        elif self.typecode in ("I", "L", "Q"):
            asked.holds(value >= 0, OverflowError, "can't convert negative value to unsigned int")
        return value

    @property
    def itemsize(self) -> Any:
        return struct.calcsize(self.typecode)

    def tolist(self) -> Any:
        return list(self.held_in_c)

    fromlist = ByteArray.extend
