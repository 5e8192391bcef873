"""What a rule is given besides its arguments: the evaluator, which walks the function.

A rule says what one of Python's operations, or a call of one callable, means on values that are not
all known. It emits operations through `w.build`, reads and changes objects through the heap, and
asks for Python's protocols on any value. `Evaluator` is all that it may ask for; the `Walker`
(walk/walker.py) does it.

    def _fma(w: Evaluator, a: Any, b: Any, c: Any) -> Any:
        return w.binary("+", w.binary("*", a, b), c)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from pygpu.core.errors import CompileError
from pygpu.frontend.values.environment import Environment
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.heap import Heap
from pygpu.frontend.values.values import Builtin, Iterator, Object, State
from pygpu.ssa import Builder


class Evaluator(Protocol):
    """Evaluates Python's operations on values that are known, dynamic or virtual."""

    build: Builder  # where operations are emitted
    heap: Heap  # what objects hold
    environment: Environment  # what is known of the world outside
    state: State  # the world at this point of the walk
    frames: list[Frame]  # the functions that are being walked, the innermost last
    conditional: int  # how many dynamic branches and loops enclose the walk
    steps: int  # what has been walked so far, as a measure of time
    kept: list[list[Any]]  # what the walk holds that no frame does

    @property
    def frame(self) -> Frame:
        """The function that is being walked."""

    def error(self, message: str) -> CompileError:
        """What is to be raised for a program that is refused, at the user's place."""

    # ---- objects

    def peek(self, handle: Object) -> Any:
        """What an object holds now, be it a Conflict."""

    def read(self, handle: Object) -> Any:
        """What an object holds now. An error where that is a Conflict."""

    def write(self, handle: Object, contents: Any) -> None:
        """Let an object hold something else from now on."""

    def in_sight(self, handle: Object) -> bool:
        """Whether a variable or an operand of a frame leads to an object."""

    # ---- calls

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """function(*args, **keywords)"""

    def native(self, function: Any, args: Iterable[Any], keywords: Mapping[str, Any]) -> Any:
        """A call that Python executes. NotKnown if an argument has dynamic leaves."""

    def inline(self, code: Any, globals: dict[str, Any], locals: dict[str, Any]) -> Any:
        """Walk a function's code with its parameters bound; the value it returns."""

    def taken_or_put_off(
        self,
        take: Callable[[], Iterator],
        put_off: Callable[[Exception | None], Iterator],
        sources: tuple[Any, ...],
    ) -> Iterator:
        """What `take` makes; if that fails or has effects, nothing of it is left, and it is what
        `put_off` makes of the error. That the iterators `sources` go on is no effect."""

    # ---- Python's protocols, on any value

    def attribute(self, value: Any, name: str) -> Any:
        """value.name"""

    def method(self, value: Any, name: str) -> Builtin | None:
        """A method of a builtin class, of a value that is not known; None if it has no such."""

    def special(self, value: Any, name: str) -> Any:
        """A special method that is written in Python, bound; None if there is none."""

    def item(self, container: Any, index: Any) -> Any:
        """container[index]"""

    def length(self, value: Any) -> Any:
        """len(value): known, but for sequences of dynamic length."""

    def items(self, value: Any) -> tuple[Any, ...]:
        """Everything that iterating the value gives."""

    def iterate(self, value: Any) -> Any:
        """iter(value)"""

    def next(self, iterator: Any) -> Any:
        """next(iterator). StopIteration at its end."""

    def truth(self, value: Any) -> Any:
        """bool(value): a known bool, or a Dynamic one."""

    def unary(self, symbol: str, a: Any) -> Any:
        """-a and the like."""

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        """a + b and the like."""

    def compare(self, symbol: str, a: Any, b: Any) -> Any:
        """a < b and the like."""


__all__ = ["Evaluator"]
