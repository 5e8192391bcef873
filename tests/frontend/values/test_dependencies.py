"""What a compiled function read when it was compiled: rebound later, the next call recompiles."""

import functools
import types
from typing import Any, Final

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.execution.programs import specialise

ONES = np.ones((2, 2), np.float32)


def defined(source: str) -> dict:
    """A module of the user's, in which `f` is a function of an image."""
    names = {"Image": Image, "Position": Position, "np": np, "functools": functools}
    exec(source, names)
    return names


def value(compiled: Any) -> float:
    return float(np.asarray(compiled(ONES))[0, 0])


READS = {
    "global": "def f(im: Image, p: Position): return g * im(p)",
    "in a function that is walked": """
def times(x): return g * x
def f(im: Image, p: Position): return times(im(p))""",
    "through functions that Python runs": """
def first(): return second()
def second(): return g
def f(im: Image, p: Position): return first() * im(p)""",
    "in a method": """
class Gain:
    def get(self): return g
gain = Gain()
def f(im: Image, p: Position): return gain.get() * im(p)""",
    "in a constructor": """
class Gain:
    def __init__(self): self.value = g
def f(im: Image, p: Position): return Gain().value * im(p)""",
    "in an operator of a known object": """
class Gain:
    def __mul__(self, x): return g * x
gain = Gain()
def f(im: Image, p: Position): return (gain * 1.0) * im(p)""",
    "in a property": """
class Gain:
    @property
    def value(self): return g
gain = Gain()
def f(im: Image, p: Position): return gain.value * im(p)""",
    "in an order": """
class Gain:
    def __init__(self, value): self.value = value
    def __lt__(self, other): return g > 2
def f(im: Image, p: Position): return sorted([Gain(2), Gain(3)])[0].value * im(p)""",
    "in an index": """
class Place:
    def __index__(self): return int(g)
place = Place()
def f(im: Image, p: Position): return [0, 1, 2, 3][place] * im(p)""",
    "in an index among others": """
class Place:
    def __index__(self): return int(g)
place = Place()
def f(im: Image, p: Position): return bytes([place, 9])[0] * im(p)""",
    "in an index of a slice": """
class Place:
    def __index__(self): return int(g)
place = Place()
def f(im: Image, p: Position): return list(range(9))[place:][0] * im(p)""",
    "in how often a list is repeated": """
class Count:
    def __index__(self): return int(g)
count = Count()
def f(im: Image, p: Position): return len([1.5] * count) * im(p)""",
    "in what iterating a known object gives": """
class Gains:
    def __iter__(self): return iter([g])
gains = Gains()
def f(im: Image, p: Position): return [*gains][0] * im(p)""",
    "in the hash of a key": """
class Key:
    def __hash__(self): return int(g)
    def __eq__(self, other): return True
key = Key()
def f(im: Image, p: Position): return {key: 2.0}.get(2, 3.0) * im(p)""",
    "in a property of a class": """
class Kind(type):
    @property
    def value(cls): return g
class Gain(metaclass=Kind): pass
def f(im: Image, p: Position): return Gain.value * im(p)""",
    "in a class that is made": """
def f(im: Image, p: Position):
    return type("Gain", (), {"value": property(lambda self: g)})().value * im(p)""",
    "by its name": "def f(im: Image, p: Position): return globals()['g'] * im(p)",
    "by its name, if it is there": """
def f(im: Image, p: Position): return globals().get("g") * im(p)""",
    "in what makes an attribute": """
class Gain:
    def __getattr__(self, name): return g
gain = Gain()
def f(im: Image, p: Position): return gain.anything * im(p)""",
    "in a loop over a known object": """
class Gains:
    def __iter__(self): return iter([g])
    def __len__(self): return 1
gains = Gains()
def f(im: Image, p: Position): return sum(gains) * len(gains) * im(p)""",
    "in a callable object": """
class Gain:
    def __call__(self, x): return g * x
gain = Gain()
def f(im: Image, p: Position): return gain(1.0) * im(p)""",
    "in a partial": """
gain = functools.partial(lambda x: g * x, 1.0)
def f(im: Image, p: Position): return gain() * im(p)""",
    "in a dispatched function": """
@functools.singledispatch
def gain(x): return 0
@gain.register
def _(x: float): return g * x
def f(im: Image, p: Position): return gain(1.0) * im(p)""",
    "in a function given to another": """
def key(x): return x * (2.5 - g)
def f(im: Image, p: Position): return sorted([2.0, 3.0], key=key)[0] * im(p)""",
    "in what NumPy vectorizes": """
gain = np.vectorize(lambda x: g * x)
def f(im: Image, p: Position): return gain(np.ones(1))[0] * im(p)""",
}


@pytest.mark.parametrize("source", READS.values(), ids=READS.keys())
def test_rebinding_a_global_recompiles(source: str) -> None:
    names = defined("g = 2.0\n" + source)
    f = pygpu.compile(names["f"], target="interpreter")
    before = value(f)
    names["g"] = 3.0
    assert (before, value(f)) == (2.0, 3.0)


def test_results_that_are_kept_are_asked_for_again() -> None:
    names = defined("""
g = 2.0
@functools.cache
def gain(x): return g * x
def f(im: Image, p: Position): return gain(1.0) * im(p)""")
    f = pygpu.compile(names["f"], target="interpreter")
    before = value(f)
    names["g"] = 3.0
    names["gain"].cache_clear()
    assert (before, value(f)) == (2.0, 3.0)


def test_rebinding_a_closures_variable_recompiles() -> None:
    def make():
        gain = 2.0

        def inner():
            return gain

        def change(value):
            nonlocal gain
            gain = value

        return (lambda im, p: inner() * im(p)), change

    function, change = make()
    f = pygpu.compile(function, im=Image, p=Position, target="interpreter")
    before = value(f)
    change(3.0)
    assert (before, value(f)) == (2.0, 3.0)


def test_names_of_a_module_are_globals() -> None:
    settings = types.ModuleType("settings")
    settings.gain = 2.0
    names = defined("""
def gain(): return settings.gain
def f(im: Image, p: Position): return (settings.gain + gain()) * im(p)""")
    names["settings"] = settings
    f = pygpu.compile(names["f"], target="interpreter")
    before = value(f)
    settings.gain = 3.0
    assert (before, value(f)) == (4.0, 6.0)


def test_rebinding_a_function_or_shadowing_a_builtin_recompiles() -> None:
    names = defined("""
def gain(): return 2.0
def f(im: Image, p: Position): return gain() * abs(-im(p))""")
    f = pygpu.compile(names["f"], target="interpreter")
    before = value(f)
    names["gain"] = lambda: 3.0
    middle = value(f)
    names["abs"] = lambda x: x
    assert (before, middle, value(f)) == (2.0, 3.0, -3.0)


def test_a_name_that_was_missing_may_be_defined_later() -> None:
    names = defined("def f(im: Image, p: Position): return g * im(p)")
    f = pygpu.compile(names["f"], target="interpreter")
    with pytest.raises(NameError, match="'g'"):
        value(f)
    names["g"] = 2.0
    assert value(f) == 2.0


def test_names_of_methods_that_are_not_run_are_not_watched(monkeypatch) -> None:
    names = defined("""
frame = 0
class App:
    def tick(self):
        global frame
        frame += 1
    def gain(self): return 2.0
app = App()
def f(im: Image, p: Position): return app.gain() * im(p)""")
    f = pygpu.compile(names["f"], target="interpreter")
    value(f)
    monkeypatch.setattr(specialise, "translate", None)
    names["app"].tick()
    assert value(f) == 2.0


def test_elements_and_attributes_of_outside_objects_are_not_watched() -> None:
    names = defined("gains = [2.0]\ndef f(im: Image, p: Position): return gains[0] * im(p)")
    f = pygpu.compile(names["f"], target="interpreter")
    before = value(f)
    names["gains"][0] = 3.0
    unseen = value(f)
    f.recompile()
    assert (before, unseen, value(f)) == (2.0, 2.0, 3.0)


def test_modules_that_name_each_other_are_looked_into_once() -> None:
    one, other = types.ModuleType("one_of_two"), types.ModuleType("other_of_two")
    one.other, other.one, other.g = other, one, 2.0  # type: ignore[attr-defined]
    names = defined(
        """
def first(): return one.other.one.other.g
def f(im: Image, p: Position): return first() * im(p)"""
    )
    names["one"] = one
    compiled = pygpu.compile(names["f"], target="cpu")
    assert value(compiled) == 2
    other.g = 3.0  # type: ignore[attr-defined]
    assert value(compiled) == 3


MAKES: Final = {
    "a table when it is first asked for": """
table = None
def asked():
    global table
    table = table or (1, 2, 3)
    return table
def f(im: Image, p: Position): return asked()[1] * im(p)""",
    "new objects each time": """
def get(): return gain.value
def reset():
    globals()["gain"] = types.SimpleNamespace(value=2)
def f(im: Image, p: Position):
    reset()
    return get() * im(p)""",
    "a count": """
count = 0
def counted():
    global count
    count += 1
    return 2
def f(im: Image, p: Position): return counted() * im(p)""",
}


@pytest.mark.parametrize("source", MAKES.values(), ids=MAKES)
def test_what_is_bound_while_compiling_is_not_bound_later(source: str) -> None:
    names = defined("import types\n" + source)
    compiled = pygpu.compile(names["f"])
    assert value(compiled) == 2
    names_before = dict(names)
    assert value(compiled) == 2
    assert names == names_before  # nothing has run again


def test_what_was_read_before_it_is_rebound_by_what_runs_recompiles() -> None:
    names = defined("""
g = 2
def rebind():
    global g
    g = 3
def f(im: Image, p: Position):
    seen = g
    rebind()
    return seen * im(p)""")
    compiled = pygpu.compile(names["f"])
    assert [value(compiled) for _ in range(3)] == [2, 3, 3]


def test_what_is_rebound_after_a_table_was_made_recompiles() -> None:
    names = defined(MAKES["a table when it is first asked for"])
    compiled = pygpu.compile(names["f"])
    assert value(compiled) == 2
    names["table"] = (5, 6, 7)
    assert value(compiled) == 6
