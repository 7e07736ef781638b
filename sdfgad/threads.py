"""How long threads wait for work: the libraries that have them read that from the environment once, when loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Rounds for OpenMP, a power of two of clock ticks for OpenBLAS. A thread that waits for the default of milliseconds
# keeps others from their work: those of other processes, and its own fellows where these wait for its processor. One
# that sleeps at once is late for the next loop. These rounds, some 50 microseconds, were measured to be as good as ten
# times as many on an idle machine, and five times as good on a busy one; with a third of them, loops that follow each
# other take twice as long (docs/adr/0018).
PATIENCE = {"GOMP_SPINCOUNT": "1000", "OPENBLAS_THREAD_TIMEOUT": "14"}


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
