"""A stopwatch for the scripts."""

import time
from collections.abc import Callable
from typing import Any


def stopwatch(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds and the result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
