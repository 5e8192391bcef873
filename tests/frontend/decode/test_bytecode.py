"""Decoding keeps meaning, positions and loops, on whatever CPython runs the tests."""

import builtins
import copy
import dis
import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any

import pytest

from frontend.decode import corpus
from frontend.decode.corpus.branches import assert_messages, assertions, raises
from frontend.decode.corpus.functions import starred_in_the_middle
from frontend.decode.corpus.while_loops import (
    while_and_continue,
    while_chained_continue,
    while_or_continue,
    while_rotations,
)
from frontend.decode.machine import Frame, call
from frontend.decode.source import check, codes, compiled, loops_in, spanned
from pygpu import bytecode
from pygpu.bytecode import NULL, Code, decode
from pygpu.frontend.decode import opcodes

CONTROL = {"JUMP", "BRANCH", "FOR", "RETURN", "YIELD"}
POINTED_AT = {"CALL", "CALL_EX", "BINARY", "COMPARE", "ATTR", "ITEM", "UNARY", "GLOBAL"}

# What CPython uses itself: no code object ever holds it.
INTERNAL = {"ENTER_EXECUTOR", "EXIT_INIT_CHECK", "INTERPRETER_EXIT", "RESERVED", "TRACE_RECORD"}
FIRST_PSEUDO = 256


def decoded(function: Callable[..., Any]) -> list[Code]:
    """The function and all functions inside."""
    return [decode(code) for code in codes(function.__code__)]


@pytest.mark.parametrize(
    ("function", "arguments"), corpus.CALLS, ids=[function.__name__ for function, _ in corpus.CALLS]
)
def test_decoded_function_does_what_cpython_does(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = function(*theirs)
    actual = call(function, *ours)
    assert repr((actual, ours)) == repr((expected, theirs))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (raises, (-1,)),
        (assertions, (-1,)),
        (assert_messages, (2, 2)),
        (starred_in_the_middle, ([1], {"e": 1})),
    ],
)
def test_decoded_function_raises_what_cpython_raises(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    with pytest.raises((AssertionError, TypeError, ValueError)) as expected:
        function(*arguments)
    with pytest.raises(expected.type) as actual:
        call(function, *arguments)
    assert str(actual.value) in str(expected.value)


@pytest.mark.parametrize("function", corpus.FUNCTIONS)
def test_graph_and_stack_make_sense(function: Callable[..., Any]) -> None:
    for code in decoded(function):
        check(code)


@pytest.mark.parametrize("function", corpus.FUNCTIONS)
def test_no_loop_is_made_up(function: Callable[..., Any]) -> None:
    expected = loops_in(inspect.cleandoc("\n" + inspect.getsource(function)))
    actual = sum(len(code.graph.loops) for code in decoded(function))
    assert actual <= expected


@pytest.mark.parametrize(
    "function", [while_and_continue, while_chained_continue, while_or_continue, while_rotations]
)
def test_while_with_continue_is_one_loop(function: Callable[..., Any]) -> None:
    assert len(decode(function.__code__).graph.loops) == 1


@pytest.mark.parametrize("function", corpus.FUNCTIONS)
def test_instructions_point_at_source(function: Callable[..., Any]) -> None:
    for code in decoded(function):
        for instruction in code.instructions:
            if instruction.op in POINTED_AT:
                assert instruction.span.line is not None
                assert instruction.span.end_column is not None


EXPRESSIONS = """
def f(im, p, c, *, k):
    s = im[p + (1, 0)].ä.clamp(k.x * 2, hi=c)
    if s < k.x and not c(s):
        s = -s
    while (n := s - 1) > 0:
        s = g(n)
    for i in range(c)[1:]:
        s += i if s else [j for j in k.items]
    return sum(a for a in im.rows)
"""


def test_spans_cover_exactly_their_expressions() -> None:
    places = [
        (instruction.op, spanned(EXPRESSIONS, instruction.span))
        for instruction in decode(compiled(EXPRESSIONS)).instructions
    ]
    for expected in [
        ("BINARY", "p + (1, 0)"),
        ("ITEM", "im[p + (1, 0)]"),
        ("ATTR", "im[p + (1, 0)].ä"),
        ("BINARY", "k.x * 2"),
        ("CALL", "im[p + (1, 0)].ä.clamp(k.x * 2, hi=c)"),
        ("COMPARE", "s < k.x"),
        ("BRANCH", "s < k.x"),
        ("CALL", "c(s)"),
        ("BRANCH", "c(s)"),
        ("UNARY", "-s"),
        ("BRANCH", "(n := s - 1) > 0"),
        ("CALL", "g(n)"),
        ("CALL", "range(c)"),
        ("ITEM", "range(c)[1:]"),
        ("ITER", "range(c)[1:]"),
        ("FOR", "range(c)[1:]"),
        ("BRANCH", "s"),
        ("ATTR", "k.items"),
        ("BINARY", "s += i if s else [j for j in k.items]"),
        ("CALL", "sum(a for a in im.rows)"),
    ]:
        assert expected in places


ASYNCHRONOUS = {
    "await": "await g()",
    "async for": "async for i in g(): pass",
    "async with": "async with g() as h: pass",
}


def test_exceptions_are_handled_as_groups() -> None:
    body = "try:\n        a = g()\n    except* ValueError:\n        a = 0\n"
    body += "    except* KeyError:\n        a = 3"
    text = f"def f(a):\n    if a:\n        return 1\n    {body}\n    return a\n"
    function = types.FunctionType(compiled(text), {"g": lambda: 2, **vars(builtins)})
    assert call(function, 1) == 1
    assert call(function, 0) == 2
    function.__globals__["g"] = lambda: int("x")
    assert call(function, 0) == 0
    function.__globals__["g"] = lambda: {}[1]
    assert call(function, 0) == 3
    function.__globals__["g"] = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        call(function, 0)


def test_yield_from_is_a_loop() -> None:
    text = "def f(a):\n    yield 1\n    yield from a\n    yield from [a, 4]\n"
    function = types.FunctionType(compiled(text), {})
    assert list(call(function, (2, 3))) == [1, 2, 3, (2, 3), 4]


def test_yield_from_gives_what_the_generator_returns() -> None:
    given = "def g(a):\n    yield a\n    return a + 1\n"
    text = f"{given}def f(a):\n    b = yield from g(a)\n    yield b\n"
    names: dict[str, Any] = {}
    exec(text, names)
    assert list(call(names["f"], 1)) == [1, 2]


@pytest.mark.parametrize("what", ASYNCHRONOUS)
def test_coroutine_is_unsupported_from_its_start(what: str) -> None:
    code = decode(compiled(f"async def f():\n    {ASYNCHRONOUS[what]}\n"))
    assert [(i.op, i.arg) for i in code.instructions] == [("UNSUPPORTED", "async def")]


def test_every_instruction_of_this_cpython_is_known() -> None:
    names = {
        name
        for name, opcode in dis.opmap.items()
        if opcode < FIRST_PSEUDO and not name.startswith("INSTRUMENTED_")
    }
    assert names - set(opcodes.RULES) - INTERNAL == set()


def test_every_canonical_instruction_is_documented_and_executed() -> None:
    ops = {
        instruction.op
        for function in corpus.FUNCTIONS
        for code in decoded(function)
        for instruction in code.instructions
    }
    assert bytecode.__doc__ is not None
    words = set(bytecode.__doc__.split())
    assert all(op in words for op in ops)
    assert all(hasattr(Frame, op) for op in ops - CONTROL)


def test_decoding_is_remembered_by_identity() -> None:
    one, two = [lambda x: x.a, lambda x: x.a]
    assert decode(one.__code__) is decode(one.__code__)
    columns = [decode(f.__code__).instructions[0].span.column for f in (one, two)]
    assert columns[0] != columns[1]


def test_code_without_positions_decodes() -> None:
    for function in corpus.FUNCTIONS:
        code = function.__code__.replace(co_linetable=b"")
        assert decode(code).graph.reducible
    bare = types.FunctionType(while_rotations.__code__.replace(co_linetable=b""), {})
    assert call(bare, 9) == while_rotations(9)


def test_long_functions_decode() -> None:
    lines = [f"        if a[i] == {n}.5: s += {n}.25; continue" for n in range(300)]
    text = "\n".join(["def f(a):", "    s = i = 0", "    while i < len(a) and s < 1e6:"])
    text += "\n        i += 1\n        if i == len(a): break\n" + "\n".join(lines)
    text += "\n        s += 1\n    return s, i\n"
    function = types.FunctionType(compiled(text), {"__builtins__": __builtins__})
    a = [0, 3.5, 299.5, 7]
    assert call(function, a) == function(a)
    assert len(decode(function.__code__).graph.loops) == 1


def test_null_says_its_name() -> None:
    assert repr(NULL) == "NULL"


def test_source_is_not_needed() -> None:
    assert not linecache.getline("<test>", 1)
    assert decode(compiled("def f(a): return a\n")).instructions
