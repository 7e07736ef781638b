"""Record and replay: several runs of a program on the same arguments communicate once.

The first run of what is tested against plain code is two or more runs of one call. Other ranks, which share the cache,
may make one run alone: only the first run of all on a rank exchanges messages, and the others are given what it got.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Record:
    """What the communication of one call has given, in order.

    Attributes:
        found: for each communication, which one it was, and copies of its results.
        sent: what the present run has passed to it.
        position: the number of those that the present run has made.
        is_complete: whether a whole run has been recorded.
    """

    found: list[tuple[object, list[Array]]] = field(default_factory=list)
    sent: list[Array] = field(default_factory=list)
    position: int = 0
    is_complete: bool = False

    def rewind(self) -> None:
        """The next run begins: it is given what the first one got."""
        self.is_complete, self.position = bool(self.found), 0
        self.sent.clear()

    def carry_out(
        self, key: object, inputs: Sequence[Array], results: Sequence[Array], communicate: Callable[[], None]
    ) -> None:
        """Communicates in the first run, and gives the same results in later ones.

        Raises: RuntimeError: a later run does not communicate as the first one did.
        """
        self.sent += [one.copy() for one in inputs]
        if not self.is_complete:
            communicate()
            self.found.append((key, [one.copy() for one in results]))
            return
        known, values = self.found[self.position] if self.position < len(self.found) else (None, [])
        if known != key:
            raise RuntimeError("a run of the compiled program communicates otherwise than its first run did")
        for target, value in zip(results, values, strict=True):
            target[...] = value
        self.position += 1


_present = threading.local()


def present() -> Record | None:
    """The record of the call that is being repeated in this thread, if one is."""
    return getattr(_present, "record", None)


@contextmanager
def communicating_once() -> Iterator[None]:
    """The runs inside are of one call."""
    if present() is not None:
        yield
        return
    _present.record = Record()
    try:
        yield
    finally:
        _present.record = None


def sent() -> dict[str, Array]:
    """What the last run has passed to its messages, where it is recorded; by names that are no identifiers."""
    record = present()
    return {} if record is None else {f"message {k}": one for k, one in enumerate(record.sent)}
