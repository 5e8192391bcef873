"""Random expressions of given types, as text; `random_programs` writes statements around them.

Every expression carries the power of two that it is a multiple of and a bound: where float32 would
have to round, a step that makes it small again is put around it. Variables hold multiples of 1/8
of at most 64, so results are equal on every target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

BOUNDARIES = ("nearest", "reflect", "mirror", "wrap", "constant")
EXACT = 2**21  # an expression times its denominator stays below this
BOUND = 64  # of what a variable holds
SCALE = 3  # variables hold multiples of 2**-SCALE
EFFORT = 160  # statements walked, loops unrolled and calls inlined, at most


# ---------------------------------------------------------------- types


@dataclass(frozen=True)
class Scalar:
    """A bool, an int, a num (an int or float, which may change from one to the other) or a word
    (an int from 0 to 2**32 - 1)."""

    kind: str


@dataclass(frozen=True)
class Tup:
    """A tuple of values that cannot change; with a name, a named tuple of first, second ..."""

    items: tuple[Any, ...]
    name: str = ""


@dataclass
class Lst:
    """A list; variables that are the same list share this object."""

    items: list[Any]
    walked: int = field(default=0, compare=False)  # loops over it: it must not grow meanwhile


@dataclass
class Dct:
    items: dict[str, Any]


@dataclass(frozen=True)
class Vec:
    size: int


@dataclass(frozen=True)
class Fn:
    """A function. `effort` is what a call costs to walk; with `pictures` it is given the images
    and the position first."""

    params: tuple[tuple[str, Any], ...]
    returns: Any
    effort: int
    pictures: bool = False


@dataclass(frozen=True)
class Class:
    name: str
    fields: dict[str, Any]
    methods: dict[str, Fn] = field(default_factory=dict)
    properties: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Obj:
    cls: Class


Type = Any
BOOL, INT, NUM, WORD = Scalar("bool"), Scalar("int"), Scalar("num"), Scalar("word")
HOLDS = {  # what may stand for a kind
    "num": (NUM, INT),
    "int": (INT,),
    "bool": (BOOL,),
    "word": (WORD,),
}


def is_flat(items: Sequence[Type]) -> bool:
    return all(isinstance(item, Scalar) for item in items)


def is_alike(items: Sequence[Type]) -> bool:
    return bool(items) and is_flat(items) and all(item == items[0] for item in items)


def common(items: Sequence[Type]) -> Type | None:
    """The type that holds any of the items; None if there is none."""
    if all(item == items[0] for item in items):
        return items[0]
    return NUM if all(item in HOLDS["num"] for item in items) else None


def fresh(type: Type) -> Type:
    """The type for a new value: lists and dicts may grow on their own."""
    match type:
        case Lst():
            return Lst([fresh(item) for item in type.items])
        case Dct():
            return Dct({key: fresh(item) for key, item in type.items.items()})
    return type


@dataclass
class Var:
    name: str
    type: Type
    region: int  # what runs whenever the assignment has run; -1: must not grow
    level: int  # of the function that it belongs to
    constant: bool = False  # not to be assigned
    shared: bool = False  # what it holds has another name
    below: int = 0  # a known index less than this, from a loop


@dataclass(frozen=True)
class E:
    """An expression: a multiple of 2**-scale, not larger than bound."""

    text: str
    scale: int = 0
    bound: int = BOUND

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Path:
    """What holds a scalar: a variable, an attribute, an item."""

    text: str
    kind: str
    writable: bool
    variable: Var


# ---------------------------------------------------------------- the writer of expressions


class Expressions:
    """Writes expressions. `below(n)` chooses a number less than n; 0 is the simplest choice."""

    rules: dict[str, tuple[Rule, ...]]  # for scalars of each kind

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below
        self.scope: list[Var] = []
        self.classes: list[Class] = []
        self.region = self.regions = 0
        self.level = 0  # of functions in functions
        self.inner = 0  # lambdas and comprehensions around the expression
        self.pictures = False  # whether im, rgb and p are in sight
        self.times = 1  # how often what is being written is walked
        self.effort = 0
        self.limit = EFFORT  # of the effort
        self.names = 0
        self.room = 0  # operations that the expression may still have
        self.written: set[str] = set()  # variables of outer functions that are assigned

    # ---- choices and names

    def pick(self, *options: Any) -> Any:
        return options[self.below(len(options))]

    def chance(self, one_in: int) -> bool:
        return self.below(one_in) == one_in - 1

    def name(self, prefix: str = "") -> str:
        """A name that nothing in sight has: a new one, or one that something once had."""
        if not prefix and self.below(3):
            taken = {variable.name for variable in self.scope}
            free = [n for n in (f"{c}{self.level or ''}" for c in "abcdejkw") if n not in taken]
            if free:
                return self.pick(*free)  # type: ignore[no-any-return]
        self.names += 1
        return f"{prefix or 'v'}{self.names}"

    def declare(self, name: str, type: Type, region: int | None = None, **more: Any) -> Var:
        variable = Var(name, type, self.region if region is None else region, self.level, **more)
        self.scope.append(variable)
        return variable

    @contextmanager
    def inside(self, name: str, type: Type, **more: Any) -> Iterator[None]:
        """The body of a lambda or comprehension with a variable of its own."""
        known = len(self.scope)
        self.inner += 1
        self.declare(name, type, constant=True, **more)
        yield
        self.inner -= 1
        del self.scope[known:]

    # ---- what is in sight

    def variables(self, *types: Any) -> list[Var]:
        return [variable for variable in self.scope if isinstance(variable.type, types)]

    def paths(self, kind: str = "num", writable: bool = False) -> list[Path]:
        kinds = [type.kind for type in HOLDS[kind]]
        return [
            path
            for variable in self.scope
            for path in self.parts(variable.name, variable.type, variable, not variable.constant)
            if path.kind in kinds and (path.writable or not writable)
        ]

    def parts(self, text: str, type: Type, variable: Var, writable: bool) -> Iterator[Path]:
        match type:
            case Scalar():
                yield Path(text, type.kind, writable, variable)
            case Tup() | Lst():
                for index, item in enumerate(type.items):
                    inside = f"{text}[{index}]"
                    if isinstance(type, Tup) and type.name:
                        inside = f"{text}.{('first', 'second')[index]}"
                    yield from self.parts(inside, item, variable, isinstance(type, Lst))
                if isinstance(type, Lst) and is_alike(type.items):
                    for index_of in self.scope:
                        if 0 < index_of.below <= len(type.items):
                            inside = f"{text}[{index_of.name}]"
                            yield Path(inside, type.items[0].kind, True, variable)
            case Dct():
                for key, item in type.items.items():
                    yield from self.parts(f"{text}[{key!r}]", item, variable, True)
            case Vec():
                for letter in "xyzw"[: type.size]:
                    yield Path(f"{text}.{letter}", "num", True, variable)
            case Obj():
                for name, item in type.cls.fields.items():
                    yield from self.parts(f"{text}.{name}", item, variable, True)

    def target(self, path: Path) -> str:
        """The path as a target of an assignment."""
        if path.text == path.variable.name:
            self.rebind(path.variable)
        return path.text

    def rebind(self, variable: Var) -> None:
        if variable.level < self.level:
            self.written.add(variable.name)

    # ---- scalars

    def fit(self, kind: str, e: E) -> E:
        """The expression, small enough for a variable."""
        text, scale, bound = e.text, e.scale, e.bound
        if kind in ("bool", "word"):
            return e
        if scale > SCALE:
            text = self.pick(f"(math.floor({text} * 8) / 8)", f"({text} * 8 // 1 / 8)")
            scale = SCALE
        if bound > BOUND:
            bound = 60
            text = self.pick(
                f"max(-60, min(60, {text}))", f"({text} % 32)", f"min(max({text}, -50), 50)"
            )
        return E(text, scale, bound)

    def scalar(self, kind: str, depth: int | None = None) -> E:
        """An expression of a kind."""
        depth = self.below(4) if depth is None else depth
        if depth <= 0 or self.room <= 0:
            return self.atom(kind)
        self.room -= 1
        rule = self.pick(*self.rules[kind])
        return rule(self, kind, depth - 1) or self.atom(kind)  # type: ignore[no-any-return]

    def small(self, kind: str, depth: int | None = None) -> E:
        return self.fit(kind, self.scalar(kind, depth))

    def atom(self, kind: str) -> E:
        paths = self.paths(kind)
        if paths and self.below(6):
            path = self.pick(*reversed(paths))
            return E(path.text, SCALE if path.kind == "num" else 0, BOUND)
        if kind == "bool":
            return E(self.pick("False", "True"), 0, 1)
        if kind == "word":
            return E(self.pick("1", "97", "0x80000000", "4294967295", "2166136261"), 0, 1)
        if kind == "int" or self.chance(2):
            return E(*self.pick(("0", 0, 0), ("1", 0, 1), ("2", 0, 2), ("-3", 0, 3), ("5", 0, 5)))
        return E(*self.pick(("0.5", 1, 1), ("1.0", 0, 1), ("-0.25", 2, 1), ("2.5", 1, 3)))

    def two(self, kind: str, depth: int) -> tuple[E, E]:
        return self.scalar(kind, depth), self.scalar(kind, depth)

    def arithmetic(self, kind: str, depth: int) -> E:
        symbol = self.pick("+", "-", "*")
        a, b = self.two(kind, depth)
        if self.chance(6):
            a = self.scalar("bool", depth)
        while True:
            scale, bound = max(a.scale, b.scale), a.bound + b.bound
            if symbol == "*":
                scale, bound = a.scale + b.scale, a.bound * b.bound
            if bound << scale <= EXACT:
                return E(f"({a} {symbol} {b})", scale, bound)
            a, b = self.fit(kind, a), self.fit(kind, b)

    def extreme(self, kind: str, depth: int) -> E:
        parts = [self.scalar(kind, depth) for _ in range(2 + self.below(2))]
        scale, bound = max(e.scale for e in parts), max(e.bound for e in parts)
        return E(f"{self.pick('min', 'max')}({', '.join(map(str, parts))})", scale, bound)

    def choice(self, kind: str, depth: int) -> E:
        a, b = self.two(kind, depth)
        test = self.scalar("bool", depth)
        return E(f"({a} if {test} else {b})", max(a.scale, b.scale), max(a.bound, b.bound))

    def logic(self, kind: str, depth: int) -> E:
        a, b = self.two(kind, depth)
        symbol = self.pick("and", "or")
        return E(f"({a} {symbol} {b})", max(a.scale, b.scale), max(a.bound, b.bound))

    def sign(self, kind: str, depth: int) -> E:
        a = self.scalar(kind, depth)
        return E(self.pick("abs({})", "(-{})", "(+{})").format(a), a.scale, a.bound)

    def floors(self, kind: str, depth: int) -> E:
        """// and %, by a constant, or by something that is not zero."""
        a = self.small(kind, depth)
        scale = a.scale if kind == "num" else 0
        by = self.pick("2", "3", "-4", "5")
        if kind == "int" and self.chance(3):
            by = f"({self.pick('', '-')}(abs({self.small('int', depth)}) + 1))"
        form = self.pick("({} // {})", "({} % {})", "divmod({}, {})[1]", "divmod({}, {})[0]")
        return E(form.format(a, by), scale, BOUND + 2)

    def bits(self, kind: str, depth: int) -> E:
        a, b = self.small("int", depth), self.small("int", depth)
        form = self.pick(
            "({} & {})",
            "({} | {})",
            "({} ^ {})",
            "(~({} + 0))",
            "({} << 2)",
            "({} >> 1)",
            "({} >> {} % 4)",
        )
        return E(form.format(a, b), 0, 8 * BOUND)

    def whole(self, kind: str, depth: int) -> E:
        """An int from a num."""
        a = self.scalar("num", depth)
        form = self.pick(
            "int({})", "math.floor({})", "round({})", "math.ceil({})", "math.trunc({} * 1.0)"
        )
        return E(form.format(a), 0, a.bound + 1)

    def counted(self, kind: str, depth: int) -> E:
        test = self.scalar("bool", depth)
        return E(self.pick("int({})", "({} + 0)", "(2 - {})", "bool({})").format(test), 0, 2)

    def halves(self, kind: str, depth: int) -> E:
        a = self.scalar("num", depth)
        if a.bound << (a.scale + 2) > EXACT:
            a = self.fit("num", a)
        return E(f"({a} / {self.pick('2', '4', '2.0', '-4')})", a.scale + 2, a.bound)

    def floats(self, kind: str, depth: int) -> E:
        a = self.scalar("num", depth)
        form = self.pick(
            "float({})",
            "math.fabs({})",
            "np.abs({} + 0)",
            "pygpu.sign({} + 0)",
            "np.floor({} + 0)",
        )
        return E(form.format(a), a.scale, a.bound + 1)

    def glsl(self, kind: str, depth: int) -> E:
        a, b = self.small("num", depth), self.small("num", depth)
        form = self.pick(
            "pygpu.clamp({} + 0, -4.0, 8.0)",
            "pygpu.step({} + 0, {} + 0)",
            "np.maximum({} + 0, {} + 0)",
            "np.minimum({} + 0, {} + 0)",
            "pygpu.fract({} + 0)",
        )
        return E(form.format(a, b), SCALE, BOUND)

    def texel(self, kind: str, depth: int) -> E | None:
        if not self.pictures:
            return None
        view = self.pick("", f".sampled(boundary={self.pick(*BOUNDARIES)!r})")
        image, after = self.pick(("im", ""), ("rgb", self.pick(".x", ".y", ".z", "[1]")))
        if kind == "int":
            image, after = "ints", ""
        where = self.pick("p", "p + ({}, {})", "({}, {})", "p - ({}, {})", "(p.x + {}, {})")
        places = self.pick("int", "int", "num")
        a, b = self.small(places, depth), self.small(places, depth)
        return E(f"{image}{view}({where.format(a, b)}){after}", SCALE if kind == "num" else 0, 4)

    def place(self, kind: str, depth: int) -> E | None:
        if not self.pictures:
            return None
        return E(self.pick("p.x", "p.y", "im.width", "im.shape[0]", "p[1]"), 0, 8)

    def table(self, kind: str, depth: int) -> E:
        index = f"({self.small('int', depth)}) % 8"
        form = self.pick("TABLE[{}]", "(3, -1, 4, 1, -5, 9, 2, -6)[{}]", "TABLE[({}) - 8]")
        return E(form.format(index), 0, 9)

    def grid(self, kind: str, depth: int) -> E:
        a, b = self.small("int", depth), self.small("int", depth)
        form = self.pick("GRID[({}) % 2, ({}) % 3]", "GRID[({}) % 2][({}) % 3]", "GRID[1, {1} % 3]")
        return E(form.format(a, b), 2, 4)

    def item(self, kind: str, depth: int) -> E | None:
        """An item of a list or tuple by an index that is not known."""
        lists = [
            variable
            for variable in self.variables(Lst, Tup)
            if variable.type.items and all(item in HOLDS[kind] for item in variable.type.items)
        ]
        if not lists:
            return None
        variable = self.pick(*lists)
        count = len(variable.type.items)
        index = self.pick(f"({self.small('int', depth)}) % {count}", f"-{1 + self.below(count)}")
        return E(f"{variable.name}[{index}]", SCALE if kind == "num" else 0, BOUND)

    # ---- sequences

    def sequence(self, kind: str, depth: int) -> tuple[str, int]:
        """Something iterable of scalars of a kind, and how many there are."""
        fitting = [
            (variable.name, len(variable.type.items))
            for variable in self.variables(Lst, Tup)
            if variable.type.items and all(item in HOLDS[kind] for item in variable.type.items)
        ]
        if fitting and self.below(3):
            text, count = self.pick(*fitting)
        else:
            self.inner += 1  # no assignment in what a comprehension iterates over
            parts = [str(self.small(kind, depth)) for _ in range(1 + self.below(3))]
            self.inner -= 1
            text, count = f"[{', '.join(parts)}]", len(parts)
        match self.below(8):
            case 3 if not text.startswith("["):
                part = self.pick("[1:]", "[::-1]", "[:2]", "[::2]")
                return f"(*{text}{part}, {self.small(kind, 0)})", count + 1
            case 4 if kind != "bool":
                return f"[{self.step(kind, depth, text)}]", count
            case 5 if kind != "bool":
                return f"({self.step(kind, depth, text)})", count
        return text, count

    def step(self, kind: str, depth: int, text: str) -> str:
        """The inside of a comprehension that makes small scalars from small scalars."""
        name, index = self.name("u"), self.name("u")
        pair = self.chance(3)
        with self.inside(name, Scalar(kind)):
            if pair:
                self.declare(index, INT, constant=True)
            body = self.small(kind, min(depth, 1))
        target, source = (f"{index}, {name}", f"enumerate({text})") if pair else (name, text)
        return f"{body} for {target} in {source}"

    def fold(self, kind: str, depth: int) -> E:
        text, count = self.sequence(kind, depth)
        form, factor = self.pick(
            ("sum({})", count),
            ("min({})", 1),
            ("max({})", 1),
            ("sorted({})[0]", 1),
            ("sorted({}, reverse=True)[-1]", 1),
            ("functools.reduce(operator.add, {})", count),
            ("sum(map(abs, {}))", count),
            ("list(reversed(list({})))[0]", 1),
            ("max({}, key=abs)", 1),
            ("min({}, key=lambda u: u % 4)", 1),
        )
        return E(form.format(text), SCALE if kind == "num" else 0, (BOUND + 2) * factor)

    # ---- bools

    def quantified(self, kind: str, depth: int) -> E:
        quantifier = self.pick("any", "all")
        if self.chance(2):
            return E(f"{quantifier}({self.sequence('bool', depth)[0]})", 0, 1)
        text, _ = self.sequence("num", depth)
        name = self.name("u")
        test = f"{name} {self.pick('<', '>=', '==')} {self.small('num', 0)}"
        return E(f"{quantifier}({test} for {name} in {text})", 0, 1)

    def comparison(self, kind: str, depth: int) -> E:
        a, b = self.two(self.pick("num", "int"), depth)
        symbol = self.pick("<", "<=", "==", "!=", ">", ">=")
        if self.chance(4):
            c = self.scalar("num", depth)
            return E(f"({a} {symbol} {b} {self.pick('<', '<=', '!=')} {c})", 0, 1)
        return E(f"({a} {symbol} {b})", 0, 1)

    def negation(self, kind: str, depth: int) -> E:
        return E(f"(not {self.scalar(self.pick('bool', 'num'), depth)})", 0, 1)

    def membership(self, kind: str, depth: int) -> E:
        text, _ = self.sequence("num", depth)
        return E(f"({self.scalar('num', depth)} {self.pick('in', 'not in')} {text})", 0, 1)

    def bool_bits(self, kind: str, depth: int) -> E:
        a, b = self.two("bool", depth)
        return E(f"({a} {self.pick('&', '|', '^', '==', '!=')} {b})", 0, 1)

    def truth(self, kind: str, depth: int) -> E:
        return E(f"bool({self.scalar(self.pick('num', 'int', 'bool'), depth)})", 0, 1)

    def vector_test(self, kind: str, depth: int) -> E:
        size = self.pick(2, 3)
        a, b = self.vector(size, depth), self.vector(size, depth)
        return E(f"{self.pick('all', 'any')}({a} {self.pick('<', '==', '>=')} {b})", 0, 1)

    # ---- parts of vectors, calls

    def component(self, kind: str, depth: int) -> E:
        size = self.pick(2, 3, 4)
        a = self.vector(size, depth)
        match self.below(5):
            case 3:
                return E(f"{a}[({self.small('int', depth)}) % {size}]", a.scale, a.bound)
            case 4:
                return E(f"sum({a})", a.scale, size * a.bound)
        letters = self.pick("xyzw", "rgba", "stpq")
        return E(f"{a}.{letters[self.below(size)]}", a.scale, a.bound)

    def walrus(self, kind: str, depth: int) -> E | None:
        """An assignment within the expression."""
        paths = [
            path
            for path in self.paths(kind, writable=True)
            if path.text == path.variable.name and path.kind == kind
        ]
        if not paths or self.inner:
            return None
        value = self.small(kind, depth)
        return E(f"({self.target(self.pick(*paths))} := {value})", value.scale, value.bound)

    def calls(self, *returns: Type) -> list[tuple[str, Fn]]:
        """What may be called here: the text before the parenthesis, and the function."""
        found = []
        for variable in self.scope:
            if isinstance(variable.type, Fn):
                found.append((variable.name, variable.type))
            if isinstance(variable.type, Obj):
                for name, method in variable.type.cls.methods.items():
                    dot = "" if name == "__call__" else f".{name}"
                    found.append((f"{variable.name}{dot}", method))
        return [
            (text, fn)
            for text, fn in found
            if (not returns or fn.returns in returns)
            and self.effort + self.times * fn.effort <= self.limit
            and (self.pictures or not fn.pictures)
        ]

    def call(self, text: str, fn: Fn, depth: int) -> str:
        self.effort += self.times * fn.effort
        arguments = ["im, rgb, ints, p"] if fn.pictures else []
        named = False
        for name, type in fn.params:
            value = self.argument(type, depth)
            named = named or self.chance(5)
            arguments.append(f"{name}={value}" if named else value)
        return f"{text}({', '.join(arguments)})"

    def argument(self, type: Type, depth: int) -> str:
        """A value for a parameter: containers by reference where there is one."""
        same = [v.name for v in self.scope if v.type == type and not isinstance(type, Scalar)]
        return self.pick(*same) if same and self.below(3) else self.make(type, depth)

    def called(self, kind: str, depth: int) -> E | None:
        options = self.calls(*HOLDS[kind])
        if not options:
            return None
        return E(self.call(*self.pick(*options), depth), SCALE if kind == "num" else 0, BOUND)

    def property_of(self, kind: str, depth: int) -> E | None:
        options = [
            f"{variable.name}.{name}"
            for variable in self.variables(Obj)
            for name in variable.type.cls.properties
        ]
        return E(self.pick(*options), SCALE, BOUND) if options else None

    def lambda_call(self, kind: str, depth: int) -> E:
        name = self.name("u")
        value = self.small("num", depth)
        with self.inside(name, NUM):
            body = self.small("num", depth)
        if self.chance(2):
            return E(f"(lambda {name}={value}: {body})()", body.scale, body.bound)
        return E(f"(lambda {name}: {body})({value})", body.scale, body.bound)

    def library(self, kind: str, depth: int) -> E:
        """Calls of what the header defines."""
        a, b, c = (self.small("num", depth) for _ in range(3))
        text, _ = self.sequence("num", 0)
        form, factor = self.pick(
            ("total({0}, {1}, start={2})", 3),
            ("total({0}, *{3})", 6),
            ("adder({0})({1})", 2),
            ("powers({0}, 2)", 2),
            ("functools.partial(total, {0})({1})", 2),
            ("compose(adder({0}), abs)({1})", 2),
            ("np.dot(GRID[1], [{0}, {1}, {2}])", 8),
            ("np.array([{0}, {1}, {2}]).max()", 1),
            ("sum([k * {0} for k, _ in zip((1, -2, 3), {3})])", 6),
            ("sum(j * {0} - k for j in range(2) for k in (1, 2))", 8),
            ("total(**{{'start': {0}}})", 1),
            ("first(x={0}, y={1})", 1),
        )
        return E(form.format(a, b, c, text), 2 * SCALE, factor * (BOUND + 2))

    def windows(self, kind: str, depth: int) -> E | None:
        """Sums over what is around the pixel."""
        if not self.pictures:
            return None
        form = self.pick(
            "sum([w * im(p + d) for w, d in zip(np.ravel(GRID), pygpu.offsets(GRID))])",
            "max(im(p + d) for d in pygpu.offsets(GRID))",
            "sum([im((x, y)) for x in range(2) for y in range(2)])",
            "sorted([im(p + (k, 0)) for k in range(-1, 2)])[1]",
        )
        return E(form, 2 * SCALE, 32)

    def boxed(self, kind: str, depth: int) -> E | None:
        """What boxes answer."""
        boxes = [v.name for v in self.variables(Obj) if v.type.cls.name in ("Box", "Crate")]
        if not boxes:
            return None
        a, b = self.pick(*boxes), self.pick(*boxes)
        number = self.small("num", depth)
        if kind == "bool":
            form = self.pick("({0} == {1})", "bool({0})", "({2} in {0})", "({0} < {1})")
            return E(form.format(a, b, number), 0, 1)
        form = self.pick(
            "{0}[1]",
            "{0}.total",
            "max({0})",
            "sum({0})",
            "{0}({2})",
            "len({0})",
            "abs({0})[0]",
            "Box.of({2})[0]",
            "{0}.twice({2})",
        )
        return E(form.format(a, b, number), SCALE, 2 * BOUND)

    # ---- values of any type

    def vector(self, size: int, depth: int) -> E:
        """A vector made anew."""
        known = [v.name for v in self.scope if v.type == Vec(size)]
        match self.below(8) if depth > 0 else 0:
            case 1 if known:
                return E(f"({self.pick(*known)} + {self.small('num', 0)})", SCALE, 2 * BOUND)
            case 2 if known:
                a, b = self.pick(*known), self.pick(*known)
                return E(f"({a} {self.pick('+', '-')} {b})", SCALE, 2 * BOUND)
            case 3 if known:
                letters = "".join([self.pick(*"xyzw"[:size]) for _ in range(size)])
                return E(f"{self.pick(*known)}.{letters}", SCALE, BOUND)
            case 4 if known:
                function, a = self.pick("maximum", "minimum"), self.pick(*known)
                return E(f"np.{function}({a}, {self.pick(*known, '0.5')})", SCALE, BOUND)
            case 5 if size == 3 and self.pictures:
                return E(f"rgb(p + ({self.small('int', depth - 1)}, 1))", SCALE, 4)
            case 6:
                a, b = self.vector(size, depth - 1), self.vector(size, depth - 1)
                test = self.scalar("bool", depth - 1)
                return E(f"({a} if {test} else {b})", max(a.scale, b.scale), max(a.bound, b.bound))
            case 7 if size > 2:
                a = self.vector(size - 1, depth - 1)
                b = self.small("num", depth - 1)
                order = self.pick(f"{a}, {b}", f"{b}, {a}")
                return E(f"Vec{size}({order})", max(a.scale, SCALE), max(a.bound, BOUND))
        parts = [self.small("num", min(depth, 1)) for _ in range(size)]
        return E(f"Vec{size}({', '.join(map(str, parts))})", SCALE, BOUND)

    def make(self, type: Type, depth: int | None = None) -> str:
        """A new value of a type, as text."""
        depth = self.below(3) if depth is None else depth
        match type:
            case Scalar():
                return str(self.small(type.kind, depth))
            case Vec():
                made = self.vector(type.size, depth)
                text = made.text
                if made.scale > SCALE:
                    text = f"(pygpu.floor({text} * 8) / 8)"
                return f"pygpu.clamp({text}, -60.0, 60.0)" if made.bound > BOUND else text
            case Tup():
                return self.make_tuple(type, depth)
            case Lst():
                return self.make_list(type, depth)
            case Dct():
                parts = [(key, self.make(item, depth - 1)) for key, item in type.items.items()]
                if self.chance(3):
                    return f"dict({', '.join(f'{key}={text}' for key, text in parts)})"
                return f"{{{', '.join(f'{key!r}: {text}' for key, text in parts)}}}"
            case Obj():
                return self.make_object(type, depth)
        raise AssertionError(type)

    def make_tuple(self, type: Tup, depth: int) -> str:
        same = [v.name for v in self.scope if v.type == type]
        match self.below(5) if not type.name else 0:
            case 3 if same:
                test = self.scalar("bool", depth - 1)
                return f"({self.pick(*same)} if {test} else {self.make_tuple(type, depth - 1)})"
            case 4 if is_alike(type.items):
                name, count = self.name("u"), len(type.items)
                with self.inside(name, INT, below=count):
                    body = self.small(type.items[0].kind, depth - 1)
                return f"tuple({body} for {name} in range({count}))"
        parts = [self.make(item, depth - 1) for item in type.items]
        return f"{type.name}({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def make_list(self, type: Lst, depth: int) -> str:
        same = [v.name for v in self.scope if v.type == type]
        if is_flat(type.items) and type.items:
            kind = type.items[0].kind
            alike = is_alike(type.items)
            match self.below(7):
                case 3 if same:
                    return f"{self.pick('list({})', '{}[:]', '{}.copy()', '[*{}]')}".format(
                        self.pick(*same)
                    )
                case 4 if same and alike:
                    return f"{self.pick(*same)}[::-1]"
                case 5 if alike and kind != "bool":
                    self.inner += 1
                    text = self.pick(*same) if same else self.make_list(type, depth - 1)
                    self.inner -= 1
                    return f"[{self.step(kind, depth - 1, text)}]"
                case 6 if len(type.items) > 1:
                    first, rest = Lst(type.items[:1]), Lst(type.items[1:])
                    return f"({self.make_list(first, depth)} + {self.make_list(rest, depth)})"
        return f"[{', '.join([self.make(item, depth - 1) for item in type.items])}]"

    def make_object(self, type: Obj, depth: int) -> str:
        cls = type.cls
        same = [v.name for v in self.scope if v.type == type]
        if same and cls.operators and self.chance(2):
            return f"({self.pick(*same)} {self.pick(*cls.operators)} {self.pick(*same)})"
        parts = [(name, self.make(item, depth - 1)) for name, item in cls.fields.items()]
        if self.chance(3):
            return f"{cls.name}({', '.join(f'{name}={text}' for name, text in parts)})"
        return f"{cls.name}({', '.join(text for _, text in parts)})"

    def some_type(self, depth: int = 2) -> Type:
        match self.below(10) if depth > 0 else self.below(3):
            case 0:
                return NUM
            case 1:
                return INT
            case 2:
                return BOOL
            case 3:
                return Tup(tuple([self.plain_type(depth - 1) for _ in range(1 + self.below(3))]))
            case 4:
                return Lst([self.some_type(0)] * (1 + self.below(4)))
            case 5:
                return Lst([self.some_type(depth - 1) for _ in range(1 + self.below(3))])
            case 6:
                return Dct({key: self.some_type(0) for key in "klm"[: 1 + self.below(3)]})
            case 7 if self.classes:
                return Obj(self.pick(*self.classes))
            case 8:
                return Tup((NUM, INT), "Pair")
        return Vec(self.pick(2, 3, 4))

    def plain_type(self, depth: int) -> Type:
        """A type of values that cannot change."""
        if depth > 0 and self.chance(3):
            return Tup(tuple([self.plain_type(depth - 1) for _ in range(1 + self.below(2))]))
        return self.pick(NUM, INT, BOOL)


Rule = Callable[[Expressions, str, int], E | None]
X = Expressions
BOTH: tuple[Rule, ...] = (
    X.arithmetic,
    X.arithmetic,
    X.choice,
    X.extreme,
    X.sign,
    X.floors,
    X.logic,
    X.item,
    X.fold,
    X.called,
    X.called,
    X.walrus,
    X.texel,
)
RULES: dict[str, tuple[Rule, ...]] = {
    "int": (*BOTH, X.bits, X.whole, X.counted, X.place, X.place, X.table),
    "num": (
        *BOTH,
        X.texel,
        X.texel,
        X.texel,
        X.halves,
        X.floats,
        X.glsl,
        X.grid,
        X.component,
        X.property_of,
        X.lambda_call,
        X.library,
        X.windows,
        X.boxed,
        X.boxed,
    ),
    "bool": (
        X.comparison,
        X.comparison,
        X.comparison,
        X.logic,
        X.negation,
        X.choice,
        X.membership,
        X.bool_bits,
        X.quantified,
        X.truth,
        X.vector_test,
        X.boxed,
        X.called,
        X.walrus,
    ),
}
Expressions.rules = RULES
