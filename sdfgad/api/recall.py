"""Layouts that earlier processes made, so that a program which has been compiled is not analysed again.

A layout is a pure function of the parsed program and of what is asked for, which are the key, with all of this
package. It stays to be checked against the memory limit by whoever recalls it.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sdfgad.cache import cache_folder, fingerprint, replace_file
from sdfgad.ir.program import Program
from sdfgad.ir.serial import expressions, serialised
from sdfgad.ir.specialise import NeedsConstant

if TYPE_CHECKING:
    from sdfgad.api.layout import Layout

# A plan that was cut short by a busy machine may be a better one next time.
LASTING = ("fixed", "optimal", "smallest peak")


class Recall:
    """Recalls layouts of one program; `asked` is what is differentiated by what."""

    def __init__(self, program: Program, *asked: str) -> None:
        self.program, self.asked = program, asked

    @cached_property
    def _key(self) -> str:
        # With its origin, which plans and errors tell.
        return "\0".join([serialised(self.program, with_origin=True), *self.asked, fingerprint()])

    def __call__(self, request: str, make: Callable[[], Layout]) -> Layout:
        """The layout for a request, which says all that it depends on besides.

        Raises:
            NeedsConstant: recalled like a layout.
        """
        key = hashlib.sha256(f"{self._key}\0{request}".encode()).hexdigest()[:32]
        file = cache_folder() / "layouts" / key[:2] / key
        found = _read(file)
        if found is None:
            found = _tried(make)
            if isinstance(found, NeedsConstant) or found.status in LASTING:
                _write(file, found)
        if isinstance(found, NeedsConstant):
            raise found
        return found


def _tried(make: Callable[[], Layout]) -> Layout | NeedsConstant:
    try:
        return make()
    except NeedsConstant as need:
        return need


def _read(file: Path) -> Layout | NeedsConstant | None:
    try:
        _, found = pickle.loads(file.read_bytes())
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return found


def _write(file: Path, found: Layout | NeedsConstant) -> None:
    # Expressions first, and children before parents: pickling goes no deeper than one of them.
    nodes = [] if isinstance(found, NeedsConstant) else expressions(found.made.program)
    with contextlib.suppress(OSError):  # A cache that cannot be written is no error.
        replace_file(file, pickle.dumps((nodes, found), pickle.HIGHEST_PROTOCOL))
