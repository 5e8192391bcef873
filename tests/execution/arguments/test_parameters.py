"""Parameters: what each is taken for, what calls may give, how objects are flattened."""

import dataclasses
import enum
import functools
from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from PIL import Image as PILModule

import pygpu
from pygpu import Bool, Complex, Float, Image, Int, Mat2, Mat3, Position, Vec2, Vec3
from pygpu.core import specs
from pygpu.execution.arguments import keys, parameters
from pygpu.execution.arguments.signatures import Signature
from pygpu.types import BOOL, FLOAT, INT, vector


def roles(function, **values):
    """The role and type of each parameter."""
    return {p.name: (p.role, p.type) for p in Signature.of(function, values).parameters}


def flattened(function, *args, values=None, **kwargs):
    signature = Signature.of(function, values or {})
    return signature, parameters.flatten(signature, signature.collect(args, kwargs))


def bound(function, *args, values=None, **kwargs):
    """What the walker is told."""
    signature, arguments = flattened(function, *args, values=values, **kwargs)
    return parameters.bindings(signature, arguments)[0]


def key(function, *args, values=None, **kwargs):
    return flattened(function, *args, values=values, **kwargs)[1].key


PHOTO = np.zeros((3, 4), np.float32)


# ---------------------------------------------------------------- what a parameter is


def test_complex_numbers_are_uniforms_of_two_floats():
    def f(c: complex, d: Complex = 1j, *, p: Position): ...

    assert roles(f)["c"] == roles(f)["d"] == ("complex", None)
    assert flattened(f, 2 - 1j)[1].uniforms == [(2.0, -1.0), (0.0, 1.0)]
    assert flattened(f, np.complex64(3j), 2)[1].uniforms == [(0.0, 3.0), (2.0, 0.0)]
    assert bound(f, 2)["d"] == specs.ComplexSpec(1, "d")
    assert key(f, 2 - 1j) == key(f, 5)


@pytest.mark.parametrize("value", ["1j", None, (1, 2), Vec2(1, 2), PHOTO])
def test_what_is_no_complex_number_is_refused(value):
    def f(c: complex, p: Position): ...

    with pytest.raises(TypeError, match="c: takes a complex number, got"):
        flattened(f, value)


def test_complex_numbers_beyond_floats_are_refused():
    def f(c: complex, p: Position): ...

    with pytest.raises(OverflowError, match=r"c: .* does not fit in a 32-bit float"):
        flattened(f, 1e39j)


def test_annotations_and_defaults_name_types():
    def f(a: Image, b: Float, c: Int, d: Bool, e: Vec3, g: Mat2, p: Position): ...

    def old(a=Image, b=Float, c=Int, d=Bool, e=Vec3, g=Mat2, p=Position): ...

    expected = {
        "a": ("image", 2),
        "b": ("uniform", FLOAT),
        "c": ("uniform", INT),
        "d": ("uniform", BOOL),
        "e": ("uniform", vector("float", 3)),
        "g": ("matrix", 2),
        "p": ("position", None),
    }
    assert roles(f) == expected
    assert roles(old) == expected


def test_pythons_scalars_are_types():
    def f(a: float, b: int, c: bool, d=float): ...

    assert [t for _, t in roles(f).values()] == [FLOAT, INT, BOOL, FLOAT]


def test_none_as_the_default_of_a_type_is_known_where_it_is_left():
    def f(im: Image, mask: Image = None, gain: Float = None): ...

    assert bound(f, PHOTO)["mask"] is None
    assert len(flattened(f, PHOTO, PHOTO, 2)[1].images) == 2
    assert key(f, PHOTO) != key(f, PHOTO, PHOTO)
    with pytest.raises(TypeError, match="im"):
        flattened(f, None)


def test_optional_types_are_their_types():
    def f(im: Image, mask: Image | None = None, gain: "Float | None" = None, k: int | str = 2): ...

    assert roles(f) == {
        "im": ("image", 2), "mask": ("image", 2), "gain": ("uniform", FLOAT),
        "k": ("known", None),
    }  # fmt: skip
    assert bound(f, PHOTO)["gain"] is None
    assert flattened(f, PHOTO, PHOTO, 2)[1].uniforms == [2.0]


def test_defaults_must_fit_their_types():
    def f(gain: Float = "x"): ...

    def g(n: Int = 2**40): ...

    with pytest.raises(TypeError, match="gain: takes a float"):
        pygpu.compile(f)
    with pytest.raises(OverflowError, match="n"):
        pygpu.compile(g)


def test_string_annotations_are_evaluated():
    def f(a: "Image", b: "pygpu.Float", c: "Annotated[Vec2, 'metres']"): ...

    assert roles(f) == {
        "a": ("image", 2),
        "b": ("uniform", FLOAT),
        "c": ("uniform", vector("float", 2)),
    }


def test_string_annotations_see_closures_and_the_callers_names():
    class Lens:
        pass

    Number = Float

    def closing(a: "Number"):
        return Number

    assert roles(closing) == {"a": ("uniform", FLOAT)}

    @pygpu.compile
    def calling(a: "Lens", p: Position): ...

    assert str(calling.signature.parameters[0]) == "a: Lens"


def test_a_plain_default_is_known_and_a_typed_one_is_dynamic():
    def f(a=2.0, b: Float = 2.0, c: str = "x", d: np.ndarray = None, *, e=1): ...

    assert [role for role, _ in roles(f).values()] == [
        "known",
        "uniform",
        "known",
        "known",
        "known",
    ]


def test_what_compile_is_told_is_known_and_types_are_dynamic():
    def f(a, b: Float, c, im): ...

    found = roles(f, a=1, b=2.0, c=Float, im=Image)
    assert [role for role, _ in found.values()] == ["known", "known", "uniform", "image"]


def test_a_type_told_to_compile_leaves_a_default_that_fits():
    def f(im: Image, sigma=2.0, n=1.5, kernel="box", mask=None, p=None): ...

    told = {"sigma": Float, "n": Int, "kernel": Float, "mask": Image, "p": Position}
    signature = Signature.of(f, told)
    assert signature.collect((), {"im": 0, "n": 1, "kernel": 2})[:5] == [0, 2.0, 1, 2, None]
    with pytest.raises(TypeError, match="n: int, kernel: float"):
        signature.collect((), {"im": 0})


def test_user_classes_are_objects():
    class Plain: ...

    @dataclasses.dataclass(slots=True)
    class Data:
        x: float

    class Colour(enum.Enum):
        RED = 1

    class Named(NamedTuple):
        x: float

    Old = namedtuple("Old", "x")

    def f(a: Plain, b: Data, c: Colour, d: Named, e: Old): ...

    assert [role for role, _ in roles(f).values()] == ["object"] * 5


def test_self_of_a_method_is_an_object():
    class Lens:
        def look(self, im: Image, p: Position): ...

    assert roles(Lens.look)["self"] == ("object", None)


@pytest.mark.parametrize("annotation", [str, np.ndarray, list, dict, "Unknown", Image | None])
def test_a_parameter_without_type_and_value_is_refused(annotation):
    def f(im: Image, kernel): ...

    f.__annotations__["kernel"] = annotation
    with pytest.raises(TypeError, match=r"'kernel'.*kernel: Float.*compile\(f, kernel="):
        pygpu.compile(f)


def test_the_module_of_pil_is_recognised():
    def f(im: PILModule, p: Position): ...

    with pytest.raises(TypeError, match=r"pygpu\.Image is meant"):
        pygpu.compile(f)


@pytest.mark.parametrize("name", ["out", "shape", "dtype", "target"])
def test_reserved_names_are_refused(name):
    namespace = {}
    exec(f"def f(im, {name}=1): ...", namespace)
    with pytest.raises(TypeError, match=f"'{name}'"):
        pygpu.compile(namespace["f"], im=Image)


def test_two_positions_are_refused():
    def f(p: Position, q: Position): ...

    with pytest.raises(TypeError, match="p, q"):
        pygpu.compile(f)


def test_a_value_for_no_parameter_is_refused():
    def f(im: Image): ...

    with pytest.raises(TypeError, match="'sigma'"):
        pygpu.compile(f, sigma=2)


@pytest.mark.parametrize("what", [3, None, "f", np.zeros(3), int])
def test_what_is_no_function_is_refused(what):
    if what is None:
        return  # that is the decorator's form
    with pytest.raises(TypeError, match="function"):
        pygpu.compile(what)


# ---------------------------------------------------------------- what calls give


def lens(im: Image, p: Position, gain: Float = 2.0, n: Int = 1, on: Bool = True, sigma=3.0): ...


def test_positions_are_skipped_and_known_parameters_are_by_keyword():
    arguments = flattened(lens, PHOTO, 5, 6, False)[1]
    assert arguments.uniforms == [5.0, 6, False]
    assert flattened(lens, PHOTO, on=False)[1].uniforms == [2.0, 1, False]
    assert key(lens, PHOTO, sigma=4.0) != key(lens, PHOTO)


def test_scalars_are_taken_as_they_should_be():
    for value in (3, 3.5, np.float64(3.5), np.int8(3), np.array(2.5), True, Int(3)):
        assert flattened(lens, PHOTO, gain=value)[1].uniforms[0] == float(value)
    for value in (3, np.int8(3), np.array(3), True, Int(3)):
        assert flattened(lens, PHOTO, n=value)[1].uniforms[1] == int(value)
    for value in (True, np.bool_(True)):
        assert flattened(lens, PHOTO, on=value)[1].uniforms[2] is True


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"gain": "x"}, TypeError, "gain: takes a float"),
        ({"gain": None}, TypeError, "gain"),
        ({"gain": 1j}, TypeError, "gain"),
        ({"gain": 1e39}, OverflowError, "gain"),
        ({"gain": 10**400}, OverflowError, "gain"),
        ({"n": 1.0}, TypeError, "n: takes an int"),
        ({"n": 2**31}, OverflowError, "n: 2147483648"),
        ({"on": 1}, TypeError, "on: takes a bool"),
        ({"im": 3}, TypeError, "im"),
        ({"p": 3, "q": 1}, TypeError, "'q'"),
        ({"sigmma": 3}, TypeError, "'sigmma'.*sigma"),
    ],
)
def test_wrong_arguments_name_the_parameter(given, error, words):
    with pytest.raises(error, match=words):
        flattened(lens, **({"im": PHOTO} | given))


def test_missing_and_doubled_arguments_are_named():
    with pytest.raises(TypeError, match="needs im"):
        flattened(lens)
    with pytest.raises(TypeError, match="two values for 'im'"):
        flattened(lens, PHOTO, im=PHOTO)
    with pytest.raises(TypeError, match="takes 4 arguments"):
        flattened(lens, PHOTO, 1, 2, True, 3.0)


def test_floats_that_are_no_number_pass():
    values = flattened(lens, PHOTO, float("inf"))[1].uniforms
    assert values[0] == float("inf")


def test_vectors_and_matrices_are_taken_from_what_holds_numbers():
    def f(v: Vec3, m: Mat2): ...

    rows = [(1.0, 2.0), (3.0, 4.0)]
    for v in (Vec3(1, 2, 3), (1, 2, 3), [1, 2.0, 3], np.array([1, 2, 3])):
        for m in (rows, np.array(rows), Mat2(rows)):
            assert flattened(f, v, m)[1].uniforms == [(1.0, 2.0, 3.0), *rows]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"v": 1.0}, TypeError),
        ({"v": "abc"}, TypeError),
        ({"v": (1, 2)}, ValueError),
        ({"v": Vec2(1, 2)}, ValueError),
        ({"v": (1, 2, "x")}, TypeError),
        ({"m": Mat3(1)}, ValueError),
        ({"m": 1.0}, TypeError),
        ({"m": [1, 2]}, TypeError),
    ],
)
def test_wrong_vectors_and_matrices_name_the_parameter(given, error):
    def f(v: Vec3, m: Mat2): ...

    with pytest.raises(error, match=f"{next(iter(given))}: takes"):
        flattened(f, **({"v": (1, 2, 3), "m": Mat2(1)} | given))


def test_variable_arguments_are_images_where_they_say_so():
    def f(*ims: Image, p: Position): ...

    assert len(flattened(f, PHOTO, PHOTO)[1].images) == 2
    ims = bound(f, PHOTO, PHOTO)["ims"]
    assert ims.cls is tuple
    assert [spec.index for spec in ims.fields.values()] == [0, 1]
    assert key(f, PHOTO, PHOTO) != key(f, PHOTO)


def test_variable_keywords_are_known():
    def f(im: Image, **options): ...

    assert bound(f, PHOTO, mode="soft")["options"] == {"mode": "soft"}
    assert bound(f, PHOTO, values={"mode": "hard"})["options"] == {"mode": "hard"}


# ---------------------------------------------------------------- keys


def test_changing_a_scalar_or_an_image_does_not_change_the_key():
    assert key(lens, PHOTO, 1.0, 2) == key(lens, PHOTO + 1, 3.0, 4)


def test_formats_and_boundaries_change_the_key():
    keys = [
        key(lens, PHOTO),
        key(lens, PHOTO.astype(np.uint8)),
        key(lens, np.zeros((3, 4, 3), np.float32)),
        key(lens, Image(PHOTO, boundary="wrap")),
        key(lens, Image(PHOTO, interpolation="linear")),
        key(lens, Image(PHOTO, boundary="constant", cval=1)),
        key(lens, Image(PHOTO.astype(np.uint8), normalize=False)),
    ]
    assert len({tuple(k) for k in keys}) == len(keys)
    assert key(lens, PHOTO) == key(lens, Image(PHOTO))


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, True), (1, 1.0), (0.0, -0.0), ((1,), [1]), ("1", 1), (np.zeros(2), np.zeros(3))],
)
def test_known_values_compare_by_type_and_value(a, b):
    assert keys.known_key(a) != keys.known_key(b)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 3,
        lambda: float("nan"),
        lambda: "text",
        lambda: (1, [2.0, "x"]),
        lambda: {"a": {1, 2}},
        lambda: np.arange(5.0),
        lambda: np.arange(5000),
        lambda: np.float32(3),
    ],
)
def test_equal_known_values_have_equal_keys(make):
    assert keys.known_key(make()) == keys.known_key(make())
    assert hash(keys.known_key(make())) == hash(keys.known_key(make()))


def test_other_known_values_compare_by_identity():
    class Thing: ...

    a, b = Thing(), Thing()
    assert keys.known_key(a) == keys.known_key(a)
    assert keys.known_key(a) != keys.known_key(b)


# ---------------------------------------------------------------- objects


class Material:
    def __init__(self, shine, texture=None):
        self.shine = shine
        self.texture = texture


class Ball:
    __slots__ = ("_centre", "material", "name", "next")

    def __init__(self, centre, material, name="ball"):
        self._centre = centre
        self.material = material
        self.name = name
        self.next = self  # a cycle


def scene(ball: Ball, p: Position): ...


def test_the_graph_of_an_object_is_flattened():
    ball = Ball(Vec3(1, 2, 3), Material(0.5, Image(PHOTO)))
    signature, arguments = flattened(scene, ball)
    assert arguments.uniforms == [(1.0, 2.0, 3.0), 0.5]
    assert len(arguments.images) == 1
    bindings, images, uniforms = parameters.bindings(signature, arguments)
    spec = bindings["ball"]
    assert spec.cls is Ball
    assert spec.original is ball
    assert spec.fields["next"] is spec
    assert spec.fields["name"] == "ball"
    assert spec.fields["material"].fields["shine"] == specs.UniformSpec(
        1, "ball_material_shine", FLOAT
    )
    assert [image.name for image in images] == ["ball_material_texture"]
    assert [name for name, _ in uniforms] == ["ball__centre", "ball_material_shine"]


def test_numbers_in_objects_do_not_change_the_key_and_all_else_does():
    def of(*args, **kwargs):
        return tuple(key(scene, Ball(*args, **kwargs)))

    base = of(Vec3(1, 2, 3), Material(0.5))
    assert base == of(Vec3(3, 2, 1), Material(0.25))
    assert base != of(Vec3(1, 2, 3), Material(1))  # an int now
    assert base != of(Vec3(1, 2, 3), Material(0.5), "other")
    assert base != of(Vec3(1, 2, 3), Material(0.5, Image(PHOTO)))
    assert base != of(Vec2(1, 2), Material(0.5))


def test_shared_objects_are_shared():
    def f(a: Ball, b: Ball): ...

    material = Material(1.0)
    a, b = Ball(1.0, material), Ball(2.0, material)
    bindings = bound(f, a, b)
    assert bindings["a"].fields["material"] is bindings["b"].fields["material"]
    assert key(f, a, b) != key(f, a, Ball(2.0, Material(1.0)))
    assert bound(f, a, a)["a"] is bound(f, a, a)["b"] or key(f, a, a) != key(f, a, b)


def test_containers_are_entered():
    @dataclasses.dataclass
    class World:
        lights: list
        named: dict
        size: tuple
        table: np.ndarray

    def f(world: World): ...

    world = World([1.0, 2.0], {"a": True, 3: 4}, (5, None), np.zeros(3))
    arguments = flattened(f, world)[1]
    assert arguments.uniforms == [1.0, 2.0, True, 4, 5]
    fields = bound(f, world)["world"].fields
    assert fields["table"] is world.table
    assert fields["lights"].cls is list
    assert list(fields["named"].fields) == ["a", 3]
    longer = dataclasses.replace(world, lights=[1.0, 2.0, 3.0])
    assert key(f, world) != key(f, longer)


def test_enums_functions_and_classes_in_fields_are_known():
    class Mode(enum.Enum):
        HARD = 1

    class Plan:
        def __init__(self):
            self.mode, self.shape, self.cls, self.order = Mode.HARD, abs, Ball, enum.IntEnum

    def f(plan: Plan): ...

    assert flattened(f, Plan())[1].uniforms == []
    assert bound(f, Plan())["plan"].fields["mode"] is Mode.HARD


def test_an_object_of_another_class_is_refused_and_a_subclass_taken():
    class Sub(Ball): ...

    with pytest.raises(TypeError, match="ball: takes a Ball, got a int"):
        flattened(scene, 3)
    assert key(scene, Sub(1.0, None)) != key(scene, Ball(1.0, None))


def test_an_array_in_a_field_for_images_is_refused():
    @dataclasses.dataclass
    class Sky:
        texture: Image

    def f(sky: Sky, p: Position): ...

    with pytest.raises(TypeError, match=r"sky.texture.*wrap it: pygpu.Image"):
        bound(f, Sky(PHOTO))
    assert len(flattened(f, Sky(Image(PHOTO)))[1].images) == 1


def test_numbers_in_fields_must_fit():
    with pytest.raises(OverflowError, match=r"ball._centre"):
        flattened(scene, Ball(2**40, None))


def test_partials_and_methods_bind_their_arguments():
    def f(a, im: Image, p: Position, b=1.0):
        return a * im(p) + b

    compiled = pygpu.compile(functools.partial(f, 2.0, b=3.0))
    assert compiled(PHOTO + 1)[0, 0] == 5.0
