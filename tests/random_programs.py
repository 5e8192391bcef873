"""Random Python functions as source text, made so that every target must give equal results.

    made = program(7)                       # from a seed
    made.source, made.function, made.values # the text, the function `main`, its scalar arguments
    @given(made=programs())                 # from Hypothesis, which shrinks what fails

Values of further kinds come from `random_values`. What the language refuses (lists of two lengths
that meet, a name that may be either of two objects) is left out: a container grows only where its
length stays known, and one that has two names is not assigned anew under a condition. Loops end.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from random_expressions import (
    BOOL,
    BOUND,
    BOUNDARIES,
    EFFORT,
    INT,
    NUM,
    SCALE,
    Class,
    Dct,
    E,
    Fn,
    Lst,
    Obj,
    Scalar,
    Tup,
    Type,
    Var,
    Vec,
    common,
    fresh,
    is_flat,
)
from random_values import VALUE_BLOCKS, VALUE_STATEMENTS, Values

TRIPS = 4  # of loops
MAIN = "main(im: Image, rgb: Image, ints: Image, p: Position, n: int, g: float, flag: bool)"
HEADER = """\
import dataclasses
import enum
import functools
import math
import operator
from typing import NamedTuple

import numpy as np

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, Vec4

TABLE = [3, -1, 4, 1, -5, 9, 2, -6]
GRID = np.array([[1.0, -0.5, 2.0], [0.25, 4.0, -3.0]])
BYTES = np.array([3, 250, 128, 77], np.uint8)


class Mode(enum.Enum):
    LOW = 1
    HIGH = 7
    OFF = -2


class Pair(NamedTuple):
    first: object
    second: object


class Box:
    def __init__(self, items):
        self.items = items

    @classmethod
    def of(cls, item):
        return cls([item, 1.0])

    @staticmethod
    def twice(item):
        return 2 * item

    @property
    def total(self):
        return keep(sum(self.items))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __setitem__(self, index, item):
        self.items[index] = item

    def __iter__(self):
        return iter(self.items)

    def __bool__(self):
        return bool(self.items[0] > 0)

    def __contains__(self, item):
        return any(item == each for each in self.items)

    def __eq__(self, other):
        return all(a == b for a, b in zip(self, other))

    def __lt__(self, other):
        return self.total < other.total

    def __abs__(self):
        return type(self)([abs(item) for item in self])

    def __add__(self, other):
        return type(self)([keep(a + b) for a, b in zip(self.items, other.items)])

    def __iadd__(self, other):
        for index, item in enumerate(other):
            self.items[index] = keep(self.items[index] - item)
        return self

    def __call__(self, number):
        self.items[0] = keep(self.items[0] + number)
        return self.items[0]


class Crate(Box):
    def __call__(self, number):
        if number > 2:
            return number
        return keep(super().__call__(number) * 2)


def keep(number):
    return max(-60, min(60, number))


def total(*numbers, start=0):
    for number in numbers:
        start += number
    return start


def adder(a):
    def add(b):
        return a + b

    return add


def compose(f, g):
    return lambda x: f(g(x))


def powers(x, count):
    return x if count <= 1 else x + powers(x, count - 1)


def first(**named):
    return next(iter(named.values()))
"""
BOX = Class("Box", {"items": Lst([NUM, NUM])}, operators=["+"])
CRATE = Class("Crate", {"items": Lst([NUM, NUM])}, operators=["+"])
BEFORE = HEADER.count("\n")


@dataclass(frozen=True)
class Program:
    """A function `main` of images, a position and scalars, as text."""

    source: str
    boundary: str
    values: dict[str, Any]
    listed: bool = True  # whether Python finds the source, to show lines of it

    @property
    def function(self) -> Callable[..., Any]:
        file = f"<random program {abs(hash(self.source)):x}>"
        if self.listed:
            linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        names: dict[str, Any] = {"__name__": __name__}
        exec(compile(self.source, file, "exec"), names)
        return names["main"]  # type: ignore[no-any-return]


class Statements(Values):
    """Writes statements, functions and classes."""

    def __init__(self, below: Callable[[int], int]) -> None:
        super().__init__(below)
        self.lines: list[str] = []
        self.depth = 0
        self.loops: list[bool] = []  # of the function: whether they may be left early
        self.returns: Type = NUM

    # ---- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, conditional: bool = True) -> Iterator[None]:
        """An indented block, with a scope and (where it may not run) a region of its own."""
        known, region = len(self.scope), self.region
        if conditional:
            self.regions += 1
            self.region = self.regions
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1
        self.region = region
        del self.scope[known:]

    def body(self, statements: int, depth: int) -> None:
        for _ in range(statements):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        self.effort += self.times
        self.room = 12
        if self.effort > self.limit:
            self.assignment(0)
        elif depth > 0 and self.below(5) > 1:
            self.pick(*COMPOUND)(self, depth - 1)
        else:
            self.pick(*SIMPLE)(self, depth)

    # ---- scalars

    def assignment(self, depth: int) -> None:
        paths = self.paths(self.pick("num", "num", "bool"), writable=True)
        if not paths:
            return self.new_scalar(depth)
        path = self.pick(*reversed(paths))
        value = self.small(path.kind)
        self.line(f"{self.target(path)} = {value}")
        return None

    def new_scalar(self, depth: int) -> None:
        type = self.pick(NUM, INT, BOOL)
        value, name = self.make(type), self.name()
        self.line(f"{name} = {value}")
        self.declare(name, type)

    def augmented(self, depth: int) -> None:
        paths = self.paths(writable=True)
        if not paths:
            return self.new_scalar(depth)
        path = self.pick(*paths)
        symbol = self.pick("+", "-", "*")
        value = self.small(path.kind)
        target = self.target(path)
        self.line(f"{target} {symbol}= {value}")
        scale = (2 * SCALE if symbol == "*" else SCALE) if path.kind == "num" else 0
        bound = BOUND * BOUND if symbol == "*" else 2 * BOUND
        self.line(f"{target} = {self.fit(path.kind, E(target, scale, bound))}")
        return None

    def swap(self, depth: int) -> None:
        kind = self.pick("num", "int", "bool")
        paths = [path for path in self.paths(kind, writable=True) if path.kind == kind]
        if len(paths) < 2:
            return self.assignment(depth)
        a, b = self.pick(*paths), self.pick(*paths)
        other = self.pick(a.text, str(self.small(kind, 1)))
        self.line(f"{self.target(a)}, {self.target(b)} = {b.text}, {other}")
        return None

    # ---- containers

    def new_container(self, depth: int) -> None:
        type = self.some_type()
        value, name = self.make(type), self.name()
        self.line(f"{name} = {value}")
        self.declare(name, fresh(type))

    def unpacking(self, depth: int) -> None:
        sources = [v for v in self.variables(Tup, Lst, Vec) if v.type != Lst([])]
        if not sources:
            return self.new_container(depth)
        source = self.pick(*sources)
        vector = isinstance(source.type, Vec)
        items: list[Type] = [NUM] * source.type.size if vector else list(source.type.items)
        if self.chance(3) and is_flat(items):
            first, rest = self.name("v"), self.name("v")
            self.line(f"{first}, *{rest} = {source.name}")
            self.declare(first, items[0])
            self.declare(rest, Lst(items[1:]))
            return None
        targets = []
        for item in items:
            names = [self.name("v") for _ in (item.items if isinstance(item, Tup) else "1")]
            targets.append(f"({', '.join(names)},)" if isinstance(item, Tup) else names[0])
            for name, part in zip(
                names, item.items if isinstance(item, Tup) else [item], strict=True
            ):
                self.declare(name, part, region=-1, shared=True)
        if not is_flat(items):
            source.shared = True
        self.line(f"{', '.join(targets)}, = {source.name}")
        return None

    def replace(self, depth: int) -> None:
        """A variable that holds a container gets another one."""
        options = [
            v
            for v in self.variables(Lst, Dct, Vec, Obj, Tup)
            if not v.constant
            and (not v.shared or v.region == self.region)
            and v.level == self.level
            and not (isinstance(v.type, Lst) and v.type.walked)
        ]
        if not options:
            return self.assignment(depth)
        variable = self.pick(*options)
        self.line(f"{variable.name} = {self.make(variable.type)}")
        return None

    def exchange(self, depth: int) -> None:
        """Two variables exchange their containers."""
        options = [
            v
            for v in self.variables(Lst, Dct, Vec, Obj, Tup)
            if not v.constant
            and not v.shared
            and v.level == self.level
            and not (isinstance(v.type, Lst) and v.type.walked)
        ]
        pairs = [(v, w) for v in options for w in options if v is not w and v.type == w.type]
        if not pairs:
            return self.replace(depth)
        one, other = self.pick(*pairs)
        self.line(f"{one.name}, {other.name} = {other.name}, {one.name}")
        one.region = other.region = -1
        return None

    def store(self, depth: int) -> None:
        """A container gets another name in an object or list."""
        places = [
            (f"{v.name}.{name}", item)
            for v in self.variables(Obj)
            for name, item in v.type.cls.fields.items()
            if not isinstance(item, Scalar) and not v.shared and v.region == self.region
        ]
        matches = [(p, w) for p, item in places for w in self.scope if w.type == item]
        if not matches:
            return self.alias(depth)
        place, variable = self.pick(*matches)
        self.line(f"{place} = {variable.name}")
        variable.shared = True
        variable.region = -1
        return None

    def boxes(self, depth: int) -> None:
        """Statements about boxes."""
        boxes = [v.name for v in self.variables(Obj) if v.type.cls in (BOX, CRATE)]
        if not boxes:
            name, cls = self.name("v"), self.pick(BOX, CRATE)
            self.line(f"{name} = {self.make(Obj(cls))}")
            self.declare(name, Obj(cls), shared=True)
            return None
        a, b = self.pick(*boxes), self.pick(*boxes)
        number = self.small("num", 1)
        form = self.pick("{0}[1] = {2}", "{0} += {1}", "{0}({2})", "{0}[0], {1}[1] = {1}[1], {2}")
        if form == "{0} += {1}" and self.level > 1:
            form = "{0}({2})"
        self.line(form.format(a, b, number))
        return None

    def alias(self, depth: int) -> None:
        options = self.variables(Lst, Dct, Vec, Obj)
        if not options:
            return self.new_container(depth)
        variable, name = self.pick(*options), self.name("v")
        self.line(f"{name} = {variable.name}")
        variable.shared = True
        variable.region = -1
        self.declare(name, variable.type, region=-1, shared=True)
        return None

    def grow(self, depth: int) -> None:
        """A list or dict gets longer or shorter, where that is no matter of conditions."""
        options = [v for v in self.variables(Lst, Dct) if v.region == self.region]
        if not options or self.times > 1:
            return self.assignment(depth)
        variable = self.pick(*options)
        item = self.some_type(0)
        if isinstance(variable.type, Dct):
            self.grow_dict(variable, item)
        elif variable.type.walked or len(variable.type.items) > 6:
            self.assignment(depth)
        else:
            self.grow_list(variable, item)
        return None

    def grow_dict(self, variable: Var, item: Type) -> None:
        name, key = variable.name, self.pick("n", "o")
        if key in variable.type.items:
            self.line(f"del {name}[{key!r}]")
            del variable.type.items[key]
        else:
            self.line(f"{name}[{key!r}] = {self.make(item)}")
            variable.type.items[key] = item

    def grow_list(self, variable: Var, item: Type) -> None:
        name, items = variable.name, variable.type.items
        match self.below(5):
            case 1:
                self.line(f"{name}.insert(0, {self.make(item)})")
                items.insert(0, item)
            case 2:
                self.line(f"{name} += [{self.make(item)}]")
                items.append(item)
            case 3 if items and isinstance(items[0], Scalar):
                value = self.name("v")
                self.line(f"{value} = {name}.pop(0)")
                self.declare(value, items.pop(0))
            case 4:
                self.line(f"{name}.extend(({self.make(item)}, {self.make(item)}))")
                items.extend([item, item])
            case _:
                self.line(f"{name}.append({self.make(item)})")
                items.append(item)

    def swizzle(self, depth: int) -> None:
        options = self.variables(Vec)
        if not options:
            return self.new_container(depth)
        variable = self.pick(*options)
        letters = list("xyzw"[: variable.type.size])
        chosen = "".join([letters.pop(self.below(len(letters))) for _ in range(2)])
        self.line(f"{variable.name}.{chosen} = {self.make(Vec(2))}")
        return None

    # ---- calls and jumps

    def call_statement(self, depth: int) -> None:
        options = self.calls()
        if not options:
            return self.assignment(depth)
        text, fn = self.pick(*options)
        made = self.call(text, fn, 1)
        if fn.returns is None or self.chance(3):
            self.line(made)
            return None
        name = self.name()
        self.line(f"{name} = {made}")
        self.declare(name, fresh(fn.returns))
        return None

    def jump(self, depth: int) -> None:
        """A break, continue or return, under a condition."""
        early = self.loops and self.loops[-1]
        what = self.pick("break", "continue", "return") if early else "return"
        self.line(f"if {self.scalar('bool')}:")
        with self.block():
            if self.chance(3):
                self.assignment(depth)
            if what == "return":
                self.result()
            else:
                self.line(what)

    def result(self) -> None:
        self.room = 8
        self.line("return" if self.returns is None else f"return {self.make(self.returns)}")

    # ---- branches and loops

    def arms(self) -> list[str]:
        words = ["if"] + ["elif"] * self.below(3)
        return [f"{word} {self.scalar('bool')}:" for word in words]

    def branch(self, depth: int) -> None:
        heads = self.arms()
        for head in heads + ["else:"] * self.below(2):
            self.line(head)
            with self.block():
                self.body(1 + self.below(3), depth)
                if self.chance(8):
                    self.result()

    def branch_that_names(self, depth: int) -> None:
        """Every arm gives the same new variable a value."""
        type, name = self.some_type(), self.name("v")
        for head in [*self.arms(), "else:"]:
            self.line(head)
            with self.block():
                self.body(self.below(3), depth)
                self.room = 6
                self.line(f"{name} = {self.make(type)}")
        self.declare(name, fresh(type))

    @contextmanager
    def loop(self, times: int, certain: bool) -> Iterator[None]:
        """The body of a loop; `certain` if it runs `times` times, whatever comes."""
        outer = self.times
        self.times *= times
        self.loops.append(not certain)
        with self.block(conditional=not certain):
            yield
        self.loops.pop()
        self.times = outer

    def otherwise(self, depth: int) -> None:
        """The `else` of a loop."""
        if self.chance(4):
            self.line("else:")
            with self.block():
                self.body(1 + self.below(2), depth)

    def for_known(self, depth: int) -> None:
        """A loop over a sequence of known length: names, their types and what they are below."""
        count = 1 + self.below(TRIPS)
        lists = [v for v in self.variables(Lst, Tup) if v.type.items and v.level == self.level]
        held: list[Var] = []
        name, other = self.name(), self.name("v")
        match self.below(7):
            case 1:
                parts = "".join([f"{self.small('num', 1)}, " for _ in range(count)])
                names, text = [(name, NUM, 0)], f"({parts})"
            case 2:
                parts = "".join([f"{self.small('num', 0)}, " for _ in range(count)])
                text = f"zip(range({count}), ({parts}))"
                names = [(name, INT, count), (other, NUM, 0)]
            case 3 if lists:
                held = [self.pick(*lists)]
                text = self.pick("{}", "reversed({})", "list({})").format(held[0].name)
                names = [(name, common(held[0].type.items), 0)]
            case 4 if lists:
                held = [self.pick(*lists)]
                text = f"enumerate({held[0].name})"
                names = [
                    (other, INT, len(held[0].type.items)),
                    (name, common(held[0].type.items), 0),
                ]
            case 5 if lists:
                held = [self.pick(*lists), self.pick(*lists)]
                text = f"zip({held[0].name}, {held[1].name})"
                names = [
                    (n, common(v.type.items), 0) for n, v in zip((name, other), held, strict=True)
                ]
            case 6:
                start, step = self.pick(0, 1, -2), self.pick(1, 2, -1)
                text = f"range({start}, {start + step * count}, {step})"
                names = [(name, INT, 0)]
            case _:
                names, text = [(name, INT, count)], f"range({count})"
        if held:
            count = min([len(v.type.items) for v in held])
        self.line(f"for {', '.join([n for n, _, _ in names])} in {text}:")
        with self.holding(held), self.loop(count, certain=self.chance(2)):
            for each, type, below in names:
                if type is not None:
                    self.declare(
                        each, type, region=-1, constant=below > 0, below=below, shared=True
                    )
            self.body(1 + self.below(3), depth)
        for each, type, _ in names:
            if isinstance(type, Scalar):
                self.declare(each, type)
        self.otherwise(depth)

    def for_long(self, depth: int) -> None:
        """A loop that may be too long to be unrolled."""
        name, count = self.name("v"), 15 + self.below(30)
        text = self.pick(
            f"range({count})",
            f"(TABLE * 6)[:{count}]",
            f"list(range({count}, 0, -1))",
        )
        self.line(f"for {name} in {text}:")
        with self.loop(4, certain=False):
            self.declare(name, INT)
            self.body(1 + self.below(3), 0)
        self.otherwise(depth)

    def match_statement(self, depth: int) -> None:
        subject = self.pick(
            self.small("int", 1), f"({self.small('num', 1)}, {self.small('int', 0)})"
        )
        pair = isinstance(subject, str)
        self.line(f"match {subject}:")
        self.depth += 1
        for pattern in self.pick(("1", "2 | 3"), ("0",), ("-1", "5", "7")):
            self.line(f"case (_, {pattern}):" if pair else f"case {pattern}:")
            with self.block():
                self.body(1 + self.below(2), depth)
        name = self.name("v")
        last = f"case ({name}, _)" if pair else f"case {name}"
        if self.chance(2):
            self.line(f"{last} if {self.scalar('bool', 1)}:")
            with self.block():
                self.declare(name, NUM if pair else INT)
                self.body(1, depth)
        if self.chance(2):
            self.line("case _:")
            with self.block():
                self.body(1, depth)
        self.depth -= 1

    @contextmanager
    def holding(self, held: list[Var]) -> Iterator[None]:
        """A loop over what variables hold."""
        before = [variable.shared for variable in held]
        lists = [variable.type for variable in held if isinstance(variable.type, Lst)]
        for variable in held:
            variable.shared = True
        for type in lists:
            type.walked += 1
        yield
        for variable, shared in zip(held, before, strict=True):
            variable.shared = shared
        for type in lists:
            type.walked -= 1

    def for_dynamic(self, depth: int) -> None:
        stop = f"({self.small('int')}) % {1 + self.below(TRIPS)}"
        text = self.pick(f"range({stop})", f"range(1, 1 + {stop})", f"range({stop}, -1, -1)")
        name = self.name()
        self.line(f"for {name} in {text}:")
        with self.loop(2, certain=False):
            self.declare(name, INT)
            self.body(1 + self.below(3), depth)
        self.otherwise(depth)

    def while_counted(self, depth: int) -> None:
        counter, limit = self.name("n"), 1 + self.below(TRIPS)
        self.line(f"{counter} = 0")
        self.declare(counter, INT, constant=True)
        test = f"{counter} < {limit}"
        match self.below(4):
            case 1:
                test = f"{test} and {self.scalar('bool')}"
            case 2:
                test = f"{self.scalar('bool')} and {test}"
            case 3:
                test = "True"
        self.line(f"while {test}:")
        with self.loop(2, certain=False):
            self.line(f"{counter} += 1")
            if test == "True":
                self.line(f"if {counter} > {limit}:")
                self.line("    break")
            self.body(1 + self.below(3), depth)
        self.otherwise(depth)

    # ---- functions and classes

    def closure(self, depth: int) -> None:
        if self.level > 1 or self.chance(3):
            return self.new_lambda(depth)
        for variable in self.variables(Lst, Dct):
            variable.region = -1  # what the function reads must stay
        name = self.name("f")
        fn = self.function(name, self.some_type(0) if self.below(4) else None, depth)
        self.declare(name, fn, constant=True)
        return None

    def new_lambda(self, depth: int) -> None:
        for variable in self.variables(Lst, Dct):
            variable.region = -1
        name, parameter = self.name("f"), self.name("u")
        with self.inside(parameter, NUM):
            body = self.small("num", 1)
        self.line(f"{name} = lambda {parameter}: {body}")
        self.declare(name, Fn(((parameter, NUM),), NUM, 1), constant=True)

    def function(self, name: str, returns: Type, depth: int, owner: Class | None = None) -> Fn:
        """A function that is written here, with what it needs declared nonlocal."""
        params = [(self.name("v"), self.some_type(0 if owner else 2)) for _ in range(self.below(3))]
        pictures = not self.pictures and self.chance(2)
        before = self.returns, self.loops, self.times, self.effort, self.written, self.pictures
        self.returns, self.loops, self.times, self.effort, self.written = returns, [], 1, 0, set()
        self.pictures = self.pictures or pictures
        own = [*(["self"] if owner else []), *(["im", "rgb", "ints", "p"] if pictures else [])]
        self.line(f"def {name}({', '.join([*own, *(n for n, _ in params)])}):")
        at = len(self.lines)
        self.level += 1
        with self.block():
            if owner:
                self.declare("self", Obj(owner), region=-1, constant=True, shared=True)
            for parameter, type in params:
                self.declare(parameter, type, region=-1, shared=True)
            self.body(1 + self.below(3), min(depth, 2))
            if returns is not None:
                self.result()
            if self.written:
                names = ", ".join(sorted(self.written))
                self.lines.insert(at, "    " * self.depth + f"nonlocal {names}")
        self.level -= 1
        fn = Fn(tuple(params), returns, 1 + self.effort, pictures)
        self.returns, self.loops, self.times, self.effort, self.written, self.pictures = before
        return fn

    def counted(self, depth: int) -> None:
        """Items made by a function with an effect, of which no more is taken than is needed."""
        if self.level > 1:
            return self.assignment(depth)
        count, function, item = self.name("count"), self.name("f"), self.name("u")
        values = ", ".join([str(self.small("num")) for _ in range(1 + self.below(3))])
        taken = self.name("taken")
        self.line(f"{taken} = [{values}]")
        self.line(f"{count} = 0")
        self.line(f"def {function}({item}):")
        self.line(f"    nonlocal {count}")
        self.line(f"    {count} += 1")
        self.line(f"    return {item} {self.pick('>', '<=')} {self.pick('0', '1.5', '-2')}")
        items = self.pick(
            f"({function}({item}) for {item} in {taken})",
            f"map({function}, {taken})",
            f"({count} < 2 and {function}({item}) for {item} in {taken})",
        )
        name = self.name("v")
        match self.pick("any", "all", "sum", "next", "for"):
            case "next":
                self.line(f"{name} = next({items})")
                self.declare(name, BOOL)
            case "for":
                self.line(f"for {name} in {items}:")
                self.line(f"    {count} += 1")
                self.line(f"    if {name}:")
                self.line(f"        {self.pick('break', 'continue', 'pass')}")
            case fold:
                self.line(f"{name} = {fold}({items})")
                self.declare(name, INT if fold == "sum" else BOOL)
        self.declare(count, INT, constant=True)
        return None

    def class_statement(self) -> None:
        name = self.name("C")
        cls = Class(name, {key: self.some_type(1) for key in "rstq"[: 1 + self.below(4)]})
        data = self.chance(2)
        if data:
            self.line("@dataclasses.dataclass")
        self.line(f"class {name}:")
        with self.block():
            if data:
                for each in cls.fields:
                    self.line(f"{each}: object")
            else:
                self.line(f"def __init__({', '.join(['self', *cls.fields])}):")
                for each in cls.fields:
                    self.line(f"    self.{each} = {each}")
            for _ in range(self.below(3)):
                method = (
                    self.name("m") if "__call__" in cls.methods or self.below(3) else "__call__"
                )
                self.line("")
                cls.methods[method] = self.function(method, self.pick(NUM, INT, None), 1, cls)
            if self.chance(2):
                self.line("")
                self.line("@property")
                self.short_method("size(self)", cls, NUM)
                cls.properties.append("size")
            if self.chance(2):
                symbol, method = self.pick(("+", "add"), ("-", "sub"), ("*", "mul"))
                self.line("")
                self.short_method(f"__{method}__(self, other)", cls, Obj(cls))
                cls.operators.append(symbol)
        self.classes.append(cls)

    def short_method(self, head: str, cls: Class, returns: Type) -> None:
        """A method that only returns."""
        self.line(f"def {head}:")
        self.level += 1
        self.room = 8
        with self.block():
            for name in ("self", "other")[: 1 + head.count("other")]:
                self.declare(name, Obj(cls), region=-1, constant=True, shared=True)
            self.line(f"return {self.make(returns, 1)}")
        self.level -= 1

    def program(self) -> Program:
        self.lines = HEADER.splitlines()
        self.classes = [BOX, CRATE]
        self.limit = EFFORT >> self.pick(3, 2, 1, 0)
        for _ in range(self.below(3)):
            self.lines += ["", ""]
            self.class_statement()
        for _ in range(self.below(3)):
            self.lines += ["", ""]
            name = self.name("h")
            fn = self.function(name, self.some_type(1) if self.below(4) else None, 2)
            self.declare(name, fn, constant=True)
        values = {
            "n": self.pick(3, 0, -7),
            "g": self.pick(0.5, -2.25, 4.0),
            "flag": self.pick(True, False),
        }
        self.lines += ["", ""]
        self.line(f"def {MAIN}:")
        self.level += 1
        self.pictures = True
        with self.block():
            for name, type in (("n", INT), ("g", NUM), ("flag", BOOL)):
                self.declare(name, type)
            self.returns = self.pick(NUM, Tup((NUM, NUM)), Tup((INT, NUM, BOOL)), Vec(3))
            self.body(2 + self.below(6), 1 + self.below(4))
            self.result()
        source = "\n".join(self.lines) + "\n"
        return Program(source, self.pick(*BOUNDARIES), values, not self.chance(4))


S = Statements
SIMPLE = (
    S.assignment,
    S.assignment,
    S.augmented,
    S.new_scalar,
    S.new_container,
    S.new_container,
    S.swap,
    S.unpacking,
    S.replace,
    S.exchange,
    S.store,
    S.boxes,
    S.boxes,
    S.alias,
    S.grow,
    S.swizzle,
    S.call_statement,
    S.call_statement,
    S.jump,
    S.jump,
    *VALUE_STATEMENTS,
)
COMPOUND = (
    S.branch,
    S.branch,
    S.branch_that_names,
    S.for_known,
    S.for_known,
    S.for_dynamic,
    S.while_counted,
    S.for_long,
    S.match_statement,
    S.closure,
    S.counted,
    S.jump,
    *VALUE_BLOCKS,
)


def program(seed: int) -> Program:
    """The program of a seed."""
    return Statements(random.Random(seed).randrange).program()


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random programs."""
    return Statements(lambda n: draw(st.integers(0, n - 1)) if n > 1 else 0).program()
