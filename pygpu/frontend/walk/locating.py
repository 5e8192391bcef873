"""Errors at the user's place: where Python raised while a function was translated."""

from __future__ import annotations

import traceback

from pygpu.core.errors import (
    AT_COMPILE_TIME,
    HOME,
    UNDER_CHOICE,
    UNDER_CONDITION,
    CompileError,
    Place,
    call_notes,
    is_accident,
)
from pygpu.frontend.values.evaluator import Evaluator


def located(w: Evaluator, error: BaseException) -> BaseException:
    """The error with the place where the user's function raised it."""
    if isinstance(error, CompileError):
        if getattr(error, "place", None) is None:
            return w.error(error.msg)
        return error
    if not getattr(error, "__pygpu_noted__", False) and is_accident(error):
        said = "".join(traceback.format_exception_only(error)).strip()
        refused = w.error(
            f"PyGPU fails here by a mistake of its own ({said}): please report this function"
        )
        for frame in traceback.extract_tb(error.__traceback__)[-2:]:
            refused.add_note(f"raised in {frame.filename}:{frame.lineno}, in {frame.name}")
        return refused
    if not getattr(error, "__pygpu_noted__", False):
        place = w.frame.place()
        theirs = place.users()
        where = theirs.marked() if theirs else f"in {place.function}"  # called from outside
        error.add_note(f"{AT_COMPILE_TIME}{where}")
        for note in call_notes(place):
            error.add_note(note)
        places = [frame.place(at) for frame, at, _ in w.conditions]
        under = [each for each in places if not each.filename.startswith(HOME)]
        if under and under[-1] == place:  # a choice that was made before is taken apart there
            error.add_note(UNDER_CHOICE)
        elif under:
            error.add_note(f"{UNDER_CONDITION}{_shown(under[-1])}")
        error.__pygpu_noted__ = True  # type: ignore[attr-defined]
    return error


def _shown(place: Place) -> str:
    """A place with its line of source."""
    source = place.text()
    return f"{place}: {source.strip()}" if source else str(place)
