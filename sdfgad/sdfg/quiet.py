"""DaCe's settings, which are one for all threads, while graphs are written and generated."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dace

_settings = threading.RLock()


@contextmanager
def without_line_info() -> Iterator[None]:
    """Without the position of each call to DaCe in a file of ours: of no use, and a third of the time.

    One thread at a time is inside.
    """
    with _settings, dace.config.set_temporary("compiler", "lineinfo", value="none"):
        yield
