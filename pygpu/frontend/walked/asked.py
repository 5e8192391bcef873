"""What functions that are walked ask the compiler: a rule stands for each of these. In plain Python
they are what their bodies say."""

from typing import Any


def there(x: Any) -> Any:
    """Whether an item, which a filter may leave out, is there: the walker knows."""
    return True


def value(x: Any) -> Any:
    """The item, zero where it is not there: the walker knows."""
    return x


def needed(found: Any) -> None:
    """There must be an item: a rule stands for it."""
    if not found:
        raise ValueError("the sequence is empty")


def refuse(what: Any, instead: Any) -> Any:
    """Refuse the program: the walker says it at the user's place."""
    raise NotImplementedError(what, instead)
