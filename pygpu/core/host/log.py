"""What PyGPU tells the logger "pygpu".

`logging` takes 3 ms to import. A process that never imported it shows warnings alone: so there
`info` says nothing, and `warning` imports it.
"""

from __future__ import annotations

import sys

from pygpu.core.host.forks import IMPORTING


def info(text: str, *values: object) -> None:
    """Tell what has been decided, to whoever listens."""
    if "logging" in sys.modules:
        with IMPORTING:  # another thread may not have imported it to its end
            import logging

        logging.getLogger("pygpu").info(text, *values, stacklevel=2)


def warning(text: str, *values: object) -> None:
    """Tell what the user should know."""
    with IMPORTING:
        import logging

    logging.getLogger("pygpu").warning(text, *values, stacklevel=2)
