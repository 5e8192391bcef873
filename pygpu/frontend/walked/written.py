"""Strings whose characters only the device knows, as Python classes, which are walked: what is
written of ints, and what is made of that.

    s = str(n)                          # Numeral: its characters are made when they are asked for
    s == s[::-1], int(s[:2]), s.count("7")
"""

from collections.abc import Iterator
from typing import Any

from pygpu.frontend.walked import asked


class Written:
    """A string by its characters, each a string of one, in a list that may have a length which
    only the device knows."""

    stands_for = str

    def __init__(self, letters: Any) -> None:
        self.letters = letters

    def __len__(self) -> int:
        return len(self.letters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.letters)

    def __reversed__(self) -> Any:
        return reversed(self.letters)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Written(self.letters[index])
        return self.letters[index]

    def __contains__(self, part: Any) -> Any:
        if len(part) == 1:
            return part[0] in self.letters
        return self.find(part) >= 0

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

    def __rmul__(self, times: Any) -> Any:
        return asked.joined("", [self] * times)

    def __str__(self) -> Any:
        return self

    def __int__(self) -> Any:
        return self.parsed(10)

    def __float__(self) -> Any:
        return float(self.parsed(10))

    def parsed(self, base: Any) -> Any:
        """int(s, base)"""
        number, sign = 0, 1
        marks = {2: "b", 8: "o", 16: "x"}  # of prefixes
        for letter in self.letters:
            if letter == "-":
                sign = -1
            elif letter != marks.get(base, "-"):
                number = number * base + int(letter, base)
        return sign * number

    def count(self, part: Any) -> Any:
        if len(part) != 1:
            asked.refuse("str.count() of more than one character", "that of a single one")
        return sum(letter == part for letter in self.letters)

    def find(self, part: Any) -> Any:
        found, size = -1, len(part)
        for start in reversed(range(asked.room(self.letters))):
            end = start + size
            if end <= len(self.letters) and all(
                self.letters[start + i] == part[i] for i in range(size)
            ):
                found = start
        return found

    def index(self, part: Any) -> Any:
        found = self.find(part)
        if found < 0:
            raise ValueError("substring not found")
        return found

    def startswith(self, part: Any) -> Any:
        size = len(part)
        if len(self.letters) < size:
            return False
        return all(self.letters[i] == part[i] for i in range(size))

    def endswith(self, part: Any) -> Any:
        size = len(part)
        if len(self.letters) < size:
            return False
        return all(self.letters[i - size] == part[i] for i in range(size))

    def isdigit(self) -> Any:
        return len(self.letters) > 0 and all(letter.isdigit() for letter in self.letters)

    def isdecimal(self) -> Any:
        return self.isdigit()

    def isnumeric(self) -> Any:
        return self.isdigit()

    def isalpha(self) -> Any:
        return len(self.letters) > 0 and all(letter.isalpha() for letter in self.letters)

    def upper(self) -> Any:
        return Written([letter.upper() for letter in self.letters])

    def lower(self) -> Any:
        return Written([letter.lower() for letter in self.letters])

    def replace(self, old: Any, new: Any) -> Any:
        if len(old) != 1 or len(new) > 1:
            asked.refuse("str.replace() of more than one character", "that of single ones")
        if len(new) == 0:
            return Written([letter for letter in self.letters if letter != old])
        return Written([new if letter == old else letter for letter in self.letters])

    def removeprefix(self, part: Any) -> Any:
        return Written(self.letters[len(part) :]) if self.startswith(part) else self

    def lstrip(self, letters: Any = " ") -> Any:
        kept: list[Any] = []
        for letter in self.letters:
            if len(kept) > 0 or letter not in letters:
                kept.append(letter)
        return Written(kept)

    def rstrip(self, letters: Any = " ") -> Any:
        backwards = Written(self.letters[::-1]).lstrip(letters)
        return Written(backwards.letters[::-1])

    def strip(self, letters: Any = " ") -> Any:
        return self.lstrip(letters).rstrip(letters)

    def zfill(self, width: Any) -> Any:
        if asked.may_begin(self, "+-"):
            asked.refuse("str.zfill() of what may begin with a sign", "that of str(n)")
        return asked.justified(self, width, "0", 1)

    def rjust(self, width: Any, filling: Any = " ") -> Any:
        return asked.justified(self, width, filling, 1)

    def ljust(self, width: Any, filling: Any = " ") -> Any:
        return asked.justified(self, width, filling, -1)

    def __getattr__(self, name: str) -> Any:
        asked.refuse_method(name)


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
