"""Jobs that are given Python's objects: native code looks up itself where the texels of NumPy's
arrays are and what Python's numbers are, and whether they are such as it was made for, in a tenth
of the time that Python takes to say it.

A job's table has a row for each object, of the tuple of a call's arguments or of that of results:

    Row(FLOAT, ARGUMENTS, item(1), id(float), place)    # the second argument is a float, which goes
                                                        # to this byte of the job

An array's object begins with what all objects begin with, then comes what NumPy's headers have
extensions read there, so that it cannot change. Floats, tuples and short ints are as simple.
`are_read` tries all of it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs.slots import GIVEN, NEXT
from pygpu.language.scalars import FLOAT_LIMIT

HEAD: Final = object.__basicsize__  # bytes of what all objects begin with
# Of an array's object: texels, number of axes, shape, strides, what owns the memory, dtype, flags.
TEXELS, AXES, SHAPE, STRIDES, DTYPE, FLAGS = (HEAD + 8 * n for n in (0, 1, 2, 3, 5, 6))
WRITTEN: Final = 0x500  # the flags of arrays that may be written: WRITEABLE and ALIGNED
SIZED_INTS: Final = sys.version_info < (3, 12)  # ints begin with a signed number of digits

# What an object is: an array of which nothing is asked but how it is aligned, one of a shape and a
# dtype; a float of 64 bits, of 32; an int, for an int and for a float; the very same object; a
# tuple, whose items the rows after it are of.
(NEW, ARRAY, FLOAT, SINGLE, INT, INT_AS_FLOAT, SAME, TUPLE) = range(8)
ARGUMENTS, RESULTS, ITEMS = range(3)  # of what a row's object is an item


class Row(NamedTuple):
    """An object: its kind, of what it is the item at which byte, its type (of SAME itself); the
    byte of the job where its address or number goes; bits that an array's address must not have (of
    a tuple its length); an array's number of axes, sizes and strides, dtype and flags."""

    kind: int
    holder: int
    source: int
    type: int = 0
    place: int = 0
    mask: int = 0
    axes: int = 0
    shape: tuple[int, ...] = ()
    dtype: int = 0
    flags: int = 0


_FIELDS: Final = Row._fields


class Pair(NamedTuple):
    """Two arrays that must not share memory: the bytes of the job where the addresses are, and how
    many bytes each has."""

    first: int
    second: int
    bytes_of_first: int
    bytes_of_second: int


def item(number: int) -> int:
    """Where a tuple's object has an item."""
    return tuple.__basicsize__ + 8 * number


def table(rows: Sequence[Row], pairs: Sequence[Pair], start: int) -> tuple[list[int], list[int]]:
    """The numbers of a job's table that begins as its number `start`; the places of addresses among
    all of its numbers."""
    numbers = [len(rows), len(pairs)]
    width = len(_FIELDS)
    shapes = start + len(numbers) + len(rows) * width + sum(map(len, pairs))
    inner: list[int] = []
    after: list[int] = []
    for row in rows:
        inner.append(start + len(numbers) + _FIELDS.index("shape"))
        numbers += row._replace(shape=shapes + len(after))  # type: ignore[arg-type]
        after += row.shape
    for pair in pairs:
        numbers += pair
    return [*numbers, *after], inner


_ACCEPT: Final = """
define i32 @accept(ptr %job, ptr %scratch, ptr %arguments, ptr %results) #0 {{
entry:
  %table_at = getelementptr i8, ptr %job, i64 {given}
  %table = load ptr, ptr %table_at, align 8
  %rows = load i64, ptr %table, align 8
  %pairs_at = getelementptr i64, ptr %table, i64 1
  %pairs = load i64, ptr %pairs_at, align 8
  %first = getelementptr i64, ptr %table, i64 2
  %pairs_first = getelementptr [{width} x i64], ptr %first, i64 %rows
  br label %each
each:
  %n = phi i64 [0, %entry], [%n_next, %next]
  %items = phi ptr [null, %entry], [%items_next, %next]
  %all = icmp eq i64 %n, %rows
  br i1 %all, label %apart, label %row
row:
  %row_at = getelementptr [{width} x i64], ptr %first, i64 %n
{fields}
  %of_arguments = icmp eq i64 %holder, {ARGUMENTS}
  %of_results = icmp eq i64 %holder, {RESULTS}
  %inside = select i1 %of_results, ptr %results, ptr %items
  %held_by = select i1 %of_arguments, ptr %arguments, ptr %inside
  %object_at = getelementptr i8, ptr %held_by, i64 %source
  %object = load ptr, ptr %object_at, align 8
  %number_at = getelementptr i8, ptr %object, i64 {HEAD}
  %place_at = getelementptr i8, ptr %job, i64 %place
  %is_new = icmp eq i64 %kind, {NEW}
  br i1 %is_new, label %texels, label %known
known:
  %is_same = icmp eq i64 %kind, {SAME}
  %type_at = getelementptr i8, ptr %object, i64 {type_at}
  %type_of = load i64, ptr %type_at, align 8
  %itself = ptrtoint ptr %object to i64
  %compared = select i1 %is_same, i64 %itself, i64 %type_of
  %is_such = icmp eq i64 %compared, %type
  br i1 %is_such, label %such, label %no
such:
  switch i64 %kind, label %next [
    i64 {ARRAY}, label %array
    i64 {FLOAT}, label %float
    i64 {SINGLE}, label %single
    i64 {INT}, label %int
    i64 {INT_AS_FLOAT}, label %int
    i64 {TUPLE}, label %tuple
  ]
array:
  %axes_at = getelementptr i8, ptr %object, i64 {AXES}
  %axes_of = load i32, ptr %axes_at, align 4
  %axes_wide = zext i32 %axes_of to i64
  %as_many = icmp eq i64 %axes_wide, %axes
  %dtype_at = getelementptr i8, ptr %object, i64 {DTYPE}
  %dtype_of = load i64, ptr %dtype_at, align 8
  %as_wide = icmp eq i64 %dtype_of, %dtype
  %flags_at = getelementptr i8, ptr %object, i64 {FLAGS}
  %flags_of = load i32, ptr %flags_at, align 4
  %flags_wide = zext i32 %flags_of to i64
  %flags_set = and i64 %flags_wide, %flags
  %flagged = icmp eq i64 %flags_set, %flags
  %many_wide = and i1 %as_many, %as_wide
  %alike = and i1 %many_wide, %flagged
  br i1 %alike, label %shaped, label %no
shaped:
  %shape_at = inttoptr i64 %shape to ptr
  %strides_at = getelementptr i64, ptr %shape_at, i64 %axes
  %sizes_of_at = getelementptr i8, ptr %object, i64 {SHAPE}
  %sizes_of = load ptr, ptr %sizes_of_at, align 8
  %strides_of_at = getelementptr i8, ptr %object, i64 {STRIDES}
  %strides_of = load ptr, ptr %strides_of_at, align 8
  br label %axis
axis:
  %a = phi i64 [0, %shaped], [%a_next, %another]
  %no_more = icmp eq i64 %a, %axes
  br i1 %no_more, label %texels, label %compare
compare:
  %size_at = getelementptr i64, ptr %shape_at, i64 %a
  %size = load i64, ptr %size_at, align 8
  %size_of_at = getelementptr i64, ptr %sizes_of, i64 %a
  %size_of = load i64, ptr %size_of_at, align 8
  %stride_at = getelementptr i64, ptr %strides_at, i64 %a
  %stride = load i64, ptr %stride_at, align 8
  %stride_of_at = getelementptr i64, ptr %strides_of, i64 %a
  %stride_of = load i64, ptr %stride_of_at, align 8
  %same_size = icmp eq i64 %size, %size_of
  %same_stride = icmp eq i64 %stride, %stride_of
  %same_axis = and i1 %same_size, %same_stride
  br i1 %same_axis, label %another, label %no
another:
  %a_next = add i64 %a, 1
  br label %axis
texels:
  %texels_at = load i64, ptr %number_at, align 8
  store i64 %texels_at, ptr %place_at, align 8
  %off = and i64 %texels_at, %mask
  %lies = icmp eq i64 %off, 0
  br i1 %lies, label %next, label %no
float:
  %double = load double, ptr %number_at, align 8
  %size_of_double = call double @llvm.fabs.f64(double %double)
  %is_large = fcmp oge double %size_of_double, {limit}
  %is_finite = fcmp one double %size_of_double, 0x7FF0000000000000
  %is_beyond = and i1 %is_large, %is_finite
  %rounded = fptrunc double %double to float
  store float %rounded, ptr %place_at, align 4
  br i1 %is_beyond, label %no, label %next
single:
  %bits = load i32, ptr %number_at, align 4
  store i32 %bits, ptr %place_at, align 4
  br label %next
int:
{int}
  br i1 %is_short, label %short, label %no
short:
  %is_for_int = icmp eq i64 %kind, {INT}
  br i1 %is_for_int, label %whole, label %as_float
whole:
  store i64 %number, ptr %place_at, align 8
  br label %next
as_float:
  %as_single = sitofp i64 %number to float
  store float %as_single, ptr %place_at, align 4
  br label %next
tuple:
  %length = load i64, ptr %number_at, align 8
  %as_long = icmp eq i64 %length, %mask
  br i1 %as_long, label %next, label %no
next:
  %is_tuple = icmp eq i64 %kind, {TUPLE}
  %items_next = select i1 %is_tuple, ptr %object, ptr %items
  %n_next = add i64 %n, 1
  br label %each
apart:
  %p = phi i64 [0, %each], [%p_next, %pair]
  %all_pairs = icmp eq i64 %p, %pairs
  br i1 %all_pairs, label %begin, label %pair
pair:
  %pair_at = getelementptr [4 x i64], ptr %pairs_first, i64 %p
{ends}
  %begins = icmp ult i64 %start0, %end1
  %goes_on = icmp ult i64 %start1, %end0
  %shares = and i1 %begins, %goes_on
  %p_next = add i64 %p, 1
  br i1 %shares, label %no, label %apart
begin:
  %next_at = getelementptr i8, ptr %job, i64 {next}
  store i64 0, ptr %next_at, align 8
  %only_given = icmp eq ptr %scratch, null
  br i1 %only_given, label %yes, label %run
run:
  call void @take(ptr %job, ptr %scratch, i64 1)
  br label %yes
yes:
  ret i32 1
no:
  ret i32 0
}}
declare double @llvm.fabs.f64(double)
"""
_FIELD: Final = """\
  %{name}_field = getelementptr i64, ptr %row_at, i64 {n}
  %{name} = load i64, ptr %{name}_field, align 8"""
_END: Final = """\
  %address_field{n} = getelementptr i64, ptr %pair_at, i64 {n}
  %address_place{n} = load i64, ptr %address_field{n}, align 8
  %bytes_field{n} = getelementptr i64, ptr %pair_at, i64 {bytes}
  %bytes{n} = load i64, ptr %bytes_field{n}, align 8
  %start_at{n} = getelementptr i8, ptr %job, i64 %address_place{n}
  %start{n} = load i64, ptr %start_at{n}, align 8
  %end{n} = add i64 %start{n}, %bytes{n}"""
_DIGIT: Final = f"""\
  %digit_at = getelementptr i8, ptr %object, i64 {HEAD + 8}
  %digit_of = load i32, ptr %digit_at, align 4
  %digit = zext i32 %digit_of to i64
  %tag = load i64, ptr %number_at, align 8
"""
# An int of one digit at most: a number of digits with its sign; from Python 3.12 on it is above
# three bits, of which two are 0 of a positive int, 1 of zero, 2 of a negative one.
_INT: Final = (
    """\
  %sign = add i64 %tag, 0
  %tag_above = add i64 %tag, 1
  %is_short = icmp ult i64 %tag_above, 3
  %number = mul i64 %sign, %digit"""
    if SIZED_INTS
    else """\
  %sign_bits = and i64 %tag, 3
  %sign = sub i64 1, %sign_bits
  %is_short = icmp ult i64 %tag, 16
  %number = mul i64 %sign, %digit"""
)


def accept() -> str:
    """The IR of `accept(job, scratch, arguments, results)`: a job is given the objects of two
    tuples as its table says, and is run by the thread that calls, if that has scratch for it. 0
    where an object is not as a row says, or two arrays of a pair share memory."""
    kinds = {
        "NEW": NEW, "ARRAY": ARRAY, "FLOAT": FLOAT, "SINGLE": SINGLE, "INT": INT,
        "INT_AS_FLOAT": INT_AS_FLOAT, "SAME": SAME, "TUPLE": TUPLE,
    }  # fmt: skip
    places = {"AXES": AXES, "DTYPE": DTYPE, "FLAGS": FLAGS, "SHAPE": SHAPE, "STRIDES": STRIDES}
    return _ACCEPT.format(
        given=8 * GIVEN,
        next=8 * NEXT,
        width=len(_FIELDS),
        fields="\n".join(_FIELD.format(name=name, n=n) for n, name in enumerate(_FIELDS)),
        ends="\n".join(_END.format(n=n, bytes=n + 2) for n in range(2)),
        int=_DIGIT + _INT,
        type_at=HEAD - 8,
        limit=f"0x{np.float64(FLOAT_LIMIT).view(np.uint64):016X}",
        HEAD=HEAD,
        ARGUMENTS=ARGUMENTS,
        RESULTS=RESULTS,
        **kinds,
        **places,
    )


@lru_cache(maxsize=1)
def are_read() -> bool:
    """Whether objects are as native code looks for them."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    whole = np.zeros((3, 5), np.int64)
    written = np.ones(2, np.float32)
    whole.flags.writeable = False
    several = (whole, whole[1:, 2:], np.zeros(7, np.uint8), written)
    numbers = 0.5, np.float64(0.5)
    return (
        all(_is_array(each) for each in several)
        and all(_word(each) == 0x3FE0000000000000 for each in numbers)
        and _word(np.float32(0.5), ctypes.c_uint32) == 0x3F000000
        and all(_int(number) == number for number in (0, 1, -1, 5, -700, 2**29, -(2**30) + 1))
        and all(_int(number) is None for number in (2**30, -(2**30), 2**70))
        and _word(several) == len(several)
        and all(_word(several, at=item(n) - HEAD) == id(each) for n, each in enumerate(several))
        and all(_word(each, at=-8) == id(type(each)) for each in (several, whole, *numbers))
    )


def _is_array(array: NDArray[Any]) -> bool:
    """Whether an array's object has its parts where they are looked for."""
    shape, strides = (_word(array, at=at - HEAD) for at in (SHAPE, STRIDES))
    flags = _word(array, ctypes.c_uint32, FLAGS - HEAD) & WRITTEN
    return (
        _word(array) == array.__array_interface__["data"][0]
        and _word(array, ctypes.c_uint32, AXES - HEAD) == array.ndim
        and tuple((ctypes.c_int64 * array.ndim).from_address(shape)) == array.shape
        and tuple((ctypes.c_int64 * array.ndim).from_address(strides)) == array.strides
        and _word(array, at=DTYPE - HEAD) == id(array.dtype)
        and (flags == WRITTEN) == array.flags.writeable
    )


def _int(number: int) -> int | None:
    """A short int as native code reads it; None for others."""
    tag, digit = _word(number), _word(number, ctypes.c_uint32, 8)
    if SIZED_INTS:
        return tag * digit if -1 <= tag <= 1 else None
    return (1 - (tag & 3)) * digit if 0 <= tag < 16 else None


def _word(value: Any, kind: Any = ctypes.c_int64, at: int = 0) -> int:
    """A word of an object behind what all objects begin with."""
    found: int = kind.from_address(id(value) + HEAD + at).value
    return found
