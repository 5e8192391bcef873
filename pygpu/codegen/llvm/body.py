"""The body of an LLVM function under construction.

Every instruction made by `make` is free of side effects and traps, so `Body` shares equal ones and
puts each into the outermost open loop where its operands are known: what does not change in a loop
is never computed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

from pygpu.codegen.llvm.text import TYPES, Instructions, Machine, Val, literal, type_text
from pygpu.core.host.records import record

READ: Final = "ptr noalias readonly"  # the type of a pointer to what nobody writes meanwhile
GATHERS: Final = 48  # that LLVM may put one before the other: see `Body.gathered`


@record(frozen=False)
class Scope:
    """The lines of a loop's body, of one side of a branch, or of the function itself."""

    label: str  # the basic block that lines are appended to
    barrier: bool  # one side of a branch: nothing is moved out of it
    lines: list[str] = field(default_factory=list)
    gathers: int = 0
    known: dict[tuple[str, str], Val] = field(default_factory=dict)
    results: dict[tuple[object, ...], Any] = field(default_factory=dict)


class Body(Instructions):
    """The body of a function under construction: its scopes, and what it refers to."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.scopes = [Scope("entry", barrier=True)]
        self.floor = 0  # the innermost barrier
        self.has_fma = machine.has("fma")
        self.count = 0
        self.constants: dict[tuple[str, int, str | float], Val] = {}
        self.heads: dict[tuple[str, str, str, int], str] = {}  # of calls, up to the operands
        self.declared: dict[str, str] = {}  # intrinsics
        self.stored: dict[tuple[str, str], Val] = {}  # bits that a float was made of, by dtype
        self.whole: dict[str, Val] = {}  # vectors of floats that ints, and whole floats, are of
        self.functions: dict[str, str] = {}  # functions of our own, and tables of theirs
        self.gives: dict[str, list[Val]] = {}  # what they give

    def fresh(self, hint: str = "t") -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def constant(self, kind: str, value: float, lanes: int = 1) -> Val:
        known = self.constants.get((kind, lanes, value))
        if known is not None:
            return known
        text = literal(kind, value)
        key = kind, lanes, text
        if key not in self.constants:
            scalar = f"{TYPES[kind]} {text}"
            if lanes == 1:
                shown = text
            elif text == "0":
                shown = "zeroinitializer"
            elif self.machine.version >= 20:
                shown = f"splat ({scalar})"
            else:
                shown = f"<{', '.join([scalar] * lanes)}>"
            self.constants[key] = Val(self, kind, lanes, shown, 0, value)
        if value:  # 0.0 and -0.0 are equal
            self.constants[kind, lanes, value] = self.constants[key]
        return self.constants[key]

    def like(self, model: Val, value: Val | float) -> Val:
        """A number as a constant of the model's kind; a value as it is."""
        return value if isinstance(value, Val) else self.constant(model.kind, value)

    def given(self, kind: str, lanes: int, text: str) -> Val:
        """A value that exists already: a parameter, a phi."""
        return Val(self, kind, lanes, text, len(self.scopes) - 1)

    def make(self, kind: str, text: str, *operands: Val, lanes: int | None = None) -> Val:
        """An instruction without side effects, shared and hoisted: out of loops, and where it is
        cheap, out of branches."""
        if lanes is None:
            lanes = operands[0].lanes
        depth = 0 if lanes == 1 and not text.startswith("call") else self.floor
        for operand in operands:
            if operand.depth > depth:
                depth = operand.depth
        return self._shared(kind, lanes, text, depth)

    def _shared(self, kind: str, lanes: int, text: str, depth: int) -> Val:
        key = text, kind
        for scope in self.scopes[depth::-1]:
            found = scope.known.get(key)
            if found is not None:
                return found
        scope = self.scopes[depth]
        self.count += 1
        name = f"%t{self.count}"
        scope.lines.append(f"  {name} = {text}")
        value = Val(self, kind, lanes, name, depth)
        scope.known[key] = value
        return value

    def remembered(self, key: tuple[object, ...], depth: int, make: Callable[[], Any]) -> Any:
        """What `make` made where it was last asked for under this key, if that can be seen here.
        `depth` is the scope that the result belongs to at least."""
        depth = max(depth, self.floor)
        for scope in self.scopes[depth::-1]:
            found = scope.results.get(key)
            if found is not None:
                return found
        self.scopes[depth].results[key] = made = make()
        return made

    def fixed(self, kind: str, lanes: int, text: str) -> Val:
        """An instruction that stays where it stands: a load, a call, a phi's neighbour."""
        name = f"%{self.fresh()}"
        self.scopes[-1].lines.append(f"  {name} = {text}")
        return Val(self, kind, lanes, name, len(self.scopes) - 1)

    def line(self, text: str) -> None:
        self.scopes[-1].lines.append(f"  {text}")

    def gathered(self, value: Val) -> Val:
        """A vector that has just been read from many places. LLVM begins such reads as early as it
        can, since they take long: with a hundred of them, what waits to be used goes to the stack
        and back. So after each 48 of them no instruction is moved from behind the last of them to
        before it: 24 bilinear samples of RGB are compiled in 0.55 (floats) and 0.86 (bytes) of the
        time, and run in 0.98 and 0.96."""
        scope = self.scopes[value.depth]
        if scope.lines[-1].startswith(f"  {value.text} = "):
            scope.gathers += 1
            if scope.gathers % GATHERS == 0:
                self.hold(value)
        return value

    def hold(self, value: Val) -> None:
        """Have LLVM (from 20 on) make a value before what follows."""
        if self.machine.version >= 20 and value.number is None and value.base is None:
            self.declared["llvm.fake.use"] = "declare void @llvm.fake.use(...)"
            use = f"  call void (...) @llvm.fake.use({value.type} {value.text})"
            self.scopes[value.depth].lines.append(use)

    def call(self, name: str, kind: str, values: Sequence[Val], suffix: str) -> Val:
        lanes = values[0].lanes
        head = self.heads.get((name, suffix, kind, lanes))
        if head is None:
            full = f"{name}.{suffix}"
            result = type_text(kind, lanes)
            types = ", ".join([value.type for value in values])
            self.declared[full] = f"declare {result} @{full}({types})"
            head = self.heads[name, suffix, kind, lanes] = f"call {result} @{full}("
        return self.make(kind, f"{head}{_typed(values)})", *values)

    def apart(self, name: str, make: Callable[..., list[Val]], *values: Val) -> list[Val]:
        """What `make` gives of the values, by a call of a function of our own, which is made when
        it is first called. Pointers have the names there that they have here."""
        if name not in self.functions:
            inner = type(self)(self.machine)
            inner.declared, inner.functions, inner.gives = self.declared, self.functions, self.gives
            self.functions[name] = ""
            names = [v.text if v.kind == "ptr" else f"%a{i}" for i, v in enumerate(values)]
            params = [Val(inner, v.kind, v.lanes, n, 0) for v, n in zip(values, names, strict=True)]
            found = self.gives[name] = make(inner, *params)
            result, text = _result(found), found[0].text
            for i, value in enumerate(found if len(found) > 1 else []):
                whole = text if i else "poison"
                text = f"%r{i}"
                inner.line(f"{text} = insertvalue {result} {whole}, {value.type} {value.text}, {i}")
            inner.line(f"ret {result} {text}")
            head = f"define internal fastcc {result} {name}({_typed(params)}) #1 {{"
            self.functions[name] = f"{head}\n{inner.text()}\n}}"
        found = self.gives[name]
        result, first = _result(found), found[0]
        text = f"call fastcc {result} {name}({_typed(values)})"
        given = self.make(first.kind, text, *values, lanes=first.lanes)  # the first, or all of them
        if len(found) == 1:
            return [given]
        texts = [f"extractvalue {result} {given.text}, {i}" for i in range(len(found))]
        pairs = zip(found, texts, strict=True)
        return [self.make(v.kind, text, given, lanes=v.lanes) for v, text in pairs]

    def terminate(self, text: str, label: str) -> None:
        """End the current basic block and open the next in the same scope."""
        scope = self.scopes[-1]
        scope.lines += [f"  {text}", f"{label}:"]
        scope.label = label

    @contextmanager
    def scope(self, label: str, barrier: bool) -> Iterator[Scope]:
        outer_floor = self.floor
        scope = Scope(label, barrier)
        self.scopes.append(scope)
        if barrier:
            self.floor = len(self.scopes) - 1
        yield scope
        self.scopes.pop()
        self.floor = outer_floor

    def text(self) -> str:
        (scope,) = self.scopes
        return "\n".join(["entry:", *scope.lines])

    def span(self, ctx: str = "ptr", args: str = "ptr", stops: bool = False) -> str:
        """The text of a function `span`, as the native loops (codegen/jobs) call it: it gives 0, or
        1 where it leaves for `stopped`. `ctx` and `args` are the types of its pointers."""
        self.line("ret i32 0")
        parameters = f"{ctx} %ctx, {args} %args, i32 %y, i32 %x0, i32 %x1"
        text = f"{self.text()}\nstopped:\n  ret i32 1" if stops else self.text()
        return f"define i32 @span({parameters}) #0 {{\n{text}\n}}\n{self.helpers()}"

    def helpers(self) -> str:
        """What the function's text refers to."""
        return "\n".join([*self.functions.values(), *self.declared.values()]) + "\n"


def _typed(values: Sequence[Val]) -> str:
    return ", ".join([f"{value.type} {value.text}" for value in values])


def _result(values: Sequence[Val]) -> str:
    """The type of a function's result, or of several."""
    types = ", ".join([value.type for value in values])
    return types if len(values) == 1 else f"{{{types}}}"
