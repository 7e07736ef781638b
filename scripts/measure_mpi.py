"""Measures the gradient of a decomposed program: ``mpiexec -n 2 python scripts/measure_mpi.py --steps 20``.

Rank 0 prints the seconds of one gradient, the least and the median of several, what of that is communication, and the
same for the program in NumPy. All ranks together have the same grid whatever their number is.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import sdfgad
from sdfgad.messages.host import Message

COMM = MPI.COMM_WORLD


def diffusion(comm: Any, steps: int, u: Any, k: Any) -> Any:
    """Nonlinear diffusion by rows, each rank with a row of either neighbour."""
    up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    for _ in range(steps):
        comm.Sendrecv(u[1], up, 0, u[-1], down, 0)
        comm.Sendrecv(u[-2], down, 1, u[0], up, 1)
        neighbours = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += k[1:-1, 1:-1] * u[1:-1, 1:-1] * (neighbours - 4.0 * u[1:-1, 1:-1])
    return comm.allreduce(np.sum(u[1:-1] ** 2))


def timed_messages() -> list[float]:
    """The seconds of each message from now on; messages wait for other ranks, too."""
    found: list[float] = []
    for cls in Message.__subclasses__():
        for name in ("run", "back"):
            setattr(cls, name, _timed(getattr(cls, name), found))
    return found


def _timed(original: Callable[..., None], found: list[float]) -> Callable[..., None]:
    def run(self: Any, *args: Any) -> None:
        start = time.perf_counter()
        original(self, *args)
        found.append(time.perf_counter() - start)

    return run


def seconds(call: Callable[[], Any], repeats: int) -> list[float]:
    """The seconds of several calls that all ranks begin together, of the slowest rank each."""
    found = []
    for _ in range(repeats):
        COMM.Barrier()
        start = time.perf_counter()
        call()
        found.append(COMM.allreduce(time.perf_counter() - start, op=MPI.MAX))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rng, rows = np.random.default_rng(COMM.rank), given.rows // COMM.size + 2
    u, k = 1.0 + rng.random((rows, given.columns)), 0.05 * rng.random((rows, given.columns))
    g = sdfgad.differentiate(diffusion, wrt=("u", "k"), ranks="same")
    g(COMM, given.steps, u, k)
    messages = timed_messages()
    ours = seconds(lambda: g(COMM, given.steps, u, k), given.repeats)
    waiting = COMM.allreduce(sum(messages), op=MPI.MAX) / given.repeats
    numpy = seconds(lambda: diffusion(COMM, given.steps, u.copy(), k), given.repeats)
    if COMM.rank == 0:
        print(f"{COMM.size} processes, {len(messages) // given.repeats} messages in a gradient")
        print(f"gradient {min(ours):.3f} s (median {statistics.median(ours):.3f}), messages {waiting:.3f} s")
        print(f"NumPy {min(numpy):.3f} s (median {statistics.median(numpy):.3f})")


if __name__ == "__main__":
    main()
