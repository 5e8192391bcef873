"""Jobs that are given NumPy's arrays as Python's objects: native code looks up itself where their
texels are, in a tenth of the time that Python takes to say it.

An array's object begins with what all objects begin with, then comes the address of its elements:
NumPy's headers have extensions read it there, so that it cannot change. `are_read` tries it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Final

import numpy as np

from pygpu.codegen.jobs.slots import GIVEN, NEXT

MOST: Final = 4  # arrays of a job that is given so
HEAD: Final = object.__basicsize__  # bytes of what all objects begin with

_ENTER: Final = """
define i32 @enter{count}(ptr %job, ptr %scratch, {parameters}) #0 {{
entry:
  %table_at = getelementptr i8, ptr %job, i64 {given}
  %table = load ptr, ptr %table_at, align 8
  %wrong0 = or i64 0, 0
{arrays}
  %fits = icmp eq i64 %wrong{count}, 0
  br i1 %fits, label %begin, label %no
begin:
  %next = getelementptr i8, ptr %job, i64 {next}
  store i64 0, ptr %next, align 8
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
"""
_ARRAY: Final = """\
  %object{n} = getelementptr i8, ptr %array{n}, i64 {head}
  %texels{n} = load i64, ptr %object{n}, align 8
  %place_at{n} = getelementptr i64, ptr %table, i64 {place}
  %place{n} = load i64, ptr %place_at{n}, align 8
  %mask_at{n} = getelementptr i64, ptr %table, i64 {mask}
  %mask{n} = load i64, ptr %mask_at{n}, align 8
  %slot{n} = getelementptr i8, ptr %job, i64 %place{n}
  store i64 %texels{n}, ptr %slot{n}, align 8
  %off{n} = and i64 %texels{n}, %mask{n}
  %wrong{following} = or i64 %wrong{n}, %off{n}"""


def enter(count: int) -> str:
    """The IR of `enterN(job, scratch, array, ...)`: a job is given so many arrays, and is run by
    the thread that calls, if that has scratch for it. 0 where texels do not lie as they must."""
    arrays = [
        _ARRAY.format(n=n, following=n + 1, head=HEAD, place=2 * n, mask=2 * n + 1)
        for n in range(count)
    ]
    return _ENTER.format(
        count=count,
        parameters=", ".join(f"ptr %array{n}" for n in range(count)),
        arrays="\n".join(arrays),
        given=8 * GIVEN,
        next=8 * NEXT,
    )


def names() -> list[str]:
    """The functions that take one array, two, and so on."""
    return [f"enter{count}" for count in range(1, MOST + 1)]


@lru_cache(maxsize=1)
def are_read() -> bool:
    """Whether the address of an array's elements is where it is looked for."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    whole = np.zeros((3, 5), np.int64)
    return all(
        ctypes.c_int64.from_address(id(array) + HEAD).value == array.__array_interface__["data"][0]
        for array in (whole, whole[1:, 2:], np.zeros(7, np.uint8))
    )
