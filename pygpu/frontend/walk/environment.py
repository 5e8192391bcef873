"""What a translation knows of the world outside, and its way from lower modules to higher ones."""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

from pygpu.core.storage import ImageLike
from pygpu.frontend.protocols import (
    arithmetic,
    indexing,
    methods,
    objects,
    operators,
    pictures,
)
from pygpu.frontend.rules.intrinsics import choose
from pygpu.frontend.values.known import adopt
from pygpu.frontend.values.values import (
    UNBOUND,
    Abstract,
    Cell,
    ClassParts,
    Dynamic,
    Picture,
    Tuple,
    describe,
)
from pygpu.frontend.walk.calls import call, is_instance, native
from pygpu.frontend.walk.dependencies import Dependencies
from pygpu.frontend.walk.steps import truth
from pygpu.ssa import ImageInput
from pygpu.types import BOOL

if TYPE_CHECKING:
    from pygpu.frontend.walk.walker import Walker


class Environment:
    """What a translation knows of the world outside: what it has read, images it has captured,
    results of calls it has made. It also lets the modules below reach those above."""

    binary = staticmethod(operators.binary)
    item = staticmethod(indexing.item)
    length = staticmethod(indexing.length)
    method = staticmethod(methods.method)
    truth = staticmethod(truth)
    choose = staticmethod(choose)

    def __init__(self) -> None:
        self.dependencies = Dependencies()
        self.captured: list[ImageLike] = []
        self.pictures: dict[int, Picture] = {}
        self.memo: dict[Any, list[tuple[Any, Any, Any]]] = {}
        self.class_parts: dict[type, ClassParts] = {}  # of classes that were made in the function
        self.class_cells: list[tuple[types.CellType, Cell]] = []  # what their methods close over
        self.rows: dict[Any, tuple[Any, Any]] = {}  # of tables: what makes an element of a row
        self.calls: dict[Any, int] = {}  # how often each site was reached in this attempt

    # ---- names from outside

    def read_global(self, names: dict[str, Any], name: str) -> Any:
        self.dependencies.add_global(names, name)
        if name in names:
            return names[name]
        scope = names.get("__builtins__", builtins)
        scope = scope if isinstance(scope, dict) else vars(scope)
        if name in scope:
            return scope[name]
        raise NameError(f"name '{name}' is not defined")

    def read_cell(self, cell: types.CellType, name: str) -> Any:
        self.dependencies.add_cell(cell)
        try:
            contents = cell.cell_contents
        except ValueError:
            return UNBOUND
        return contents  # the methods of a class made in the function close over our own cells

    def capture(self, w: Walker, image: ImageLike) -> Picture:
        """An image that was read as a known value: a further input."""
        if id(image) not in self.pictures:
            for other in self.captured:
                if other.storage is image.storage:
                    index = self.pictures[id(other)].index
                    break
            else:
                index, place = len(w.build.images), len(self.captured)
                name = f"image{place}"
                w.build.images.append(ImageInput(name, image.format.type))
            self.captured.append(image)
            self.pictures[id(image)] = Picture(
                index,
                w.build.images[index].name,
                image.format.type,
                image.boundary,
                tuple(image.cval),
                image.interpolation,
            )
        return self.pictures[id(image)]

    def picture_attribute(self, w: Walker, picture: Picture, name: str) -> Any:
        return pictures.attribute(w, picture, name)

    def sampled(self, w: Walker, picture: Picture, **how: Any) -> Picture:
        """The same image seen otherwise: boundary, cval, interpolation."""
        for name, value in how.items():
            if isinstance(value, Abstract):
                raise w.error(f"{name} must be known at compile time, got {describe(value)}")
        return pictures.sampled(picture, **how)

    def native(self, w: Walker, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
        return native(w, function, args, keywords)

    # ---- small combinations that modules below need

    @staticmethod
    def adopt(w: Walker, result: Any) -> Any:
        return adopt(w, result)

    @staticmethod
    def find_method(w: Walker, value: Any, name: str) -> Any:
        return objects.find_method(value, name)

    @staticmethod
    def tuple_of(items: tuple[Any, ...]) -> Any:
        """A tuple: a real one if all items are known."""
        for item in items:
            if isinstance(item, Abstract):
                return Tuple(items)
        return items

    @staticmethod
    def negate(w: Walker, value: Any) -> Any:
        if not isinstance(value, Abstract):
            return not value
        if isinstance(value, Dynamic):
            test = arithmetic.as_value(w, value, BOOL)
            return arithmetic.dynamic(w, "not", test)
        return arithmetic.unary(w, "~", value)

    @staticmethod
    def both(w: Walker, a: Any, b: Any) -> Any:
        """a and b for bools without effects."""
        return _settled(w, "&", False, a, b)

    @staticmethod
    def either(w: Walker, a: Any, b: Any) -> Any:
        """a or b for bools without effects."""
        return _settled(w, "|", True, a, b)

    @staticmethod
    def isinstance(w: Walker, value: Any, cls: Any) -> bool:
        return is_instance(value, cls)

    def call(self, w: Walker, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
        return call(w, function, args, keywords)


def _settled(w: Walker, symbol: str, by: bool, a: Any, b: Any) -> Any:
    """Two bools by & or |, where one that is known to be `by` is all there is to say."""
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Abstract):
            return by if bool(one) is by else other
    return arithmetic.binary(w, symbol, a, b)
