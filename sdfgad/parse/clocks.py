"""Clock readings: a program may measure how long it takes, and print that.

What a clock tells is known only at run time, and differs between two runs. So a reading stands for all times and all
differences of times: arithmetic on it gives a reading, a text with it in it is a text of run-time values, and whatever
else looks into it is refused.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from sdfgad.parse.texts import RunTimeText

TODO = "Measure the time outside of the function, around the call, and stop loops by their number of steps."


class Reading:
    """A time that a clock tells, or a number computed of such times and of constants."""

    noun: ClassVar[str] = "a time that a clock tells"
    instead: ClassVar[str] = TODO

    def _reading(self, *_: object) -> Reading:
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _reading
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _reading
    __neg__ = __pos__ = __abs__ = __round__ = _reading

    def __str__(self) -> str:
        return RunTimeText(self.noun)

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return RunTimeText(self.noun)


READING = Reading()


CLOCKS = frozenset(
    getattr(time, name + suffix)
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
    for suffix in ("", "_ns")
)


def has_reading(value: Any) -> bool:
    """Whether a value is a time that a clock tells, or a tuple with one in it."""
    return isinstance(value, Reading) or (isinstance(value, tuple) and any(map(has_reading, value)))
