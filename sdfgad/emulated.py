"""Whether devices are emulated: their kernels then run on the host, for tests without a device."""

from __future__ import annotations

import os

VARIABLE = "SDFGAD_EMULATE"


def is_emulated() -> bool:
    """Whether SDFGAD_EMULATE is 1."""
    return os.environ.get(VARIABLE) == "1"
