"""Names of pygpu, and what is said of those that are looked for in vain."""

import pytest

import pygpu
from pygpu import glsl
from pygpu.language.names import GLSL_ALONE


def test_what_glsl_alone_has_is_known():
    own = {
        name
        for name, value in vars(glsl).items()
        if callable(value) and value.__module__ == "pygpu.glsl" and not name.startswith("_")
    }
    assert own - set(pygpu.__all__) == GLSL_ALONE


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("abs", "the builtin abs() works in compiled functions, as pygpu.glsl.abs does"),
        ("sum", "the builtin sum() works in compiled functions"),
        ("atan2", "math.atan2 works in compiled functions"),
        ("pow", "the builtin pow() works in compiled functions, as pygpu.glsl.pow does"),
        ("select", "it is pygpu.glsl.select"),
        ("vec3", "it is pygpu.Vec3"),
        ("mat2", "it is pygpu.Mat2"),
    ],
)
def test_attributes_that_are_elsewhere_are_said_to_be_there(name, hint):
    with pytest.raises(AttributeError) as caught:
        getattr(pygpu, name)
    assert str(caught.value) == f"module 'pygpu' has no attribute {name!r}: {hint}"


@pytest.mark.parametrize("name", ["nonsense", "open", "__wrapped__", "__abs__", "_repr_html_"])
def test_of_other_attributes_no_more_is_said(name):
    with pytest.raises(AttributeError) as caught:
        getattr(pygpu, name)
    assert str(caught.value) == f"module 'pygpu' has no attribute {name!r}"
