"""Classes that the function makes, objects of classes, and super().

Python makes the class: it runs the body with what is known of the variables around it; a body that
reads dynamic values is walked. Methods close over the compiler's own cells. What may change, or is
not known, stands apart, in `ClassParts`, and follows the control flow as all contents do.

    class Counter:
        count = 0              # Counter.count += 1 writes to the parts
        weight = im(p)         # is one of the parts from the start
"""

from __future__ import annotations

import abc
import builtins
import copy
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pygpu.frontend.collections import derived
from pygpu.frontend.collections.adoption import ADOPTED, virtual
from pygpu.frontend.collections.derived import NUMBERS, hollow_of
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.protocols import datamodel
from pygpu.frontend.values.callables import Function, Super
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import Materialiser, concrete, is_users_class, real_cell, realised
from pygpu.frontend.values.objects import Cell, ClassParts, Names, Thrown, Vector
from pygpu.frontend.values.values import ABSENT, Abstract, NotKnown, Tuple
from pygpu.language import vectors

# ---------------------------------------------------------------- class statements


def build(w: Evaluator, body: Function, name: str, *bases: Any, **keywords: Any) -> Any:
    """What a class statement makes."""
    cells = tuple([real_cell(w, cell) for cell in body.closure])
    function = types.FunctionType(body.code, body.globals, name, None, cells)
    with in_python(w) as unknown:
        try:
            cls = builtins.__build_class__(function, name, *bases, **keywords)
        except NameError:
            if not unknown:
                raise
            cls = None
    if cls is None:
        return _walked(w, body, name, bases, keywords)
    changeable = {
        key: virtual(copy.copy(part))
        for key, part in vars(cls).items()
        if type(part) in ADOPTED and key[:2] != "__"
    }
    numbers = {key: part for key, part in vars(cls).items() if scalar_kind(part)}
    return register(w, cls, {**numbers, **changeable})


def register(w: Evaluator, cls: Any, parts: dict[str, Any]) -> Any:
    """A class that the function has made; its attributes may be set from now on."""
    if type(cls) in (type, abc.ABCMeta) and is_users_class(cls):
        w.environment.class_parts[cls] = made = ClassParts(type(cls), parts)
        w.kept.append(made)
    return cls


def _walked(
    w: Evaluator, body: Function, name: str, bases: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """A class whose body reads what is not known."""
    namespace = Names({})
    variables = dict(zip(body.code.co_freevars, body.closure, strict=True))
    w.inline(body.code, body.globals, {**variables, ".namespace": namespace})
    contents = dict(w.read(namespace))
    cell = contents.pop("__classcell__", None)
    contents.pop("__classdictcell__", None)  # 3.12's and later: what annotations look names up in
    cls = made_of(w, name, bases, contents, keywords)
    if cell is not None:
        w.write(cell, cls)
    return cls


def made_of(
    w: Evaluator,
    name: str,
    bases: tuple[Any, ...],
    contents: dict[str, Any],
    keywords: dict[str, Any],
) -> Any:
    """type(name, bases, contents), some of which may not be known."""
    contents = {k: realised(w, v) if isinstance(v, Function) else v for k, v in contents.items()}
    contents = {k: concrete(w, v) if k[:2] == "__" else v for k, v in contents.items()}
    parts = {key: part for key, part in contents.items() if isinstance(part, Abstract)}
    bases = types.resolve_bases(bases)
    meta, own, keywords = types.prepare_class(name, bases, keywords)
    own.update({key: part for key, part in contents.items() if key not in parts})
    cls = register(w, meta(name, bases, own, **keywords), parts)
    if parts and cls not in w.environment.class_parts:
        shown = ", ".join(map(repr, parts))
        raise w.error(f"a {meta.__name__} takes known attributes alone, got dynamic ones: {shown}")
    return cls


@contextmanager
def in_python(w: Evaluator) -> Iterator[list[Any]]:
    """Let Python run code of our classes: the variables that it closes over and the attributes of
    the classes hold what is known meanwhile, and what it changes comes back. Gives what is not
    known and stands for nothing."""
    made = Materialiser(w)
    unknown: list[Any] = []
    cells = []
    for real, own in w.environment.class_cells:
        try:
            real.cell_contents = made.value(w.peek(own))
            cells.append((real, own, real.cell_contents))
        except NotKnown:
            del real.cell_contents
            unknown.append(own)
    for cls, parts in w.environment.class_parts.items():
        _show(made, cls, w.peek(parts), unknown)
    before = {cls: dict(vars(cls)) for cls in w.environment.class_parts}
    try:
        yield unknown
    finally:
        for real, own, contents in cells:
            if real.cell_contents is not contents:
                w.write(own, real.cell_contents)
        for real, own in w.environment.class_cells:
            real.cell_contents = own
        made.carry_back()
        for cls, names in before.items():
            _take_back(w, cls, names)


def _show(made: Materialiser, cls: type, parts: Any, unknown: list[Any]) -> None:
    """Set the attributes of a class to what they are now, as far as that is known."""
    for name, part in parts.items():
        known = part
        if isinstance(part, Abstract):
            try:
                known = made.value(part)
            except NotKnown:
                unknown.append(part)
                known = ABSENT
        if known is not ABSENT:
            setattr(cls, name, known)
        elif name in vars(cls):
            delattr(cls, name)


def _take_back(w: Evaluator, cls: type, before: dict[str, Any]) -> None:
    """Note what Python has made of a class's attributes."""
    parts = w.environment.class_parts[cls]
    after = vars(cls)
    changed = {name: part for name, part in after.items() if part is not before.get(name, ABSENT)}
    deleted = {name: ABSENT for name in before if name not in after}
    if changed or deleted:
        w.write(parts, {**w.read(parts), **changed, **deleted})


# ---------------------------------------------------------------- objects of classes


def instantiate(w: Evaluator, cls: type, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """cls(*args, **keywords) as a virtual object."""
    if issubclass(cls, tuple):
        return _tuple_of(w, cls, args, keywords)
    if issubclass(cls, vectors.Vector):
        return _vector(w, cls, args, keywords)
    if "stands_for" in vars(cls):
        return _construct(w, cls, args, keywords)  # Python's own would not follow control flow
    try:
        with w.attempt() as trial:
            return trial.made(lambda: _construct(w, cls, args, keywords))
    except SyntaxError:
        try:  # what cannot be walked may still run, if all is known
            return w.native(cls, args, keywords)
        except NotKnown:
            pass
        raise


def _construct(w: Evaluator, cls: type, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    if getattr(cls, "__abstractmethods__", None):
        names = ", ".join(sorted(cls.__abstractmethods__))  # type: ignore[attr-defined]
        raise TypeError(f"Can't instantiate abstract class {cls.__name__} with abstract {names}")
    new = datamodel.class_attribute(w, cls, "__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    if isinstance(new, types.FunctionType) and new.__module__ != "typing":
        if cls in w.environment.class_parts:  # walked: it may keep what it makes
            new = Function.of(new)
        made = w.call(new, getattr(cls, "stands_for", cls), *args, **keywords)
        if not datamodel.is_instance(w, made, cls):
            return made
    elif issubclass(getattr(cls, "stands_for", object), NUMBERS):
        made, new = derived.number(w, cls, args, keywords), derived.number
    else:
        made = hollow_of(cls)
    init = datamodel.class_attribute(w, cls, "__init__")
    if isinstance(init, types.FunctionType):
        w.call(init, made, *args, **keywords)
    elif (args or keywords) and not isinstance(new, types.FunctionType):
        raise TypeError(f"{cls.__name__}() takes no arguments")
    return made


_OF_VECTORS: Final = frozenset(
    [name for names in arithmetic.METHODS.values() for name in names]
    + [f"__i{names[0][2:]}" for names in arithmetic.METHODS.values()]
    + "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__ __invert__ __init__".split()
    + "__repr__ __str__ __init_subclass__".split()
)


def _vector(w: Evaluator, cls: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """A vector of a class that a program derives from one of ours."""
    own = datamodel.own_bases(cls)
    names = {name for base in own if base is not object for name in vars(base)}
    is_method = [isinstance(datamodel.class_attribute(w, cls, name), _METHODS) for name in names]
    special = [name for name, is_it in zip(names, is_method, strict=True) if is_it]
    unasked = sorted(n for n in special if n[:2] == "__" == n[-2:] and n not in _OF_VECTORS)
    if unasked or issubclass(cls, vectors.Position):
        what = f"has {', '.join(unasked)}" if unasked else "is one of positions"
        raise w.error(
            f"{cls.__name__} derives from a class of vectors and {what}, which is not asked on "
            "dynamic values: write a class that holds a vector"
        )
    made = Vector(cls, cls.TYPE, (0,) * cls.TYPE.size)
    w.call(datamodel.class_attribute(w, cls, "__init__"), made, *args, **keywords)
    return made


_METHODS: Final = (types.FunctionType, classmethod, staticmethod)


def of_parts(w: Evaluator, made: Vector, *parts: Any) -> None:
    """Vector.__init__"""
    w.write(made, operands.contents_of(w, w.call(vectors.CLASSES[made.type], *parts)))


def thrown(
    w: Evaluator, cls: type[BaseException], args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Thrown:
    """What an exception holds that is made of what is not known."""
    made = Thrown(cls, {"args": Tuple(args), "__cause__": None})
    init = datamodel.class_attribute(w, cls, "__init__")
    if isinstance(init, types.FunctionType):
        w.call(init, made, *args, **keywords)
    elif keywords:
        raise TypeError(f"{cls.__name__}() takes no keyword arguments")
    return made


def _tuple_of(w: Evaluator, cls: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """A named tuple, by what its class has in place of the constructor that names the fields."""
    owner = next(base for base in cls.__mro__ if "__new__" in vars(base))
    if owner is tuple:
        made: Any = w.call(tuple.__new__, cls, *args, **keywords)
    elif "_fields" in vars(owner):
        made = _named_tuple(w, cls, args, keywords)
    else:
        made = w.call(vars(owner)["__new__"].__func__, cls, *args, **keywords)
    init = datamodel.class_attribute(w, cls, "__init__")
    if isinstance(init, types.FunctionType) and datamodel.is_instance(w, made, cls):
        w.call(init, made, *args, **keywords)
    return made


def _named_tuple(w: Evaluator, cls: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    fields, defaults = cls._fields, getattr(cls, "_field_defaults", {})
    given = dict(zip(fields, args, strict=False))
    if len(args) > len(fields) or any(name not in fields or name in given for name in keywords):
        raise TypeError(f"{cls.__name__}() takes the fields {', '.join(fields)}")
    given.update(keywords)
    missing = [name for name in fields if name not in given and name not in defaults]
    if missing:
        raise TypeError(f"{cls.__name__}() missing {', '.join(missing)}")
    items = tuple([given[name] if name in given else defaults[name] for name in fields])
    if any(isinstance(item, Abstract) for item in items):
        return Tuple(items, cls)
    return cls(*items)


def super_of(w: Evaluator, args: tuple[Any, ...]) -> Super:
    """super(), with or without arguments."""
    if args:
        return Super(*args)
    frame = w.frame
    code = frame.code.code
    locals = w.state.locals
    owner = locals[code.co_varnames[0]]
    if isinstance(owner, Cell):
        owner = w.read(owner)
    cell = locals["__class__"]
    cls = cell.cell_contents if isinstance(cell, types.CellType) else cell
    if isinstance(cls, Cell):
        cls = w.read(cls)
    return Super(cls, owner)
