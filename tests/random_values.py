"""Random expressions and statements about values of more kinds: what may be None, choices among
known things, complex numbers, words of 32 bits, arrays, and slices that begin anywhere.

They obey the rules of `random_expressions`: numbers are multiples of 1/8 of at most 64, so that
results are equal on every target. A *word* is an integer of the whole range of 32 bits, masked at
each step, so that it is Python's number whatever holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from random_expressions import (
    BOUND,
    INT,
    NUM,
    RULES,
    SCALE,
    WORD,
    Dct,
    E,
    Expressions,
    Lst,
    Obj,
    Scalar,
    Tup,
    Type,
    Var,
)

MASK: Final = "0xFFFFFFFF"
WORDS: Final = ("1", "97", "0x80000000", "4294967295", "2166136261", "0x7FFFFFFF", "65536")
CHOICES: Final = {
    "one": ("abs", "operator.neg", "math.floor", "math.ceil", "float", "int", "adder(-1)"),
    "two": ("min", "max", "operator.add", "operator.sub", "total"),
    "word": ('"a"', '"bb"', '"ccc"'),
    "mode": ("Mode.LOW", "Mode.HIGH", "Mode.OFF"),
    "class": ("Box", "Crate"),
}


@dataclass(frozen=True)
class Opt:
    """None, or a value of a type."""

    item: Type


@dataclass(frozen=True)
class Chosen:
    """One of a few known things: see CHOICES."""

    of: str


@dataclass(frozen=True)
class Arr:
    """An array of floats."""

    size: int


class Values(Expressions):
    """Writes what is of these kinds."""

    def some_type(self, depth: int = 2) -> Type:
        if depth > 0 and self.chance(5):
            return self.pick(WORD, Opt(NUM), Opt(INT), Chosen("word"), Chosen("mode"), Arr(3))
        return super().some_type(depth)

    def make(self, type: Type, depth: int | None = None) -> str:
        depth = self.below(3) if depth is None else depth
        same = [v.name for v in self.scope if v.type == type]
        match type:
            case Opt():
                return self.made_optional(type, same, depth)
            case Chosen():
                return self.made_choice(type, same, depth)
            case Arr():
                return self.made_array(type, same, depth)
        return super().make(type, depth)

    def holding_of(self, cls: type) -> Iterator[tuple[str, Any]]:
        """Where values of a kind are held, and their types."""
        for variable in self.scope:
            if isinstance(variable.type, cls):
                yield variable.name, variable.type
            for after, item in _inside(variable):
                if isinstance(item, cls):
                    yield f"{variable.name}{after}", item

    def assign(self, variable: Var, value: str) -> None:
        self.rebind(variable)
        self.line(f"{variable.name} = {value}")

    def line(self, text: str) -> None:
        raise NotImplementedError

    # ---- None, or a value

    def made_optional(self, type: Opt, same: list[str], depth: int) -> str:
        value = super().make(type.item, depth)
        match self.below(5):
            case 0:
                return "None"
            case 1:
                return f"({value} if {self.scalar('bool', depth - 1)} else None)"
            case 2 if same:
                return f"(None if {self.scalar('bool', 0)} else {self.pick(*same)})"
            case 3 if same:
                return str(self.pick(*same))
        return value

    def value_or(self, kind: str, depth: int) -> E | None:
        """The value of what may be None, or another one."""
        kinds = ("num", "int") if kind == "num" else (kind,)
        found = [
            text
            for text, type in self.holding_of(Opt)
            if isinstance(type.item, Scalar) and type.item.kind in kinds
        ]
        if not found:
            return None
        self.inner += 1  # no assignment in what a generator iterates over
        other = self.small(kind, min(depth, 1))
        self.inner -= 1
        form = self.pick(
            "({0} if {0} is not None else {1})",
            "({1} if {0} is None else {0})",
            "({0} or {1})",
            "({0} and {0} - 1 or {1})",
            "next((u for u in ({0}, {1}) if u is not None), 1)",
        )
        return E(form.format(self.pick(*found), other), SCALE, BOUND + 1)

    def is_there(self, kind: str, depth: int) -> E | None:
        found = [text for text, _ in self.holding_of(Opt)]
        if not found:
            return None
        form = self.pick(
            "({} is None)",
            "({} is not None)",
            "(not {})",
            "bool({})",
            "({} == 2)",
            "({} != 0.5)",
            "({} in (None, 1))",
            "isinstance({}, (int, float))",
        )
        return E(form.format(self.pick(*found)), 0, 1)

    def optional(self, depth: int) -> None:
        """What may be None is made, or changes."""
        known = [v for v in self.variables(Opt) if not v.constant]
        if known and self.below(3):
            variable = self.pick(*known)
            return self.assign(variable, self.make(variable.type, 1))
        name, type = self.name(), Opt(self.pick(NUM, INT, Tup((INT, NUM))))
        self.line(f"{name} = {self.pick('None', self.make(type, 1))}")
        self.declare(name, type)
        return None

    def if_there(self, depth: int) -> None:
        """A branch on whether there is a value, which is used there."""
        found = list(self.holding_of(Opt))
        if not found:
            return self.optional(depth)
        text, type = self.pick(*found)
        test, name = self.pick("{0} is not None", "not ({0} is None)"), self.name("v")
        self.line(f"if {test.format(text)}:")
        with self.block():
            if isinstance(type.item, Tup):
                other = self.name("v")
                self.line(f"{name}, {other} = {text}")
                self.declare(name, type.item.items[0])
                self.declare(other, type.item.items[1])
            else:
                self.line(f"{name} = {text}")
                self.declare(name, type.item)
            self.body(1 + self.below(2), depth)
        return None

    # ---- choices

    def made_choice(self, type: Chosen, same: list[str], depth: int) -> str:
        one = self.pick(*CHOICES[type.of])
        match self.below(4):
            case 0:
                return str(one)
            case 1 if same:
                one = self.pick(*same)
        other = self.pick(*CHOICES[type.of])
        return f"({one} if {self.scalar('bool', min(depth, 1))} else {other})"

    def choose(self, depth: int) -> None:
        """A choice is made, or made anew."""
        known = [v for v in self.variables(Chosen) if not v.constant]
        if known and self.below(3):
            variable = self.pick(*known)
            return self.assign(variable, self.make(variable.type, 1))
        name, type = self.name(), Chosen(self.pick(*CHOICES))
        self.line(f"{name} = {self.make(type, 1)}")
        self.declare(name, type)
        return None

    def of_a_choice(self, kind: str, depth: int) -> E | None:
        """What a chosen thing gives."""
        found = list(self.holding_of(Chosen))
        if not found:
            return None
        text, type = self.pick(*found)
        a, b = self.small("num", min(depth, 1)), self.small("num", 0)
        forms = {
            "one": ("{0}({1})",),
            "two": ("{0}({1}, {2})",),
            "word": (
                '{{"a": {1}, "bb": {2}, "ccc": 2}}[{0}]',
                "len({0})",
                '("xa" + {0}).find("b")',
            ),
            "mode": ("{0}.value", "{{Mode.LOW: {1}}}.get({0}, {2})", "({1} if {0} else {2})"),
            "class": ("{0}.twice({1})", '{{"Box": {1}}}.get({0}.__name__, {2})'),
        }[type.of]
        return E(self.pick(*forms).format(text, a, b), SCALE, 2 * BOUND + 2)

    def asked_of_a_choice(self, kind: str, depth: int) -> E | None:
        found = list(self.holding_of(Chosen))
        if not found:
            return None
        text, type = self.pick(*found)
        forms = {
            "one": ("({0} is abs)", "({0} == float)", "callable({0})"),
            "two": ("({0} is max)", "({0} in (min, max))"),
            "word": ('({0} == "bb")', '({0} != "a")', '({0} in ("a", "ccc"))', '({0} < "b")'),
            "mode": ("({0} is Mode.LOW)", "({0} != Mode.HIGH)", "isinstance({0}, Mode)"),
            "class": ("({0} is Crate)", "issubclass({0}, Crate)", '({0}.__name__ == "Box")'),
        }[type.of]
        return E(self.pick(*forms).format(text), 0, 1)

    def match_choice(self, depth: int) -> None:
        found = [(t, type) for t, type in self.holding_of(Chosen) if type.of in ("word", "mode")]
        if not found:
            return self.choose(depth)
        text, type = self.pick(*found)
        self.line(f"match {text}:")
        self.depth += 1
        options = CHOICES[type.of]
        for pattern in (options[0], " | ".join(options[1:]) if self.chance(2) else "_"):
            self.line(f"case {pattern}:")
            with self.block():
                self.body(1 + self.below(2), depth)
        self.depth -= 1
        return None

    # ---- complex numbers

    def complex_number(self, depth: int) -> str:
        """A complex number with parts as variables hold."""
        a, b = self.small("num", min(depth, 1)), self.small("num", 0)
        form = self.pick(
            "complex({0}, {1})",
            "({0} + 1j * {1})",
            "complex({0}, {1}).conjugate()",
            "({0} - 0.5j)",
            "(-complex({1}, {0}))",
            "(complex({0}, 1) if {2} else complex(2, {1}))",
            "(complex({0}, {1}) if {2} else {1})",
        )
        return str(form.format(a, b, self.scalar("bool", 0)))

    def of_complex(self, kind: str, depth: int) -> E:
        z, w = self.complex_number(depth), self.complex_number(depth)
        form = self.pick(
            "({0} * {1}).real",
            "({0} * {1}).imag",
            "({0} - {1}).real",
            "({0} + {1} * 2).imag",
            "({0} * {1}.conjugate()).real",
            "sum([{0}, {1}]).imag",
            "({0} ** 2).imag",
            "({0} / 2).real",
        )
        return E(form.format(z, w), 2 * SCALE, 2 * (BOUND + 2) ** 2)

    def of_complex_tests(self, kind: str, depth: int) -> E:
        z, w = self.complex_number(depth), self.complex_number(depth)
        form = self.pick("({0} == {1})", "({0} != {1})", "bool({0})", "({0} == {0})")
        return E(form.format(z, w), 0, 1)

    # ---- words

    def word_step(self, kind: str, depth: int) -> E:
        a, b = self.scalar("word", depth), self.scalar("word", min(depth, 1))
        n = self.below(31) + 1
        form = self.pick(
            "(({0} * 1664525 + 1013904223) & {m})",
            "({0} ^ ({0} >> {n}))",
            "(({0} + {1}) & {m})",
            "(({0} ^ {1}) * 16777619 & {m})",
            "(({0} << {n}) & {m} | {0} >> (32 - {n}))",
            "({0} // {n})",
            "({0} % {k})",
            "({0} - {1} & {m})",
            "(~{0} & {m})",
            "({0} if {0} > {1} else {1})",
            "min({0}, {1})",
            "max({0}, {1})",
            "({0} % ({1} | 1))",
            "({0} // ({1} | 1))",
        )
        return E(form.format(a, b, m=MASK, n=n, k=self.pick(*WORDS)), 0, 1)

    def word_from_int(self, kind: str, depth: int) -> E:
        a = self.small("int", depth)
        return E(f"({a} & {MASK})", 0, 1)

    def int_of_word(self, kind: str, depth: int) -> E:
        a = self.scalar("word", depth)
        form = self.pick("Int({} % 61)", "Int({} >> 27)", "Int({} & 31)", "Int({} // 0x8000000)")
        return E(form.format(a), 0, BOUND)

    def word_tests(self, kind: str, depth: int) -> E:
        a, b = self.scalar("word", depth), self.scalar("word", min(depth, 1))
        symbol = self.pick("<", "<=", "==", "!=", ">", ">=")
        return E(f"({a} {symbol} {self.pick(b, *WORDS)})", 0, 1)

    # ---- arrays and slices

    def made_array(self, type: Arr, same: list[str], depth: int) -> str:
        parts = ", ".join([str(self.small("num", min(depth, 1))) for _ in range(type.size)])
        match self.below(6):
            case 1:
                return f"np.zeros({type.size})"
            case 2 if same:
                return f"{self.pick(*same)}{self.pick('.copy()', '[::-1].copy()')}"
            case 3 if same:
                a = self.pick(*same)
                return f"np.clip({a} {self.pick('+', '-')} {self.small('num', 0)}, -50, 50)"
            case 4 if same:
                a = self.pick(*same)
                return f"np.where({a} > {self.small('num', 0)}, {a}, [{parts}])"
        return f"np.array([{parts}], float)"

    def new_array(self, depth: int) -> None:
        name, type = self.name(), Arr(2 + self.below(4))
        self.line(f"{name} = {self.make(type, 1)}")
        self.declare(name, type, shared=True)

    def store_in_array(self, depth: int) -> None:
        arrays = list(self.holding_of(Arr))
        if not arrays:
            return self.new_array(depth)
        text, type = self.pick(*arrays)
        n = type.size
        value, at = self.small("num", 1), f"({self.small('int', 1)})"
        form = self.pick(
            "{a}[{at} % {n}] = {v}",
            "{a}[{at} % {m}:][:2] = {v}" if n < 2 else "{a}[1:] = {v}",
            "{a}[{a} > {v}] = {w}",
            "{a}[:] = {a}[::-1].copy()",
            "{a}[{at} % {n} - {n}] -= 1",
            "{a} += 1",
        )
        if form == "{a} += 1" and not text.isidentifier():
            form = "{a}[:] = {v}"
        if form == "{a} += 1":
            owner = next(v for v in self.scope if v.name == text)
            if owner.constant or owner.level < self.level:
                form = "{a}[:] = {v}"
        w = self.small("num", 0)
        self.line(form.format(a=text, at=at, n=n, m=n - 1, v=value, w=w))
        self.line(f"{text}[:] = np.clip({text}, -60, 60)")
        return None

    def of_array(self, kind: str, depth: int) -> E | None:
        arrays = list(self.holding_of(Arr))
        if not arrays:
            return None
        text, type = self.pick(*arrays)
        n, at = type.size, f"({self.small('int', min(depth, 1))})"
        form = self.pick(
            "{a}.sum()",
            "{a}.max()",
            "{a}[{at} % {n}]",
            "np.sort({a})[0]",
            "({a} @ {a}[::-1]) / 64",
            "{a}[{a} > 0].sum()",
            "np.cumsum({a})[-1]",
            "max({a})",
            "sum({a})",
            "{a}[::2].min()",
            "float(np.argmax({a}))",
            "np.abs({a}).sum()",
        )
        scale = 2 * SCALE + 6 if "@" in form else SCALE
        return E(form.format(a=text, at=at, n=n), scale, (n + 1) * BOUND)

    def slicing(self, depth: int) -> None:
        """A fold of a few elements that begin at an index that is not known."""
        start, name = self.name("k"), self.name("v")
        self.line(f"{start} = ({self.small('int', 1)}) % 3")
        self.declare(start, INT, constant=True)
        parts = ", ".join([str(self.small("num", 0)) for _ in range(5)])
        form, bound = self.pick(
            ("sum(TABLE[{k}:{k} + 3])", 27),
            ("max(TABLE[{k}:{k} + 2])", 9),
            ("[{parts}][{k}:{k} + 2][1]", BOUND),
            ("max([{parts}][{k}:])", BOUND),
            ("sum([{parts}][:{k}])", 5 * BOUND),
            ("np.array([{parts}])[{k}:{k} + 3].sum()", 3 * BOUND),
            ("np.array([{parts}])[{k} + 1:{k} + 3][::-1][0]", BOUND),
            ("np.array([[{parts}], [{parts}]])[{k} % 2, 1:].max()", BOUND),
            ("GRID[{k} % 2, 1:].sum()", 8),
            ("GRID[:, {k}].max()", 4),
            ("GRID[{k} % 2].sum()", 8),
            ("GRID[{k} % 2, {k} % 2:{k} % 2 + 2].min()", 4),
            ("sum(({parts})[{k}:{k} + 2])", 2 * BOUND),
            ("(BYTES[{k}] / 8)", 32),
            ("((BYTES[{k}].astype(int) - BYTES[3 - {k}]) / 8)", 32),
            ("(float(BYTES[{k}]) / 8 + BYTES[1] / 4)", 96),
        )
        value = E(form.format(k=start, parts=parts), SCALE, bound)
        self.line(f"{name} = {self.fit('num', value)}")
        self.declare(name, NUM)


def _inside(variable: Var) -> Iterator[tuple[str, Type]]:
    """What a container holds: how it is reached, and its type."""
    match variable.type:
        case Tup() | Lst():
            yield from ((f"[{index}]", item) for index, item in enumerate(variable.type.items))
        case Dct():
            yield from ((f"[{key!r}]", item) for key, item in variable.type.items.items())
        case Obj():
            yield from ((f".{name}", item) for name, item in variable.type.cls.fields.items())


V = Values
ALL_RULES: Final[dict[str, Any]] = {
    "int": (*RULES["int"], V.value_or, V.int_of_word),
    "num": (
        *RULES["num"],
        V.value_or,
        V.value_or,
        V.of_a_choice,
        V.of_a_choice,
        V.of_complex,
        V.of_array,
        V.of_array,
    ),
    "bool": (
        *RULES["bool"],
        V.is_there,
        V.asked_of_a_choice,
        V.of_complex_tests,
        V.word_tests,
    ),
    "word": (V.word_step, V.word_step, V.word_step, V.word_from_int, V.choice, V.called, V.item),
}
Values.rules = ALL_RULES
VALUE_STATEMENTS: Final = (
    V.optional,
    V.optional,
    V.choose,
    V.choose,
    V.new_array,
    V.store_in_array,
    V.slicing,
)
VALUE_BLOCKS: Final = (V.if_there, V.match_choice)
