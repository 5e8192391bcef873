"""Prints folds by group as GLSL compute programs: of each element its value and the number of its
group are found, and values fold in tables.

    table_programs(task, dialect, threads=64, ...)   # a table for each thread, any function
    atomic_programs(task, "add", dialect, ...)       # one table, by atomic operations on ints

Nothing depends on which thread comes first. With tables of their own, threads fold elements in
their order, and then threads and groups are folded in theirs; sums of floats carry what rounding
takes from them. Atomic operations are for what is equal in any order: whole numbers, and the least
and the greatest, of which floats go as words in the order of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.arrays.elements import (
    ArrayText,
    Functions,
    count_words,
    of_words,
    result_blocks,
    stores,
    words,
)
from pygpu.codegen.arrays.numbers import ordered_functions
from pygpu.codegen.glsl.lines import INDENT, lines_of
from pygpu.codegen.glsl.partials import AXES, function, struct
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.core.arrays import GroupTask
from pygpu.core.host.records import record
from pygpu.types import Type

AT_ONCE: Final = 8  # elements that a thread reads before it folds them
REST: Final = 64  # threads that fold what groups of threads leave of one group
ATOMIC_THREADS: Final = 256
TAKEN: Final = frozenset(
    """element fold table there partials groups parts extent pace neutral total rest lane row
    stride count strides number store finish ordered original result0 result1 result2 result3 width
    AT_ONCE each copies first least""".split()
)


@record(frozen=False)
class GroupText:
    """Programs. `main` takes the images and then the buffer of `partials` (of tables), or the one
    of the result (of atomic operations). `rest` takes `partials` and results; `finish` the
    result."""

    main: ArrayText
    threads: int
    rest: ArrayText | None = None
    finish: ArrayText | None = None


# ---------------------------------------------------------------- tables of threads


def table_words(types: Sequence[Type], has_flags: bool, is_sum: bool, groups: int) -> int:
    """Words of a thread's table."""
    return groups * count_words(types) * (2 if is_sum else 1) + has_flags * -(-groups // 32)


def table_programs(
    task: GroupTask, dialect: Dialect, threads: int, is_sum: bool, in_software: bool
) -> GroupText:
    """The programs with a table for each of so many threads of a group. `is_sum`: values are
    floats that are added. Where the task has no identity, a table says what is there."""
    types, has_flags = tuple(task.types), not task.has_identity
    functions = Functions.of(task, dialect, TAKEN)
    count = count_words(types)
    wide = count * (2 if is_sum else 1)
    room = table_words(types, has_flags, is_sum, task.groups) * threads
    body = [
        *struct(types),
        *functions.joined,
        *functions.accessors,
        *functions.pixel,
        *_fold(types, is_sum),
        f"shared uint table[{room}];",
        "",
        *function("void main()", _table_main(types, has_flags, is_sum)),
    ]
    head = [
        f"layout(local_size_x = {threads}) in;",
        f"layout(std430, binding = {len(functions.writer.read)}) writeonly buffer partials_block "
        "{ uint partials[]; };",
        *extent_of(in_software),
        f"#define THREADS {threads}",
        f"#define WIDE {wide * threads}",
        "uniform int parts;  // groups of threads",
        f"uniform uint neutral[{count}];",
    ]
    main = functions.finish(head, body)
    return GroupText(main, threads, _rest_program(task, dialect, has_flags, is_sum))


def extent_of(in_software: bool) -> list[str]:
    """The uniforms that share elements out."""
    return [
        "uniform ivec4 extent;  // elements, of a row, of a group of threads; groups",
        "uniform ivec2 pace;  // columns and rows from an element of a thread to the next",
        f"#define AT_ONCE {1 if in_software else AT_ONCE}",
    ]


def _fold(types: Sequence[Type], is_sum: bool) -> list[str]:
    """The function that folds a value into a total; of sums, `rest` is what rounding has added."""
    if not is_sum:
        head = "void fold(inout Value total, inout Value rest, Value v)"
        return function(head, ["total = join(total, v);"])
    lines = []
    for index, type in enumerate(types):
        for component in range(type.size):
            part = f".v{index}" + (f".{AXES[component]}" if type.size > 1 else "")
            lines += [
                "{",
                f"{INDENT}precise float less = v{part} - rest{part};",
                f"{INDENT}precise float sum = total{part} + less;",
                f"{INDENT}precise float added = (sum - total{part}) - less;",
                f"{INDENT}bool is_finite = (floatBitsToUint(sum) & 0x7f800000u) != 0x7f800000u;",
                f"{INDENT}total{part} = sum;",
                f"{INDENT}rest{part} = is_finite ? added : 0.0;",
                "}",
            ]
    return function("void fold(inout Value total, inout Value rest, Value v)", lines)


_PART: Final = "int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x)"


def each_element(
    lines: Sequence[str], part: str = _PART, holds: str = "number >= 0 && number < extent.w"
) -> list[str]:
    """A loop over the elements of a thread, AT_ONCE of them read at once: for each, as `v` of the
    group `number`, these lines, where that holds. `part` is that of the elements."""
    return [
        f"int first = {part} * extent.z;",
        "int last = min(first + extent.z, extent.x);",
        "int place = first + thread;",
        "ivec2 at = ivec2(place % extent.y, place / extent.y);",
        "while (place < last) {",
        f"{INDENT}Value values[AT_ONCE];",
        f"{INDENT}int numbers[AT_ONCE];",
        f"{INDENT}for (int k = 0; k < AT_ONCE; k++) {{",
        f"{INDENT * 2}bool is_there = place < last;",
        f"{INDENT * 2}numbers[k] = element(is_there ? at : ivec2(0), values[k]);",
        f"{INDENT * 2}if (!is_there)",
        f"{INDENT * 3}numbers[k] = -1;",
        f"{INDENT * 2}place += THREADS;",
        f"{INDENT * 2}at += pace;",
        f"{INDENT * 2}if (at.x >= extent.y)",
        f"{INDENT * 3}at += ivec2(-extent.y, 1);",
        f"{INDENT}}}",
        f"{INDENT}for (int k = 0; k < AT_ONCE; k++) {{",
        f"{INDENT * 2}int number = numbers[k];",
        f"{INDENT * 2}Value v = values[k];",
        f"{INDENT * 2}if ({holds}) {{",
        *[f"{INDENT * 3}{line}" for line in lines],
        f"{INDENT * 2}}}",
        f"{INDENT}}}",
        "}",
    ]


def _table_main(types: Sequence[Type], has_flags: bool, is_sum: bool) -> list[str]:
    count = count_words(types)
    neutral = [f"neutral[{c}]" for c in range(count)]
    kept = [*words(types, "total"), *(words(types, "rest") if is_sum else [])]
    total = [f"table[at_word + {c} * THREADS]" for c in range(count)]
    rest = [f"table[at_word + {count + c} * THREADS]" for c in range(count)]
    zero = [*neutral, *["0u"] * count]
    lines = ["int thread = int(gl_LocalInvocationIndex);"]
    lines += [
        "for (int number = 0; number < extent.w; number++) {",
        *[f"{INDENT}table[number * WIDE + {c} * THREADS + thread] = {word};"
          for c, word in enumerate(zero[: len(kept)])],
        "}",
    ]  # fmt: skip
    if has_flags:
        lines += [
            "int flags = extent.w * WIDE + thread;",
            "for (int number = 0; number < extent.w; number += 32)",
            f"{INDENT}table[flags + (number >> 5) * THREADS] = 0u;",
        ]
    fold = [
        "int at_word = number * WIDE + thread;",
        f"Value total = {of_words(types, total)};",
        f"Value rest = {of_words(types, rest) if is_sum else 'total'};",
    ]
    if has_flags:
        fold += [
            "int flag = flags + (number >> 5) * THREADS;",
            "uint bit = 1u << (number & 31);",
            "if ((table[flag] & bit) == 0u) {",
            f"{INDENT}table[flag] |= bit;",
            f"{INDENT}total = v;",
            "} else {",
            f"{INDENT}fold(total, rest, v);",
            "}",
        ]
    else:
        fold.append("fold(total, rest, v);")
    fold += [f"table[at_word + {c} * THREADS] = {word};" for c, word in enumerate(kept)]
    lines += each_element(fold)
    lines += [
        "memoryBarrierShared();",
        "barrier();",
        "int part = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);",
        "for (int number = thread; number < extent.w; number += THREADS) {",
        *[INDENT + line for line in _threads_folded(types, has_flags, is_sum)],
        "}",
    ]
    return lines


def _threads_folded(types: Sequence[Type], has_flags: bool, is_sum: bool) -> list[str]:
    """Lines in which each thread folds what all threads have of one group. It begins with what it
    has itself, so that no two threads read the same bank of the memory at once."""
    count = count_words(types)
    given = [f"table[number * WIDE + {c} * THREADS + lane]" for c in range(count)]
    flag = "(table[extent.w * WIDE + (number >> 5) * THREADS + lane] >> (number & 31) & 1u)"
    neutral = [f"neutral[{c}]" for c in range(count)]
    kept = words(types, "total")
    return [
        f"Value total = {of_words(types, neutral)};",
        f"Value rest = {of_words(types, ['0u'] * count)};",
        "bool is_there = false;",
        "for (int k = 0; k < THREADS; k++) {",
        f"{INDENT}int lane = (thread + k) % THREADS;",
        *_taken_in(of_words(types, given), flag if has_flags else ""),
        "}",
        *[f"partials[({c} * extent.w + number) * parts + part] = {word};"
          for c, word in enumerate(kept)],
        f"partials[({count} * extent.w + number) * parts + part] = uint(is_there);",
    ]  # fmt: skip


def _taken_in(value: str, flag: str) -> list[str]:
    """Lines in a loop that fold a value into the total; the first value is the total. Where there
    is a flag, the value counts only if that is set."""
    lines = [f"if ({flag} == 0u)", f"{INDENT}continue;"] if flag else []
    lines += [
        f"Value v = {value};",
        "if (is_there)",
        f"{INDENT}fold(total, rest, v);",
        "else",
        f"{INDENT}total = v;",
        "is_there = true;",
    ]
    return [INDENT + line for line in lines]


def _rest_program(task: GroupTask, dialect: Dialect, has_flags: bool, is_sum: bool) -> ArrayText:
    """The program that folds what groups of threads have left, a group of threads for each."""
    types = tuple(task.types)
    functions = Functions.of(task, dialect, TAKEN)
    count = count_words(types)
    given = [f"partials[({c} * extent.x + number) * extent.y + part]" for c in range(count)]
    neutral = [f"neutral[{c}]" for c in range(count)]
    flag = f"partials[({count} * extent.x + number) * extent.y + part]"
    main = [
        "int number = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);",
        "int thread = int(gl_LocalInvocationIndex);",
        "if (number >= extent.x)",
        f"{INDENT}return;",
        f"Value total = {of_words(types, neutral)};",
        f"Value rest = {of_words(types, ['0u'] * count)};",
        "bool is_there = false;",
        f"for (int part = thread; part < extent.y; part += {REST}) {{",
        *_taken_in(of_words(types, given), flag),
        "}",
        "lanes[thread] = total;",
        "flags[thread] = is_there;",
        f"for (int apart = {REST // 2}; apart > 0; apart >>= 1) {{",
        f"{INDENT}memoryBarrierShared();",
        f"{INDENT}barrier();",
        f"{INDENT}if (thread < apart && flags[thread + apart]) {{",
        f"{INDENT * 2}Value other = lanes[thread + apart];",
        f"{INDENT * 2}lanes[thread] = flags[thread] ? join(lanes[thread], other) : other;",
        f"{INDENT * 2}flags[thread] = true;",
        f"{INDENT}}}",
        "}",
        "if (thread == 0)",
        f"{INDENT}store(ivec2(number % row, number / row), "
        f"flags[0] ? lanes[0] : {of_words(types, neutral)});",
    ]
    body = [
        *struct(types),
        *functions.joined,
        *_fold(types, is_sum),
        *stores(types),
        f"shared Value lanes[{REST}];",
        f"shared bool flags[{REST}];",
        "",
        *function("void main()", main),
    ]
    head = [
        f"layout(local_size_x = {REST}) in;",
        "layout(std430, binding = 0) readonly buffer partials_block { uint partials[]; };",
        *result_blocks(types, 1),
        "uniform ivec2 extent;  // groups, parts of each",
        "uniform int row;  // groups of a row of the result",
        f"uniform uint neutral[{count}];",
    ]
    return functions.finish_join(head, body)


# ---------------------------------------------------------------- atomic operations


def atomic_programs(
    task: GroupTask, how: str, dialect: Dialect, room: int, copies: int, in_software: bool
) -> GroupText:
    """The programs with one table of `room` words for a group of threads, `copies` of each word
    side by side; 0: all fold into the result at once. `how`: "add", "maximum" or "minimum"."""
    (type,) = task.types
    functions = Functions.of(task, dialect, TAKEN)
    operation = {"add": "atomicAdd", "maximum": "atomicMax", "minimum": "atomicMin"}[how]
    given = words(task.types, "v")
    seen = given if how == "add" else [f"ordered({word})" for word in given]
    size = type.size
    fold = [
        f"{operation}(table[(number * {size} + {c}) * {copies} + thread % {copies}], {word});"
        if copies
        else f"{operation}(result0[place_of(number) + {c}], {word});"
        for c, word in enumerate(seen)
    ]
    joins = {"add": "total += {}", "maximum": "total = max(total, {})",
             "minimum": "total = min(total, {})"}[how]  # fmt: skip
    main = ["int thread = int(gl_LocalInvocationIndex);"]
    if copies:
        main += [
            f"for (int k = thread; k < extent.w * {size * copies}; k += THREADS)",
            f"{INDENT}table[k] = least;",
            "memoryBarrierShared();",
            "barrier();",
        ]
    main += each_element(fold)
    if copies:
        main += _merged(operation, joins, size, copies)
    helpers = [] if how == "add" else ordered_functions(type.kind, how)
    place = f"number / row * stride + number % row * {size}"
    body = [
        *struct(task.types),
        *helpers,
        *functions.accessors,
        *functions.pixel,
        *function("int place_of(int number)", [f"return {place};"]),
        *([f"shared uint table[{room}];", ""] if copies else []),
        *function("void main()", main),
    ]  # fmt: skip
    head = [
        f"layout(local_size_x = {ATOMIC_THREADS}) in;",
        f"layout(std430, binding = {len(functions.writer.read)}) buffer result0_block "
        "{ uint result0[]; };",
        *extent_of(in_software),
        f"#define THREADS {ATOMIC_THREADS}",
        "uniform int row;  // groups of a row of the result",
        "uniform int stride;  // words of one",
        "uniform uint least;  // what leaves others as they are",
    ]
    main_text = functions.finish(head, body)
    finish = None if how == "add" else over_words("original(words[k])", helpers)
    return GroupText(main_text, ATOMIC_THREADS, None, finish)


def _merged(operation: str, joins: str, size: int, copies: int) -> list[str]:
    """A group's table folded into the result."""
    return [
        "memoryBarrierShared();",
        "barrier();",
        f"for (int k = thread; k < extent.w * {size}; k += THREADS) {{",
        f"{INDENT}uint total = table[k * {copies}];",
        f"{INDENT}for (int copy = 1; copy < {copies}; copy++)",
        f"{INDENT * 2}{joins.format(f'table[k * {copies} + copy]')};",
        f"{INDENT}if (total != least)",
        f"{INDENT * 2}{operation}(result0[place_of(k / {size}) + k % {size}], total);",
        "}",
    ]


def over_words(word: str, functions: Sequence[str] = ()) -> ArrayText:
    """The program that makes each of the `count` words of a buffer this one."""
    place = "gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * 256u"
    lines = [
        "#version 430 core",
        f"layout(local_size_x = {ATOMIC_THREADS}) in;",
        "layout(std430, binding = 0) buffer words_block { uint words[]; };",
        "uniform int count;",
        "uniform uint value;",
        *functions,
        *function("void main()", [f"int k = int({place});", "if (k < count)",
                                  f"{INDENT}words[k] = {word};"]),
    ]  # fmt: skip
    return ArrayText(GlslProgram(lines_of(lines), [], []), ())
