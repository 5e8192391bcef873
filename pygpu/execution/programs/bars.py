"""Progress bars for what takes long, where they are asked for: tiles of large images, rounds.

progress(True)
for tile in steps(tiles, "tile"): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

_T = TypeVar("_T")


class _State:
    """Whether bars are shown."""

    def __init__(self) -> None:
        self.shown = False


_STATE: Final = _State()


def progress(shown: bool = True) -> None:
    """Show progress bars for tiles and the rounds of `iterate`, or show them no more."""
    _STATE.shown = bool(shown)


def steps(parts: Sequence[_T], what: str, name: str = "") -> Iterator[_T]:
    """The parts themselves, with a bar that counts them where it is asked for."""
    if not _STATE.shown or len(parts) < 2:
        yield from parts
        return
    from tqdm.auto import tqdm  # only for those who want bars

    bar: Any = tqdm(parts, desc=name or None, unit=what, leave=False)
    yield from bar


class Bar:
    """A bar for what is counted as it is done."""

    def __init__(self, total: int, what: str, name: str = "") -> None:
        self.bar: Any = None
        self.is_shown = _STATE.shown and total > 1
        if self.is_shown:
            from tqdm.auto import tqdm  # only for those who want bars

            self.bar = tqdm(total=total, desc=name or None, unit=what, leave=False)

    def advance(self) -> None:
        if self.bar is not None:
            self.bar.update()

    def close(self) -> None:
        """Take it from the screen."""
        if self.bar is not None:
            self.bar.close()


def counted(parts: Iterable[_T], what: str, name: str = "") -> Iterator[_T]:
    """Parts that are made one by one, with a bar of how many there were."""
    if not _STATE.shown:
        yield from parts
        return
    from tqdm.auto import tqdm  # only for those who want bars

    bar: Any = tqdm(parts, desc=name or None, unit=what, leave=False)
    yield from bar
