"""What NumPy raises of shapes and axes, it raises of arrays with dynamic elements."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position

ZEROS = np.zeros((2, 2), np.float32)


def test_axis_that_is_not_there() -> None:
    def summed(im: Image, p: Position):
        return np.sum(np.array([im(p), 1.0]), axis=2)

    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds"):
        pygpu.compile(summed, target="cpu")(ZEROS)


def test_inverse_of_no_square() -> None:
    def inverted(im: Image, p: Position):
        return np.linalg.inv(np.array([[im(p), 1.0, 2.0], [2.0, 3.0, 4.0]]))[0, 0]

    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        pygpu.compile(inverted, target="cpu")(ZEROS)


def test_equations_that_do_not_fit() -> None:
    def solved(im: Image, p: Position):
        return np.linalg.solve(np.array([[im(p), 1.0], [2.0, 3.0]]), np.zeros(3))[0]

    with pytest.raises(ValueError, match="do not fit"):
        pygpu.compile(solved, target="cpu")(ZEROS)


def test_weights_that_do_not_fit() -> None:
    def averaged(im: Image, p: Position):
        return np.average(np.array([im(p), 1.0]), weights=[1.0, 2.0, 3.0])

    with pytest.raises(ValueError, match="weights"):
        pygpu.compile(averaged, target="cpu")(ZEROS)
