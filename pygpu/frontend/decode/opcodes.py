"""What each instruction of CPython 3.11 to 3.15 is in canonical ones: the tables of `bytecode`.

A rule takes what an instruction's argument points into and the argument, and gives pairs (op,
argument).  RULES holds the rules of every version at once, by name; what a version lacks is never
asked for, and what it spells otherwise asks VERSION.

>>> RULES["RETURN_CONST"](Tables(consts=(None, 7), names=(), locals=(), flags=0), 1)
(('CONST', 7), ('RETURN', None))
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

VERSION: Final = sys.version_info[:2]

ITERATOR_SLOTS: Final[int] = 2 if VERSION >= (3, 15) else 1
"""How many stack slots ITER fills and FOR finds: the iterator, on 3.15 and a NULL above it."""


class Tables(NamedTuple):
    """What the arguments of a code object's instructions point into, and its flags."""

    consts: tuple[Any, ...]
    names: tuple[str, ...]
    locals: tuple[str, ...]
    flags: int


Pairs = tuple[tuple[str, Any], ...]
Rule = Callable[[Tables, int], Pairs]

_NULLS: Final[Pairs] = (("NULL", None),)
_ITER: Final[Pairs] = (("ITER", None), *_NULLS * (ITERATOR_SLOTS - 1))

_DROPPED: Final = (
    *("CACHE", "NOP", "RESUME", "EXTENDED_ARG", "NOT_TAKEN"),
    *("PRECALL", "COPY_FREE_VARS", "END_FOR"),
)

_WITHOUT_ARGUMENT: Final = {
    "POP_TOP": "POP",
    "PUSH_NULL": "NULL",
    "STORE_SUBSCR": "SETITEM",
    "DELETE_SUBSCR": "DELITEM",
    "BINARY_SUBSCR": "ITEM",
    "LIST_TO_TUPLE": "TO_TUPLE",
    "RETURN_VALUE": "RETURN",
    "YIELD_VALUE": "YIELD",
    "RERAISE": "RERAISE",
    "PUSH_EXC_INFO": "PUSH_EXC",
    "POP_EXCEPT": "POP_EXC",
    "CHECK_EXC_MATCH": "MATCH_EXC",
    "CHECK_EG_MATCH": "MATCH_GROUP",
    "PREP_RERAISE_STAR": "UNHANDLED",  # 3.11
    "BEFORE_WITH": "ENTER",
    "GET_LEN": "LEN",
    "MATCH_SEQUENCE": "MATCH_SEQ",
    "MATCH_MAPPING": "MATCH_MAP",
    "MATCH_KEYS": "MATCH_KEYS",
    "LOAD_BUILD_CLASS": "BUILDCLASS",
    "LOAD_LOCALS": "LOCALS",
}

_WITH_NUMBER: Final = {
    "COPY": "COPY",
    "SWAP": "SWAP",
    "BUILD_SLICE": "SLICE",
    "BUILD_TUPLE": "TUPLE",
    "BUILD_LIST": "LIST",
    "BUILD_SET": "SET",
    "BUILD_MAP": "MAP",
    "BUILD_CONST_KEY_MAP": "KEYMAP",
    "BUILD_STRING": "STRING",
    "LIST_APPEND": "APPEND",
    "SET_ADD": "ADD",
    "MAP_ADD": "MAPADD",
    "LIST_EXTEND": "EXTEND",
    "SET_UPDATE": "UPDATE",
    "DICT_UPDATE": "UPDATE",
    "DICT_MERGE": "MERGE",
    "UNPACK_SEQUENCE": "UNPACK",
    "SET_FUNCTION_ATTRIBUTE": "SETFUNC",
    "RAISE_VARARGS": "RAISE",
    "MATCH_CLASS": "MATCH_CLASS",
    "LOAD_SMALL_INT": "CONST",
    # The argument of a jump is its target by the time a rule sees it.
    "FOR_ITER": "FOR",
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
}

_WITH_CONSTANT: Final = {"LOAD_CONST": "CONST", "KW_NAMES": "KW_NAMES"}

_WITH_NAME: Final = {
    "STORE_ATTR": "SETATTR",
    "DELETE_ATTR": "DELATTR",
    "STORE_GLOBAL": "SETGLOBAL",
    "DELETE_GLOBAL": "DELGLOBAL",
    "LOAD_NAME": "NAME",
    "STORE_NAME": "STORENAME",
    "DELETE_NAME": "DELNAME",
    "LOAD_FROM_DICT_OR_GLOBALS": "DICT_GLOBAL",
    "IMPORT_FROM": "IMPORT_FROM",
}

_WITH_LOCAL: Final = {
    "LOAD_FAST": "LOAD",
    "LOAD_FAST_CHECK": "LOAD",
    "LOAD_FAST_BORROW": "LOAD",
    "LOAD_CLOSURE": "LOAD",
    "STORE_FAST": "STORE",
    "DELETE_FAST": "DELETE",
    "LOAD_FAST_AND_CLEAR": "LOAD_CLEAR",
    "MAKE_CELL": "CELL",
    "LOAD_DEREF": "DEREF",
    "STORE_DEREF": "SETREF",
    "DELETE_DEREF": "DELDEREF",
    "LOAD_FROM_DICT_OR_DEREF": "DICT_DEREF",
}

_WITH_TWO_LOCALS: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD", "LOAD"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD", "LOAD"),
    "STORE_FAST_LOAD_FAST": ("STORE", "LOAD"),
    "STORE_FAST_STORE_FAST": ("STORE", "STORE"),
}

_UNARY: Final = {
    "UNARY_NEGATIVE": "-",
    "UNARY_INVERT": "~",
    "UNARY_NOT": "not",
    "UNARY_POSITIVE": "+",
}
_BINARY: Final = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
_SUBSCRIPT: Final = 2 * len(_BINARY)  # after the in-place ones, from 3.14 on
_COMPARE: Final = ("<", "<=", "==", "!=", ">", ">=")
_COMPARE_SHIFT: Final = 5 if VERSION >= (3, 13) else 4 if VERSION >= (3, 12) else 0
_TESTS: Final = {"FALSE": "false", "TRUE": "true", "NONE": "none", "NOT_NONE": "notnone"}
_CONVERSIONS: Final = ("", "s", "r", "a")

_TRUTH: Final[Pairs] = (("UNARY", "not"), ("UNARY", "not"))

TRUTH_TESTS: Final = frozenset(
    {"UNARY_NOT", *(f"POP_JUMP_IF_{name}" for name in ("FALSE", "TRUE"))}
)
"""What tests truth itself in canonical instructions: a conversion to bool before it goes."""

INLINED_CALLS: Final = (tuple, all, any, list, set)
"""The builtins whose call with a generator expression 3.14 and 3.15 inline."""

_COMMON_CONSTANTS: Final = (
    *(AssertionError, NotImplementedError, tuple, all, any),  # 3.14
    *(list, set, None, "", True, False, -1),  # 3.15
)

_SPECIAL_METHODS: Final[tuple[tuple[str, str], ...]] = (  # of LOAD_SPECIAL
    ("SPECIAL", "__enter__"),
    ("SPECIAL", "__exit__"),
    ("UNSUPPORTED", "async with"),
    ("UNSUPPORTED", "async with"),
)
_EXIT_PLACE: Final = 5 if VERSION >= (3, 14) else 4  # of a context's exit, from the top

_INTRINSICS: Final[dict[int, Pairs]] = {
    2: (("UNSUPPORTED", "import *"),),
    3: (("UNSUPPORTED", "yield"),),
    4: (("UNSUPPORTED", "async def"),),
    5: (("UNARY", "+"),),
    6: (("TO_TUPLE", None),),
}

UNSUPPORTED: Final = {
    "BEFORE_ASYNC_WITH": "async with",
    "CLEANUP_THROW": "yield from",
    "GET_AWAITABLE": "await",
    "GET_AITER": "async for",
    "GET_ANEXT": "async for",
    "END_ASYNC_FOR": "async for",
    "ASYNC_GEN_WRAP": "async def",
    "IMPORT_STAR": "import *",
    "BUILD_INTERPOLATION": "a template string",
    "BUILD_TEMPLATE": "a template string",
    "PRINT_EXPR": "an interactive statement",
}
"""The instructions that are not supported: what they stand for, in the user's words."""


_PREP_RERAISE_STAR: Final = 1  # of CALL_INTRINSIC_2, from 3.12 on


def _load_global(t: Tables, a: int) -> Pairs:
    load: Pairs = (("GLOBAL", t.names[a >> 1]),)
    if not a & 1:
        return load
    return load + _NULLS if VERSION >= (3, 13) else _NULLS + load


def _load_attr(t: Tables, a: int) -> Pairs:
    if VERSION < (3, 12):
        return (("ATTR", t.names[a]),)
    return (("ATTR", t.names[a >> 1]), *_NULLS * (a & 1))


def _compare_op(t: Tables, a: int) -> Pairs:
    comparison = ("COMPARE", _COMPARE[a >> _COMPARE_SHIFT])
    wants_bool = VERSION >= (3, 13) and a & 16
    return (comparison, *_TRUTH) if wants_bool else (comparison,)


def _binary_op(t: Tables, a: int) -> Pairs:
    if a == _SUBSCRIPT:
        return (("ITEM", None),)
    in_place, operator = divmod(a, len(_BINARY))
    return (("BINARY", _BINARY[operator] + "=" * in_place),)


def _call_function_ex(t: Tables, a: int) -> Pairs:
    # Before 3.14 the slot for keywords is there only if the bit says so.
    return (*_NULLS * (VERSION < (3, 14) and not a & 1), ("CALL_EX", None))


def _make_function(t: Tables, a: int) -> Pairs:
    # Up to 3.12 the argument says what lies on the stack; later it is 0.
    return (("FUNCTION", None), *(("SETFUNC", bit) for bit in (8, 4, 2, 1) if a & bit))


def _back_to_send(t: Tables, a: int) -> Pairs:
    """The jump back in `yield from`; from 3.12 on END_SEND leaves the value where SEND jumps to."""
    back: Pairs = (("POP", None), ("JUMP", a))
    return back if VERSION >= (3, 12) else (*back, ("RESULT", None))


def _return_generator(t: Tables, a: int) -> Pairs:
    asynchronous = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return (("UNSUPPORTED", "async def"),) if t.flags & asynchronous else ()


def unsupported(name: str) -> Rule:
    """The rule of an instruction that RULES does not know."""
    return _constantly(("UNSUPPORTED", name.lower()))


def _constantly(*pairs: tuple[str, Any]) -> Rule:
    return lambda t, a: pairs


def _with(op: str, argument: Callable[[Tables, int], Any]) -> Rule:
    return lambda t, a: ((op, argument(t, a)),)


def _two_locals(one: str, two: str) -> Rule:
    return lambda t, a: ((one, t.locals[a >> 4]), (two, t.locals[a & 15]))


def _branch(test: str) -> Rule:
    return lambda t, a: (("BRANCH", (test, a)),)


def _branch_or_pop(test: str) -> Rule:
    return lambda t, a: (("COPY", 1), ("BRANCH", (test, a)), ("POP", None))


RULES: Final[dict[str, Rule]] = {
    **{name: _constantly() for name in _DROPPED},
    **{name: _constantly((op, None)) for name, op in _WITHOUT_ARGUMENT.items()},
    **{name: _constantly(("UNARY", op)) for name, op in _UNARY.items()},
    **{name: _constantly(("UNSUPPORTED", what)) for name, what in UNSUPPORTED.items()},
    **{name: _with(op, lambda t, a: a) for name, op in _WITH_NUMBER.items()},
    **{name: _with(op, lambda t, a: t.consts[a]) for name, op in _WITH_CONSTANT.items()},
    **{name: _with(op, lambda t, a: t.names[a]) for name, op in _WITH_NAME.items()},
    **{name: _with(op, lambda t, a: t.locals[a]) for name, op in _WITH_LOCAL.items()},
    **{name: _two_locals(*ops) for name, ops in _WITH_TWO_LOCALS.items()},
    **{f"POP_JUMP_IF_{name}": _branch(test) for name, test in _TESTS.items()},
    **{f"POP_JUMP_FORWARD_IF_{name}": _branch(test) for name, test in _TESTS.items()},  # 3.11
    **{f"POP_JUMP_BACKWARD_IF_{name}": _branch(test) for name, test in _TESTS.items()},  # 3.11
    "JUMP_IF_FALSE_OR_POP": _branch_or_pop("false"),  # 3.11
    "JUMP_IF_TRUE_OR_POP": _branch_or_pop("true"),  # 3.11
    "LOAD_GLOBAL": _load_global,
    "LOAD_ATTR": _load_attr,
    "LOAD_METHOD": lambda t, a: (("ATTR", t.names[a]), *_NULLS),  # 3.11
    "LOAD_SUPER_ATTR": lambda t, a: (("SUPER", t.names[a >> 2]), *_NULLS * (a & 1)),
    "SETUP_ANNOTATIONS": lambda t, a: (("MAP", 0), ("STORENAME", "__annotations__")),
    "LOAD_CLASSDEREF": lambda t, a: (("LOCALS", None), ("DICT_DEREF", t.locals[a])),  # 3.11
    "LOAD_ASSERTION_ERROR": _constantly(("CONST", AssertionError)),  # up to 3.13
    "LOAD_COMMON_CONSTANT": lambda t, a: (("CONST", _COMMON_CONSTANTS[a]),),
    "LOAD_SPECIAL": lambda t, a: (_SPECIAL_METHODS[a],),  # from 3.14 on
    "WITH_EXCEPT_START": _constantly(("EXIT", _EXIT_PLACE)),
    "IMPORT_NAME": lambda t, a: (("IMPORT", t.names[a >> 2 if VERSION >= (3, 15) else a]),),
    "COMPARE_OP": _compare_op,
    "TO_BOOL": _constantly(*_TRUTH),  # from 3.13 on
    "IS_OP": lambda t, a: (("IS", bool(a)),),
    "CONTAINS_OP": lambda t, a: (("IN", bool(a)),),
    "BINARY_OP": _binary_op,
    "BINARY_SLICE": _constantly(("SLICE", 2), ("ITEM", None)),  # 3.12, 3.13
    "STORE_SLICE": _constantly(("SLICE", 2), ("SETITEM", None)),  # 3.12, 3.13
    "UNPACK_EX": lambda t, a: (("UNPACK_EX", (a & 0xFF, a >> 8)),),
    "RETURN_CONST": lambda t, a: (("CONST", t.consts[a]), ("RETURN", None)),  # 3.12, 3.13
    "CALL_INTRINSIC_1": lambda t, a: _INTRINSICS.get(a, (("UNSUPPORTED", "type parameters"),)),
    "CALL_INTRINSIC_2": lambda t, a: (
        ("UNHANDLED", None) if a == _PREP_RERAISE_STAR else ("UNSUPPORTED", "type parameters"),
    ),
    "CALL": lambda t, a: (("CALL", (a, ())),),
    "CALL_KW": lambda t, a: (("CALL", (a, ())),),  # the names are the constant before it
    "CALL_FUNCTION_EX": _call_function_ex,
    "MAKE_FUNCTION": _make_function,
    "GET_ITER": _constantly(*_ITER),
    "GET_YIELD_FROM_ITER": _constantly(*_ITER),  # on 3.15 a GET_ITER
    "SEND": lambda t, a: (("SEND", a),),
    "END_SEND": _constantly(("RESULT", None)),
    "JUMP_BACKWARD_NO_INTERRUPT": _back_to_send,
    "POP_ITER": _constantly(*[("POP", None)] * ITERATOR_SLOTS),
    "RETURN_GENERATOR": _return_generator,
    "FORMAT_VALUE": lambda t, a: (("FORMAT", (_CONVERSIONS[a & 3], bool(a & 4))),),
    "CONVERT_VALUE": lambda t, a: (("FORMAT", (_CONVERSIONS[a], False)),),
    "FORMAT_SIMPLE": _constantly(("FORMAT", ("", False))),
    "FORMAT_WITH_SPEC": _constantly(("FORMAT", ("", True))),
}
"""The rule of each instruction, by CPython's name of it."""
