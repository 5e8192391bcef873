"""The public functions of NumPy, of values that are not known: what plain Python gives with NumPy,
or an error that says that it has no meaning; never other numbers."""

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pygpu import Image, Position, Vec3
from pygpu.core import interpret
from pygpu.core.errors import CompileError
from pygpu.core.specs import ImageSpec, PositionSpec
from pygpu.frontend import translate as frontend
from pygpu.language.vectors import Vector
from pygpu.ssa import ImageInput
from pygpu.types import FLOAT, INT

COLUMNS = 8
IMAGES = {
    "a": [0.5, -1.25, np.nan, 2.0, 0.25, -0.75, 1.0, 0.0],
    "b": [0.25, 3.0, 1.5, np.nan, 0.25, 0.5, -2.0, 0.0],
    "c": [1.5, -0.5, 0.75, np.nan, 0.25, -3.5, 1.0, 0.0],
    "i": [3, -4, 0, 7, 1, -1, 2, 5],
    "j": [2, 3, -3, 0, 1, 4, 1, -5],
}
ARRAYS = {
    name: np.array([row], np.float32 if name in "abc" else np.int32) for name, row in IMAGES.items()
}

# What functions are called with, of the floats a, b, c and the ints i and j of a pixel.
ARGUMENTS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "float": lambda a, b, c, i, j: (a,),
    "int": lambda a, b, c, i, j: (i,),
    "bool": lambda a, b, c, i, j: (a > b,),
    "floats": lambda a, b, c, i, j: (a, b),
    "ints": lambda a, b, c, i, j: (i, j),
    "bools": lambda a, b, c, i, j: (a > b, i > j),
    "three": lambda a, b, c, i, j: (a, b, c),
    "list": lambda a, b, c, i, j: ([a, b, 0.5, c],),
    "vector": lambda a, b, c, i, j: (Vec3(a, b, c),),
    "array": lambda a, b, c, i, j: (np.array([a, b, 0.5, c]),),
    "array of ints": lambda a, b, c, i, j: (np.array([i, j, 2]),),
    "array of bools": lambda a, b, c, i, j: (np.array([a > b, True, i > j]),),
    "matrix": lambda a, b, c, i, j: (np.array([[a, b], [c, 2.0]]),),
    "arrays": lambda a, b, c, i, j: (np.array([a, b, 0.5]), np.array([c, 1.0, b])),
    "arrays of ints": lambda a, b, c, i, j: (np.array([i, j, 2]), np.array([j, 3, 1])),
    "arrays of bools": lambda a, b, c, i, j: (np.array([a > b, False]), np.array([i > j, True])),
    "matrices": lambda a, b, c, i, j: (np.array([[a, b], [c, 2.0]]), np.array([[c, 1.0], [b, a]])),
    "array and number": lambda a, b, c, i, j: (np.array([a, a + 0.5, a + 2.0]), 2),
    "known and array": lambda a, b, c, i, j: (np.array([0.5, 1.0, 3.0]), np.array([a, b, c])),
    "sorted and float": lambda a, b, c, i, j: (np.array([0.5, 1.0, np.nan]), a),
    "list of arrays": lambda a, b, c, i, j: ([np.array([a, b]), np.array([c, 1.0])],),
}
# Matters of chance, of clocks and of the machine.
LEFT_OUT = {"empty", "empty_like", "test"}


def finite(*given: Any) -> bool:
    return bool(all(np.isfinite(np.asarray(each)).all() for each in given))


def sorted_up(bins: Any) -> bool:
    return (
        finite(bins) and np.ndim(bins) == 1 and bool((np.diff(np.asarray(bins) * 1.0) >= 0).all())
    )


def has_a_leading_coefficient(*given: Any) -> bool:
    return all(bool(np.ravel(np.asarray(each))[0] != 0) for each in given)


# What NumPy specifies no result for: what is asked of arguments, by its functions' own words.
ASKED: dict[Any, Callable[..., bool]] = {
    # "must be sorted in ascending order"
    np.searchsorted: lambda a, v=0.0: sorted_up(a),
    # "has to be 1-dimensional and monotonic"
    np.digitize: lambda x, bins=0.0: sorted_up(bins) or sorted_up(np.asarray(bins)[::-1]),
    # "a monotonically increasing array of bin edges", of which the last bin holds both
    np.histogram: lambda a, bins=10: np.ndim(bins) == 0 or sorted_up(bins),
    # coordinates of samples: where two are one, there is no difference to divide by
    np.gradient: lambda f, x=1.0: np.ndim(x) == 0 or (finite(x) and 0 not in np.diff([*x, x[0]])),
    # what BLAS makes of NaN times a number 0, which is 0, and NaN elsewhere in NumPy
    np.dot: lambda a, b=1.0: np.ndim(b) > 0 or finite(a),
    np.inner: lambda a, b=1.0: np.ndim(b) > 0 or finite(a),
    # how many leading zeros NumPy cuts off only the device knows: none, the polynomial is the same
    np.polymul: lambda a, b=1.0: has_a_leading_coefficient(a, b),
    # LAPACK says nothing of NaN: it reads a triangle, or stops wherever it stands
    **dict.fromkeys((np.linalg.eigh, np.linalg.eigvalsh, np.linalg.inv, np.linalg.svd), finite),
    **dict.fromkeys((np.linalg.lstsq, np.linalg.slogdet, np.linalg.solve), finite),
}
SIGNS_ARE_OPEN = {np.linalg.eigh, np.linalg.svd}  # those of vectors, in NumPy too


def functions() -> Iterator[Any]:
    for module, prefix in ((np, "np."), (np.linalg, "np.linalg."), (np.fft, "np.fft.")):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            is_function = callable(function) and not isinstance(function, (type, types.ModuleType))
            if is_function and not name.startswith("_") and name not in LEFT_OUT:
                yield pytest.param(function, id=prefix + name)


def leaves(result: Any, said: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The numbers of a result; its structure, and what is no number, is said."""
    if isinstance(result, (tuple, list)):
        said(len(result))
        parts = [leaves(part, said) for part in result]
        return sum(parts, ())
    if isinstance(result, np.ndarray) and result.ndim > 0:
        said(result.shape)
        return tuple(result.ravel())
    if isinstance(result, Vector):
        said((len(result),))
        return tuple(result)
    if isinstance(result, (str, type(None), np.dtype, type)):
        said(result)
        return ()
    return (result[()] if isinstance(result, np.ndarray) else result,)


def noting(said: list[Any]) -> Callable[[Any], Any]:
    """A function that Python executes when it is compiled."""

    def note(what: Any) -> None:
        said.append(what)

    return note


def program(function: Any, arguments: Any, said: Callable[[Any], Any]) -> Any:
    def called(a: Image, b: Image, c: Image, i: Image, j: Image, p: Position):
        given = arguments(a(p), b(p), c(p), i(p), j(p))
        return 0.0, *leaves(function(*given), said)

    return called


def on_values(function: Any, arguments: Any) -> tuple[list[Any], list[np.ndarray]]:
    """What is said, and the images of the results."""
    said: list[Any] = []
    bindings: dict[str, Any] = {"p": PositionSpec()}
    inputs = []
    for index, name in enumerate(IMAGES):
        type = FLOAT if name in "abc" else INT
        bindings[name] = ImageSpec(index, name, type, "nearest", (0,), "nearest")
        inputs.append(ImageInput(name, type))
    made = frontend.translate(
        program(function, arguments, noting(said)), bindings, images=inputs, uniforms=[]
    )
    shape = (1, COLUMNS)
    return said, interpret.run(made.function, list(ARRAYS.values()), [], shape)


def in_plain_python(function: Any, arguments: Any, column: int) -> tuple[list[Any], Any]:
    said: list[Any] = []
    pixel = {name: lambda p, row=row: row[column] for name, row in IMAGES.items()}
    return said, program(function, arguments, noting(said))(**pixel, p=Position(column, 0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", list(functions()))
def test_every_function_gives_what_numpy_gives_or_is_refused(function: Any) -> None:
    for what, arguments in ARGUMENTS.items():
        try:
            said, results = on_values(function, arguments)
        except (CompileError, TypeError, ValueError, IndexError):
            continue
        for column in range(COLUMNS):
            with np.errstate(all="ignore"):
                try:
                    given = arguments(*[row[column] for row in IMAGES.values()])
                    if function in ASKED and not ASKED[function](*given):
                        continue
                    expected_said, expected = in_plain_python(function, arguments, column)
                except Exception:
                    continue  # a device goes on
            assert str(said) == str(expected_said), what
            found = [np.asarray(result)[0, column] for result in results]
            assert len(found) == len(expected), what
            if function in SIGNS_ARE_OPEN:
                found, expected = np.abs(found), np.abs(expected)
            for one, other in zip(found, expected, strict=True):
                same(one, other, (what, column, found, expected))


def same(found: Any, expected: Any, where: Any) -> None:
    """Within what floats are promised to. NumPy's floats of bools are of 16 bits."""
    expected = np.asarray(expected)
    if expected.dtype.kind == "c":
        expected = np.array([expected.real, expected.imag])
    assert expected.dtype.kind not in "iub" or float(found).is_integer(), where
    assert expected.dtype.kind != "f" or found.dtype.kind == "f", where
    off = 2e-3 if expected.dtype == np.float16 else 2e-5
    np.testing.assert_allclose(
        np.float64(found), np.float64(expected), rtol=off, atol=2e-6, err_msg=str(where)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [np.cumsum, np.diff, np.flip, np.argsort, np.ediff1d])
def test_the_walk_meets_what_has_a_meaning(function: Any) -> None:
    """The test above would be empty if all were refused."""
    said, results = on_values(function, ARGUMENTS["array"])
    assert said
    assert len(results) > 2
