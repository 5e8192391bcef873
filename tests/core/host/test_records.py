"""Records: what dataclasses that are frozen and have slots do, they do."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from pygpu.core.host.records import record


@record
class Tap:
    """A tap."""

    dx: int
    dy: int = 0
    names: list[str] = field(default_factory=list)
    weight: float = field(default=1.0, compare=False, repr=False)


@record
class Wide(Tap):
    rows: int = 2

    @property
    def area(self) -> int:
        return self.rows * self.dx


@record(eq=False)
class Lone:
    value: int


@record
class Checked:
    low: int

    def __post_init__(self) -> None:
        if self.low < 0:
            raise ValueError("low")

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "checked"


@dataclass(frozen=True, slots=True)
class Plain:
    dx: int
    dy: int = 0


@record
class Same:
    dx: int
    dy: int = 0


@record
class Empty:
    pass


def test_fields_are_given_by_place_and_name_and_have_defaults() -> None:
    tap = Tap(1, dy=2)
    assert (tap.dx, tap.dy, tap.names, tap.weight) == (1, 2, [], 1.0)
    assert Tap(1).names is not Tap(1).names
    with pytest.raises(TypeError):
        Tap()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Tap(1, 2, [], 1.0, 5)  # type: ignore[call-arg]


def test_they_print_compare_and_hash_as_dataclasses() -> None:
    assert repr(Same(1)) == repr(Plain(1)).replace("Plain", "Same")
    assert repr(Tap(1)) == "Tap(dx=1, dy=0, names=[])"
    assert Same(1) == Same(1) != Same(2)
    assert Same(1) != Plain(1)
    assert hash(Same(1, 2)) == hash(Plain(1, 2)) == hash((1, 2))
    assert Tap(1, weight=2.0) == Tap(1, weight=3.0)
    assert {Same(1): "found"}[Same(1)] == "found"
    assert Empty() == Empty()
    assert hash(Empty()) == hash(())
    assert Wide(1) != Tap(1)
    assert Lone(1) != Lone(1)
    assert hash(Lone(1)) != hash(Lone(2))


def test_they_do_not_change() -> None:
    tap = Tap(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'dx'"):
        tap.dx = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'dx'"):
        del tap.dx
    assert not hasattr(tap, "__dict__")


def test_they_are_replaced_copied_and_pickled() -> None:
    wide = Wide(3, rows=4)
    assert replace(wide, dx=2) == Wide(2, rows=4)
    assert [each.name for each in fields(wide)] == ["dx", "dy", "names", "weight", "rows"]
    assert wide.area == 12
    for other in (copy.copy(wide), copy.deepcopy(wide), pickle.loads(pickle.dumps(wide))):
        assert other == wide
        assert other is not wide
    match wide:
        case Wide(3, 0):
            pass
        case _:
            pytest.fail("patterns take fields by place")


def test_own_methods_stay() -> None:
    assert Checked(1) == 5
    assert hash(Checked(1)) == 7
    assert repr(Checked(1)) == "checked"
    with pytest.raises(ValueError, match="low"):
        Checked(-1)


@record(frozen=False)
class Box:
    """A record that changes."""

    width: int
    height: int = 1
    names: list[str] = field(default_factory=list)
    area: int = field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width * self.height


def test_records_may_change() -> None:
    box = Box(2, names=["a"])
    assert (box.area, box.names, repr(box)) == (
        2,
        ["a"],
        "Box(width=2, height=1, names=['a'], area=2)",
    )
    box.height = 5
    assert replace(box).area == 10
    assert box != Box(2)
    assert Box(2).names is not Box(2).names
    with pytest.raises(TypeError, match="unhashable"):
        hash(box)
    with pytest.raises(AttributeError):
        box.depth = 3  # type: ignore[attr-defined]


@record
class Unmade:
    """No object of it is made before it is looked at."""

    LIMIT: ClassVar[int] = 3
    low: int
    high: int = 9


class Bounds(Unmade):
    """No record itself."""

    def __init__(self, high: int) -> None:
        super().__init__(0, high)


@dataclass(frozen=True)
class Named(Unmade):
    name: str = ""


def test_what_is_made_late_is_there_when_it_is_asked_for() -> None:
    assert is_dataclass(Bounds)
    assert [each.name for each in fields(Unmade)] == ["low", "high"]
    assert str(inspect.signature(Unmade)) == "(low, high=9)"
    assert replace(Unmade(1), high=2) == Unmade(1, 2)
    assert (Bounds(4).high, Bounds(5).high, Unmade.LIMIT) == (4, 5, 3)
    assert Named(1, 2, "a").name == "a"
