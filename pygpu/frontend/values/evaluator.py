"""What a rule is given besides its arguments: the evaluator, which walks the function.

A rule says what one of Python's operations, or a call of one callable, means on values that are not
all known. It emits operations through `w.build`, reads and changes objects through the heap, and
asks for Python's protocols on any value. `Evaluator` is all that it may ask for; the `Walker`
(walk/evaluation.py) does it.

    def _fma(w: Evaluator, a: Any, b: Any, c: Any) -> Any:
        return w.binary("+", w.binary("*", a, b), c)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from pygpu.core.builder import Builder
from pygpu.core.errors import CompileError
from pygpu.core.host.records import record
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.environment import Environment
from pygpu.frontend.values.faults import Faults
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.heap import Heap
from pygpu.frontend.values.objects import Object
from pygpu.frontend.values.states import Aliases, State
from pygpu.frontend.values.values import Conflict
from pygpu.ssa import Region, Value

T = TypeVar("T")


# The function and the instruction of a dynamic branch or loop, and which way the branch went.
Condition = tuple[Frame, int, tuple[Value, bool] | None]
Rule = Callable[..., Any]  # is given the evaluator, and what the callable is given


@record
class Mark:
    """Where a walk was: what there was then, of all that walking adds to."""

    state: State
    region: Region
    operations: int  # in the region
    emitted: int  # operations in all
    tables: int
    frames: int
    at: int  # the instruction of the innermost frame
    conditions: tuple[Condition, ...]
    sites: int  # of calls that Python has executed
    kept: int
    raising: int  # exceptions noted by the instruction of the innermost frame
    unrolled: int
    inlined: int
    aliases: Aliases
    dead: tuple[tuple[int, int], ...]
    serial: int  # parts the objects made before from those made later


class Attempt(Protocol):
    """Something that is tried."""

    before: Mark

    def keep(self, result: T) -> T:
        """Let stand what has been walked. Gives the result."""

    def made(self, make: Callable[[], T]) -> T:
        """What `make` gives, kept. So is what it has done before the program raises in it."""


class Evaluator(Protocol):
    """Evaluates Python's operations on values that are known, dynamic or virtual."""

    build: Builder  # where operations are emitted
    heap: Heap  # what objects hold
    environment: Environment  # what is known of the world outside
    state: State  # the world at this point of the walk
    frames: list[Frame]  # the functions that are being walked, the innermost last
    conditions: tuple[Condition, ...]  # the dynamic branches and loops around the walk
    steps: int  # what has been walked so far, as a measure of time
    kept: list[Object]  # what the walk holds that no frame does
    faults: Faults  # what may go wrong at run time

    @property
    def frame(self) -> Frame:
        """The function that is being walked."""

    def check(self, wrong: Any, error: type[BaseException], message: str, *args: Any) -> None:
        """In checked programs, and where a handler waits, note a fault where a bool holds. `args`
        are the exception's, where Python gives it others than the message."""

    def may_raise(self, wrong: Any, error: type[BaseException], message: str, *args: Any) -> None:
        """Where a handler waits, note a fault where a dynamic bool holds. Else nothing, in checked
        programs too: what is wrong then goes on as IEEE says, as infinity or NaN."""

    def handled(self) -> bool:
        """Whether what is raised here may come to a handler, a `try` or `with` of a frame."""

    def lenient(self) -> bool:
        """Whether operations that Python refuses give what they give on a device: under a dynamic
        condition, unless a handler waits for what Python would raise."""

    def error(self, message: str) -> CompileError:
        """What is to be raised for a program that is refused, at the user's place."""

    # ---- objects

    def peek(self, handle: Object) -> Any:
        """What an object holds now, be it a Conflict."""

    def read(self, handle: Object) -> Any:
        """What an object holds now. An error where that is a Conflict."""

    def write(self, handle: Object, contents: Any) -> None:
        """Let an object hold something else from now on."""

    def in_sight(self, handles: Iterable[Object], beside: Object | None = None) -> bool:
        """Whether a variable or an operand of a frame leads to one of some objects, not by way of
        another."""

    # ---- calls

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """function(*args, **keywords)"""

    def native(self, function: Any, args: Iterable[Any], keywords: Mapping[str, Any]) -> Any:
        """A call that Python executes. NotKnown if an argument has dynamic leaves."""

    def inline(self, code: Any, globals: dict[str, Any], locals: dict[str, Any]) -> Any:
        """Walk a function's code with its parameters bound; the value it returns."""

    # ---- trying

    def mark(self, state: State | None = None) -> Mark:
        """Where the walk is, to be gone back to; `state` is the world there, if not this one."""

    def attempt(self, since: Mark | None = None) -> AbstractContextManager[Attempt]:
        """Try something. What is walked in the `with` block is undone at its end, unless it has
        been kept. With `since` the block begins there, and all that was walked since then is undone
        first; it comes back where the attempt fails.

            with w.attempt() as trial:
                return trial.keep(w.call(function))       # raises: as if it had not been called
        """

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

    def send(self, iterator: Any, value: Any) -> Any:
        """iterator.send(value), of a generator"""

    def throw(self, iterator: Any, error: Any) -> Any:
        """iterator.throw(error), of a generator"""

    def truth(self, value: Any) -> Any:
        """bool(value): a known bool, or a Dynamic one."""

    def choose(self, test: Any, a: Any, b: Any) -> Any:
        """a if test else b, both of them computed."""

    def unary(self, symbol: str, a: Any) -> Any:
        """-a and the like."""

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        """a + b and the like."""

    def compare(self, symbol: str, a: Any, b: Any) -> Any:
        """a < b and the like."""


def usable(w: Evaluator, value: Any) -> Any:
    """A value that can be used: an error for one that paths have made impossible."""
    if isinstance(value, Conflict):
        raise w.error(value.message)
    return value
