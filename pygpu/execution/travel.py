"""How compiled functions travel to other processes: by name where they can be imported there, else
by value, code and closure, through cloudpickle.

What comes by value is made once a process, however often it comes: its programs are compiled once.
"""

from __future__ import annotations

import pickle
import sys
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from pygpu.core.host import forks

KEPT: Final = 256  # functions that came by value and are kept, the last used ones


class _Travellers:
    """What has left this process by value, and what has come to it."""

    def __init__(self) -> None:
        self.names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self.arrived: OrderedDict[str, Any] = OrderedDict()

    def name(self, value: Any) -> str:
        """The name under which a value travels; its copies are known by it."""
        with _LOCK.lock:
            return self.names.setdefault(value, uuid.uuid4().hex)

    def arrive(self, name: str, make: Callable[[], Any]) -> Any:
        """The value of that name: the one that is here already, or one that is made now."""
        with _LOCK.lock:
            if name not in self.arrived:
                value = self.arrived[name] = make()
                self.names[value] = name
                while len(self.arrived) > KEPT:
                    self.arrived.popitem(last=False)
            self.arrived.move_to_end(name)
            return self.arrived[name]


_TRAVELLERS: Final = _Travellers()
_LOCK: Final = forks.Renewed()


def reduced(value: Any, make: Callable[..., Any], parts: tuple[Any, ...]) -> Any:
    """What `__reduce__` of a compiled function answers: `make(*parts)` makes it again."""
    if _is_importable(value):
        return value.__qualname__
    try:
        import cloudpickle  # optional: only what cannot be imported by name needs it
    except ImportError:
        raise pickle.PicklingError(
            f"{value.__qualname__} cannot be imported by another process; "
            "with the package cloudpickle installed it travels by value"
        ) from None
    return _arrived, (_TRAVELLERS.name(value), cloudpickle.dumps((make, parts)))


def _is_importable(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    if module in (None, "__main__") or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _arrived(name: str, payload: bytes) -> Any:
    def make() -> Any:
        function, parts = pickle.loads(payload)
        return function(*parts)

    return _TRAVELLERS.arrive(name, make)
