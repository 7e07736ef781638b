"""How long threads wait for work: the libraries that have them read that from the environment once, when loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Rounds for OpenMP, a power of two of clock ticks for OpenBLAS. Each has a thread for every core. One that waits for
# the default of milliseconds keeps a thread of the other from its work: products between parallel loops were measured
# to take up to six times as long. One that sleeps at once is late for the next loop: these rounds of OpenMP, about a
# tenth of a millisecond, were measured to be worth 20 % where loops follow each other.
PATIENCE = {"GOMP_SPINCOUNT": "10000", "OPENBLAS_THREAD_TIMEOUT": "14"}


@contextmanager
def impatient_threads() -> Iterator[None]:
    """Have threads of libraries that are loaded here sleep early, unless the environment says how long they wait."""
    ours = {} if "OMP_WAIT_POLICY" in os.environ else {k: v for k, v in PATIENCE.items() if k not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
