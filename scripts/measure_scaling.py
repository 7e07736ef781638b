"""Measures sums of gradients over shards on this machine, with several numbers of worker processes (docs/scaling.md).

Workers run compiled code in one thread each. Times are medians of interleaved calls, after a first one that compiles.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# Workers inherit it.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from distributed import Client, LocalCluster

import sdfgad
from sdfgad import distributed


def diffusion(conductivity: Any, batch: Any, steps: int) -> Any:
    """Steps of heat conduction from several initial temperatures; the sum of the squares at the end."""
    u = batch.copy()
    for _ in range(steps):
        flux = np.tanh(u[:, 1:] - u[:, :-1]) * conductivity
        u[:, 1:-1] += 0.1 * (flux[:, 1:] - flux[:, :-1])
    return np.sum(u * u)


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def times(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """The seconds of each call, in turn."""
    for call in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            found[name].append(seconds(call))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    k, shards = np.ones(given.cells - 1), list(rng.random((given.shards, given.rows, given.cells)))
    one = sdfgad.differentiate(diffusion, wrt="conductivity", shapes="exact")
    calls: dict[str, Callable[[], Any]] = {"one shard, no Dask": lambda: one.value_and_grad(k, shards[0], given.steps)}
    calls["all shards, no Dask"] = lambda: [one.value_and_grad(k, shard, given.steps) for shard in shards]
    results = []
    with ExitStack() as stack:
        for count in given.workers:
            cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0")
            client = stack.enter_context(Client(stack.enter_context(cluster), set_as_default=False))
            g = distributed.value_and_grad(diffusion, client=client)
            held = client.scatter(shards)
            small = client.scatter([shard[:1, :100] for shard in shards])
            results.append(g(k, shards, given.steps))
            calls[f"{count} workers"] = lambda g=g: g(k, shards, given.steps)
            calls[f"{count} workers, data there"] = lambda g=g, held=held: g(k, held, given.steps)
            calls[f"{count} workers, no work"] = lambda g=g, small=small: g(k[:99], small, 1)
        found = times(calls, given.repeats)
    for value, gradient in results:
        assert value == results[0][0]
        assert gradient.tobytes() == results[0][1].tobytes()
    for name, all_of_them in found.items():
        print(
            f"{name:28s} {statistics.median(all_of_them):8.3f} s   ({min(all_of_them):.3f} to {max(all_of_them):.3f})"
        )


if __name__ == "__main__":
    main()
