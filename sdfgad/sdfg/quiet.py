"""DaCe's global settings while graphs are written and generated; all threads share them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dace

_settings = threading.RLock()


@contextmanager
def without_line_info() -> Iterator[None]:
    """A context in which DaCe does not record the position of each call in our files, which takes a third of the time.

    Only one thread at a time is inside.
    """
    with _settings, dace.config.set_temporary("compiler", "lineinfo", value="none"):
        yield
