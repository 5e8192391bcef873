"""Loops and branches of an LLVM function under construction (code.py).

with Loop(code, [start]) as loop:     # loop.params: the values of this round
    loop.next(go, [loop.params[0] + 1])
loop.results                          # what was handed to next at the end

branch = Branch(code, condition)
with branch.side():
    first = [...]
with branch.side():
    second = [...]
results = branch.join(first, second)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pygpu.codegen.llvm.body import Scope
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import Val


class Loop:
    """A loop in the making, which runs at least once."""

    def __init__(self, code: Code, initial: Sequence[Val]) -> None:
        self.code, self.initial = code, initial
        name = code.fresh("loop")
        self.head, self.exit = f"{name}.head", f"{name}.exit"
        self.results: list[Val] = []

    def __enter__(self) -> Loop:
        code = self.code
        self.outer = code.scopes[-1]
        self.context = code.scope(self.head, barrier=False)
        self.scope = self.context.__enter__()
        self.params = [
            code.given(value.kind, value.lanes, f"%{code.fresh('p')}") for value in self.initial
        ]
        return self

    def next(self, go: Val, values: Sequence[Val]) -> None:
        self.go, self.values = go, list(values)

    def __exit__(self, error: type[BaseException] | None, *rest: object) -> None:
        code = self.code
        self.context.__exit__(None, None, None)
        if error is not None:
            return
        before, after = self.outer.label, self.scope.label
        lines = [f"  br label %{self.head}", f"{self.head}:"]
        for param, first, value in zip(self.params, self.initial, self.values, strict=True):
            assert (value.kind, value.lanes) == (param.kind, param.lanes), (param, value)
            lines.append(
                f"  {param.text} = phi {param.type} [ {first.text}, %{before} ], "
                f"[ {value.text}, %{after} ]"
            )
        lines += self.scope.lines
        lines.append(f"  br i1 {self.go.text}, label %{self.head}, label %{self.exit}")
        lines.append(f"{self.exit}:")
        # What was shared in the outer scope while the loop was open stands before it: still seen.
        self.outer.lines += lines
        self.outer.label = self.exit
        depth = len(code.scopes) - 1
        self.results = [
            Val(code, value.kind, value.lanes, value.text, min(value.depth, depth), value.number)
            for value in self.values
        ]


class Branch:
    """Two sides in the making, of which one runs. A second that does nothing may be left out.
    `rare`: the first hardly ever runs; registers that it wants are saved there."""

    def __init__(self, code: Code, condition: Val, rare: bool = False) -> None:
        self.code, self.condition, self.rare = code, condition, rare
        name = code.fresh("if")
        self.labels = [f"{name}.then", f"{name}.else"]
        self.end = f"{name}.end"
        self.done: list[Scope] = []

    @contextmanager
    def side(self) -> Iterator[None]:
        with self.code.scope(self.labels[len(self.done)], barrier=True) as scope:
            yield
        self.done.append(scope)

    def join(self, first: Sequence[Val], second: Sequence[Val]) -> list[Val]:
        code, outer = self.code, self.code.scopes[-1]
        if len(self.done) == 1:
            with self.side():
                pass
        condition = f"br i1 {self.condition.text}, label %{self.labels[0]}, label %{self.labels[1]}"
        if self.rare:
            code.declared["!1"] = '!1 = !{!"branch_weights", i32 1, i32 2000}'
            condition += ", !prof !1"
        outer.lines.append(f"  {condition}")
        for label, scope in zip(self.labels, self.done, strict=True):
            outer.lines += [f"{label}:", *scope.lines, f"  br label %{self.end}"]
        outer.lines.append(f"{self.end}:")
        outer.label = self.end
        left, right = self.done[0].label, self.done[1].label
        results = []
        for a, b in zip(first, second, strict=True):
            if a is b:
                results.append(a)
                continue
            assert (a.kind, a.lanes) == (b.kind, b.lanes), (a, b)
            text = f"phi {a.type} [ {a.text}, %{left} ], [ {b.text}, %{right} ]"
            results.append(code.fixed(a.kind, a.lanes, text))
        return results


@contextmanager
def when(code: Code, condition: Val) -> Iterator[None]:
    branch = Branch(code, condition)
    with branch.side():
        yield
    branch.join([], [])


@contextmanager
def counting(code: Code, stop: Val) -> Iterator[Val]:
    """The body for 0, 1, ... below `stop`."""
    with when(code, stop > 0), Loop(code, [code.constant("long", 0)]) as loop:
        yield loop.params[0]
        following = loop.params[0] + 1
        loop.next(following < stop, [following])


def several(code: Code, stop: Val, together: int = 4) -> Iterator[list[Val]]:
    """The body for 0, 1, ... below `stop`, so many in a round, and then for each that is left. What
    it reads of all before it writes need not wait until it is known where writes go."""
    head = code.binary("and", stop, -together)
    for first, end, each in ((code.constant("long", 0), head, together), (head, stop, 1)):
        with when(code, first < end), Loop(code, [first]) as loop:
            yield [loop.params[0] + k for k in range(each)]
            following = loop.params[0] + each
            loop.next(following < end, [following])
