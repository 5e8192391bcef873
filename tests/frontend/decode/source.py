"""Python source as code objects, and facts of it that decoding must keep."""

import ast
from collections.abc import Iterator
from types import CodeType

from pygpu.bytecode import ITERATOR_SLOTS, Code, Span

LOOPS = (ast.YieldFrom, ast.For, ast.While, ast.comprehension)

# What each canonical instruction adds to the stack, by its argument.
EFFECTS = {
    **dict.fromkeys(("CONST", "NULL", "COPY", "LOAD", "LOAD_CLEAR", "DEREF", "GLOBAL", "NAME"), 1),
    **dict.fromkeys(("LOCALS", "BUILDCLASS", "IMPORT_FROM", "LEN", "MATCH_SEQ", "MATCH_MAP"), 1),
    **dict.fromkeys(("MATCH_KEYS", "PUSH_EXC", "ENTER", "SPECIAL", "EXIT"), 1),
    **dict.fromkeys(("SWAP", "DELETE", "CELL", "DELDEREF", "DELGLOBAL", "DELNAME"), 0),
    **dict.fromkeys(("DICT_DEREF", "DICT_GLOBAL", "ATTR", "UNARY", "TO_TUPLE", "FUNCTION"), 0),
    **dict.fromkeys(("YIELD", "JUMP", "ITER", "FOR", "UNSUPPORTED", "MATCH_EXC"), 0),
    "MATCH_GROUP": 0,
    "UNHANDLED": -1,
    **dict.fromkeys(("POP", "STORE", "SETREF", "SETGLOBAL", "STORENAME", "DELATTR", "ITEM"), -1),
    **dict.fromkeys(("BINARY", "COMPARE", "IS", "IN", "APPEND", "ADD", "EXTEND", "UPDATE"), -1),
    **dict.fromkeys(("MERGE", "SETFUNC", "IMPORT", "BRANCH", "RETURN", "RERAISE", "POP_EXC"), -1),
    **dict.fromkeys(("SETATTR", "SUPER", "DELITEM", "MAPADD", "MATCH_CLASS"), -2),
    **dict.fromkeys(("SETITEM", "CALL_EX"), -3),
}


def effect(op: str, arg: object) -> int:
    """How much higher the stack is after the instruction."""
    match op, arg:
        case ("SLICE" | "TUPLE" | "LIST" | "SET" | "STRING", int(count)):
            return 1 - count
        case "MAP", int(count):
            return 1 - 2 * count
        case "KEYMAP", int(count):
            return -count
        case "UNPACK", int(count):
            return count - 1
        case "UNPACK_EX", (int(before), int(after)):
            return before + after
        case "CALL", (int(count), tuple()):
            return -count - 1
        case "FORMAT", (str(), bool(has_spec)):
            return -has_spec
        case "RAISE", int(count):
            return -count
    return EFFECTS[op]


def compiled(text: str) -> CodeType:
    """The code object of the first function in the source."""
    return next(codes(compile(text, "<test>", "exec"), inner=True))


def codes(code: CodeType, inner: bool = False) -> Iterator[CodeType]:
    """The code object, unless only the inner ones are asked for, and those in it."""
    if not inner:
        yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from codes(const)


def loops_of(code: Code) -> int:
    """How many loops a decoded function has, those that CPython has put down more than once (as
    what stands in a `finally`) counted once."""
    ends = [code.graph.blocks[header] - 1 for header in code.graph.loops]
    return len({code.instructions[end].span for end in ends})


def loops_in(text: str) -> int:
    """How many loops the source has, those of comprehensions included."""
    return sum(isinstance(node, LOOPS) for node in ast.walk(ast.parse(text)))


def spanned(text: str, span: Span) -> str | None:
    """The text that a span of one line covers."""
    if span.line is None or span.column is None or span.end_line != span.line:
        return None
    return text.splitlines()[span.line - 1].encode()[span.column : span.end_column].decode()


def check(code: Code) -> None:
    """The graph and the stack of a decoded function make sense."""
    graph, instructions = code.graph, code.instructions
    assert graph.reducible
    assert next(iter(graph.blocks)) == 0 == graph.order[0]
    assert sorted(graph.order) == sorted(graph.blocks)
    covered = [place for block, end in graph.blocks.items() for place in range(block, end)]
    assert covered == list(range(len(instructions)))

    for header, body in graph.loops.items():
        assert all(graph.dominates(header, block) for block in body)
        entries = {
            target
            for block in graph.order
            if block not in body
            for target in graph.successors[block]
            if target in body
        }
        assert entries <= {header}
        assert all(target not in body for target in graph.exits(header))
    for block in graph.order:
        for child in graph.merges(block):
            assert graph.idom[child] == block
            assert len(graph.forward_predecessors(child)) > 1

    heights = {0: 0}
    for block in graph.order:
        height = heights[block]
        for place in range(block, graph.blocks[block]):
            op, arg = instructions[place].op, instructions[place].arg
            height += effect(op, arg)
            assert height >= 0
            handler = code.handlers.get(place)
            if handler is not None:
                entering = handler.depth + handler.marked + 1
                assert heights.setdefault(handler.target, entering) == entering
            if op == "RETURN":
                assert height == 0
        last = instructions[graph.blocks[block] - 1]
        handled = {handler.target for handler in code.handlers.values()}
        for target in [one for one in graph.successors[block] if one not in handled]:
            entering = height
            if last.op == "FOR":
                entering += -ITERATOR_SLOTS if target == last.arg else 1
            assert heights.setdefault(target, entering) == entering
